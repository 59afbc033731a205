// Profiles as traces that Chrome's viewer and Perfetto open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "profile/recorder.h"

namespace portacl::profile {

// A file that is written beside its place and put there when it is whole; without Finish nothing is left of it.
class WholeFile {
 public:
  // Takes over an open descriptor of `beside`, which it empties; -1: makes that file.
  WholeFile(std::string place, std::string beside, int descriptor = -1) noexcept;
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void Write(std::string_view text) noexcept;
  // 0, or errno of the first thing that went wrong.
  int Finish() noexcept;

 private:
  void Flush() noexcept;

  std::string place_;
  std::string beside_;
  std::string buffer_;
  int descriptor_ = -1;
  int error_ = 0;
};

// Writes a path from the root on, so that it means the same when the program has changed its folder. 0 or errno.
int MakeAbsolute(std::string& path);

// Writes the events, in Chrome's JSON. Throws std::bad_alloc.
void WriteTrace(const std::vector<Event>& events, WholeFile& file);

}  // namespace portacl::profile
