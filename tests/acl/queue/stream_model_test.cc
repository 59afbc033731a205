// A model of streams, events and callbacks: what stream.cc and workers.cc in src/acl/queue/, event.cc and callback.cc
// in src/acl/stream/ do under their locks, step by step. Every order of the steps of small programs is tried, over all
// programs of a kind; none may get stuck or break a promise. Each rule that keeps them from it is also left out once:
// then a program must be found that goes wrong, or the model would prove nothing.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace {

constexpr int kThreads = 3;
constexpr int kStreams = 3;
constexpr int kEvents = 2;
constexpr int kWorkers = kStreams + 1;
constexpr int kMostTasks = 8;
constexpr uint8_t kNone = 0xFF;
constexpr uint8_t kAll = 0xFE;  // as a count of tasks: more than there are

// What the library's source says, each of which can be left out.
struct Rules {
  bool publishes_when_queued = true;        // Task::Publish
  bool stops_at_mark = true;                // Stream::RunReady
  bool processing_needs_no_room = true;     // MayWaitForRoom
  bool asks_handle_when_submitting = true;  // Stream::Submit
  bool keeps_early_resume = true;           // Stream::Resume
  int room = 3;                             // Stream::kMostTasks
};

enum class Kind : uint8_t {
  kRecord,
  kWait,
  kReset,
  kWork,      // an operator that a submitting thread does at once
  kLarge,     // one that it does not
  kFunction,  // a host function: workers alone
  kCallback,  // blocking; the first thread is subscribed
  kSynchronize,
  kSynchronizeEvent,
  kBeginCallback,  // aclrtProcessReport calls a function
  kEndCallback,    // which returns
  kDestroy,
  kCreate
};

struct Call {
  Kind kind;
  uint8_t stream = 0;
  uint8_t event = 0;
};

using Program = std::vector<std::vector<Call>>;

std::string Name(const Call& call) {
  static const char* const names[] = {"record",       "wait",     "reset", "work",       "large",
                                      "function",     "callback", "sync",  "sync event", "begin callback",
                                      "end callback", "destroy",  "create"};
  std::ostringstream text;
  text << names[static_cast<int>(call.kind)] << "(s" << int{call.stream} << ",e" << int{call.event} << ")";
  return text.str();
}

enum RunLimit : uint8_t { kOneTask, kNoHostFunctions, kEverything };
enum StreamState : uint8_t { kIdle, kRunning, kParked, kReady };

// A thread that runs a stream's queue: Stream::RunFrom.
struct Runner {
  enum Phase : uint8_t { kOff, kPicked, kRun, kAfter, kPost };
  uint8_t phase = kOff;
  uint8_t stream = 0;
  uint8_t task = kNone;
  uint8_t parks = 0;
  uint8_t limit = kOneTask;
  uint8_t mark = 0;
  uint8_t to_resume = 0;         // streams, as bits
  uint8_t to_hand_over = kNone;  // a stream that was resumed
  uint8_t hands_over = 0;        // its own
};

struct Slot {
  uint8_t state = kIdle;
  uint8_t in_pool = 0;
  uint8_t resumed_early = 0;
  uint8_t current = kNone;
  uint8_t queued = 0;
  uint8_t queue[kMostTasks] = {};
  uint8_t submitted = 0;
  uint8_t done = 0;
  uint8_t handle = 1;  // Stream::handle_
  uint8_t live = 1;    // what HandleTable::Find says
  uint8_t next_handle = 2;
  uint8_t is_free = 0;
};

struct Thread {
  enum Phase : uint8_t {
    kStart,
    kSubmit,
    kWaitForRoom,
    kHandOver,
    kRunInline,
    kTakeBack,
    kRunReady,
    kWaitForMark,
    kWaitForRecording,
    kClose,
    kWaitUntilClosed,
    kRecycle
  };
  uint8_t next = 0;  // call
  uint8_t phase = kStart;
  uint8_t handle = 0;
  uint8_t count = 0;  // a mark, or the place that is waited for
  uint8_t recording = kNone;
  uint8_t callback = kNone;  // that it processes
};

