// Traces as tests read them, and folders for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace portacl::testing {

// A folder that lives as long as the object.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/portacl-test-XXXXXX";
    if (mkdtemp(name) != nullptr) path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::string path_;
};

// The events of a trace; null when it is none.
inline nlohmann::json EventsOf(const std::string& path) {
  std::ifstream file(path);
  const nlohmann::json whole = nlohmann::json::parse(file, nullptr, false);
  return whole.is_object() && whole.contains("traceEvents") ? whole["traceEvents"] : nlohmann::json();
}

// Spans of a category, in the order of the file.
inline std::vector<nlohmann::json> Spans(const nlohmann::json& events, const std::string& category) {
  std::vector<nlohmann::json> found;
  for (const auto& event : events) {
    if (event.value("ph", "") == "X" && event.value("cat", "") == category) found.push_back(event);
  }
  return found;
}

inline std::vector<nlohmann::json> Named(const std::vector<nlohmann::json>& spans, const std::string& name) {
  std::vector<nlohmann::json> found;
  for (const auto& span : spans) {
    if (span["name"] == name) found.push_back(span);
  }
  return found;
}

}  // namespace portacl::testing
