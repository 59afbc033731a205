// Calls of a recording that PyTorch makes on a device npu whose memory the host can read: they are handed over
// as they are made, and completed and written by the thread that launches the device's work, in its order. So
// the program goes on while tensors are summarised.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "record/deferred_calls.h"
#include "record/frames.h"
#include "record/summary.h"

namespace portacl::record {
namespace {

// Functions of torch_npu and of acl/acl_rt.h, as their headers declare them. The first is
// at_npu::native::OpCommand::RunOpApi: it calls the handler in the order of the operators that were called
// before it, on torch_npu's thread for launches where there is one.
using RunOpApi = void (*)(const std::string& name, std::function<int()> handler, bool sync);
using CreateEvent = int (*)(void** event);
using RecordEvent = int (*)(void* event, void* stream);
using SynchronizeEvent = int (*)(void* event);
using DestroyEvent = int (*)(void* event);

// Python reads it while calls are written; _deferring.py declares the same.
struct State {
  std::int64_t bytes;    // of the file
  std::int64_t calls;    // that are written
  std::int64_t pending;  // handed over, and not done
  std::int32_t failure;  // errno of a write; nothing is written after it
  std::int32_t is_full;  // the limit is reached; no call is written after it
};

constexpr char kMark = '\1';                           // begins the number of a summary in a text
constexpr char kMarkEnd = '\2';                        // ends it
constexpr std::size_t kRemembered = 131072;            // summaries; Python names far younger ones
constexpr std::size_t kStored = std::size_t{1} << 14;  // as in _frames.py
constexpr std::size_t kFrameHeader = 16;
constexpr std::string_view kUnread = "\"summary\",\"problem\":\"the device did not come to its elements";

// One tensor to be summarised. Python passes its fields as 64-bit words, then the lengths of all dims, then the
// strides in elements. Without dims, elements are contiguous.
struct Request {
  std::int64_t number;
  std::int64_t address;
  std::int64_t count;  // of numbers
  std::int64_t kind;
  std::int64_t item_size;
  std::int64_t rank;
};
constexpr std::uintptr_t kNoStream = ~std::uintptr_t{0};  // its work is waited for before
constexpr std::size_t kRequestWords = sizeof(Request) / sizeof(std::int64_t);

class DeferredRecording;

struct Job {
  std::shared_ptr<DeferredRecording> recording;
  void* stream;  // nullptr: its elements cannot be read
  std::vector<std::int64_t> words;
  std::string text;                      // of a call; empty where its arguments are read before it
  std::vector<std::string> later_texts;  // of the following calls without a tensor to summarise
  std::vector<std::string> found;        // summaries, empty for elements that the device did not reach
  bool is_ready = false;                 // `found` is complete; earlier jobs may not be ready
  bool is_let_go = false;                // it is written with the problem that the device did not reach it
};

class DeferredRecording {
 public:
  DeferredRecording(int file, std::int64_t bytes, std::int64_t limit) : file_(file), limit_(limit) {
    state_.bytes = bytes;
  }

  const State* state() const { return &state_; }

  void SetDevice(RunOpApi run, CreateEvent create, RecordEvent record, SynchronizeEvent synchronize,
                 DestroyEvent destroy) {
    run_ = run;
    create_ = create;
    record_ = record;
    synchronize_ = synchronize;
    destroy_ = destroy;
  }

  // Writes a frame that is complete.
  bool WriteFrame(std::string_view frame) {
    const std::lock_guard lock(mutex_);
    return Write(frame);
  }

  // Runs the job in the order of the device's work (`later`), or at once in this thread.
  bool Submit(const std::shared_ptr<Job>& job, bool later) {
    {
      const std::lock_guard lock(mutex_);
      error_.clear();
      if (job->words.empty()) {
        if (pending_.empty()) {
          WriteCall(job->text);
        } else {
          pending_.back()->later_texts.push_back(std::move(job->text));
        }
        return true;
      }
      pending_.push_back(job);
      ++state_.pending;
    }
    if (!later) {
      Run(*job);
      return true;
    }
    static const std::string name = "portacl_record";
    try {
      run_(
          name,
          [job] {  // which torch_npu may call after this recording's end
            job->recording->Run(*job);
            return 0;
          },
          false);
      return true;
    } catch (const std::exception& error) {  // torch_npu tells once that its queue has failed
      Refuse(*job, error.what());
    } catch (...) {
      Refuse(*job, "torch_npu's queue takes no more work");
    }
    return false;
  }

  // Returns why the queue refused the last job. Empty if it did not refuse it.
  const char* error() const { return error_.c_str(); }

  // Writes the pending calls without their elements, because the device will not reach them. Drops later calls.
  void Finish() {
    std::vector<void*> events;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& job : pending_) LetGo(*job);
      WriteReady();
      is_finished_ = true;
      summaries_.clear();
      events.swap(events_);
    }
    for (void* const event : events) (void)destroy_(event);
  }

 private:
  // Marks a job, unless it is done, as one that the device did not reach.
  static void LetGo(Job& job) {
    if (job.is_ready) return;
    job.is_let_go = true;  // the handler may be called all the same
    SetFound(job, {});
  }