// Everything is a byte, so that states are compared and hashed as such. A task is named by the number of its call.
struct State {
  Slot slots[kStreams];
  uint8_t latest[kEvents];
  uint8_t recording_done[kMostTasks] = {};
  uint8_t waiting[kMostTasks] = {};  // for a recording: streams, as bits
  uint8_t refers_to[kMostTasks];     // a wait or reset to its recording
  uint8_t of_life[kMostTasks] = {};  // the handle that a task was submitted to
  uint8_t posted = 0;                // callbacks, as bits
  Thread threads[kThreads];
  Runner inline_runners[kThreads];
  Runner workers[kWorkers];

  State() {
    std::memset(latest, kNone, sizeof(latest));
    std::memset(refers_to, kNone, sizeof(refers_to));
  }
};
static_assert(std::is_trivially_copyable_v<State> && alignof(State) == 1);

class Model {
 public:
  Model(const Program& program, const Rules& rules) : program_(program), rules_(rules) {
    for (const auto& thread : program) {
      first_.push_back(static_cast<uint8_t>(calls_.size()));
      calls_.insert(calls_.end(), thread.begin(), thread.end());
    }
  }

  // Tries every order; empty, or what went wrong and how it came to it.
  std::string Explore() {
    Visit(State());
    return problem_;
  }
  size_t states() const { return seen_.size(); }

 private:
  // Who takes a step: a thread of the program, or a worker, which may take a stream from the pool.
  struct Who {
    int thread = -1;
    int phase = 0;
    int worker = -1;
    int takes = -1;
  };

  void Visit(const State& state) {
    if (!problem_.empty() || !seen_.emplace(reinterpret_cast<const char*>(&state), sizeof(state)).second) {
      return;
    }
    bool stuck = true;
    const auto go = [&](Who who, const auto& step) {
      if (!problem_.empty()) return;
      State next = state;
      if (!step(next)) return;
      stuck = false;
      path_.push_back(who);
      if (problem_.empty()) {
        Visit(next);
      } else {
        Explain();
      }
      path_.pop_back();
    };
    for (size_t t = 0; t < program_.size(); ++t) {
      const Thread& thread = state.threads[t];
      if (thread.next == program_[t].size()) continue;
      go({.thread = static_cast<int>(t), .phase = thread.phase}, [&](State& next) { return Step(next, t); });
    }
    int idle = -1;
    for (int w = 0; w < kWorkers; ++w) {
      if (state.workers[w].phase == Runner::kOff) {
        if (idle < 0) idle = w;
      } else {
        go({.worker = w}, [&](State& next) { return Go(next, next.workers[w]); });
      }
    }
    for (uint8_t s = 0; s < kStreams && idle >= 0; ++s) {
      if (state.slots[s].in_pool == 0) continue;
      go({.worker = idle, .takes = s}, [&](State& next) {
        next.slots[s].in_pool = 0;
        next.workers[idle] = Runner();
        next.workers[idle].phase = Runner::kPicked;
        next.workers[idle].stream = s;
        next.workers[idle].limit = kEverything;
        next.workers[idle].mark = kAll;
        return true;
      });
    }
    if (stuck && problem_.empty()) CheckEnd(state);
  }

  void CheckEnd(const State& state) {
    for (size_t t = 0; t < program_.size(); ++t) {
      if (state.threads[t].next != program_[t].size()) Fail("stuck: a thread waits for ever");
    }
    for (int s = 0; s < kStreams; ++s) {
      const Slot& slot = state.slots[s];
      if (slot.state != kIdle || slot.done != slot.submitted) Fail("stuck: a stream is not done");
    }
    if (!problem_.empty()) Explain();
  }

