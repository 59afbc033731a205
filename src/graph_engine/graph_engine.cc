// Defines the symbols of CANN's graph engine that torchair links to, so that torchair loads. Every call
// throws: there is no graph engine.
// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "acl/acl.h"

namespace ge {

// Clients construct this class before they call the engine, for its options. They see a pointer to a counted
// object, and free it inline.
class AscendString {
 public:
  AscendString(const char* text);
  const char* GetString() const;
  bool operator==(const AscendString& other) const;
  bool operator<(const AscendString& other) const;

 private:
  std::string Text() const { return text_ == nullptr ? std::string() : *text_; }

  std::shared_ptr<std::string> text_;
};
static_assert(sizeof(AscendString) == 16);

AscendString::AscendString(const char* text)
    : text_(text == nullptr ? nullptr : std::make_shared<std::string>(text)) {}
const char* AscendString::GetString() const { return text_ == nullptr ? "" : text_->c_str(); }
bool AscendString::operator==(const AscendString& other) const { return Text() == other.Text(); }
bool AscendString::operator<(const AscendString& other) const { return Text() < other.Text(); }

// Succeeds: clients call it when they exit.
int GEFinalize();
int GEFinalize() { return 0; }

class Session {
 public:
  ~Session();
};
Session::~Session() = default;

}  // namespace ge

namespace {

// Throws, because the functions return many types, and none of them can carry an error.
[[noreturn]] void Refuse(const char* symbol) {
  int status = 0;
  char* const readable = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  const std::string name = status == 0 ? readable : symbol;
  std::free(readable);
  const std::string sentence =
      name.substr(0, name.find('(')) +
      " is not supported: portacl has no graph engine; torch.compile has the backends "
      "eager, aot_eager, npugraphs and npugraph_ex";
  aclAppLog(ACL_ERROR, "ge", __FILE__, __LINE__, "%s", sentence.c_str());
  throw std::runtime_error(sentence);
}

}  // namespace

// NAME(symbol) defines a function of the engine under its mangled name. It throws, whatever its parameters
// and result are.
#define JOIN_AGAIN(a, b) a##b
#define JOIN(a, b) JOIN_AGAIN(a, b)
#define NAME(symbol)                                                                                        \
  [[noreturn]] __attribute__((visibility("default"))) void JOIN(NotSupported, __LINE__)() __asm__(#symbol); \
  void JOIN(NotSupported, __LINE__)() { Refuse(#symbol); }
#include "graph_engine/names.inc"
