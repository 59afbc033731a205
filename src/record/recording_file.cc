// Writes the file of a recording (see recording_file.h).
// SPDX-License-Identifier: Apache-2.0
#include "record/recording_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/log.h"
#include "base/process/cancellation.h"
#include "base/process/descriptor.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "record/frames.h"
#include "record/recording_settings.h"

namespace portacl::record {
namespace {

// The part of the limit that is reserved for the last frame.
constexpr uint64_t kForTheEnd = 512;
// The fraction of the limit after which tensors are no longer kept whole; the rest is for further calls.
constexpr double kForWholeTensors = 0.9;
constexpr size_t kMostStorages = 1 << 18;  // that are remembered; then addresses are numbered anew

struct File {
  std::mutex mutex;
  bool is_open = false;
  bool is_whole = false;
  Descriptor descriptor;
  std::string path;
  uint64_t bytes = 0;
  uint64_t calls = 0;
  int stacks = 0;
  int storages = 0;
  std::unordered_set<std::string> contents;
  std::unordered_map<std::string, int> stack_numbers;
  std::unordered_map<const void*, int> storage_numbers;
};

void InForkedChild();

File& TheFile() {
  static NoDestructor<File> file;
  static const bool registered = CallInForkedChild(InForkedChild);
  (void)registered;
  return *file;
}

// A forked process writes nothing into its parent's file. A thread that does not exist in the child may have
// held the mutex.
void InForkedChild() {
  File& file = TheFile();
  new (&file.mutex) std::mutex;
  file.descriptor.Forget();  // a lock lasts as long as any process has the file open
  if (file.is_open) is_recording.store(false, std::memory_order_relaxed);
}

void Say(LogLevel level, const std::string& sentence) noexcept {
  if (LogEnabled(level)) Log(level, ACL_SUCCESS, sentence);
}

// Writes a frame, or removes an incomplete one. Returns errno, or 0 for success.
int PutLocked(File& file, std::string_view frame) noexcept {
  const WriteSignals held_back;
  const CancellationDeferred deferred;
  const int number = file.descriptor.Get();
  if (number < 0) return EBADF;  // the program has closed it
  size_t done = 0;
  while (done < frame.size()) {
    const ssize_t count =
        pwrite(number, frame.data() + done, frame.size() - done, static_cast<off_t>(file.bytes + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = count == 0 ? ENOSPC : errno;
      (void)!ftruncate(number, static_cast<off_t>(file.bytes));
      return error;
    }
    done += static_cast<size_t>(count);
  }
  file.bytes += frame.size();
  return 0;
}

// Writes the last frame and closes the file.
void CloseLocked(File& file, const std::string& reason) noexcept {
  is_recording.store(false, std::memory_order_relaxed);
  if (!file.is_open) return;
  try {
    PutLocked(file, JsonFrame("DONE", R"({"reason":)" + Quoted(reason) + R"(,"calls":)" +
                                          std::to_string(file.calls) + "}"));
  } catch (...) {
    // without memory there is no last frame: a reader says so
  }
  file.descriptor.Forget();
}

// Returns false if recording has ended.
bool WriteLocked(File& file, std::string_view frame) {
  if (!IsOn()) return false;
  const int error = PutLocked(file, frame);
  if (error == 0) return true;
  const std::string sentence = file.path + " cannot be written: " + std::strerror(error) +
                               ": the recording ends after " + std::to_string(file.calls) + " calls";
  Say(LogLevel::kError, "portacl record: " + sentence);
  CloseLocked(file, sentence);
  return false;
}

const char* TextOf(Keep keep) noexcept {
  return keep == Keep::kAll ? "all" : keep == Keep::kSample ? "sample" : "summary";
}

std::string ProgramAsJson() {
  const CancellationDeferred deferred;
  std::ifstream line("/proc/self/cmdline", std::ios::binary);
  std::string text;
  for (std::string word; std::getline(line, word, '\0');) (text += text.empty() ? "" : ",") += Quoted(word);
  return std::string("[").append(text).append("]");
}

std::string Meta(const RecordingSettings& settings) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char time[40];
  std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S+00:00", &parts);
  utsname machine{};
  uname(&machine);
  const std::string limit = settings.limit == kNoLimit ? "null" : std::to_string(settings.limit);
  return R"({"format":1,"source":"aclnn","cann":"portacl )" PORTACL_VERSION R"(","program":)" +
         ProgramAsJson() + R"(,"time":")" + time + R"(","machine":)" + Quoted(machine.machine) +
         R"(,"keep":")" + TextOf(settings.keep) + R"(","limit":)" + limit + R"(,"process":)" +
         std::to_string(getpid()) + "}";
}

// Opens the file. Returns the reason if that fails, else "". Two processes never write one file: the second
// one gives up.
std::string OpenLocked(File& file) {
  const CancellationDeferred deferred;
  const RecordingSettings& settings = SettingsInForce();
  file.path = settings.path;
  for (const std::string_view placeholder : {"%p", "{pid}"}) {
    if (const size_t at = file.path.find(placeholder); at != std::string::npos)
      file.path.replace(at, placeholder.size(), std::to_string(getpid()));
  }
  const int opened = open(file.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (opened < 0) return std::strerror(errno);
  if (!file.descriptor.Custom(opened)) return std::strerror(EMFILE);
  const int number = file.descriptor.Get();
  struct stat found {};
  if (number < 0 || fstat(number, &found) != 0) return std::strerror(EBADF);
  if (!S_ISREG(found.st_mode)) return "it is no regular file";
  if (flock(number, LOCK_EX | LOCK_NB) != 0) return "another process records into it";
  if (ftruncate(number, 0) != 0) return std::strerror(errno);
  std::string start(kMagic);
  start += JsonFrame("META", Meta(settings));
  if (const int error = PutLocked(file, start)) return std::strerror(error);
  return "";
}

__attribute__((destructor)) void AtExit() {
  if (!IsOn()) return;
  const CancellationDeferred deferred;
  File& file = TheFile();
  const std::lock_guard lock(file.mutex);
  if (IsOn()) CloseLocked(file, "the program ended");
}

// The frames of a call stack as JSON.
struct StackText {
  std::string json;
  int count = 0;
};

void AddFrame(void* context, const char* text, const char* symbol) {
  auto& into = *static_cast<StackText*>(context);
  // "#2 function (file+0x12)" of a program, "file:3 in function" of Python.
  std::string_view line(text);
  std::string_view function(symbol);
  std::string_view location = line;
  long number = 0;
  if (line.starts_with('#')) {
    const size_t from = line.rfind('(');
    location = from == std::string_view::npos ? line.substr(line.find(' ') + 1) : line.substr(from + 1);
    if (location.ends_with(')')) location.remove_suffix(1);
  } else if (const size_t in = line.rfind(" in "); in != std::string_view::npos) {
    function = line.substr(in + 4);
    location = line.substr(0, in);
    const size_t colon = location.rfind(':');
    number = std::strtol(text + colon + 1, nullptr, 10);
    location = location.substr(0, colon);
  }
  if (into.count++ > 0) into.json += ",";
  into.json.append("[").append(Quoted(location)).append(",").append(std::to_string(number));
  into.json.append(",").append(Quoted(function)).append("]");
}

}  // namespace

bool OpenRecording() noexcept {
  const CancellationDeferred deferred;
  File& file = TheFile();
  const std::lock_guard lock(file.mutex);
  if (!IsOn()) return false;
  if (file.is_open) return true;
  std::string problem;
  try {
    PrepareCallStacks();
    PrepareCompression();
    file.is_whole = SettingsInForce().keep == Keep::kAll;
    problem = OpenLocked(file);
    file.is_open = problem.empty();
    if (file.is_open) return true;
    Say(LogLevel::kError,
        "portacl record: " + file.path + " cannot be written: " + problem + ": nothing is recorded");
  } catch (...) {
    // without memory nothing is recorded
  }
  is_recording.store(false, std::memory_order_relaxed);
  file.descriptor.Forget();
  return false;
}

int StackNumber(const CallStack& stack) {
  if (stack.IsEmpty()) return -1;
  std::string key(reinterpret_cast<const char*>(stack.frames), stack.frame_count * sizeof stack.frames[0]);
  for (int i = 0; i < stack.line_count; ++i) key.append(stack.lines[i]).push_back('\n');
  File& file = TheFile();
  {
    const std::lock_guard lock(file.mutex);
    const auto found = file.stack_numbers.find(key);
    if (found != file.stack_numbers.end()) return found->second;
  }
  StackText text;
  Describe(stack, {AddFrame, &text});  // which may wait for other locks
  const std::lock_guard lock(file.mutex);
  const auto [entry, is_new] = file.stack_numbers.emplace(key, file.stacks);
  if (is_new) {
    const std::string json = R"({"id":)" + std::to_string(file.stacks) + R"(,"frames":[)" + text.json + "]}";
    ++file.stacks;
    WriteLocked(file, JsonFrame("STCK", json));
  }
  return entry->second;
}

int StorageNumber(const void* address) {
  File& file = TheFile();
  const std::lock_guard lock(file.mutex);
  if (file.storage_numbers.size() >= kMostStorages) file.storage_numbers.clear();
  const auto [entry, is_new] = file.storage_numbers.emplace(address, file.storages);
  if (is_new) ++file.storages;
  return entry->second;
}

bool KeepsWhole(size_t bytes) {
  File& file = TheFile();
  const std::lock_guard lock(file.mutex);
  if (!file.is_whole) return false;
  const uint64_t limit = SettingsInForce().limit;
  if (limit == kNoLimit) return true;
  const auto most = static_cast<uint64_t>(kForWholeTensors * static_cast<double>(limit));
  if (file.bytes <= most && bytes <= most - file.bytes) return true;
  file.is_whole = false;
  const std::string sentence = std::to_string(file.bytes) + " bytes of the limit of " +
                               std::to_string(limit) + " are written: from call " +
                               std::to_string(file.calls) + " on tensors are kept as a hash and statistics";
  Say(LogLevel::kWarning, "portacl record: " + file.path + ": " + sentence);
  WriteLocked(file, JsonFrame("META", R"({"summaries_from":)" + std::to_string(file.calls) +
                                          R"(,"summaries_because":)" + Quoted(sentence) + "}"));
  return false;
}

std::string WriteContents(std::string_view bytes) {
  const ContentHash hash = Blake2b(bytes.data(), bytes.size());
  std::string name = HexOf(hash);
  File& file = TheFile();
  {
    const std::lock_guard lock(file.mutex);
    if (file.contents.contains(name)) return name;
  }
  const std::string frame = DataFrame(hash, bytes);
  const std::lock_guard lock(file.mutex);
  if (!file.contents.contains(name) && WriteLocked(file, frame)) file.contents.insert(name);
  return name;
}

void WriteCall(std::string_view json) {
  File& file = TheFile();
  const std::lock_guard lock(file.mutex);
  if (!IsOn()) return;
  const std::string frame =
      JsonFrame("CALL", R"({"index":)" + std::to_string(file.calls) + "," + std::string(json));
  const uint64_t limit = SettingsInForce().limit;
  if (limit != kNoLimit && file.bytes + frame.size() + kForTheEnd > limit) {
    const std::string sentence = "the limit of " + std::to_string(limit) + " bytes is reached after " +
                                 std::to_string(file.calls) + " calls: the recording ends here";
    Say(LogLevel::kWarning, "portacl record: " + file.path + ": " + sentence);
    CloseLocked(file, sentence);
    return;
  }
  if (WriteLocked(file, frame)) ++file.calls;
}

}  // namespace portacl::record
