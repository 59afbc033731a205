// Walks stacks by rules that are cached for each return address (see unwind.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/unwind.h"

#include <execinfo.h>
#include <link.h>
#include <unwind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "base/process/fork.h"

namespace portacl {

#if defined(__x86_64__)

namespace {

// Unwinding finds and reads the compiler's description of a function at every frame. For one return address
// it only changes if other code is loaded there. Therefore it is read once and cached as a rule: the end of
// the frame, and the position of the caller's rbp. A rule is two words in a table that only grows, so that
// threads need no lock. Frames that a rule cannot describe, or for which the table has no room, are unwound.
//
// A rule stays valid until a module is unloaded; it stores the number of modules unloaded so far. The code of
// a frame exists while the frame does. If a module was unloaded before that code was loaded, the count has
// already changed when the frame's stack is walked, and an older rule has another number. Code outside any
// module has no rule, since it appears and disappears without being counted.
enum class Ends : uint8_t { kUnknown, kFromStack, kFromBase, kOutermost };
struct Rule {
  Ends ends = Ends::kUnknown;
  // In words: `size` is the distance from the stack pointer, or from rbp, to the end of the frame, where the
  // caller's frame begins. `base` is the distance down from there to the caller's saved rbp, or 0 if rbp is
  // unchanged.
  uint32_t size = 0;
  uint32_t base = 0;
};
constexpr uint64_t kWord = sizeof(uintptr_t);
constexpr int kBitsOfEnds = 2;
constexpr int kBitsOfSize = 20;
constexpr int kBitsOfBase = 12;
constexpr int kBitsOfRule = kBitsOfEnds + kBitsOfSize + kBitsOfBase;

constexpr size_t kRules = 1 << 15;
constexpr size_t kTries = 16;
struct Entry {
  std::atomic<uintptr_t> address;
  // The rule, with one more than the number of modules unloaded so far; 0: not read yet.
  std::atomic<uint64_t> rule;
};
Entry entries[kRules];

constexpr int kStackRegister = 7;
constexpr int kBaseRegister = 6;
constexpr int kReturnAddress = 16;

// Reads DWARF's frame description, which the compiler wrote.
class Reader {
 public:
  explicit Reader(const void* at) : at_(static_cast<const uint8_t*>(at)) {}
  const uint8_t* At() const { return at_; }
  void Skip(uint64_t bytes) { at_ += bytes; }
  template <class Number>
  Number Take() {
    Number number;
    std::memcpy(&number, at_, sizeof number);
    at_ += sizeof number;
    return number;
  }
  uint64_t Unsigned() {
    uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = Take<uint8_t>();
      if (shift < 64) number |= uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) return number;
    }
  }
  int64_t Signed() {
    uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = Take<uint8_t>();
      if (shift < 64) number |= uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) number |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(number);
    }
  }

 private:
  const uint8_t* at_;
};

// Returns the bytes of a pointer in this encoding, or 0 if it is not supported here.
int BytesOfPointer(uint8_t encoding) {
  switch (encoding & 0x0F) {
    case 0x00:
    case 0x04:
    case 0x0C:
      return 8;
    case 0x02:
    case 0x0A:
      return 2;
    case 0x03:
    case 0x0B:
      return 4;
    default:
      return 0;
  }
}

// The position of a register of the caller.
struct Saved {
  enum class Where : uint8_t { kUnchanged, kInFrame, kNowhere, kUnknown } where = Where::kUnchanged;
  int64_t offset = 0;
};
struct Row {
  int of = -1;  // base register of the frame's end; -1: unknown
  int64_t offset = 0;
  Saved base;
  Saved address;
  void Set(uint64_t number, Saved saved) {
    if (number == kBaseRegister) base = saved;
    if (number == kReturnAddress) address = saved;
  }
};

struct Alignment {
  uint64_t code = 1;
  int64_t data = 1;
};

