// Writes the profile of a whole process (see to_file.h).
// SPDX-License-Identifier: Apache-2.0
#include "profile/to_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "base/log.h"
#include "base/process/cancellation.h"
#include "base/process/descriptor.h"
#include "base/process/fork.h"
#include "base/process/immortal.h"
#include "profile/recorder.h"
#include "profile/trace.h"

namespace portacl::profile {
namespace {

struct Place {
  std::string value;  // of the variable
  std::string path;
  std::string beside;     // the file that is written first; open and locked unless the program closes it
  Descriptor descriptor;  // of it
  int error = 0;
};

Place& ThePlace() noexcept {
  static Immortal<Place> place;
  return *place;
}

constinit bool writes_at_exit = false;

// Forgets the file in a forked child; it belongs to the parent.
void AfterFork() noexcept {
  const CancellationDeferred deferred;
  writes_at_exit = false;
  ThePlace().descriptor.Forget();
}

// Opens PATH.part; returns false if another process writes there.
bool Open(Place& place, const std::string& path) {
  const CancellationDeferred deferred;
  place.path = path;
  struct stat found {};
  if (stat(path.c_str(), &found) == 0) {
    if (!S_ISREG(found.st_mode)) {
      place.error = S_ISDIR(found.st_mode) ? EISDIR : EINVAL;
      return true;
    }
    // Keeps a symbolic link and replaces its target.
    if (char* const real = realpath(path.c_str(), nullptr)) {
      const std::unique_ptr<char, decltype(&std::free)> owned(real, std::free);
      place.path = real;
    }
  }
  place.beside = place.path + ".part";
  const int opened = open(place.beside.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (opened < 0) {
    place.error = errno;
    return true;
  }
  if (!place.descriptor.Own(opened)) {
    place.error = EMFILE;
    return true;
  }
  if (flock(place.descriptor.Get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
  place.descriptor.Forget();
  return false;
}

void Begin() noexcept {
  const char* const value = std::getenv("PORTACL_PROFILE");
  if (value == nullptr || value[0] == '\0') return;
  Place& place = ThePlace();
  const std::string process = std::to_string(getpid());
  try {
    place.value = value;
    std::string path = value;
    if (const size_t at = path.find("%p"); at != std::string::npos) path.replace(at, 2, process);
    place.error = MakeAbsolute(path);
    if (place.error == 0 && !Open(place, path)) {
      // A parent process writes to the same path, so that this one writes a file beside it.
      const size_t dot = path.rfind('.');
      const size_t slash = path.rfind('/');
      const bool has_suffix = dot != std::string::npos && (slash == std::string::npos || dot > slash);
      path.insert(has_suffix ? dot : path.size(), "-" + process);
      if (!Open(place, path)) place.error = EWOULDBLOCK;
    }
  } catch (...) {
    place.error = ENOMEM;
  }
  if (place.error != 0) return;
  writes_at_exit = Start(User::kFile) && CallInForkedChild(AfterFork);
}

// Runs when this library ends, like the reports of checks.
__attribute__((destructor)) void AtExit() {
  if (!writes_at_exit) return;
  writes_at_exit = false;
  const CancellationDeferred deferred;
  Stop(User::kFile);
  Place& place = ThePlace();
  int error = ENOMEM;
  try {
    // A program that closed its descriptors closed this one, too, and another process may write there by now.
    if (place.descriptor.Get() < 0 && !Open(place, std::string(place.path))) place.error = EWOULDBLOCK;
    error = place.error;
    if (error == 0) {
      WholeFile file(place.path, place.beside, place.descriptor.Get());
      WriteTrace(Take(User::kFile), file);
      error = file.Finish();
    }
  } catch (...) {
    // reported below
  }
  if (error != 0 && LogEnabled(LogLevel::kError)) {
    Log(LogLevel::kError, ACL_ERROR_PROFILING_FAILURE,
        Text("PORTACL_PROFILE: the profile was not written to ", place.path.c_str(), ": ",
             strerrordesc_np(error))
            .view());
  }
}

}  // namespace

bool StartFile(Text* value, Text* why) noexcept {
  static std::once_flag once;
  std::call_once(once, Begin);
  const Place& place = ThePlace();
  if (place.error == 0) return true;
  value->Add(std::string_view(place.value));
  why->Add("a file that can be written (").Add(strerrordesc_np(place.error)).Add(")");
  return false;
}

}  // namespace portacl::profile
