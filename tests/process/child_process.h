// Runs a piece of a test in a forked process: with a state of its own, and able to fail without ending the test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/patience.h"

namespace portacl::testing {

struct ChildResult {
  bool exited = false;  // and not killed by a signal
  int code = -1;        // the exit code, or the signal's number
  std::string out;
  std::string err;

  bool Succeeded() const { return exited && code == 0; }
};

inline std::string DrainFile(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  std::fclose(file);
  return text;
}

// body() runs in a child, whose exit code is what it returns; what it writes to standard output and standard error
// comes back. A child that has not ended after `seconds` is ended by SIGALRM.
template <class Body>
ChildResult InChild(const Body& body, unsigned seconds = kPatienceSeconds) {
  ChildResult result;
  std::FILE* const out = std::tmpfile();
  std::FILE* const err = std::tmpfile();
  if (out == nullptr || err == nullptr) return result;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    alarm(seconds);
    const int code = body();
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child) {
    result.exited = WIFEXITED(status);
    result.code = result.exited ? WEXITSTATUS(status) : WTERMSIG(status);
  }
  result.out = DrainFile(out);
  result.err = DrainFile(err);
  return result;
}

}  // namespace portacl::testing