// The instructions of DWARF's call frame information. Those of the second group have an operand in their low six bits.
// NOLINTBEGIN(readability-identifier-naming): as DWARF calls them
enum CallFrameInstruction : uint8_t {
  DW_CFA_nop = 0x00,
  DW_CFA_advance_loc1 = 0x02,
  DW_CFA_advance_loc2 = 0x03,
  DW_CFA_advance_loc4 = 0x04,
  DW_CFA_offset_extended = 0x05,
  DW_CFA_restore_extended = 0x06,
  DW_CFA_undefined = 0x07,
  DW_CFA_same_value = 0x08,
  DW_CFA_register = 0x09,
  DW_CFA_remember_state = 0x0A,
  DW_CFA_restore_state = 0x0B,
  DW_CFA_def_cfa = 0x0C,
  DW_CFA_def_cfa_register = 0x0D,
  DW_CFA_def_cfa_offset = 0x0E,
  DW_CFA_def_cfa_expression = 0x0F,
  DW_CFA_expression = 0x10,
  DW_CFA_offset_extended_sf = 0x11,
  DW_CFA_def_cfa_sf = 0x12,
  DW_CFA_def_cfa_offset_sf = 0x13,
  DW_CFA_val_expression = 0x16,
  DW_CFA_GNU_args_size = 0x2E,

  DW_CFA_advance_loc = 0x40,
  DW_CFA_offset = 0x80,
  DW_CFA_restore = 0xC0,
};
// NOLINTEND(readability-identifier-naming)
constexpr uint8_t kLowOperand = 0x3F;

// Executes an instruction about the frame's end. Returns false if it is another one.
bool SetFrame(uint8_t code, const Alignment& alignment, Reader* reader, Row* row) {
  uint64_t size = 0;
  switch (code) {
    case DW_CFA_def_cfa:
      row->of = static_cast<int>(reader->Unsigned());
      row->offset = static_cast<int64_t>(reader->Unsigned());
      return true;
    case DW_CFA_def_cfa_register:
      row->of = static_cast<int>(reader->Unsigned());
      return true;
    case DW_CFA_def_cfa_offset:
      row->offset = static_cast<int64_t>(reader->Unsigned());
      return true;
    case DW_CFA_def_cfa_expression:
      row->of = -1;
      size = reader->Unsigned();
      reader->Skip(size);
      return true;
    case DW_CFA_def_cfa_sf:
      row->of = static_cast<int>(reader->Unsigned());
      row->offset = reader->Signed() * alignment.data;
      return true;
    case DW_CFA_def_cfa_offset_sf:
      row->offset = reader->Signed() * alignment.data;
      return true;
    default:
      return false;
  }
}

// Executes an instruction about a register of the caller. Returns false if it is another one.
bool SetRegister(uint8_t code, const Alignment& alignment, const Row& initial, Reader* reader, Row* row) {
  using Where = Saved::Where;
  uint64_t number = 0;
  switch (code) {
    case DW_CFA_offset_extended:
      number = reader->Unsigned();
      row->Set(number, {Where::kInFrame, static_cast<int64_t>(reader->Unsigned()) * alignment.data});
      return true;
    case DW_CFA_offset_extended_sf:
      number = reader->Unsigned();
      row->Set(number, {Where::kInFrame, reader->Signed() * alignment.data});
      return true;
    case DW_CFA_restore_extended:
      number = reader->Unsigned();
      row->Set(number, number == kBaseRegister ? initial.base : initial.address);
      return true;
    case DW_CFA_undefined:
      row->Set(reader->Unsigned(), {Where::kNowhere, 0});
      return true;
    case DW_CFA_same_value:
      row->Set(reader->Unsigned(), {});
      return true;
    case DW_CFA_register:
      row->Set(reader->Unsigned(), {Where::kUnknown, 0});
      reader->Unsigned();
      return true;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
      row->Set(reader->Unsigned(), {Where::kUnknown, 0});
      number = reader->Unsigned();
      reader->Skip(number);
      return true;
    default:
      return false;
  }
}

