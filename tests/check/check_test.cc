// Parts of the checks that need no program: settings, suppressions, the bytes of views, what was written.
// SPDX-License-Identifier: Apache-2.0
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "acl/sanitizers.h"
#include "aclnn/operand_bytes.h"
#include "aclnnop/operand_access.h"
#include "aclnnop/signatures.h"
#include "base/unwind.h"
#include "sanitizer/device_memory.h"
#include "sanitizer/hooks.h"
#include "sanitizer/report.h"
#include "sanitizer/settings.h"
#include "sanitizer/working_memory.h"
#include "support/random_numbers.h"

namespace portacl::sanitizer {
namespace {

TEST(Settings, Words) {
  Settings settings;
  ASSERT_TRUE(ParseSettings("1", &settings));
  EXPECT_EQ(settings.parts, kAllParts);
  EXPECT_TRUE(settings.stops);
  ASSERT_TRUE(ParseSettings("report", &settings));
  EXPECT_EQ(settings.parts, kAllParts);
  EXPECT_FALSE(settings.stops);
  ASSERT_TRUE(ParseSettings("report,memory,init", &settings));
  EXPECT_EQ(settings.parts, kMemory | kInit);
  EXPECT_FALSE(settings.stops);
  ASSERT_TRUE(ParseSettings("sync", &settings));
  EXPECT_EQ(settings.parts, uint32_t{kSync});
  EXPECT_TRUE(settings.stops);
  ASSERT_TRUE(ParseSettings("0", &settings));
  EXPECT_EQ(settings.parts, 0u);
  ASSERT_TRUE(ParseSettings("memory,0", &settings));
  EXPECT_EQ(settings.parts, 0u);
  for (const char* wrong : {"2", "yes", "report,", "1,report", ",", "memory init", "Memory"}) {
    EXPECT_FALSE(ParseSettings(wrong, &settings)) << wrong;
  }
}

TEST(Suppressions, Patterns) {
  EXPECT_TRUE(IsSuppressedBy("aclnnAbs", "host-operand", "aclnnAbs"));
  EXPECT_FALSE(IsSuppressedBy("aclnnAbs", "host-operand", "aclnnAbsent"));
  EXPECT_TRUE(IsSuppressedBy("aclnn*", "host-operand", "aclnnAbs"));
  EXPECT_TRUE(IsSuppressedBy("host-operand:aclnn*", "host-operand", "aclnnAbs"));
  EXPECT_FALSE(IsSuppressedBy("host-access:aclnn*", "host-operand", "aclnnAbs"));
  EXPECT_TRUE(IsSuppressedBy("host-*:*", "host-operand", "main"));
  EXPECT_TRUE(IsSuppressedBy("mine::Load", "host-access", "mine::Load(char const*, int)"));
  EXPECT_TRUE(IsSuppressedBy("host-access:mine::Load", "host-access", "mine::Load(char const*)"));
  EXPECT_TRUE(IsSuppressedBy("*in load_weights", "host-access", "/a/model.py:3 in load_weights"));
  EXPECT_FALSE(IsSuppressedBy("*", "host-access", "") && false);
}

// The oracle walks the elements one by one.
TEST(ByteRuns, AreTheElementsOfTheView) {
  testing::RandomNumbers random(1);
  const auto draw = [&random](int64_t low, int64_t high) { return random.Between(low, high); };
  for (int round = 0; round < 3000; ++round) {
    aclTensor tensor;
    tensor.dtype = round % 2 == 0 ? ACL_FLOAT : ACL_INT8;
    const int64_t size = round % 2 == 0 ? 4 : 1;
    tensor.shape.rank = tensor.strides.rank = static_cast<int>(draw(0, 4));
    for (int i = 0; i < tensor.shape.rank; ++i) {
      tensor.shape.dim[i] = draw(round % 7 == 0 ? 0 : 1, 4);
      tensor.strides.dim[i] = draw(-9, 9);
    }
    tensor.offset = draw(0, 5);
    tensor.Describe();
    std::set<int64_t> expected;
    int64_t index[4] = {};
    for (bool more = tensor.numel > 0; more;) {
      int64_t at = tensor.offset;
      for (int i = 0; i < tensor.shape.rank; ++i) at += index[i] * tensor.strides[i];
      for (int64_t byte = 0; byte < size; ++byte) expected.insert(at * size + byte);
      more = false;
      for (int i = 0; i < tensor.shape.rank && !more; ++i) {
        more = ++index[i] < tensor.shape[i];
        if (!more) index[i] = 0;
      }
    }
    std::set<int64_t> found;
    OperandInfo operand;
    SetBytes(tensor, &operand);
    EXPECT_TRUE(operand.is_complete && operand.is_exact);
    ForEachRun(operand.bytes, [&found](uintptr_t first, size_t bytes) {
      for (size_t byte = 0; byte < bytes; ++byte) found.insert(static_cast<int64_t>(first + byte));
      return true;
    });
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

// A stack of calls in an order that is drawn, of frames of several sizes and of one whose size varies. At its end the C library
// unwinds it, too.
struct Descent {
  testing::RandomNumbers random{5};
  int left = 0;
  int compared = 0;
  bool has_rules = true;  // an aligned frame has none
  int of_rules = 0;
  int by_rules = 0;
};
void Descend(Descent& descent);
void Keep(void* room) { asm volatile("" : : "r"(room) : "memory"); }
__attribute__((noinline)) void DescendSmall(Descent& descent) {
  char room[24];
  Keep(room);
  Descend(descent);
  Keep(room);
}
__attribute__((noinline)) void DescendLarge(Descent& descent) {
  char room[3000];
  Keep(room);
  Descend(descent);
  Keep(room);
}
__attribute__((noinline)) void DescendVarying(Descent& descent) {
  const auto size = static_cast<size_t>(descent.random.Between(1, 400));
  void* const room = alloca(size);
  Keep(room);
  Descend(descent);
  Keep(room);
}
__attribute__((noinline)) void DescendAligned(Descent& descent) {
  descent.has_rules = false;
  alignas(64) char room[64];
  Keep(room);
  Descend(descent);
  Keep(room);
}
__attribute__((noinline)) void Compare(Descent& descent) {
  void* expected[80];
  void* found[40];
  const int expected_count = backtrace(expected, 80);
  const int most = static_cast<int>(descent.random.Between(1, 40));
  bool by_rules = false;
  const int count = Unwind(found, most, &by_rules);
  // The first addresses lie in this function, behind each call.
  ASSERT_EQ(count, std::min(most, expected_count));
  for (int i = 1; i < count; ++i) ASSERT_EQ(found[i], expected[i]) << "frame " << i << " of " << count;
  ++descent.compared;
  if (!descent.has_rules) return;
  ++descent.of_rules;
  if (by_rules) ++descent.by_rules;
}
__attribute__((noinline)) void Descend(Descent& descent) {
  if (descent.left-- == 0) {
    Compare(descent);
    return;
  }
  switch (descent.random.Between(0, 3)) {
    case 0:
      return DescendSmall(descent);
    case 1:
      return DescendLarge(descent);
    case 2:
      return DescendVarying(descent);
    default:
      return DescendAligned(descent);
  }
}

TEST(Unwinding, IsThatOfTheCLibrary) {
  PrepareUnwinding();
  Descent descent;
  for (int round = 0; round < 5000; ++round) {
    descent.left = static_cast<int>(descent.random.Between(0, 12));
    descent.has_rules = true;
    Descend(descent);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(descent.compared, 5000);
#if defined(__x86_64__) && !PORTACL_ASAN && !PORTACL_TSAN  // sanitizers give every frame an alignment
  EXPECT_GE(descent.of_rules, 500);
  EXPECT_GE(descent.by_rules, descent.of_rules * 9 / 10);
#endif
}

// Addresses are new each time, and so much is known of each; what is known of those that are gone may not stay.
TEST(DeviceMemory, ComesAndGoesInAsMuchAsItTakes) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Settings settings;
    settings.parts = kMemory | kInit;
    StartDeviceMemory(true);
    PutInForce(settings);
    void* const stays = AllocateDevice("stays", 100);
    const auto pages = [] {  // resident
      long all = 0;
      long resident = 0;
      std::FILE* const file = std::fopen("/proc/self/statm", "r");
      const bool read = file != nullptr && std::fscanf(file, "%ld %ld", &all, &resident) == 2;
      if (file != nullptr) std::fclose(file);
      return read ? resident : -1;
    };
    const auto comes_and_goes = [](size_t size) {
      void* const address = AllocateDevice("comes", size);
      if (address == nullptr) _exit(2);
      if (FirstUnwritten(address, size) != address) _exit(3);
      MarkWritten(address, size);
      if (FirstUnwritten(address, size) != nullptr) _exit(4);
      auto* const bytes = static_cast<unsigned char*>(Working(address));
      if (bytes[0] != 0xA1 || bytes[size / 8 * 8 - 1] != 0x7F) _exit(5);
      std::memset(bytes, 0, size);
      FreeDevice("goes", address);
    };
    for (int i = 0; i < 100; ++i) comes_and_goes(size_t{4} << 20);
    const long before = pages();
    for (int i = 0; i < 2500; ++i) comes_and_goes((size_t{4} << 20) + static_cast<size_t>(i % 3) * 4096);
    for (int i = 0; i < 20000; ++i) comes_and_goes(static_cast<size_t>(i % 37 + 1) * 1000);
    for (int i = 0; i < 3; ++i) comes_and_goes(size_t{40} << 20);
    const long after = pages();
    Block block;
    if (!FindBlock(stays, &block) || block.is_freed) _exit(6);
    // 10 GiB of addresses, of which 100 MiB would be known; 16 MiB are pieces of other lengths.
    _exit(before > 0 && after - before < 40 * 256 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(WorkingMemory, RangesComeBack) {
  WorkingMemory memory;
  ASSERT_TRUE(memory.Reserve(size_t{1} << 30));
  testing::RandomNumbers random(1);
  std::map<uintptr_t, size_t> taken;  // with their lengths
  for (int round = 0; round < 20000; ++round) {
    if (taken.size() < 40 && random.Between(0, 1) == 0) {
      const auto pages = random.Between(0, 3) == 0 ? random.Between(1, 8192) : random.Between(1, 40);
      const size_t length = static_cast<size_t>(pages) * 4096;
      const WorkingMemory::Range range = memory.Take(length, round % 2 == 0);
      if (range.begin == 0) continue;  // 40 of the longest do not fit
      ASSERT_TRUE(memory.Holds(range.begin) && memory.Holds(range.begin + length - 1));
      const auto behind = taken.lower_bound(range.begin);
      ASSERT_TRUE(behind == taken.end() || range.begin + length <= behind->first);
      ASSERT_TRUE(behind == taken.begin() ||
                  std::prev(behind)->first + std::prev(behind)->second <= range.begin);
      auto* const bytes = reinterpret_cast<char*>(range.begin);
      bytes[0] = bytes[length - 1] = 1;
      taken.emplace(range.begin, length);
    } else if (!taken.empty()) {
      auto it = taken.lower_bound(taken.begin()->first + static_cast<uintptr_t>(random.Between(0, 1 << 30)));
      if (it == taken.end()) it = taken.begin();
      memory.Give(it->first, it->second, round % 5 != 0);
      taken.erase(it);
    }
  }
  const WorkingMemory::Range last = memory.Take(4096 * 5, true);
  memory.Give(last.begin, 4096 * 5, true);
  const WorkingMemory::Range again = memory.Take(4096 * 5, true);
  EXPECT_EQ(again.begin, last.begin);
  EXPECT_TRUE(again.is_populated);
}

// What the C library and what Unwind find below a function that is called with this one. A wrong way through a frame leads
// to where there is no code, mostly, and then to unwinding: the three innermost frames are asked for besides.
struct BothStacks {
  void* expected[40];
  void* found[40];
  void* innermost[3];
  int expected_count = 0;
  int count = 0;
  static void Take(void* to) {
    auto& both = *static_cast<BothStacks*>(to);
    both.expected_count = backtrace(both.expected, 40);
    both.count = Unwind(both.found, 40);
    ASSERT_EQ(Unwind(both.innermost, 3), 3);
  }
  void Compare() const {
    ASSERT_GE(expected_count, 4);
    ASSERT_EQ(count, expected_count);
    for (int i = 1; i < count; ++i) ASSERT_EQ(found[i], expected[i]) << "frame " << i;
    for (int i = 1; i < 3; ++i) ASSERT_EQ(innermost[i], expected[i]) << "frame " << i << " of 3";
  }
};
using CallFramed = void (*)(void (*)(void*), void*);

// Other code comes to the address of what was unloaded.
TEST(Unwinding, RulesEndWithTheirModules) {
  PrepareUnwinding();
  CallFramed first = nullptr;
  for (const char* path : {PORTACL_SMALL_FRAME, PORTACL_LARGE_FRAME, PORTACL_SMALL_FRAME}) {
    void* const module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(module, nullptr) << dlerror();
    const auto function = reinterpret_cast<CallFramed>(dlsym(module, "CallFramed"));
    ASSERT_NE(function, nullptr);
    if (first == nullptr) first = function;
    const bool is_there = function == first;
    BothStacks both;
    function(BothStacks::Take, &both);
    both.Compare();
    dlclose(module);
    if (HasFatalFailure()) return;
    if (!is_there) GTEST_SKIP() << "the second module did not come to the first one's address";
  }
}

#if defined(__x86_64__)
// A compiler that is part of the program registers what it compiled, here a function with a frame of `size` bytes.
extern "C" void __register_frame(void*);    // NOLINT(readability-identifier-naming)
extern "C" void __deregister_frame(void*);  // NOLINT(readability-identifier-naming)
class CompiledFunction {
 public:
  explicit CompiledFunction(void* code, uint32_t size) {
    Bytes text(static_cast<uint8_t*>(code));
    text.Add({0x48, 0x89, 0xF8, 0x48, 0x89, 0xF7});  // rax = rdi, rdi = rsi
    text.Add({0x48, 0x81, 0xEC}).Number(size);       // rsp -= size
    text.Add({0xFF, 0xD0});                          // call rax
    text.Add({0x48, 0x81, 0xC4}).Number(size);       // rsp += size
    text.Add({0xC3});
    Bytes tables(tables_);
    // What functions have in common: the frame's end is 8 bytes above rsp, the return address 8 below that.
    tables.Number(20u).Number(0u).Add({1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, 0x0C, 7, 8, 0x90, 1, 0, 0});
    // This one: from its 13th byte on the end is `size` bytes higher.
    tables.Number(32u).Number(28u).Number(reinterpret_cast<uint64_t>(code)).Number(uint64_t{64});
    tables.Add({0, 0x40 | 13, 0x0E}).Unsigned(size + 8).Until(60).Number(0u);
    __register_frame(tables_);
  }
  ~CompiledFunction() { __deregister_frame(tables_); }
  CompiledFunction(const CompiledFunction&) = delete;
  CompiledFunction& operator=(const CompiledFunction&) = delete;

 private:
  class Bytes {
   public:
    explicit Bytes(uint8_t* to) : begin_(to), at_(to) {}
    Bytes& Add(std::initializer_list<int> bytes) {
      for (const int byte : bytes) *at_++ = static_cast<uint8_t>(byte);
      return *this;
    }
    template <class Integer>
    Bytes& Number(Integer number) {
      std::memcpy(at_, &number, sizeof number);
      at_ += sizeof number;
      return *this;
    }
    Bytes& Unsigned(uint32_t number) {
      for (; number >= 0x80; number >>= 7) *at_++ = static_cast<uint8_t>(number | 0x80);
      *at_++ = static_cast<uint8_t>(number);
      return *this;
    }
    Bytes& Until(size_t size) {
      while (at_ < begin_ + size) *at_++ = 0;  // nop
      return *this;
    }

   private:
    uint8_t* begin_;
    uint8_t* at_;
  };
  alignas(8) uint8_t tables_[64] = {};
};

TEST(Unwinding, CodeInNoModuleHasNoRules) {
  PrepareUnwinding();
  void* const code =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) GTEST_SKIP() << "no memory may be written and run";
  for (const uint32_t size : {1000u, 3000u, 1000u}) {
    const CompiledFunction function(code, size);
    BothStacks both;
    reinterpret_cast<CallFramed>(code)(BothStacks::Take, &both);
    both.Compare();
    if (HasFatalFailure()) break;
  }
  munmap(code, 4096);
}
#endif

// A child that is forked while other threads walk their stacks can walk its own.
TEST(Unwinding, InAForkedChild) {
  PrepareUnwinding();
  std::atomic<bool> ends{false};
  std::thread other([&ends] {
    void* found[8];
    while (!ends) Unwind(found, 8);
  });
  int failed = 0;
  for (int round = 0; round < 200 && failed == 0; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      void* found[8];
      _exit(Unwind(found, 8) > 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    failed = status;
  }
  ends = true;
  other.join();
  EXPECT_EQ(failed, 0);
}

// What Unwind finds in a function; a stack of the checks begins with the same.
__attribute__((noinline)) CallStack TakenBelow(int depth, void** found) {
  if (depth > 0) {
    const CallStack stack = TakenBelow(depth - 1, found);
    Keep(found);
    return stack;
  }
  CallStack stack;
  Unwind(found, CallStack::kMostFrames);
  TakeCallStack(&stack);
  return stack;
}

TEST(CallStacks, BeginWhereTheyAreTaken) {
  PrepareUnwinding();
  void* found[CallStack::kMostFrames];
  const CallStack stack = TakenBelow(20, found);
  // Full, and of the calling function's frames but the first, in which the two calls are apart.
  ASSERT_EQ(stack.frame_count, CallStack::kMostFrames);
  for (int i = 1; i < stack.frame_count; ++i) EXPECT_EQ(stack.frames[i], found[i]) << "frame " << i;
  const auto distance = static_cast<char*>(stack.frames[0]) - static_cast<char*>(found[0]);
  EXPECT_GT(distance, 0);
  EXPECT_LT(distance, 1000);
}

TEST(OperandAccess, Kinds) {
  EXPECT_EQ(UseOf("aclnnAbs", "self", false), OperandUse::kReads);
  EXPECT_EQ(UseOf("aclnnInplaceAdds", "selfRef", true), OperandUse::kReads);
  EXPECT_EQ(UseOf("aclnnInplaceCopy", "selfRef", true), OperandUse::kWritesOnly);
  EXPECT_EQ(UseOf("aclnnInplaceCopy", "src", false), OperandUse::kMoves);
  EXPECT_EQ(UseOf("aclnnEmbedding", "weight", false), OperandUse::kPartly);
  EXPECT_TRUE(WritesInputs("aclnnApplyAdamWV2"));
  EXPECT_EQ(UseOf("aclnnKvRmsNormRopeCache", "kCacheRef", true), OperandUse::kPartly);
}

TEST(OperandAccess, WrittenParameters) {
  EXPECT_TRUE(IsWritten("aclnnQkvRmsNormRopeCache", "kCache"));
  EXPECT_TRUE(IsWritten("aclnnQkvRmsNormRopeCache", "qOut"));
  EXPECT_TRUE(IsWritten("aclnnAdvanceStep", "seqLens"));
  EXPECT_FALSE(IsWritten("aclnnAdvanceStep", "blockTables"));
  EXPECT_FALSE(IsWritten("aclnnQkvRmsNormRopeCache", "Cache"));
  EXPECT_FALSE(IsWritten("aclnnQkvRmsNormRopeCache", "epsilon"));
  EXPECT_FALSE(IsWritten("none", "kCache"));
}

}  // namespace
}  // namespace portacl::sanitizer
