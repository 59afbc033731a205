// How much of its caller's stack a call takes: less than docs/runtime.md promises, for every operator, layout, mix of
// dtypes and instruction set, with the memory that threads keep and without; and that threads with small stacks do.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "base/isa.h"
#include "gtest/gtest.h"
#include "operators/all_operators.h"
#include "operators/moves.h"
#include "process/allocation_hook.h"
#include "support/answer_suite.h"
#include "support/dtype_rules.h"
#include "support/environment.h"
#include "support/map_suite.h"
#include "support/shapes.h"

namespace portacl::testing {
namespace {

constexpr size_t kKiB = 1024;

// Sanitizers put space around every variable, and little is optimised away: nothing is promised there but that a thread of
// ordinary size does.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
constexpr size_t kPromised = (kIsSanitized ? 512 : 64) * kKiB;
constexpr size_t kSmallStack = (kIsSanitized ? 1024 : 128) * kKiB;
constexpr size_t kLargeStack = 1024 * kKiB;

// A stack that ends at a page which nobody may touch.
class Stack {
 public:
  explicit Stack(size_t size) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))), size_(size) {
    void* const memory =
        mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page_, PROT_NONE) != 0) std::abort();
    memory_ = static_cast<char*>(memory);
  }
  ~Stack() { munmap(memory_, size_ + page_); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  char* low() const { return memory_ + page_; }

  // Runs a function on a thread that has this stack, to its end.
  void Run(const std::function<void()>& function) const {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstack(&attributes, low(), size_) != 0 ||
        pthread_create(
            &thread, &attributes,
            [](void* argument) -> void* {
              (*static_cast<const std::function<void()>*>(argument))();
              return nullptr;
            },
            const_cast<std::function<void()>*>(&function)) != 0) {
      std::abort();
    }
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
  }

 private:
  size_t page_;
  size_t size_;
  char* memory_;
};

// Paints what lies below its caller's frame, calls, and looks how far down the paint is gone. Not instrumented: to a
// sanitizer nothing there may be touched.
constexpr uint64_t kPaint = 0xA5C3'5A3C'96F0'0F69;

[[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_thread]] size_t DepthOf(
    const Stack& stack, const std::function<void()>& call) {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  auto* const low = reinterpret_cast<volatile uint64_t*>(stack.low());
  // Less than this function's own frame, and what it may call on its way, lie in between.
  const size_t words = (here - 1024 - reinterpret_cast<uintptr_t>(low)) / sizeof(uint64_t);
  for (size_t i = 0; i < words; ++i) low[i] = kPaint;
  call();
  size_t untouched = 0;
  while (untouched < words && low[untouched] == kPaint) ++untouched;
  return here - reinterpret_cast<uintptr_t>(low + untouched);
}

// ---- The calls ---------------------------------------------------------------------------------

enum class Way { kDense, kTransposed, kLastTransposed, kFirstTransposed, kEverySecond, kBackwards };
constexpr std::pair<Way, const char*> kWays[] = {
    {Way::kDense, "dense"},
    {Way::kTransposed, "transposed"},
    {Way::kLastTransposed, "last input transposed"},
    {Way::kFirstTransposed, "first input transposed"},
    {Way::kEverySecond, "every second element"},
    {Way::kBackwards, "backwards"},
};

enum class Broadcasting { kNone, kRow, kColumn, kScalar };
constexpr std::pair<Broadcasting, const char*> kBroadcasts[] = {
    {Broadcasting::kNone, ""},
    {Broadcasting::kRow, " is a row"},
    {Broadcasting::kColumn, " is a column"},
    {Broadcasting::kScalar, " is a scalar"},
};

// Few terms, many; rows shorter than a vector, longer than what is summed at once; rows of whole blocks; three axes.
const Shape kShapes[] = {{3, 5},     {5000, 3}, {70, 300},   {600, 40},
                         {20, 4096}, {2, 9000}, {5, 2, 700}, {9, 70, 40}};

// What all operands share: numbers are of no interest here.
constexpr size_t kBytes = size_t{8} << 20;

Shape BroadcastShape(Shape shape, Broadcasting broadcasting) {
  switch (broadcasting) {
    case Broadcasting::kNone:
      return shape;
    case Broadcasting::kRow:
      shape.front() = 1;
      return shape;
    case Broadcasting::kColumn:
      shape.back() = 1;
      return shape;
    case Broadcasting::kScalar:
      return {};
  }
  return shape;
}