// Executes the instructions that apply at `target`, an offset in the function. Returns false if one is not
// supported here.
bool Carry(Reader reader, const uint8_t* end, const Alignment& alignment, uint64_t target, const Row& initial,
           Row* row) {
  Row remembered[8];
  int depth = 0;
  uint64_t at = 0;
  while (reader.At() < end) {
    const auto code = reader.Take<uint8_t>();
    const uint64_t low = code & kLowOperand;
    switch (code & ~kLowOperand) {
      case DW_CFA_advance_loc:
        at += low * alignment.code;
        if (at > target) return true;
        continue;
      case DW_CFA_offset:
        row->Set(low, {Saved::Where::kInFrame, static_cast<int64_t>(reader.Unsigned()) * alignment.data});
        continue;
      case DW_CFA_restore:
        row->Set(low, low == kBaseRegister ? initial.base : initial.address);
        continue;
      default:
        break;
    }
    switch (code) {
      case DW_CFA_nop:
        break;
      case DW_CFA_advance_loc1:
        at += reader.Take<uint8_t>() * alignment.code;
        break;
      case DW_CFA_advance_loc2:
        at += reader.Take<uint16_t>() * alignment.code;
        break;
      case DW_CFA_advance_loc4:
        at += reader.Take<uint32_t>() * alignment.code;
        break;
      case DW_CFA_remember_state:
        if (depth == 8) return false;
        remembered[depth++] = *row;
        break;
      case DW_CFA_restore_state:
        if (depth == 0) return false;
        *row = remembered[--depth];
        break;
      case DW_CFA_GNU_args_size:
        reader.Unsigned();
        break;
      default:
        if (!SetFrame(code, alignment, &reader, row) && !SetRegister(code, alignment, initial, &reader, row))
          return false;
    }
    if (at > target) return true;
  }
  return true;
}

struct BasesOfTable {
  void* text;
  void* data;
  void* function;
};
// From the compiler's unwinder.
extern "C" const void* _Unwind_Find_FDE(void* address,  // NOLINT(readability-identifier-naming)
                                        BasesOfTable* bases);

// Guards dl_iterate_phdr, which takes a lock of the C library. A forked child would find that lock taken
// forever, if the thread that holds it does not exist there.
constinit std::mutex of_modules;

int ForEachModule(int (*call)(dl_phdr_info* info, size_t size, void* context), void* context) {
  const std::lock_guard lock(of_modules);
  return dl_iterate_phdr(call, context);
}

// Counts the modules that have been unloaded.
uint64_t CountUnloaded() {
  uint64_t count = 0;
  ForEachModule(
      [](dl_phdr_info* info, size_t, void* to) {
        *static_cast<uint64_t*>(to) = info->dlpi_subs;
        return 1;  // all modules report the same number
      },
      &count);
  return count;
}

bool IsInModule(uintptr_t address) {
  return ForEachModule(
             [](dl_phdr_info* info, size_t, void* wanted) {
               for (int i = 0; i < info->dlpi_phnum; ++i) {
                 const auto& segment = info->dlpi_phdr[i];
                 const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
                 const uintptr_t offset = *static_cast<uintptr_t*>(wanted) - begin;
                 if (segment.p_type == PT_LOAD && offset < segment.p_memsz) return 1;
               }
               return 0;
             },
             &address) == 1;
}

