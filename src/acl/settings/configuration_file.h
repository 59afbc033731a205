// The JSON file that aclInit may be given, with the keys that are used here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace portacl {

// The values of a configuration file as the file writes them: a number's digits or a string's content, or the
// JSON kind of other values in brackets. A key that the file does not have is empty.
struct ConfigurationFile {
  std::optional<std::string> err_msg_mode;
  std::optional<std::string> default_device;  // defaultDevice.default_device
  bool has_default_device_object = false;     // the key defaultDevice, whatever is in it
};

// Reads a whole file; returns false, with errno set, if it cannot be read (a directory cannot).
bool ReadFile(const char* path, std::string& content);

// Parses JSON text; returns false if it is not one JSON object. Empty text counts as an empty object. Throws
// std::bad_alloc.
bool ParseConfigurationFile(const std::string& content, ConfigurationFile& file);

}  // namespace portacl