  void Fail(const char* what) {
    if (problem_.empty()) problem_ = what;
  }
  void Explain() {
    std::ostringstream text;
    text << problem_ << "\n";
    for (size_t t = 0; t < program_.size(); ++t) {
      text << "  thread " << t << ":";
      for (const Call& call : program_[t]) text << " " << Name(call);
      text << "\n";
    }
    for (const Who& who : path_) {
      if (who.thread >= 0) {
        text << "    thread " << who.thread << ", phase " << who.phase << "\n";
      } else if (who.takes >= 0) {
        text << "    worker " << who.worker << " takes s" << who.takes << "\n";
      } else {
        text << "    worker " << who.worker << "\n";
      }
    }
    problem_ = text.str();
  }

  // ---- Stream -----------------------------------------------------------------------------------

  uint8_t NextTask(State& state, Runner& runner) {
    Slot& slot = state.slots[runner.stream];
    slot.current = kNone;
    if (slot.queued == 0) {
      slot.state = kIdle;
      return kNone;
    }
    const uint8_t first = slot.queue[0];
    const bool marked = rules_.stops_at_mark && slot.done >= runner.mark;
    if (runner.limit == kOneTask || marked ||
        (runner.limit == kNoHostFunctions && calls_[first].kind == Kind::kFunction)) {
      slot.state = kReady;
      runner.hands_over = 1;
      return kNone;
    }
    if (runner.limit == kNoHostFunctions && slot.done >= runner.mark) {
      Fail("a thread that synchronises runs what came after its call");
    }
    slot.state = kRunning;
    slot.current = first;
    --slot.queued;
    std::memmove(slot.queue, slot.queue + 1, slot.queued);
    slot.queue[slot.queued] = 0;
    return first;
  }

  void Finish(State& state, uint8_t task, Runner& runner) {
    Slot& slot = state.slots[runner.stream];
    const Call& call = calls_[task];
    if (call.kind == Kind::kRecord) {
      state.recording_done[task] = 1;
      runner.to_resume = static_cast<uint8_t>(runner.to_resume | state.waiting[task]);
      state.waiting[task] = 0;
    } else if (call.kind == Kind::kReset && state.latest[call.event] == state.refers_to[task]) {
      state.latest[call.event] = kNone;
    } else if (call.kind == Kind::kWait && state.recording_done[state.refers_to[task]] == 0) {
      Fail("a wait is over before its recording is done");
    }
    ++slot.done;
  }

  // Stream::Resume; the stream may have to be handed over then.
  void Resume(State& state, uint8_t s, Runner& by) {
    Slot& slot = state.slots[s];
    if (slot.state != kParked) {
      if (rules_.keeps_early_resume) slot.resumed_early = 1;
      return;
    }
    Runner here;
    here.stream = s;
    Finish(state, slot.current, here);
    NextTask(state, here);
    if (here.hands_over != 0) by.to_hand_over = s;
  }

  // One step of a thread that runs a queue.
  bool Go(State& state, Runner& runner) {
    Slot& slot = state.slots[runner.stream];
    switch (runner.phase) {
      case Runner::kPicked:
        runner.task = NextTask(state, runner);
        runner.phase = Runner::kPost;
        break;
      case Runner::kRun: {
        const Call& call = calls_[runner.task];
        runner.parks = 0;
        if (state.of_life[runner.task] != slot.handle && slot.handle != 0)
          Fail("a task runs in another stream's life");
        if (call.kind == Kind::kWait) {
          const uint8_t recording = state.refers_to[runner.task];
          if (state.recording_done[recording] == 0) {
            state.waiting[recording] = static_cast<uint8_t>(state.waiting[recording] | 1 << runner.stream);
            runner.parks = 1;
          }
        } else if (call.kind == Kind::kCallback) {
          state.posted = static_cast<uint8_t>(state.posted | 1 << runner.task);
          runner.parks = 1;
        }
        runner.phase = Runner::kAfter;
        return true;
      }
      case Runner::kAfter:
        if (runner.parks != 0 && slot.resumed_early == 0) {
          slot.state = kParked;
          runner.task = kNone;
        } else {
          slot.resumed_early = 0;
          Finish(state, runner.task, runner);
          runner.task = NextTask(state, runner);
        }
        runner.phase = Runner::kPost;
        break;
      default:
        if (runner.to_hand_over != kNone) {
          state.slots[runner.to_hand_over].in_pool = 1;
          runner.to_hand_over = kNone;
        } else if (runner.to_resume != 0) {
          const auto s = static_cast<uint8_t>(std::countr_zero(runner.to_resume));
          runner.to_resume = static_cast<uint8_t>(runner.to_resume & ~(1 << s));
          Resume(state, s, runner);
        } else {
          slot.in_pool = 1;
          runner.hands_over = 0;
        }
    }
    if (runner.to_hand_over == kNone && runner.to_resume == 0 && runner.hands_over == 0) {
      if (runner.task == kNone) {
        runner = Runner();
      } else {
        runner.phase = Runner::kRun;
      }
    }
    return true;
  }