Rule ReadRule(uintptr_t return_address) {
  const uintptr_t call = return_address - 1;
  if (!IsInModule(call)) return {};
  BasesOfTable bases{};
  const void* const table = _Unwind_Find_FDE(reinterpret_cast<void*>(call), &bases);
  if (table == nullptr) return {};
  Reader reader(table);
  const auto length = reader.Take<uint32_t>();
  const uint8_t* const end = reader.At() + length;
  const uint8_t* const place = reader.At();  // base of the relative address that follows
  const uint8_t* const common = place - reader.Take<int32_t>();
  if (length == 0xFFFFFFFFu) return {};

  // The part that functions share.
  Reader shared(common);
  const auto shared_length = shared.Take<uint32_t>();
  const uint8_t* const shared_end = shared.At() + shared_length;
  shared.Skip(4);
  const auto version = shared.Take<uint8_t>();
  const char* const augmentation = reinterpret_cast<const char*>(shared.At());
  shared.Skip(std::strlen(augmentation) + 1);
  Alignment alignment;
  alignment.code = shared.Unsigned();
  alignment.data = shared.Signed();
  const uint64_t column = version == 1 ? shared.Take<uint8_t>() : shared.Unsigned();
  if (column != kReturnAddress || shared_length == 0xFFFFFFFFu) return {};
  uint8_t encoding = 0;
  if (augmentation[0] == 'z') {
    const uint64_t size = shared.Unsigned();
    const uint8_t* const behind = shared.At() + size;
    for (const char* one = augmentation + 1; *one != '\0'; ++one) {
      if (*one == 'R') {
        encoding = shared.Take<uint8_t>();
      } else if (*one == 'L') {
        shared.Skip(1);
      } else if (*one == 'P') {
        const auto of_handler = shared.Take<uint8_t>();
        if (BytesOfPointer(of_handler) == 0 || of_handler == 0x50) return {};
        shared.Skip(static_cast<uint64_t>(BytesOfPointer(of_handler)));
      } else {
        return {};  // such as a signal handler
      }
    }
    shared = Reader(behind);
  } else if (augmentation[0] != '\0') {
    return {};
  }
  const int pointer = BytesOfPointer(encoding);
  if (pointer == 0) return {};
  reader.Skip(2 * static_cast<uint64_t>(pointer));
  if (augmentation[0] == 'z') {
    const uint64_t size = reader.Unsigned();
    reader.Skip(size);
  }

  Row row;
  if (!Carry(shared, shared_end, alignment, UINT64_MAX, {}, &row)) return {};
  const Row initial = row;
  const uint64_t target = call - reinterpret_cast<uintptr_t>(bases.function);
  if (!Carry(reader, end, alignment, target, initial, &row)) return {};
  using Where = Saved::Where;
  if (row.address.where == Where::kNowhere) return {Ends::kOutermost, 0, 0};
  Rule rule;
  if (row.address.where != Where::kInFrame || row.address.offset != -8) return {};
  const auto in_words = [](int64_t bytes, int bits) {
    return bytes > 0 && bytes % int64_t{kWord} == 0 && bytes / int64_t{kWord} < int64_t{1} << bits;
  };
  if (row.base.where == Where::kInFrame) {
    if (!in_words(-row.base.offset, kBitsOfBase)) return {};
    rule.base = static_cast<uint32_t>(-row.base.offset / int64_t{kWord});
  } else if (row.base.where != Where::kUnchanged) {
    return {};
  }
  if (!in_words(row.offset, kBitsOfSize)) return {};
  rule.size = static_cast<uint32_t>(row.offset / int64_t{kWord});
  if (row.of == kStackRegister) rule.ends = Ends::kFromStack;
  if (row.of == kBaseRegister) rule.ends = Ends::kFromBase;
  return rule;
}

uint64_t WordOf(const Rule& rule, uint64_t unloaded) {
  return (unloaded + 1) << kBitsOfRule | uint64_t{rule.base} << (kBitsOfEnds + kBitsOfSize) |
         uint64_t{rule.size} << kBitsOfEnds | static_cast<uint64_t>(rule.ends);
}
Rule RuleOf(uint64_t word) {
  const auto bits = [word](int first, int count) {
    return static_cast<uint32_t>(word >> first & ((uint64_t{1} << count) - 1));
  };
  return {static_cast<Ends>(bits(0, kBitsOfEnds)), bits(kBitsOfEnds, kBitsOfSize),
          bits(kBitsOfEnds + kBitsOfSize, kBitsOfBase)};
}