  // Notes an error of the queue: it did not take the job, or it ran the job and then failed.
  void Refuse(Job& job, const char* error) {
    const std::lock_guard lock(mutex_);
    error_ = error;
    LetGo(job);
    WriteReady();
  }

  static void SetFound(Job& job, std::vector<std::string> found) {
    job.found = std::move(found);
    job.found.resize(CountOf(job));
    job.is_ready = true;
  }

  // Writes calls in the order in which they were handed over: torch_npu may have a queue for each stream, and
  // streams without one.
  void WriteReady() {
    while (!pending_.empty() && pending_.front()->is_ready) {
      Complete(*pending_.front());
      pending_.pop_front();
      --state_.pending;
    }
  }

  static std::size_t CountOf(const Job& job) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < job.words.size(); ++count) at += WordsOf(&job.words[at]);
    return count;
  }

  static std::size_t WordsOf(const std::int64_t* request) {
    return kRequestWords + 2 * static_cast<std::size_t>(request[kRequestWords - 1]);
  }

  void Run(Job& job) noexcept {
    try {
      {
        const std::lock_guard lock(mutex_);
        if (job.is_let_go) return;
      }
      std::vector<std::string> found;
      if (job.stream != nullptr && IsReached(job.stream)) found = Summaries(job);
      const std::lock_guard lock(mutex_);
      if (job.is_let_go) return;  // meanwhile
      SetFound(job, std::move(found));
      WriteReady();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      state_.failure = ENOMEM;
    }
  }

  // Waits for the stream's work until here. A failure stays the stream's, for the program to be told.
  bool IsReached(void* stream) {
    if (reinterpret_cast<std::uintptr_t>(stream) == kNoStream) return true;
    void* event = nullptr;  // one for each thread that waits
    {
      const std::lock_guard lock(mutex_);
      if (!events_.empty()) {
        event = events_.back();
        events_.pop_back();
      }
    }
    if (event == nullptr && create_(&event) != 0) return false;
    const bool is_reached = record_(event, stream) == 0 && synchronize_(event) == 0;
    {
      const std::lock_guard lock(mutex_);
      if (!is_finished_) {
        events_.push_back(event);
        return is_reached;
      }
    }
    (void)destroy_(event);
    return is_reached;
  }

  static std::vector<std::string> Summaries(const Job& job) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < job.words.size(); at += WordsOf(&job.words[at])) {
      const std::int64_t* const words = &job.words[at];
      const Request request{words[0], words[1], words[2], words[3], words[4], words[5]};
      const auto rank = static_cast<std::size_t>(request.rank);
      const Layout layout{rank, words + kRequestWords, words + kRequestWords + rank,
                          static_cast<std::size_t>(request.item_size)};
      char text[kTextSize];
      const std::size_t size = SummariseAsText(
          reinterpret_cast<const void*>(request.address), static_cast<std::uint64_t>(request.count),
          static_cast<std::int32_t>(request.kind), text, rank > 0 ? &layout : nullptr);
      found.emplace_back(text, size);
    }
    return found;
  }

  void Complete(Job& job) {
    while (next_ < job.words[0]) Remember({});  // of a call that raised
    for (std::string& one : job.found) Remember(std::move(one));
    if (!job.text.empty()) WriteCall(job.text);
    for (const std::string& text : job.later_texts) WriteCall(text);
  }

  void WriteCall(std::string_view text) {
    if (is_finished_ || state_.is_full != 0 || state_.failure != 0) return;
    const std::string frame = JsonFrame("CALL", Expanded(text), kStored);
    if (limit_ > 0 && state_.bytes + static_cast<std::int64_t>(frame.size() - kFrameHeader) > limit_) {
      state_.is_full = 1;
      return;
    }
    if (Write(frame)) ++state_.calls;
  }

  void Remember(std::string summary) {
    summaries_.push_back(std::move(summary));
    ++next_;
    if (summaries_.size() > kRemembered) summaries_.pop_front();
  }

  // Replaces the numbers of summaries by the summaries.
  std::string Expanded(std::string_view text) const {
    std::string whole;
    whole.reserve(text.size() + text.size() / 2);
    for (;;) {
      const std::size_t mark = text.find(kMark);
      whole += text.substr(0, mark);
      if (mark == std::string_view::npos) return whole;
      std::int64_t number = -1;
      const std::size_t end = text.find(kMarkEnd, mark);
      std::from_chars(text.data() + mark + 1, text.data() + end, number);
      text.remove_prefix(end + 1);
      const std::int64_t index = number - (next_ - static_cast<std::int64_t>(summaries_.size()));
      const bool is_there = index >= 0 && index < static_cast<std::int64_t>(summaries_.size());
      const std::string_view summary =
          is_there ? std::string_view(summaries_[static_cast<std::size_t>(index)]) : std::string_view();
      if (summary.empty()) {
        whole += kUnread;
        text.remove_prefix(text.find('"'));  // the order of dims, which is said of a hash
        continue;
      }
      const std::size_t hash = summary.find('{');
      whole += "\"summary\",\"statistics\":";
      whole += summary.substr(hash);
      whole += ",\"hash\":\"";
      whole += summary.substr(0, hash);
    }
  }

  bool Write(std::string_view frame) {
    if (state_.failure != 0) return false;
    std::string_view rest = frame;
    while (!rest.empty()) {
      const ssize_t written = write(file_, rest.data(), rest.size());  // cancellable: PyTorch's threads
      if (written < 0) {
        if (errno == EINTR) continue;
        state_.failure = errno;
        // A part of the frame may be there.
        if (lseek(file_, state_.bytes, SEEK_SET) >= 0) (void)!ftruncate(file_, state_.bytes);
        return false;
      }
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    state_.bytes += static_cast<std::int64_t>(frame.size());
    return true;
  }

  const int file_;
  const std::int64_t limit_;
  RunOpApi run_ = nullptr;
  CreateEvent create_ = nullptr;
  RecordEvent record_ = nullptr;
  SynchronizeEvent synchronize_ = nullptr;
  DestroyEvent destroy_ = nullptr;
  std::vector<void*> events_;
  std::string error_;
  std::mutex mutex_;
  State state_ = {};
  bool is_finished_ = false;
  std::deque<std::shared_ptr<Job>> pending_;
  std::deque<std::string> summaries_;
  std::int64_t next_ = 0;  // the number after the youngest summary
};

