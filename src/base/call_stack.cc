// Takes call stacks and names their frames (see call_stack.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/call_stack.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/process/cancellation.h"
#include "base/process/no_destructor.h"
#include "base/unwind.h"

namespace portacl {
namespace {

// The address range of this library's code. Its frames tell a reader nothing, except the one of the public
// function.
struct Module {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};
Module own;
bool own_is_program = false;  // linked into the program itself, as tests have it

// The most native frames after Python's lines. They are PyTorch's functions, of which the innermost suffice.
constexpr int kBesideLines = 6;

// Functions of Python's C interface, all documented since 3.9.
struct Python {
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;
  void* (*this_thread)() = nullptr;
  int (*ensure)() = nullptr;
  void (*release)(int) = nullptr;
  void* (*frame_of)(void*) = nullptr;
  void* (*code_of)(void*) = nullptr;
  void* (*back_of)(void*) = nullptr;
  int (*line_of)(void*) = nullptr;
  int (*instruction_of)(void*) = nullptr;  // since 3.11
  void* (*attribute)(void*, const char*) = nullptr;
  const char* (*utf8)(void*) = nullptr;
  void (*hold)(void*) = nullptr;
  void (*drop)(void*) = nullptr;
  void (*clear_error)() = nullptr;
  bool is_there = false;
};
Python python;

template <class Function>
bool Look(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

void FindPython() {
  Look("PyFrame_GetLasti", python.instruction_of);
  python.is_there =
      Look("Py_IsInitialized", python.is_initialized) &&
      (Look("Py_IsFinalizing", python.is_finalizing) || Look("_Py_IsFinalizing", python.is_finalizing)) &&
      Look("PyGILState_GetThisThreadState", python.this_thread) && Look("PyGILState_Ensure", python.ensure) &&
      Look("PyGILState_Release", python.release) && Look("PyThreadState_GetFrame", python.frame_of) &&
      Look("PyFrame_GetCode", python.code_of) && Look("PyFrame_GetBack", python.back_of) &&
      Look("PyFrame_GetLineNumber", python.line_of) && Look("PyObject_GetAttrString", python.attribute) &&
      Look("PyUnicode_AsUTF8", python.utf8) && Look("Py_IncRef", python.hold) &&
      Look("Py_DecRef", python.drop) && Look("PyErr_Clear", python.clear_error);
}

// The stack that StackTakenAhead has taken in this thread.
thread_local const CallStack* taken_ahead = nullptr;

// Returns a permanent copy of a line, one for equal lines, since the objects that it was made of may be
// freed.
const char* Keep(const char* text) {
  static NoDestructor<std::mutex> mutex;
  static NoDestructor<std::unordered_set<std::string>> lines;
  std::lock_guard lock(*mutex);
  return lines->insert(text).first->c_str();
}

bool IsOfLibraries(const char* file) noexcept {
  return std::strstr(file, "/torch/") != nullptr || std::strstr(file, "/torch_npu/") != nullptr ||
         std::strstr(file, "/portacl/") != nullptr || std::strncmp(file, "<frozen", 7) == 0;
}

struct Line {
  const char* text;
  bool is_of_libraries;
};

// A position in a function, by an instruction or by its line. Finding its name takes long, so that names are
// cached.
struct Position {
  const void* code;
  int at;
  bool operator==(const Position&) const = default;
};
struct PositionHash {
  size_t operator()(const Position& one) const noexcept {
    return (reinterpret_cast<uintptr_t>(one.code) >> 4) * 0x9E3779B97F4A7C15u ^
           static_cast<size_t>(one.at) * 0x85EBCA6Bu;
  }
};

// The most cached positions. A program with more creates functions at run time; its further lines are looked
// up each time.
constexpr size_t kMostPositions = 1 << 16;

// Requires the interpreter's lock.
bool FindLine(void* frame, Line* line) {
  static NoDestructor<std::unordered_map<Position, Line, PositionHash>> known;
  void* const code = python.code_of(frame);
  const Position position = {
      code, python.instruction_of != nullptr ? python.instruction_of(frame) : python.line_of(frame)};
  if (const auto found = known->find(position); found != known->end()) {
    *line = found->second;
    python.drop(code);
    return true;
  }
  void* const file = python.attribute(code, "co_filename");
  void* const name = python.attribute(code, "co_name");
  const char* const file_text = file == nullptr ? nullptr : python.utf8(file);
  const char* const name_text = name == nullptr ? nullptr : python.utf8(name);
  const bool is_there = file_text != nullptr && name_text != nullptr;
  if (is_there) {
    char text[512];
    std::snprintf(text, sizeof text, "%s:%d in %s", file_text, python.line_of(frame), name_text);
    *line = {Keep(text), IsOfLibraries(file_text)};
    // Holds the code object forever, so that no other one gets its address.
    if (known->size() < kMostPositions && known->emplace(position, *line).second) python.hold(code);
  } else {
    python.clear_error();
  }
  if (file != nullptr) python.drop(file);
  if (name != nullptr) python.drop(name);
  python.drop(code);
  return is_there;
}

// Captures the program's own lines, innermost first, or PyTorch's if there are none.
void CaptureLines(CallStack* stack) noexcept {
  if (!python.is_there || python.is_initialized() == 0 || python.is_finalizing() != 0) return;
  void* const thread = python.this_thread();
  if (thread == nullptr) return;  // a thread that is unknown to Python
  const int state = python.ensure();
  const char* innermost = nullptr;
  void* frame = python.frame_of(thread);
  for (int depth = 0; frame != nullptr && depth < 64 && stack->line_count < CallStack::kMostLines; ++depth) {
    try {
      Line line{};
      if (FindLine(frame, &line)) {
        if (!line.is_of_libraries) {
          stack->lines[stack->line_count] = line.text;
          ++stack->line_count;
        } else if (innermost == nullptr) {
          innermost = line.text;
        }
      }
    } catch (...) {
      // without memory a stack has fewer lines
    }
    void* const back = python.back_of(frame);
    python.drop(frame);
    frame = back;
  }
  if (frame != nullptr) python.drop(frame);
  if (stack->line_count == 0 && innermost != nullptr) {
    stack->lines[0] = innermost;
    stack->line_count = 1;
  }
  python.release(state);
}

// Finds the function that contains an offset in a file's full symbol table: dladdr knows only exported
// functions.
bool FindInSymbolTable(const char* path, uintptr_t offset, std::string* name) {
  const CancellationDeferred deferred;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat file_status = {};
  void* mapped = MAP_FAILED;
  if (fstat(file, &file_status) == 0 && file_status.st_size > static_cast<off_t>(sizeof(ElfW(Ehdr)))) {
    mapped = mmap(nullptr, static_cast<size_t>(file_status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  if (mapped == MAP_FAILED) return false;
  const auto size = static_cast<size_t>(file_status.st_size);
  const char* const base = static_cast<const char*>(mapped);
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  bool found = false;
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
      header->e_shoff + size_t{header->e_shnum} * sizeof(ElfW(Shdr)) <= size) {
    const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(base + header->e_shoff);
    for (int i = 0; i < header->e_shnum && !found; ++i) {
      const ElfW(Shdr)& section = sections[i];
      if (section.sh_type != SHT_SYMTAB || section.sh_link >= header->e_shnum) continue;
      const ElfW(Shdr)& strings = sections[section.sh_link];
      if (section.sh_offset + section.sh_size > size || strings.sh_offset + strings.sh_size > size) continue;
      const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(base + section.sh_offset);
      for (size_t k = 0; k < section.sh_size / sizeof(ElfW(Sym)); ++k) {
        const ElfW(Sym)& symbol = symbols[k];
        if ((symbol.st_info & 0xF) == STT_FUNC && symbol.st_value <= offset &&
            offset < symbol.st_value + symbol.st_size && symbol.st_name < strings.sh_size) {
          *name = base + strings.sh_offset + symbol.st_name;
          found = true;
          break;
        }
      }
    }
  }
  munmap(mapped, size);
  return found;
}

std::string Demangled(const char* name) {
  int status = 0;
  char* const readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = status == 0 && readable != nullptr ? readable : name;
  std::free(readable);
  if (text.size() > 200) text = text.substr(0, 200) + "...";
  return text;
}

bool IsOwn(const void* address) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= own.begin && at < own.end;
}

}  // namespace

void PrepareCallStacks() noexcept {
  PrepareUnwinding();
  FindPython();
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void*) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          const auto here = reinterpret_cast<uintptr_t>(&PrepareCallStacks);
          if (here >= begin && here < begin + segment.p_memsz) {
            own = {begin, begin + segment.p_memsz};
            own_is_program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
          }
        }
        return 0;
      },
      nullptr);
}

