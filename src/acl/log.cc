// Log lines to standard output or to files under the log root (see log.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "acl/fork.h"
#include "acl/immortal.h"

namespace portacl {
namespace {

struct Sink {
  std::mutex mutex;
  LogConfiguration configuration;
  int file = -1;
  pid_t file_owner = 0;
};

Sink& TheSink() {
  static Immortal<Sink> sink;
  static const bool guarded = GuardAcrossFork(sink->mutex, ForkRank::kLog);
  (void)guarded;
  return *sink;
}

// The level from which lines go somewhere; kNone while nothing asks for a log.
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

// "operator log level": the module's own level beats the global one.
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

// Opens the process's log file; a forked child gets its own.
int LogFile(Sink& sink) {
  if (sink.configuration.directory[0] == '\0') return -1;
  if (sink.file >= 0 && sink.file_owner == getpid()) return sink.file;
  Text directory(sink.configuration.directory, "/debug/plog");
  char path[Text::kCapacity];
  std::memcpy(path, directory.c_str(), directory.view().size() + 1);
  MakeDirectories(path);
  Text stamp;
  const Text now = LogTime();
  for (char c : now.view()) {
    if (c >= '0' && c <= '9') stamp.Add(c);
  }
  const Text name(path, "/plog-", static_cast<long>(getpid()), "_", stamp.view(), ".log");
  sink.file = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  sink.file_owner = getpid();
  return sink.file;
}

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
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
  // The new name wins over the deprecated one whenever it is set.
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
  if (sink.file >= 0 && !(sink.configuration == configuration)) {
    close(sink.file);
    sink.file = -1;
  }
  sink.configuration = configuration;
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
  const int fd = sink.configuration.to_stdout ? STDOUT_FILENO : LogFile(sink);
  if (fd < 0) return;
  WriteAll(fd, line.view());
  WriteAll(fd, message);
  WriteAll(fd, "\n");
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
