// Log lines to standard output or to files under the log root (see log.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <mutex>

#include "base/process/cancellation.h"
#include "base/process/descriptor.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl {
namespace {

struct Sink {
  std::mutex mutex;
  LogConfiguration configuration;
  Descriptor standard_output;     // a copy from the time when the configuration came into force
  Descriptor file;                // of this process
  pid_t file_owner = 0;           // process that owns the file at `path`
  char directory[PATH_MAX] = {};  // of the log files; absolute, since the program may change its directory
  char path[PATH_MAX] = {};       // of the file
};

Sink& TheSink() {
  static NoDestructor<Sink> sink;
  static const bool guarded = GuardAcrossFork(sink->mutex, ForkRank::kLog);
  (void)guarded;
  return *sink;
}

// The lowest level that is written; kNone while nothing asks for a log.
std::atomic<int> active_level{static_cast<int>(LogLevel::kNone)};
std::atomic<unsigned long> api_sequence{0};
thread_local const char* current_api = nullptr;

const char* LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    default:
      return "ERROR";
  }
}

// Reads the "operator log level": the module's own level overrides the global one.
int LevelFromEnvironment() {
  int level = static_cast<int>(LogLevel::kError);
  const char* global = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
  if (global != nullptr && global[0] >= '0' && global[0] <= '4' && global[1] == '\0') level = global[0] - '0';
  const char* modules = std::getenv("ASCEND_MODULE_LOG_LEVEL");
  for (const char* p = modules; p != nullptr && *p != '\0';) {
    if (std::strncmp(p, "OP=", 3) == 0 && p[3] >= '0' && p[3] <= '4' && (p[4] == '\0' || p[4] == ':')) {
      level = p[3] - '0';
    }
    p = std::strchr(p, ':');
    if (p != nullptr) ++p;
  }
  return level;
}

void MakeDirectories(char* path) {
  for (char* p = path + 1; *p != '\0'; ++p) {
    if (*p != '/') continue;
    *p = '\0';
    mkdir(path, 0750);
    *p = '/';
  }
  mkdir(path, 0750);
}

// Joins the parts to a path; returns false if it is too long.
bool JoinPath(char (&path)[PATH_MAX], std::initializer_list<std::string_view> parts) {
  size_t size = 0;
  for (const std::string_view part : parts) {
    if (part.size() >= PATH_MAX - size) return false;
    std::memcpy(path + size, part.data(), part.size());
    size += part.size();
  }
  path[size] = '\0';
  return true;
}

