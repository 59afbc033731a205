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
#include "base/process/no_destructor.h"
#include "profile/recorder.h"
#include "profile/trace.h"

namespace portacl::profile {
namespace {

struct OutputFile {
  std::string value;  // of the variable
  std::string path;
  std::string beside;     // the file that is written first; open and locked unless the program closes it
  Descriptor descriptor;  // of it
  int error = 0;
};

OutputFile& TheOutputFile() noexcept {
  static NoDestructor<OutputFile> output;
  return *output;
}

constinit bool writes_at_exit = false;

// Forgets the file in a forked child; it belongs to the parent.
void AfterFork() noexcept {
  const CancellationDeferred deferred;
  writes_at_exit = false;
  TheOutputFile().descriptor.Forget();
}

// Opens PATH.part; returns false if another process writes there.
bool Open(OutputFile& output, const std::string& path) {
  const CancellationDeferred deferred;
  output.path = path;
  struct stat found {};
  if (stat(path.c_str(), &found) == 0) {
    if (!S_ISREG(found.st_mode)) {
      output.error = S_ISDIR(found.st_mode) ? EISDIR : EINVAL;
      return true;
    }
    // Keeps a symbolic link and replaces its target.
    if (char* const real = realpath(path.c_str(), nullptr)) {
      const std::unique_ptr<char, decltype(&std::free)> owned(real, std::free);
      output.path = real;
    }
  }
  output.beside = output.path + ".part";
  const int opened = open(output.beside.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (opened < 0) {
    output.error = errno;
    return true;
  }
  if (!output.descriptor.Custom(opened)) {
    output.error = EMFILE;
    return true;
  }
  if (flock(output.descriptor.Get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
  output.descriptor.Forget();
  return false;
}

void Begin() noexcept {
  const char* const value = std::getenv("PORTACL_PROFILE");
  if (value == nullptr || value[0] == '\0') return;
  OutputFile& output = TheOutputFile();
  const std::string process = std::to_string(getpid());
  try {
    output.value = value;
    std::string path = value;
    if (const size_t at = path.find("%p"); at != std::string::npos) path.replace(at, 2, process);
    output.error = MakeAbsolute(path);
    if (output.error == 0 && !Open(output, path)) {
      // A parent process writes to the same path, so that this one writes a file beside it.
      const size_t dot = path.rfind('.');
      const size_t slash = path.rfind('/');
      const bool has_suffix = dot != std::string::npos && (slash == std::string::npos || dot > slash);
      path.insert(has_suffix ? dot : path.size(), "-" + process);
      if (!Open(output, path)) output.error = EWOULDBLOCK;
    }
  } catch (...) {
    output.error = ENOMEM;
  }
  if (output.error != 0) return;
  writes_at_exit = Start(User::kFile) && CallInForkedChild(AfterFork);
}

// Runs when this library ends, like the reports of checks.
__attribute__((destructor)) void AtExit() {
  if (!writes_at_exit) return;
  writes_at_exit = false;
  const CancellationDeferred deferred;
  Stop(User::kFile);
  OutputFile& output = TheOutputFile();
  int error = ENOMEM;
  try {
    // A program that closed its descriptors closed this one, too, and another process may write there by now.
    if (output.descriptor.Get() < 0 && !Open(output, std::string(output.path))) output.error = EWOULDBLOCK;
    error = output.error;
    if (error == 0) {
      WholeFile file(output.path, output.beside, output.descriptor.Get());
      WriteTrace(Take(User::kFile), file);
      error = file.Finish();
    }
  } catch (...) {
    // reported below
  }
  if (error != 0 && LogEnabled(LogLevel::kError)) {
    Log(LogLevel::kError, ACL_ERROR_PROFILING_FAILURE,
        Text("PORTACL_PROFILE: the profile was not written to ", output.path.c_str(), ": ",
             strerrordesc_np(error))
            .view());
  }
}

}  // namespace

bool StartFile(Text* value, Text* why) noexcept {
  static std::once_flag once;
  std::call_once(once, Begin);
  const OutputFile& output = TheOutputFile();
  if (output.error == 0) return true;
  value->Add(std::string_view(output.value));
  why->Add("a file that can be written (").Add(strerrordesc_np(output.error)).Add(")");
  return false;
}

}  // namespace portacl::profile
