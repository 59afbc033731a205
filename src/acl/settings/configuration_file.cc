// Parsing of aclInit's JSON file (see configuration_file.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/settings/configuration_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/process/cancellation.h"

namespace portacl {
namespace {

// Receives the parser's events. (It builds no tree of values: destroying one allocates memory, and a failure
// there would end the process.)
class KeyReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit KeyReader(ConfigurationFile& file) : file_(file) {}

  bool is_object() const { return is_object_; }

  bool null() override { return Value("[null]"); }
  bool boolean(bool value) override { return Value(value ? "[true]" : "[false]"); }
  bool number_integer(number_integer_t value) override { return Value(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Value(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return Value(text); }
  bool string(string_t& value) override { return Value(value); }
  bool binary(binary_t&) override { return Value("[binary]"); }

  bool start_object(std::size_t) override {
    if (depth_ == 0) is_object_ = true;
    if (depth_ > 0) Value("[object]");
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ > 0) Value("[array]");
    ++depth_;
    return true;
  }
  bool end_array() override { return end_object(); }

  bool key(string_t& name) override {
    if (depth_ == 1) outer_key_ = name;
    if (depth_ == 2) inner_key_ = name;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool Value(const std::string& text) {
    if (depth_ == 1 && outer_key_ == "err_msg_mode") file_.err_msg_mode = text;
    if (depth_ == 1 && outer_key_ == "defaultDevice") file_.has_default_device_object = true;
    if (depth_ == 2 && outer_key_ == "defaultDevice" && inner_key_ == "default_device")
      file_.default_device = text;
    return true;
  }

  ConfigurationFile& file_;
  int depth_ = 0;
  bool is_object_ = false;
  std::string outer_key_;
  std::string inner_key_;
};

class OpenFile {
  const CancellationDeferred deferred_;  // first member, and so destroyed last

 public:
  explicit OpenFile(const char* path) : descriptor_(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    const int error = errno;
    if (descriptor_ >= 0) close(descriptor_);
    errno = error;
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

bool ReadFile(const char* path, std::string& content) {
  const CancellationDeferred deferred;
  const OpenFile file(path);
  if (file.descriptor() < 0) return false;
  char part[4096];
  ssize_t length = 0;
  while ((length = read(file.descriptor(), part, sizeof part)) > 0 || (length < 0 && errno == EINTR)) {
    if (length > 0) content.append(part, static_cast<size_t>(length));
  }
  return length == 0;
}

bool ParseConfigurationFile(const std::string& content, ConfigurationFile& file) {
  // CANN's documents allow an empty file.
  if (content.find_first_not_of(" \t\r\n") == std::string::npos) return true;
  KeyReader reader(file);
  return nlohmann::json::sax_parse(content, &reader) && reader.is_object();
}

}  // namespace portacl