Rule RuleAt(uintptr_t address, uint64_t unloaded) {
  const size_t first = address * 0x9E3779B97F4A7C15u >> 40;
  for (size_t i = 0; i < kTries; ++i) {
    Entry& entry = entries[(first + i) % kRules];
    uintptr_t there = entry.address.load(std::memory_order_relaxed);
    if (there == 0) entry.address.compare_exchange_strong(there, address, std::memory_order_relaxed);
    if (there != 0 && there != address) continue;
    const uint64_t word = entry.rule.load(std::memory_order_relaxed);
    if (word >> kBitsOfRule == WordOf({}, unloaded) >> kBitsOfRule) return RuleOf(word);
    const Rule rule = ReadRule(address);
    entry.rule.store(WordOf(rule, unloaded), std::memory_order_relaxed);
    return rule;
  }
  return {};
}

__attribute__((no_sanitize("address", "thread"))) uintptr_t WordAt(uintptr_t address) {
  return *reinterpret_cast<const uintptr_t*>(address);
}

struct Unwound {
  void** addresses;
  int most;
  uintptr_t begin;  // stack pointer of the first frame that is wanted
  int count = 0;
  bool has_begun = false;
};

_Unwind_Reason_Code Take(_Unwind_Context* context, void* to) {
  auto& unwound = *static_cast<Unwound*>(to);
  if (unwound.count == unwound.most) return _URC_END_OF_STACK;
  unwound.has_begun = unwound.has_begun || _Unwind_GetCFA(context) == unwound.begin;
  const auto address = _Unwind_GetIP(context);
  if (address == 0) return _URC_END_OF_STACK;
  if (unwound.has_begun) unwound.addresses[unwound.count++] = reinterpret_cast<void*>(address);
  return _URC_NO_REASON;
}

}  // namespace

__attribute__((noinline)) int Unwind(void** addresses, int most, bool* by_rules) noexcept {
  const uint64_t unloaded = CountUnloaded();
  if (by_rules != nullptr) *by_rules = true;
  // Starts where this function saved its caller's rbp; the return address lies above it.
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  uintptr_t address = WordAt(here + 8);
  uintptr_t base = WordAt(here);
  uintptr_t stack = here + 16;
  for (int count = 0; count < most;) {
    addresses[count++] = reinterpret_cast<void*>(address);
    const Rule rule = count < most ? RuleAt(address, unloaded) : Rule{Ends::kOutermost};
    if (rule.ends == Ends::kOutermost) return count;
    if (rule.ends == Ends::kUnknown) break;
    stack = (rule.ends == Ends::kFromStack ? stack : base) + rule.size * kWord;
    if (rule.base != 0) base = WordAt(stack - rule.base * kWord);
    address = WordAt(stack - 8);
  }
  if (by_rules != nullptr) *by_rules = false;
  Unwound unwound{addresses, most, here + 16};
  _Unwind_Backtrace(Take, &unwound);
  return unwound.count;
}

void PrepareUnwinding() noexcept {
  GuardAcrossFork(of_modules, ForkRank::kModules);
  void* addresses[2];
  backtrace(addresses, 2);
  Unwind(addresses, 2);
}

#else

int Unwind(void** addresses, int most, bool* by_rules) noexcept {
  if (by_rules != nullptr) *by_rules = false;
  constexpr int kMost = 64;
  void* found[kMost];
  int count = backtrace(found, most + 1 < kMost ? most + 1 : kMost) - 1;
  if (count < 0) count = 0;
  std::memcpy(addresses, found + 1, static_cast<size_t>(count) * sizeof(void*));
  return count;
}

void PrepareUnwinding() noexcept {
  void* addresses[2];
  backtrace(addresses, 2);
}

#endif

}  // namespace portacl