// Returns the process's log file, or -1 if there is none. It is opened when it is first needed, and again if
// the program has closed it; a forked child gets its own.
int LogFile(Sink& sink) {
  if (sink.directory[0] == '\0') return -1;
  const pid_t process = getpid();
  if (sink.file_owner == process) {
    const int number = sink.file.Get();
    if (number >= 0) return number;
  }
  const CancellationDeferred deferred;
  sink.file.Forget();
  MakeDirectories(sink.directory);
  if (sink.file_owner != process) {
    Text stamp;
    const Text now = LogTime();
    for (char c : now.view()) {
      if (c >= '0' && c <= '9') stamp.Add(c);
    }
    const Text name("/plog-", static_cast<long>(process), "_", stamp.view(), ".log");
    if (!JoinPath(sink.path, {sink.directory, name.view()})) return -1;
    sink.file_owner = process;
  }
  sink.file.Custom(open(sink.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  return sink.file.Get();
}

// Writes the parts at once. An incomplete line is removed from a file of the library's own.
void WriteLine(int fd, bool is_own, std::initializer_list<std::string_view> parts) {
  const WriteSignals held_back;
  const CancellationDeferred deferred;
  iovec rest[3];
  int first = 0;
  int count = 0;
  for (const std::string_view part : parts) rest[count++] = {const_cast<char*>(part.data()), part.size()};
  size_t written = 0;
  while (first < count) {
    const ssize_t n = writev(fd, rest + first, count - first);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    written += static_cast<size_t>(n);
    for (auto left = static_cast<size_t>(n); first < count;) {
      const size_t done = std::min(left, rest[first].iov_len);
      left -= done;
      rest[first] = {static_cast<char*>(rest[first].iov_base) + done, rest[first].iov_len - done};
      if (rest[first].iov_len > 0) break;
      ++first;
    }
  }
  if (first == count || written == 0 || !is_own) return;
  const off_t end = lseek(fd, 0, SEEK_END);
  if (end >= static_cast<off_t>(written)) (void)!ftruncate(fd, end - static_cast<off_t>(written));
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

void AddPadded(Text& text, long value, int width) {
  long bound = 10;
  for (int i = 1; i < width; ++i, bound *= 10) {
    if (value < bound) text.Add('0');
  }
  text.Add(value);
}

bool IsOne(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

}  // namespace

LogConfiguration LogConfigurationFromEnvironment() noexcept {
  LogConfiguration configuration;
  configuration.level = static_cast<LogLevel>(LevelFromEnvironment());
  // The new name overrides the deprecated one whenever it is set.
  configuration.to_stdout = std::getenv("ASCEND_LOG_PRINT_TO_STDOUT") != nullptr
                                ? IsOne("ASCEND_LOG_PRINT_TO_STDOUT")
                                : IsOne("ASCEND_SLOG_PRINT_TO_STDOUT");
  const char* root = std::getenv("ASCEND_PROCESS_LOG_PATH");
  const char* tail = "";
  if (root == nullptr || root[0] == '\0') {
    root = std::getenv("ASCEND_WORK_PATH");
    tail = "/log";
  }
  if (root != nullptr && root[0] != '\0' &&
      std::strlen(root) + std::strlen(tail) < sizeof configuration.directory) {
    std::strcpy(configuration.directory, root);
    std::strcat(configuration.directory, tail);
  }
  return configuration;
}

void SetLogConfiguration(const LogConfiguration& configuration) noexcept {
  Sink& sink = TheSink();
  std::lock_guard lock(sink.mutex);
  if (!(sink.configuration == configuration)) {
    sink.file.Forget();
    sink.file_owner = 0;
    sink.directory[0] = '\0';
  }
  sink.configuration = configuration;
  if (configuration.to_stdout) sink.standard_output.Borrow(STDOUT_FILENO);
  if (configuration.directory[0] != '\0' && sink.directory[0] == '\0') {
    char here[PATH_MAX] = {};
    const bool is_whole = configuration.directory[0] == '/';
    if ((!is_whole && getcwd(here, sizeof here) == nullptr) ||
        !JoinPath(sink.directory, {here, is_whole ? "" : "/", configuration.directory, "/debug/plog"})) {
      sink.directory[0] = '\0';
    }
  }
  const bool wanted = configuration.to_stdout || configuration.directory[0] != '\0';
  active_level.store(wanted ? static_cast<int>(configuration.level) : static_cast<int>(LogLevel::kNone),
                     std::memory_order_relaxed);
}

bool LogEnabled(LogLevel level) noexcept {
  return static_cast<int>(level) >= active_level.load(std::memory_order_relaxed) && level != LogLevel::kNone;
}

void Log(LogLevel level, aclError status, std::string_view message, SourceSite site) noexcept {
  if (!LogEnabled(level)) return;
  Text line("[", LevelName(level), "] OP(", static_cast<long>(getpid()), ",", program_invocation_short_name,
            "):", LogTime().view(), " [", BaseName(site.file), ":", site.line, "][NNOP][", site.function,
            "][", static_cast<long>(syscall(SYS_gettid)), "] ");
  if (status != 0) line.Add("errno[").Add(status).Add("] ");
  if (current_api != nullptr) {
    line.Add("OpName:[")
        .Add(current_api)
        .Add("_")
        .Add(api_sequence.fetch_add(1, std::memory_order_relaxed))
        .Add("] ");
  }
  Sink& sink = TheSink();
  std::lock_guard lock(sink.mutex);
  const bool is_own = !sink.configuration.to_stdout;
  const int fd = is_own ? LogFile(sink) : sink.standard_output.Get();
  if (fd >= 0) WriteLine(fd, is_own, {line.view(), message, "\n"});
}

Text LogTime() noexcept {
  timeval now{};
  gettimeofday(&now, nullptr);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  Text text;
  AddPadded(text, local.tm_year + 1900L, 4);
  AddPadded(text.Add('-'), local.tm_mon + 1L, 2);
  AddPadded(text.Add('-'), local.tm_mday, 2);
  AddPadded(text.Add('-'), local.tm_hour, 2);
  AddPadded(text.Add(':'), local.tm_min, 2);
  AddPadded(text.Add(':'), local.tm_sec, 2);
  AddPadded(text.Add('.'), now.tv_usec / 1000, 3);
  AddPadded(text.Add('.'), now.tv_usec % 1000, 3);
  return text;
}

ApiScope::ApiScope(const char* api) noexcept : outer_(current_api) { current_api = api; }
ApiScope::~ApiScope() { current_api = outer_; }

const char* CurrentApi() noexcept { return current_api; }

}  // namespace portacl