  // ---- Calls ------------------------------------------------------------------------------------

  bool Step(State& state, size_t t) {
    Thread& thread = state.threads[t];
    Runner& runner = state.inline_runners[t];
    const Call& call = program_[t][thread.next];
    const auto task = static_cast<uint8_t>(first_[t] + thread.next);
    Slot& slot = state.slots[call.stream];
    const auto done = [&] {
      ++thread.next;
      thread.phase = Thread::kStart;
      thread.handle = thread.count = 0;
      thread.recording = kNone;
      return true;
    };
    switch (thread.phase) {
      case Thread::kStart:
        break;
      case Thread::kWaitForRoom:
        if (slot.done < thread.count) return false;
        [[fallthrough]];
      case Thread::kSubmit:
        return Submit(state, t, call, task) && (thread.phase != Thread::kStart || done());
      case Thread::kHandOver:
        slot.in_pool = 1;
        return done();
      case Thread::kRunInline:
        Go(state, runner);
        if (runner.phase != Runner::kOff) return true;
        if (call.kind != Kind::kSynchronize) return done();
        thread.phase = Thread::kWaitForMark;
        return true;
      case Thread::kTakeBack:
        thread.phase = slot.in_pool != 0 ? Thread::kRunReady : Thread::kWaitForMark;
        slot.in_pool = 0;
        return true;
      case Thread::kRunReady:
        runner.phase = Runner::kPicked;
        runner.stream = call.stream;
        runner.limit = kNoHostFunctions;
        runner.mark = thread.count;
        thread.phase = Thread::kRunInline;
        return true;
      case Thread::kWaitForMark:
        return slot.done >= thread.count && done();
      case Thread::kWaitForRecording:
        return state.recording_done[thread.recording] != 0 && done();
      case Thread::kClose:
        slot.handle = 0;
        thread.phase = Thread::kWaitUntilClosed;
        return true;
      case Thread::kWaitUntilClosed:
        if (slot.state != kIdle || slot.done != slot.submitted) return false;
        thread.phase = Thread::kRecycle;
        return true;
      default:
        slot.is_free = 1;
        return done();
    }
    switch (call.kind) {
      case Kind::kSynchronize:
        thread.count = slot.submitted;
        thread.phase =
            slot.state == kReady && calls_[slot.queue[0]].kind != Kind::kFunction && slot.done < thread.count
                ? Thread::kTakeBack
                : Thread::kWaitForMark;
        return true;
      case Kind::kSynchronizeEvent:
        thread.recording = state.latest[call.event];
        if (thread.recording == kNone) return done();
        thread.phase = Thread::kWaitForRecording;
        return true;
      case Kind::kBeginCallback: {
        if (state.posted == 0) return false;
        uint8_t callback = 0;
        while ((state.posted >> callback & 1) == 0) ++callback;
        state.posted = static_cast<uint8_t>(state.posted & ~(1 << callback));
        thread.callback = callback;
        return done();
      }
      case Kind::kEndCallback: {
        // Stream::ResumeFrom, then workers::Ready: one step, since nothing of this thread comes in between.
        Runner by;
        Resume(state, calls_[thread.callback].stream, by);
        if (by.to_hand_over != kNone) state.slots[by.to_hand_over].in_pool = 1;
        thread.callback = kNone;
        return done();
      }
      case Kind::kDestroy:
        if (slot.live == 0) return done();
        slot.live = 0;
        thread.phase = Thread::kClose;
        return true;
      case Kind::kCreate:
        if (slot.is_free == 0) return done();
        slot.is_free = 0;
        slot.handle = slot.next_handle++;
        slot.live = 1;
        return done();
      default:
        break;
    }
    // The others submit. First they look up the stream,
    if (thread.handle == 0) {
      if (slot.live == 0) return done();
      thread.handle = slot.handle;
      if (call.kind == Kind::kWork || call.kind == Kind::kLarge || call.kind == Kind::kFunction ||
          call.kind == Kind::kCallback || (call.kind == Kind::kRecord && rules_.publishes_when_queued)) {
        thread.phase = Thread::kSubmit;
      }
      return true;
    }
    // then, where they have to do with one, the event.
    if (call.kind == Kind::kRecord) {
      state.latest[call.event] = task;
    } else {
      const uint8_t latest = state.latest[call.event];
      if (latest == kNone || (call.kind == Kind::kWait && state.recording_done[latest] != 0)) return done();
      state.refers_to[task] = latest;
    }
    thread.phase = Thread::kSubmit;
    return true;
  }