aclTensor* MakeTensor(const Shape& shape, DtypeNumber dtype, Way way, bool is_first, bool is_last,
                      char* data) {
  const bool transposed = way == Way::kTransposed || (way == Way::kFirstTransposed && is_first) ||
                          (way == Way::kLastTransposed && is_last);
  Shape strides(shape.size());
  int64_t step = way == Way::kEverySecond ? 2 : 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t axis = transposed ? i : shape.size() - 1 - i;
    strides[axis] = step;
    step *= shape[axis];
  }
  int64_t offset = 0;
  if (way == Way::kBackwards && !shape.empty()) {
    offset = (shape.back() - 1) * strides.back();
    strides.back() = -strides.back();
  }
  const int64_t elements = static_cast<int64_t>(kBytes) / ElementSize(dtype);
  return aclCreateTensor(shape.data(), shape.size(), static_cast<aclDataType>(dtype), strides.data(), offset,
                         ACL_FORMAT_ND, &elements, 1, data);
}

// The deepest call of a kind, and what it was.
struct Deepest {
  size_t depth = 0;
  std::string call;

  void Take(size_t another, const std::string& description) {
    if (another <= depth) return;
    depth = another;
    call = description;
  }
};

std::vector<const NumericDescription*> EveryOperator() {
  std::vector<const NumericDescription*> all = AllOperators();
  for (const NumericDescription* loss : AllReducedLosses()) all.push_back(loss);
  return all;
}

// Operands of one type, of a type each, and, where an operator takes them, integers.
std::vector<std::vector<DtypeNumber>> DtypeMixes(const NumericDescription& op, size_t inputs) {
  std::vector<std::vector<DtypeNumber>> mixes;
  for (const DtypeNumber dtype : op.input_dtypes) mixes.emplace_back(inputs + 1, dtype);
  mixes.emplace_back();
  for (size_t k = 0; k <= inputs; ++k) mixes.back().push_back(op.input_dtypes[k % op.input_dtypes.size()]);
  if (!op.integer_dtypes.empty()) {
    mixes.emplace_back(inputs + 1, op.integer_dtypes.back());
    mixes.back().front() = op.input_dtypes.front();
  }
  // The output's types in turn, wide ones too.
  for (size_t i = 0; i < mixes.size(); ++i) {
    const auto& out = op.output_dtypes;
    if (std::find(out.begin(), out.end(), mixes[i].back()) == out.end())
      mixes[i].back() = out[i % out.size()];
  }
  mixes.emplace_back(inputs + 1, op.input_dtypes.front());
  mixes.back().back() = op.output_dtypes.back();
  return mixes;
}

