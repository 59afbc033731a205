// Writes traces (see trace.h).
// SPDX-License-Identifier: Apache-2.0
#include "profile/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/process/cancellation.h"
#include "base/process/descriptor.h"

namespace portacl::profile {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;

// A trace shows devices as processes of their own, with numbers that no process has.
constexpr int64_t kFirstOfDevices = int64_t{1} << 32;
constexpr int64_t kMostDevices = 1024;
int64_t ProcessOf(int32_t device) noexcept {
  return kFirstOfDevices + static_cast<int64_t>(getpid()) * kMostDevices + device;
}

void AddQuoted(std::string& text, std::string_view what) {
  // Replaces invalid UTF-8 in a program's text, which readers of JSON refuse.
  text += nlohmann::json(what).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// Writes microseconds with three decimals: a trace's numbers are doubles, and these are exact.
void AddTime(std::string& text, uint64_t nanoseconds) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%llu.%03u", static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned>(nanoseconds % 1000));
  text += digits;
}

const char* CategoryOf(const Event& event) noexcept {
  const std::string_view name = event.name;
  if (event.kind == Kind::kCall) return "host";
  if (name.starts_with("Hccl")) return "communication";
  if (name.starts_with("aclnn") || name.starts_with("aclop")) return "operator";
  if (name.starts_with("aclrtMem")) return "memory";
  if (name.starts_with("aclmdlRI")) return "graph";
  return "runtime";
}

class Lines {
 public:
  explicit Lines(WholeFile& file) : file_(file) {}
  std::string& Next() {
    line_ = is_first_ ? "\n" : ",\n";
    is_first_ = false;
    return line_;
  }
  void Put() { file_.Write(line_); }