  // Stream::Submit. The phase is kStart when the call is over.
  bool Submit(State& state, size_t t, const Call& call, uint8_t task) {
    Thread& thread = state.threads[t];
    Slot& slot = state.slots[call.stream];
    const bool may_wait = !(rules_.processing_needs_no_room && t == 0 && HasCallbacks());
    if (thread.phase == Thread::kSubmit && slot.submitted - slot.done >= rules_.room && may_wait &&
        slot.handle == thread.handle) {
      thread.count = static_cast<uint8_t>(slot.submitted - rules_.room + 1);
      thread.phase = Thread::kWaitForRoom;
      return true;
    }
    thread.phase = Thread::kStart;
    if (rules_.asks_handle_when_submitting && slot.handle != thread.handle) return true;  // refused
    ++slot.submitted;
    state.of_life[task] = thread.handle;
    if (rules_.publishes_when_queued) {
      if (call.kind == Kind::kRecord) state.latest[call.event] = task;
      if (call.kind == Kind::kReset) state.refers_to[task] = state.latest[call.event];
    }
    const bool anywhere = call.kind != Kind::kLarge && call.kind != Kind::kFunction;
    if (slot.state == kIdle && anywhere) {
      slot.state = kRunning;
      slot.current = task;
      Runner& runner = state.inline_runners[t];
      runner = Runner();
      runner.phase = Runner::kRun;
      runner.stream = call.stream;
      runner.task = task;
      thread.phase = Thread::kRunInline;
      return true;
    }
    slot.queue[slot.queued++] = task;
    if (slot.state == kIdle) {
      slot.state = kReady;
      thread.phase = Thread::kHandOver;
    }
    return true;
  }

  bool HasCallbacks() const {
    for (const Call& call : calls_) {
      if (call.kind == Kind::kCallback) return true;
    }
    return false;
  }

  const Program& program_;
  const Rules rules_;
  std::vector<Call> calls_;
  std::vector<uint8_t> first_;
  std::unordered_set<std::string> seen_;
  std::vector<Who> path_;
  std::string problem_;
};

// Every program whose threads make so many calls each, of these.
struct Family {
  std::vector<Call> calls;
  std::vector<int> lengths;
};

struct Outcome {
  size_t programs = 0, states = 0;
  std::string problem;
};

