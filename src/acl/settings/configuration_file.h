// The JSON file that aclInit may be given: the keys that mean something here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace portacl {

// Each value as the file writes it: a number's digits or a string's content; other kinds of values as their
// JSON kind in brackets. Absent where the file does not have the key.
struct ConfigurationFile {
  std::optional<std::string> err_msg_mode;
  std::optional<std::string> default_device;  // defaultDevice.default_device
  bool has_default_device_object = false;     // the key defaultDevice, whatever is in it
};

// Reads a whole file; false when it cannot be read (a directory cannot). errno says why.
bool ReadFile(const char* path, std::string& content);

// Parses JSON text; false when it is not one JSON object. Empty text counts as an empty object. Throws
// std::bad_alloc.
bool ParseConfigurationFile(const std::string& content, ConfigurationFile& file);

}  // namespace portacl
