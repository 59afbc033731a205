// Profiles as traces that Chrome's viewer and Perfetto open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "profile/recorder.h"

namespace portacl::profile {

// A file that is written beside its final path and moved there when it is complete; without Finish nothing of
// it remains.
class WholeFile {
 public:
  // Takes over an open descriptor of `beside`, which it truncates, or creates that file if it is -1.
  WholeFile(std::string final_path, std::string beside, int descriptor = -1) noexcept;
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void Write(std::string_view text) noexcept;
  // Returns 0, or errno of the first failure.
  int Finish() noexcept;

 private:
  void Flush() noexcept;

  std::string final_path_;
  std::string beside_;
  std::string buffer_;
  int descriptor_ = -1;
  int error_ = 0;
};

// Makes a path absolute, so that it keeps its meaning when the program changes its folder. Returns 0 or
// errno.
int MakeAbsolute(std::string& path);

// Writes the events, in Chrome's JSON. Throws std::bad_alloc.
void WriteTrace(const std::vector<Event>& events, WholeFile& file);

}  // namespace portacl::profile