Outcome ExploreAll(const Family& family, const Rules& rules) {
  Outcome outcome;
  int total = 0;
  for (const int length : family.lengths) total += length;
  std::vector<size_t> choice(static_cast<size_t>(total), 0);
  for (;;) {
    Program program;
    size_t next = 0;
    for (const int length : family.lengths) {
      program.emplace_back();
      for (int i = 0; i < length; ++i) program.back().push_back(family.calls[choice[next++]]);
    }
    Model model(program, rules);
    outcome.problem = model.Explore();
    ++outcome.programs;
    outcome.states += model.states();
    if (!outcome.problem.empty()) return outcome;
    size_t digit = 0;
    while (digit < choice.size() && ++choice[digit] == family.calls.size()) choice[digit++] = 0;
    if (digit == choice.size()) return outcome;
  }
}

void ExpectNoProblem(const Family& family, const Rules& rules = {}) {
  const Outcome outcome = ExploreAll(family, rules);
  EXPECT_EQ(outcome.problem, "");
  std::printf("%zu programs, %zu states\n", outcome.programs, outcome.states);
}

void ExpectProblem(const Family& family, const Rules& rules, std::string_view what) {
  EXPECT_NE(ExploreAll(family, rules).problem.find(what), std::string::npos)
      << "nothing of the kind was found";
}

const std::vector<Call> kRecordsAndWaits = {
    {Kind::kRecord, 0, 0}, {Kind::kRecord, 1, 0}, {Kind::kRecord, 0, 1}, {Kind::kRecord, 1, 1},
    {Kind::kWait, 0, 0},   {Kind::kWait, 1, 0},   {Kind::kWait, 0, 1},   {Kind::kWait, 1, 1}};

const Family kOneEach{kRecordsAndWaits, {1, 1, 1}};
const Family kAroundThreeStreams{{{Kind::kRecord, 0, 0},
                                  {Kind::kRecord, 1, 0},
                                  {Kind::kRecord, 2, 0},
                                  {Kind::kRecord, 2, 1},
                                  {Kind::kWait, 0, 0},
                                  {Kind::kWait, 1, 0},
                                  {Kind::kWait, 2, 0},
                                  {Kind::kWait, 0, 1}},
                                 {1, 1, 2}};
const Family kTwoEach{kRecordsAndWaits, {2, 2}};
const Family kOneAgainstThree{kRecordsAndWaits, {1, 3}};
const Family kWorkOfAllKinds{{{Kind::kRecord, 0, 0},
                              {Kind::kRecord, 1, 0},
                              {Kind::kWait, 0, 0},
                              {Kind::kWait, 1, 0},
                              {Kind::kReset, 0, 0},
                              {Kind::kWork, 0, 0},
                              {Kind::kLarge, 0, 0},
                              {Kind::kFunction, 1, 0},
                              {Kind::kSynchronize, 0, 0},
                              {Kind::kSynchronize, 1, 0},
                              {Kind::kSynchronizeEvent, 0, 0}},
                             {2, 2}};
const Family kFeeding{
    {{Kind::kLarge, 0, 0}, {Kind::kSynchronize, 0, 0}, {Kind::kFunction, 0, 0}, {Kind::kWork, 0, 0}}, {3, 2}};
const Family kDestroying{{{Kind::kLarge, 0, 0},
                          {Kind::kWork, 0, 0},
                          {Kind::kDestroy, 0, 0},
                          {Kind::kCreate, 0, 0},
                          {Kind::kRecord, 0, 0},
                          {Kind::kWait, 0, 0},
                          {Kind::kSynchronize, 0, 0}},
                         {1, 3}};