StackTakenAhead::StackTakenAhead(bool is_wanted) noexcept : outer_(taken_ahead) {
  if (!is_wanted || outer_ != nullptr) return;
  TakeCallStack(&stack_);
  taken_ahead = &stack_;
}

StackTakenAhead::~StackTakenAhead() { taken_ahead = outer_; }

// Not inlined, because the first frame that is found must be its own.
__attribute__((noinline)) void TakeCallStack(CallStack* stack) noexcept {
  if (taken_ahead != nullptr) {
    *stack = *taken_ahead;
    return;
  }
  constexpr int kOwnFrames = 8;  // the most frames between a public function and this one
  void* frames[CallStack::kMostFrames + kOwnFrames];
  stack->line_count = 0;
  CaptureLines(stack);
  const int count =
      Unwind(frames, kOwnFrames + (stack->line_count > 0 ? kBesideLines : CallStack::kMostFrames));
  int first = 1;
  // The public function is the last of this library's frames on the way to the program.
  if (!own_is_program) {
    while (first + 1 < count && IsOwn(frames[first]) && IsOwn(frames[first + 1])) ++first;
  }
  stack->frame_count = 0;
  for (int i = first; i < count && stack->frame_count < CallStack::kMostFrames; ++i) {
    stack->frames[stack->frame_count++] = frames[i];
  }
}

