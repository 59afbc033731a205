// Collects findings and writes them, as text and as JSON (see report.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/report.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl::sanitizer {
namespace {

struct Location {
  std::string label;
  std::vector<std::string> lines;
};

struct Collected {
  std::string part, kind, function, what, mend, subject;
  bool is_warning = false;
  uint64_t times = 1;
  std::vector<Location> locations;
};

// The most findings that are kept; nobody reads more, but they are counted.
constexpr size_t kMostCollected = 1000;

struct Reports {
  std::mutex mutex;
  std::vector<std::string> suppressions;
  std::vector<Collected> findings;
  std::unordered_map<std::string, size_t> by_location;
  uint64_t suppressed = 0;
  uint64_t beyond = 0;
  int errors = 0;
  int warnings = 0;
  std::string file;
  pid_t process = 0;
  bool is_written = false;
};

bool tells_at_exit = false;

void AfterFork();

Reports& TheReports() {
  static NoDestructor<Reports> reports;
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  return *reports;
}

// A thread that does not exist in the child may have held the mutex.
void AfterFork() { new (&TheReports().mutex) std::mutex; }

void WriteText(std::string_view text) noexcept {
  const CancellationDeferred deferred;
  while (!text.empty()) {
    const ssize_t done = write(STDERR_FILENO, text.data(), text.size());
    if (done <= 0) return;
    text.remove_prefix(static_cast<size_t>(done));
  }
}

std::string TextOf(const Collected& finding) {
  std::string text = "portacl check: " + std::string(finding.is_warning ? "warning" : "error") + " " +
                     finding.kind + " in " + finding.function + ": " + finding.what + "\n";
  if (!finding.mend.empty()) text += "  mend: " + finding.mend + "\n";
  for (const Location& location : finding.locations) {
    text += "  " + location.label + ":\n";
    for (const std::string& line : location.lines) text += "    " + line + "\n";
  }
  return text;
}

nlohmann::json JsonOf(const Collected& finding) {
  nlohmann::json locations = nlohmann::json::array();
  for (const Location& location : finding.locations)
    locations.push_back({{"label", location.label}, {"stack", location.lines}});
  return {{"part", finding.part},
          {"kind", finding.kind},
          {"certainty", finding.is_warning ? "warning" : "error"},
          {"function", finding.function},
          {"subject", finding.subject},
          {"message", finding.what},
          {"mend", finding.mend},
          {"times", finding.times},
          {"places", std::move(locations)}};
}

void WriteFileLocked(Reports& reports) {
  const CancellationDeferred deferred;
  if (reports.file.empty()) return;
  nlohmann::json findings = nlohmann::json::array();
  for (const Collected& one : reports.findings) findings.push_back(JsonOf(one));
  const nlohmann::json whole = {{"process", static_cast<int>(getpid())}, {"errors", reports.errors},
                                {"warnings", reports.warnings},          {"suppressed", reports.suppressed},
                                {"not_listed", reports.beyond},          {"findings", std::move(findings)}};
  // A name with %p gives one file for each process.
  std::string path = reports.file;
  if (const size_t at = path.find("%p"); at != std::string::npos)
    path.replace(at, 2, std::to_string(getpid()));
  std::ofstream out(path);
  out << whole.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

// Writes the collected findings when the process ends normally. It is a destructor of this library, because
// atexit would keep it loaded. A forked child does not repeat its parent's findings.
__attribute__((destructor)) void AtExit() {
  if (!tells_at_exit) return;
  const CancellationDeferred deferred;
  Reports& reports = TheReports();
  int errors = 0;
  try {
    std::lock_guard lock(reports.mutex);
    if (reports.is_written || reports.process != getpid()) return;
    reports.is_written = true;
    errors = reports.errors;
    WriteFileLocked(reports);
    std::string text = "portacl check: " + std::to_string(reports.errors) + " errors, " +
                       std::to_string(reports.warnings) + " warnings";
    if (reports.suppressed > 0) text += ", " + std::to_string(reports.suppressed) + " suppressed";
    text += "\n";
    for (const Collected& one : reports.findings) {
      text += "  " + std::string(one.is_warning ? "warning " : "error ") + one.kind + " in " + one.function +
              (one.times > 1 ? ", " + std::to_string(one.times) + " times" : "") + "\n";
    }
    WriteText(text);
  } catch (...) {
    // without memory there is no summary
  }
  if (errors > 0) {
    std::fflush(nullptr);
    _exit(kExitCode);
  }
}

Collected CollectedOf(const Finding& finding, bool* is_suppressed, const Reports& reports) {
  Collected collected;
  collected.part = NameOf(finding.part);
  collected.kind = finding.kind;
  collected.function = finding.function;
  collected.what = finding.what.view();
  collected.mend = finding.mend.view();
  collected.subject = Text(finding.subject).view();
  collected.is_warning = finding.certainty == Certainty::kWarning;
  const auto suppresses = [&](const char* symbol) {
    for (const std::string& line : reports.suppressions) {
      if (IsSuppressedBy(line.c_str(), finding.kind, symbol)) *is_suppressed = true;
    }
  };
  suppresses(finding.function);
  for (const RelatedLocation& location : finding.locations) {
    if (location.stack == nullptr || location.stack->IsEmpty()) continue;
    struct Context {
      Location location;
      const decltype(suppresses)* suppressed;
    } context{{std::string(location.label.view()), {}}, &suppresses};
    Describe(*location.stack, {[](void* to, const char* text, const char* symbol) {
                                 auto& into = *static_cast<Context*>(to);
                                 into.location.lines.emplace_back(text);
                                 (*into.suppressed)(symbol);
                               },
                               &context});
    collected.locations.push_back(std::move(context.location));
  }
  return collected;
}

std::string KeyOf(const Finding& finding) {
  std::string key = std::string(finding.kind) + "|" + finding.function;
  const CallStack* const stack = finding.locations[0].stack;
  if (stack == nullptr) return key;
  key.append(reinterpret_cast<const char*>(stack->frames), stack->frame_count * sizeof(void*));
  key.append(reinterpret_cast<const char*>(stack->lines), stack->line_count * sizeof(char*));
  return key;
}

// The caller holds the lock.
void ReportLocked(Reports& reports, const Finding& finding) {
  const std::string key = KeyOf(finding);
  const auto known = reports.by_location.find(key);
  if (known != reports.by_location.end()) {
    if (known->second < reports.findings.size()) {
      ++reports.findings[known->second].times;
    } else if (known->second == SIZE_MAX) {
      ++reports.suppressed;
    }
    return;
  }
  bool is_suppressed = false;
  Collected collected = CollectedOf(finding, &is_suppressed, reports);
  if (is_suppressed) {
    ++reports.suppressed;
    reports.by_location.emplace(key, SIZE_MAX);
    return;
  }
  (collected.is_warning ? reports.warnings : reports.errors) += 1;
  if (reports.findings.size() == kMostCollected) {
    ++reports.beyond;
    reports.by_location.emplace(key, SIZE_MAX - 1);
    return;
  }
  WriteText(TextOf(collected));
  const bool ends = StopsAtFirst() && !collected.is_warning;
  reports.findings.push_back(std::move(collected));
  reports.by_location.emplace(key, reports.findings.size() - 1);
  if (!ends) return;
  reports.is_written = true;
  WriteFileLocked(reports);
  WriteText("portacl check: stopped at the first error; PORTACL_CHECK=report goes on and collects them\n");
  _exit(kExitCode);
}

}  // namespace

void Report(const Finding& finding) noexcept {
  if ((PartsInForce() & finding.part) == 0) return;
  const CancellationDeferred deferred;
  if (StopsAtFirst() && finding.certainty == Certainty::kError) std::fflush(stdout);
  try {
    Reports& reports = TheReports();
    std::lock_guard lock(reports.mutex);
    ReportLocked(reports, finding);
  } catch (...) {
    WriteText("portacl check: a finding is lost for want of memory\n");
    if (StopsAtFirst()) _exit(kExitCode);
  }
}

void ReportFromSignal(const Finding& finding) noexcept {
  if ((PartsInForce() & finding.part) == 0) return;
  // Written before anything that allocates memory, which the interrupted thread may have been doing.
  WriteText("portacl check: ");
  WriteText(finding.what.view());
  WriteText("\n");
  // Gives up after a while: another thread finishes its report soon, but the interrupted thread never would.
  constexpr int kMostAttempts = 5000;
  const CancellationDeferred deferred;
  Reports& reports = TheReports();
  std::unique_lock lock(reports.mutex, std::try_to_lock);
  for (int i = 0; i < kMostAttempts && !lock.owns_lock(); ++i) {
    const timespec millisecond{0, 1'000'000};
    nanosleep(&millisecond, nullptr);
    (void)lock.try_lock();
  }
  if (!lock.owns_lock()) _exit(kExitCode);
  try {
    ReportLocked(reports, finding);
  } catch (...) {
    _exit(kExitCode);
  }
}

int CountOf(Certainty certainty) noexcept {
  Reports& reports = TheReports();
  std::lock_guard lock(reports.mutex);
  return certainty == Certainty::kError ? reports.errors : reports.warnings;
}

void StartReports(bool stops) noexcept {
  const CancellationDeferred deferred;
  PrepareCallStacks();
  try {
    Reports& reports = TheReports();
    reports.process = getpid();
    if (const char* file = std::getenv("PORTACL_CHECK_FILE")) reports.file = file;
    if (const char* path = std::getenv("PORTACL_CHECK_SUPPRESSIONS"); path != nullptr && path[0] != '\0') {
      std::ifstream lines(path);
      if (!lines) {
        WriteText("portacl check: PORTACL_CHECK_SUPPRESSIONS names a file that cannot be read: ");
        WriteText(path);
        WriteText("\n");
        _exit(kExitCode);
      }
      for (std::string line; std::getline(lines, line);) {
        line.resize(std::min(line.find('#'), line.size()));
        while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.pop_back();
        if (!line.empty()) reports.suppressions.push_back(line);
      }
    }
    tells_at_exit = !stops || !reports.file.empty();
  } catch (...) {
    WriteText("portacl check: not enough memory to collect findings\n");
  }
}

bool IsSuppressedBy(const char* line, const char* kind, const char* symbol) noexcept {
  const char* const colon = std::strchr(line, ':');
  // A double colon belongs to a C++ name.
  if (colon != nullptr && colon[1] != ':') {
    char wanted[64] = "";
    const auto size = static_cast<size_t>(colon - line);
    if (size >= sizeof wanted) return false;
    std::memcpy(wanted, line, size);
    if (fnmatch(wanted, kind, 0) != 0) return false;
    line = colon + 1;
  }
  if (fnmatch(line, symbol, 0) == 0) return true;
  // The function's name without the part in parentheses.
  char name[256];
  const size_t size = std::min(std::strcspn(symbol, "("), sizeof name - 1);
  std::memcpy(name, symbol, size);
  name[size] = '\0';
  return symbol[0] != '\0' && fnmatch(line, name, 0) == 0;
}

}  // namespace portacl::sanitizer