// The thread that processes callbacks submits inside one, and before it comes to it.
std::vector<Program> CallbackPrograms() {
  std::vector<Program> programs;
  const Call callback{Kind::kCallback, 0, 0};
  const Call begin{Kind::kBeginCallback};
  const Call end{Kind::kEndCallback};
  for (const Call inside : {Call{Kind::kWork, 0, 0}, Call{Kind::kLarge, 1, 0}, Call{Kind::kRecord, 0, 0},
                            Call{Kind::kFunction, 0, 0}}) {
    for (const Call other : {Call{Kind::kWork, 0, 0}, Call{Kind::kLarge, 0, 0}, Call{Kind::kWait, 0, 0},
                             Call{Kind::kRecord, 1, 0}}) {
      programs.push_back({{begin, inside, inside, end}, {callback, other, other}});
      programs.push_back({{callback, inside, inside, begin, end}, {other, other}});
    }
  }
  // Another stream waits for the callback's, and is full.
  programs.push_back({{callback,
                       {Kind::kRecord, 0, 0},
                       {Kind::kWait, 1, 0},
                       {Kind::kWork, 1, 0},
                       {Kind::kWork, 1, 0},
                       begin,
                       end},
                      {{Kind::kSynchronize, 1, 0}}});
  return programs;
}

Outcome ExploreCallbacks(const Rules& rules) {
  Outcome outcome;
  for (const Program& program : CallbackPrograms()) {
    Model model(program, rules);
    outcome.problem = model.Explore();
    ++outcome.programs;
    outcome.states += model.states();
    if (!outcome.problem.empty()) break;
  }
  return outcome;
}

Rules WithRoom(int room) {
  Rules rules;
  rules.room = room;
  return rules;
}

TEST(StreamModel, NoOrderOfRecordsAndWaitsDeadlocks) {
  ExpectNoProblem(kOneEach);
  ExpectNoProblem(kTwoEach);
  ExpectNoProblem(kOneAgainstThree);
  ExpectNoProblem(kAroundThreeStreams);
}

TEST(StreamModel, NoOrderDeadlocksWithoutRoom) { ExpectNoProblem(kOneAgainstThree, WithRoom(1)); }

TEST(StreamModel, NoOrderOfAnyWorkDeadlocks) { ExpectNoProblem(kWorkOfAllKinds); }

TEST(StreamModel, ASynchronisationRunsOnlyWhatWasThere) { ExpectNoProblem(kFeeding); }

TEST(StreamModel, ATaskRunsInTheLifeOfItsHandle) { ExpectNoProblem(kDestroying); }

TEST(StreamModel, NoCallbackWaitsForItsOwnRoom) {
  for (const int room : {1, 2}) {
    const Outcome outcome = ExploreCallbacks(WithRoom(room));
    EXPECT_EQ(outcome.problem, "");
    std::printf("%zu programs, %zu states\n", outcome.programs, outcome.states);
  }
}

// Each rule left out.
TEST(StreamModel, ARecordingThatIsPublishedBeforeItIsQueuedDeadlocks) {
  Rules rules;
  rules.publishes_when_queued = false;
  ExpectProblem(kOneEach, rules, "stuck");
  ExpectProblem(kOneAgainstThree, rules, "stuck");
}

TEST(StreamModel, WithoutAMarkASynchronisationGoesOn) {
  Rules rules;
  rules.stops_at_mark = false;
  ExpectProblem(kFeeding, rules, "runs what came after its call");
}

TEST(StreamModel, ACallbackThatNeedsRoomDeadlocks) {
  Rules rules = WithRoom(2);
  rules.processing_needs_no_room = false;
  EXPECT_NE(ExploreCallbacks(rules).problem.find("stuck"), std::string::npos);
}

TEST(StreamModel, WithoutAskingForTheHandleATaskRunsElsewhere) {
  Rules rules;
  rules.asks_handle_when_submitting = false;
  ExpectProblem(kDestroying, rules, "another stream's life");
}

TEST(StreamModel, AResumptionThatIsForgottenDeadlocks) {
  Rules rules;
  rules.keeps_early_resume = false;
  ExpectProblem(kTwoEach, rules, "stuck");
}

}  // namespace