void Describe(const CallStack& stack, const LineSink& sink) noexcept {
  try {
    for (int i = 0; i < stack.line_count; ++i) sink.line(sink.context, stack.lines[i], stack.lines[i]);
    const int most = stack.line_count > 0 ? kBesideLines : CallStack::kMostFrames;
    int shown = 0;
    for (int i = 0; i < stack.frame_count && shown < most; ++i) {
      const auto* const address =
          static_cast<const char*>(stack.frames[i]) - 1;  // an address within the call, not after it
      Dl_info info = {};
      link_map* map = nullptr;
      char text[600];
      std::string name;
      if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) {
        std::snprintf(text, sizeof text, "#%d %p", shown++, stack.frames[i]);
        sink.line(sink.context, text, "");
        continue;
      }
      const bool is_program = map->l_name == nullptr || map->l_name[0] == '\0';
      const char* const path = is_program ? "/proc/self/exe" : info.dli_fname;
      const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - map->l_addr;
      if (!FindInSymbolTable(path, offset, &name) && info.dli_sname != nullptr) name = info.dli_sname;
      name = name.empty() ? "?" : Demangled(name.c_str());
      // Skips frames within this library, up to the public function. Tests are linked with the library, but their
      // frames are callers and are shown.
      const bool is_own = name.find("portacl::") == 0 && name.find("portacl::testing::") != 0;
      if (shown == 0 && IsOwn(address) && is_own) continue;
      std::snprintf(text, sizeof text, "#%d %s (%s+0x%lx)", shown++, name.c_str(), info.dli_fname,
                    static_cast<unsigned long>(offset));
      sink.line(sink.context, text, name.c_str());
    }
  } catch (...) {
    // without memory a report has fewer lines
  }
}

}  // namespace portacl