 private:
  WholeFile& file_;
  std::string line_;
  bool is_first_ = true;
};

void PutName(Lines& lines, const char* what, int64_t process, int64_t row, std::string_view name) {
  std::string& line = lines.Next();
  line.append("{\"ph\":\"M\",\"name\":\"").append(what).append("\",\"pid\":").append(std::to_string(process));
  line.append(",\"tid\":").append(std::to_string(row)).append(",\"args\":{\"name\":");
  AddQuoted(line, name);
  line += "}}";
  lines.Put();
}

void PutOrder(Lines& lines, int64_t process, int order) {
  std::string& line = lines.Next();
  line.append("{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":").append(std::to_string(process));
  line.append(",\"args\":{\"sort_index\":").append(std::to_string(order)).append("}}");
  lines.Put();
}

void PutSpan(Lines& lines, const Event& event, int64_t process, int64_t row) {
  std::string& line = lines.Next();
  line += "{\"ph\":\"X\",\"name\":";
  AddQuoted(line, event.name);
  line.append(",\"cat\":\"").append(event.kind == Kind::kRange ? "range" : CategoryOf(event));
  line.append("\",\"pid\":").append(std::to_string(process)).append(",\"tid\":").append(std::to_string(row));
  line += ",\"ts\":";
  AddTime(line, event.begin);
  line += ",\"dur\":";
  AddTime(line, event.end - event.begin);
  line += ",\"args\":{";
  if (event.kind == Kind::kTask) line.append("\"Task Id\":").append(std::to_string(event.correlation));
  if (event.arguments != nullptr) {
    if (event.kind == Kind::kTask) line += ',';
    line += *event.arguments;
  }
  line += "}}";
  lines.Put();
}

// Writes one end of the arrow from a call to its task.
void PutArrow(Lines& lines, const Event& task, bool is_end) {
  const int64_t process = is_end ? ProcessOf(task.device) : getpid();
  const int64_t row = is_end ? task.stream : static_cast<int64_t>(task.thread);
  std::string& line = lines.Next();
  line.append("{\"ph\":\"").append(is_end ? "f\",\"bp\":\"e" : "s");
  line.append("\",\"name\":\"HostToDevice\",\"cat\":\"HostToDevice\",\"id\":")
      .append(std::to_string(task.correlation));
  line.append(",\"pid\":").append(std::to_string(process)).append(",\"tid\":").append(std::to_string(row));
  line += ",\"ts\":";
  AddTime(line, is_end ? task.begin : task.submitted);
  line += '}';
  lines.Put();
}

void PutMemory(Lines& lines, const Event& event) {
  std::string& line = lines.Next();
  line.append("{\"ph\":\"C\",\"name\":\"device memory\",\"cat\":\"memory\",\"pid\":")
      .append(std::to_string(ProcessOf(event.device)));
  line += ",\"ts\":";
  AddTime(line, event.begin);
  line.append(",\"args\":{\"bytes\":").append(std::to_string(event.total)).append("}}");
  lines.Put();
}

void PutMark(Lines& lines, const Event& event) {
  std::string& line = lines.Next();
  line += "{\"ph\":\"i\",\"s\":\"t\",\"name\":";
  AddQuoted(line, event.name);
  line.append(",\"cat\":\"mark\",\"pid\":").append(std::to_string(getpid()));
  line.append(",\"tid\":").append(std::to_string(event.thread)).append(",\"ts\":");
  AddTime(line, event.begin);
  line += '}';
  lines.Put();
}

std::string NameOfProgram() {
  char name[64] = {};
  if (FILE* const file = std::fopen("/proc/self/comm", "re")) {
    if (std::fgets(name, sizeof name, file) == nullptr) name[0] = '\0';
    std::fclose(file);
  }
  std::string text = name;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

WholeFile::WholeFile(std::string final_path, std::string beside, int descriptor) noexcept
    : final_path_(std::move(final_path)), beside_(std::move(beside)), descriptor_(descriptor) {
  const CancellationDeferred deferred;
  if (descriptor_ < 0) descriptor_ = open(beside_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0 || ftruncate(descriptor_, 0) != 0) error_ = errno;
}

WholeFile::~WholeFile() {
  const CancellationDeferred deferred;
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(beside_.c_str());
}

void WholeFile::Write(std::string_view text) noexcept {
  if (error_ != 0) return;
  try {
    buffer_ += text;
  } catch (...) {
    error_ = ENOMEM;
    return;
  }
  if (buffer_.size() >= kBuffer) Flush();
}

void WholeFile::Flush() noexcept {
  const WriteSignals held_back;
  const CancellationDeferred deferred;
  const char* at = buffer_.data();
  size_t left = buffer_.size();
  while (left > 0 && error_ == 0) {
    const ssize_t written = write(descriptor_, at, left);
    if (written < 0) {
      if (errno != EINTR) error_ = errno;
      continue;
    }
    at += written;
    left -= static_cast<size_t>(written);
  }
  buffer_.clear();
}

int WholeFile::Finish() noexcept {
  const CancellationDeferred deferred;
  if (error_ == 0) Flush();
  if (error_ == 0 && rename(beside_.c_str(), final_path_.c_str()) != 0) error_ = errno;
  if (error_ != 0) return error_;
  close(descriptor_);
  descriptor_ = -1;
  return 0;
}

int MakeAbsolute(std::string& path) {
  if (path.starts_with('/')) return 0;
  const std::unique_ptr<char, decltype(&std::free)> folder(getcwd(nullptr, 0), std::free);
  if (folder == nullptr) return errno;
  path = std::string(folder.get()) + "/" + path;
  return 0;
}

void WriteTrace(const std::vector<Event>& events, WholeFile& file) {
  std::set<uint32_t> threads;
  std::set<std::pair<int32_t, int32_t>> streams;
  std::set<int32_t> devices;
  for (const Event& event : events) {
    if (event.kind == Kind::kTask) {
      streams.insert({event.device, event.stream});
      devices.insert(event.device);
      if (event.submitted != 0) threads.insert(event.thread);
    } else if (event.kind == Kind::kMemory) {
      devices.insert(event.device);
    } else {
      threads.insert(event.thread);
    }
  }
  file.Write(
      "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"made by\":\"portacl\",\"nanoseconds since 1970 at ts "
      "0\":\"");
  file.Write(std::to_string(SinceEpoch()));
  file.Write("\",\"events without room\":\"");
  file.Write(std::to_string(Dropped()));
  file.Write("\"},\"traceEvents\":[");
  Lines lines(file);
  PutName(lines, "process_name", getpid(), 0, "Host: " + NameOfProgram());
  PutOrder(lines, getpid(), 0);
  for (const uint32_t thread : threads) {
    const bool is_main = thread == static_cast<uint32_t>(getpid());
    PutName(lines, "thread_name", getpid(), thread,
            (is_main ? "main thread " : "thread ") + std::to_string(thread));
  }
  for (const int32_t device : devices) {
    PutName(lines, "process_name", ProcessOf(device), 0, "NPU " + std::to_string(device));
    PutOrder(lines, ProcessOf(device), device + 1);
  }
  for (const auto& [device, stream] : streams) {
    PutName(lines, "thread_name", ProcessOf(device), stream, "stream " + std::to_string(stream));
  }
  for (const Event& event : events) {
    switch (event.kind) {
      case Kind::kTask:
        PutSpan(lines, event, ProcessOf(event.device), event.stream);
        if (event.submitted == 0) break;
        PutArrow(lines, event, false);
        PutArrow(lines, event, true);
        break;
      case Kind::kMemory:
        PutMemory(lines, event);
        break;
      case Kind::kMark:
        PutMark(lines, event);
        break;
      default:
        PutSpan(lines, event, getpid(), event.thread);
    }
  }
  file.Write("\n]}\n");
}

}  // namespace portacl::profile