// Calls visit(description, plan, run) for every operator in every way: plan and run are its two phases, run with its
// synchronisation.
template <class Visit>
void ForEachCall(aclrtStream stream, const Visit& visit) {
  static char* const data = [] {
    void* const memory = std::aligned_alloc(4096, 5 * kBytes);
    std::fill_n(static_cast<char*>(memory), 5 * kBytes, '\0');
    return static_cast<char*>(memory);
  }();
  int64_t turn = 0;
  for (const NumericDescription* op : EveryOperator()) {
    const size_t inputs = op->binding.tensors.size() - 1;
    const std::vector<std::vector<DtypeNumber>> mixes = DtypeMixes(*op, inputs);
    for (const auto& [way, way_name] : kWays) {
      for (const auto& [broadcasting, broadcasting_name] : kBroadcasts) {
        for (size_t broadcast = 0; broadcast < (broadcasting == Broadcasting::kNone ? 1 : inputs);
             ++broadcast) {
          for (const Shape& shape : kShapes) {
            // Every mix with every layout, and every setting of the operator, but not all with each other.
            const std::vector<DtypeNumber>& mix = mixes[static_cast<size_t>(turn) % mixes.size()];
            const Attributes& attributes = op->attributes[static_cast<size_t>(turn) % op->attributes.size()];
            ++turn;
            if (!op->accepts_dtypes({mix.data(), inputs})) continue;
            std::vector<Shape> shapes(inputs, shape);
            shapes[broadcast] = BroadcastShape(shape, broadcasting);
            if (!op->accepts(shapes)) continue;
            const Shape out = op->output_shape(shapes);
            std::vector<aclTensor*> tensors;
            for (size_t k = 0; k < inputs; ++k)
              tensors.push_back(
                  MakeTensor(shapes[k], mix[k], way, k == 0, k + 1 == inputs, data + k * kBytes));
            const DtypeNumber out_dtype =
                op->output_has_dtype_of < 0 ? mix.back() : mix[static_cast<size_t>(op->output_has_dtype_of)];
            tensors.push_back(MakeTensor(out, out_dtype, way, false, false, data + 4 * kBytes));
            uint64_t workspace_size = 0;
            aclOpExecutor* executor = nullptr;
            aclnnStatus planned = -1;
            aclnnStatus ran = -1;
            static std::vector<char> workspace(size_t{1} << 20);
            visit(
                op->binding.name,
                std::string(way_name) + ", input " + std::to_string(broadcast) + broadcasting_name + ", " +
                    ToString(shape) + ", first dtype " + std::to_string(mix[0]) + ", last " +
                    std::to_string(mix.back()) + ", reduction " + std::to_string(attributes.reduction),
                [&] { planned = op->binding.plan(tensors, attributes, &workspace_size, &executor); },
                [&] {
                  ran = op->binding.run(workspace.data(), workspace_size, executor, stream);
                  if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) ran = -1;
                });
            EXPECT_EQ(planned, ACL_SUCCESS) << op->binding.name << ": " << aclGetRecentErrMsg();
            EXPECT_EQ(ran, ACL_SUCCESS) << op->binding.name;
            EXPECT_LE(workspace_size, workspace.size());
            for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
            if (::testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

// The same for copies, casts and fills: every pair of dtypes of different kinds, both sides in every layout.
template <class Visit>
void ForEachMove(aclrtStream stream, const Visit& visit) {
  static char* const data = [] {
    void* const memory = std::aligned_alloc(4096, 2 * kBytes);
    std::fill_n(static_cast<char*>(memory), 2 * kBytes, '\0');
    return static_cast<char*>(memory);
  }();
  const DtypeNumber dtypes[] = {ACL_FLOAT, ACL_BF16, ACL_FLOAT16, ACL_DOUBLE, ACL_INT64, ACL_UINT8, ACL_BOOL};
  for (const OperatorSpec* op : MoveOperators()) {
    const OperatorBinding binding = BindingOf(*op);
    const bool is_fill = binding.tensors.size() == 1 || binding.name == "aclnnInplaceFillTensor";
    for (const auto& [way, way_name] : kWays) {
      for (const Shape& shape : kShapes) {
        for (const DtypeNumber first : dtypes) {
          for (const DtypeNumber second : dtypes) {
            if (is_fill && first != second) continue;
            std::vector<aclTensor*> tensors = {MakeTensor(shape, first, way, true, false, data)};
            if (binding.tensors.size() == 2)
              tensors.push_back(
                  MakeTensor(is_fill ? Shape{} : shape, second, way, false, true, data + kBytes));
            uint64_t workspace_size = 0;
            aclOpExecutor* executor = nullptr;
            aclnnStatus planned = -1;
            aclnnStatus ran = -1;
            visit(
                binding.name,
                std::string(way_name) + ", " + ToString(shape) + ", dtypes " + std::to_string(first) +
                    " and " + std::to_string(second),
                [&] { planned = binding.plan(tensors, Attributes{}, &workspace_size, &executor); },
                [&] {
                  ran = binding.run(nullptr, workspace_size, executor, stream);
                  if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) ran = -1;
                });
            EXPECT_EQ(planned, ACL_SUCCESS) << binding.name << ": " << aclGetRecentErrMsg();
            EXPECT_EQ(ran, ACL_SUCCESS) << binding.name;
            for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
            if (::testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

// The same for the elementwise operators, each with every kind of number that it takes in turn.
template <class Visit>
void ForEachMap(aclrtStream stream, const Visit& visit) {
  static char* const data = [] {
    void* const memory = std::aligned_alloc(4096, 5 * kBytes);
    std::fill_n(static_cast<char*>(memory), 5 * kBytes, '\1');
    return static_cast<char*>(memory);
  }();
  const DtypeNumber dtypes[] = {ACL_FLOAT,      ACL_BF16,  ACL_DOUBLE, ACL_INT8,   ACL_COMPLEX64,
                                ACL_COMPLEX128, ACL_INT64, ACL_BOOL,   ACL_FLOAT16};
  for (const auto* family :
       {&ArithmeticOperators(), &SelectionOperators(), &UnaryOperators(), &ActivationOperators()}) {
    for (const MapOperator& op : *family) {
      size_t turn = 0;
      for (const DtypeNumber dtype : dtypes) {
        const MapOperator typed = OfDtype(op, dtype);
        PlanCall call = ValidCall(typed, Product::kA2);
        if (Expected(call).code != 0) continue;
        const OperatorBinding binding = BindingOf(typed);
        for (const auto& [way, way_name] : kWays) {
          const Shape& shape = kShapes[turn++ % std::size(kShapes)];
          std::vector<aclTensor*> tensors;
          for (size_t i = 0; i < typed.valid.size(); ++i) {
            if (typed.valid[i].kind != ParameterKind::kTensor) continue;
            const bool has_own_shape =
                std::any_of(typed.shapes.begin(), typed.shapes.end(),
                            [&](const auto& entry) { return entry.first == typed.valid[i].name; });
            const size_t at = tensors.size();
            tensors.push_back(MakeTensor(has_own_shape ? call.arguments[i].shape : shape,
                                         call.arguments[i].dtype, way, at == 0,
                                         at + 2 == binding.tensors.size(), data + at * kBytes));
          }
          uint64_t workspace_size = 0;
          aclOpExecutor* executor = nullptr;
          aclnnStatus planned = -1;
          aclnnStatus ran = -1;
          visit(
              binding.name,
              std::string(way_name) + ", " + ToString(shape) + ", dtype " + std::to_string(dtype),
              [&] { planned = binding.plan(tensors, Attributes{}, &workspace_size, &executor); },
              [&] {
                ran = binding.run(nullptr, workspace_size, executor, stream);
                if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) ran = -1;
              });
          EXPECT_EQ(planned, ACL_SUCCESS) << binding.name << ": " << aclGetRecentErrMsg();
          EXPECT_EQ(ran, ACL_SUCCESS) << binding.name;
          for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// Prints the deepest of them.
void Report(const std::map<std::string, Deepest>& deepest) {
  Deepest most;
  for (const auto& [name, of_kind] : deepest) {
    most.Take(of_kind.depth, name + (of_kind.call.empty() ? "" : ": ") + of_kind.call);
    EXPECT_LT(of_kind.depth, kPromised) << name << ", " << of_kind.call;
  }
  std::printf("%.1f KiB: %s\n", static_cast<double>(most.depth) / kKiB, most.call.c_str());
}

class StackOfACall : public ::testing::TestWithParam<Isa> {};

// What the calling thread computes itself: all of it.
Variables OnTheCallersThread(Isa isa) {
  return {{"PORTACL_ISA", IsaName(isa)}, {"PORTACL_NUM_THREADS", "1"}, {"ASCEND_LAUNCH_BLOCKING", "1"}};
}

TEST_P(StackOfACall, StaysBelowWhatIsPromised) {
  const ScopedEnvironment environment(OnTheCallersThread(GetParam()));
  std::map<std::string, Deepest> deepest;
  const Stack stack(kLargeStack);
  stack.Run([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const auto measure = [&](const std::string& name, const std::string& call, auto plan, auto run) {
      deepest[name + ", phase 1"].Take(DepthOf(stack, plan), call);
      deepest[name + ", phase 2"].Take(DepthOf(stack, run), call);
    };
    ForEachCall(environment.stream(), measure);
    ForEachMove(environment.stream(), measure);
    ForEachMap(environment.stream(), measure);
  });
  Report(deepest);
}

// Each call on a thread of its own, whose memory cannot be had.
TEST_P(StackOfACall, StaysBelowItWithoutThreadMemory) {
  const ScopedEnvironment environment(OnTheCallersThread(GetParam()));
  std::map<std::string, Deepest> deepest;
  const Stack stack(kLargeStack);
  int64_t without = 0;
  const auto measure = [&](const std::string& name, const std::string& call, auto plan, auto run) {
    plan();
    const std::function<void()> call_run = run;
    stack.Run([&] {
      aclrtSetDevice(0);
      FailAllocation(1, Failing::kAllFromThereOn);
      const size_t depth = DepthOf(stack, call_run);
      if (StopFailingAllocations()) ++without;
      deepest[name + ", phase 2"].Take(depth, call);
    });
  };
  ForEachCall(environment.stream(), measure);
  ForEachMove(environment.stream(), measure);
  EXPECT_GT(without, 100) << "hardly a call wanted memory";
  Report(deepest);
}

TEST_P(StackOfACall, FitsASmallThread) {
  const ScopedEnvironment environment(OnTheCallersThread(GetParam()));
  const Stack stack(kSmallStack);
  stack.Run([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const auto call = [](const std::string&, const std::string&, auto plan, auto run) {
      plan();
      run();
    };
    ForEachCall(environment.stream(), call);
    ForEachMove(environment.stream(), call);
  });
}

INSTANTIATE_TEST_SUITE_P(On, StackOfACall, ::testing::ValuesIn(SupportedIsas()),
                         [](const ::testing::TestParamInfo<Isa>& isa) {
                           return std::string(IsaName(isa.param));
                         });

// ---- The runtime -------------------------------------------------------------------------------

// A message that names shapes of the most dims that a tensor can have.
void FailAtLength() {
  std::vector<int64_t> dims(25, 1'000'000'000'000'000'007);
  dims.back() = 0;
  const Shape strides(dims.size(), 1'000'000'000'000'000'007);
  const int64_t storage = 1;
  float value = 0;
  aclTensor* const tensor = aclCreateTensor(dims.data(), dims.size(), ACL_FLOAT, strides.data(), 0,
                                            ACL_FORMAT_ND, &storage, 1, &value);
  ASSERT_NE(tensor, nullptr);
  for (const NumericDescription* op : AllOperators()) {
    const std::vector<aclTensor*> tensors(op->binding.tensors.size(), tensor);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_NE(op->binding.plan(tensors, op->attributes.front(), &size, &executor), ACL_SUCCESS);
    EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  }
  aclDestroyTensor(tensor);
}

const std::pair<const char*, void (*)()> kRuntimeCalls[] = {
    {"aclrtSetDevice", [] { EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }},
    {"aclrtMalloc, aclrtMemcpy, aclrtMemset, aclrtFree",
     [] {
       static char host[100000];
       void* device = nullptr;
       ASSERT_EQ(aclrtMalloc(&device, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
       EXPECT_EQ(aclrtMemcpy(device, sizeof host, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
       EXPECT_EQ(aclrtMemset(device, sizeof host, 1, sizeof host), ACL_SUCCESS);
       EXPECT_EQ(aclrtMemcpy(host, sizeof host, device, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
       EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
     }},
    {"streams and events",
     [] {
       aclrtStream stream = nullptr;
       aclrtEvent event = nullptr;
       static char from[1000], to[1000];
       ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
       ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
       EXPECT_EQ(aclrtMemcpyAsync(to, sizeof to, from, sizeof from, ACL_MEMCPY_HOST_TO_DEVICE, stream),
                 ACL_SUCCESS);
       EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
       EXPECT_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
       EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
       EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
       EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
     }},
    {"failing calls with long messages", FailAtLength},
    {"aclAppLog", [] { ACL_APP_LOG(ACL_ERROR, "%s", std::string(20000, 'x').c_str()); }},
};

TEST(StackOfTheRuntime, StaysBelowWhatIsPromised) {
  char folder[] = "/tmp/portacl-stack-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::map<std::string, Deepest> deepest;
  {
    const ScopedEnvironment environment(
        {{"ASCEND_PROCESS_LOG_PATH", folder}, {"ASCEND_GLOBAL_LOG_LEVEL", "0"}});
    const Stack large(kLargeStack);
    large.Run([&] {
      for (const auto& [name, call] : kRuntimeCalls) deepest[name].Take(DepthOf(large, call), "");
    });
    const Stack small(kSmallStack);
    small.Run([] {
      for (const auto& [name, call] : kRuntimeCalls) call();
    });
  }
  Report(deepest);
  EXPECT_EQ(std::system((std::string("rm -r ") + folder).c_str()), 0);
}

// A configuration file whose objects lie in each other.
TEST(StackOfTheRuntime, StartsOnASmallThread) {
  char path[] = "/tmp/portacl-stack-XXXXXX";
  const int file = mkstemp(path);
  const std::string content =
      R"({"err_msg_mode": "0", "dump": {"dump_list": [{"a": {"b": [[1, 2, ["some longer text than fits inline"]]]}}]}})";
  ASSERT_EQ(write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  close(file);
  Deepest start, end;
  const Stack large(kLargeStack);
  const auto start_call = [&] { EXPECT_EQ(aclInit(path), ACL_SUCCESS) << aclGetRecentErrMsg(); };
  const auto end_call = [] { EXPECT_EQ(aclFinalize(), ACL_SUCCESS); };
  large.Run([&] {
    start.Take(DepthOf(large, start_call), "");
    end.Take(DepthOf(large, end_call), "");
  });
  Report({{"aclInit", start}, {"aclFinalize", end}});
  const Stack small(kSmallStack);
  small.Run([&] {
    start_call();
    end_call();
  });
  unlink(path);
}

}  // namespace
}  // namespace portacl::testing