std::shared_ptr<DeferredRecording>& RecordingOf(void* handle) {
  return *static_cast<std::shared_ptr<DeferredRecording>*>(handle);
}

}  // namespace

bool HandOverCall(void* recording, void* stream, std::vector<std::int64_t> words, std::string_view text,
                  bool is_later) {
  try {
    const std::shared_ptr<DeferredRecording>& target = RecordingOf(recording);
    const auto job = std::make_shared<Job>();
    job->recording = target;
    job->stream = is_later ? stream : reinterpret_cast<void*>(kNoStream);
    job->words = std::move(words);
    job->text = text;
    return target->Submit(job, is_later);
  } catch (...) {
    return false;
  }
}

const char* DeferredError(void* recording) { return RecordingOf(recording)->error(); }

bool IsInTrouble(void* recording) {
  const State& state = *RecordingOf(recording)->state();
  return state.failure != 0 || state.is_full != 0;
}

}  // namespace portacl::record

// The functions that python/portacl/recording/_deferring.py calls.
extern "C" {

#define PORTACL_EXPORTED __attribute__((visibility("default")))

// Takes over the writing of a file that has `bytes` bytes; a `limit` of 0 means none. Returns nullptr without memory.
// PortaclDeferEnd frees the result.
PORTACL_EXPORTED void* PortaclDeferBegin(int file, std::int64_t bytes, std::int64_t limit,
                                         const void** state) {
  try {
    portacl::record::PrepareCompression();
    using portacl::record::DeferredRecording;
    // Shared, because the device's queue may refer to the recording after PortaclDeferEnd.
    auto recording = std::make_unique<std::shared_ptr<DeferredRecording>>(
        std::make_shared<DeferredRecording>(file, bytes, limit));
    *state = (*recording)->state();
    return recording.release();
  } catch (...) {
    return nullptr;
  }
}

PORTACL_EXPORTED void PortaclDeferDevice(void* recording, void* run, void* create, void* record,
                                         void* synchronize, void* destroy) {
  using namespace portacl::record;
  RecordingOf(recording)->SetDevice(reinterpret_cast<RunOpApi>(run), reinterpret_cast<CreateEvent>(create),
                                    reinterpret_cast<RecordEvent>(record),
                                    reinterpret_cast<SynchronizeEvent>(synchronize),
                                    reinterpret_cast<DestroyEvent>(destroy));
}

PORTACL_EXPORTED int PortaclDeferFrame(void* recording, const char* frame, std::size_t size) {
  return portacl::record::RecordingOf(recording)->WriteFrame({frame, size}) ? 1 : 0;
}

// Passes requests for summaries and the text of a call. With `later` the job runs in the order of the stream's work,
// else at once: the caller has waited for that work. Returns 0 if the device takes no more work, or without memory.
PORTACL_EXPORTED int PortaclDeferCall(void* recording, std::uint64_t stream, const std::int64_t* words,
                                      std::size_t count, const char* text, std::size_t size, int later) {
  try {
    return portacl::record::HandOverCall(recording, reinterpret_cast<void*>(stream), {words, words + count},
                                         {text, size}, later != 0)
               ? 1
               : 0;
  } catch (...) {
    return 0;
  }
}

// Returns why the device refused the last call. Empty if memory was short.
PORTACL_EXPORTED const char* PortaclDeferError(void* recording) {
  return portacl::record::DeferredError(recording);
}

PORTACL_EXPORTED void PortaclDeferFinish(void* recording) {
  try {
    portacl::record::RecordingOf(recording)->Finish();
  } catch (...) {  // without memory: what is written stays
  }
}

PORTACL_EXPORTED void PortaclDeferEnd(void* recording) { delete &portacl::record::RecordingOf(recording); }
}
