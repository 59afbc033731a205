// Tells the unwinder about this library's frames if the loader does not (see unwinding.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/process/unwinding.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "base/process/fork.h"

// From the compiler's runtime: registered frames are searched before the loader is asked.
// NOLINTNEXTLINE(readability-identifier-naming): its name there
extern "C" void __register_frame(void* begin);

namespace portacl {
namespace {

// The unwinding information of the loaded object that contains `address`.
struct Frames {
  uintptr_t address = 0;
  unsigned char* begin = nullptr;
};

int FindFrames(dl_phdr_info* info, size_t, void* data) {
  Frames& frames = *static_cast<Frames*>(data);
  const ElfW(Phdr)* header = nullptr;
  bool is_here = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& one = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + one.p_vaddr;
    if (one.p_type == PT_LOAD && frames.address >= begin && frames.address < begin + one.p_memsz)
      is_here = true;
    if (one.p_type == PT_GNU_EH_FRAME) header = &one;
  }
  if (!is_here) return 0;
  if (header != nullptr) {
    auto* const table = reinterpret_cast<unsigned char*>(info->dlpi_addr + header->p_vaddr);
    constexpr unsigned char kRelative = 0x1B;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4, as linkers write it
    if (table[0] == 1 && table[1] == kRelative) {
      int32_t distance = 0;
      std::memcpy(&distance, table + 4, sizeof distance);
      frames.begin = table + 4 + distance;
    }
  }
  return 1;
}

bool Register() noexcept {
  void* const own = reinterpret_cast<void*>(&EnsureUnwinding);
  // Only glibc 2.35 and newer have it; before, the unwinder uses dl_iterate_phdr, which lists every object.
  using FindObject = int (*)(void*, void*);
  const auto find = reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  alignas(16) unsigned char found[256] = {};  // struct dl_find_object
  if (find == nullptr || find(own, found) == 0) return true;
  Frames frames;
  frames.address = reinterpret_cast<uintptr_t>(own);
  dl_iterate_phdr(FindFrames, &frames);
  if (frames.begin != nullptr) __register_frame(frames.begin);
  return true;
}

[[maybe_unused]] const bool before_fork = InitialiseBeforeFork([] { EnsureUnwinding(); });

}  // namespace

void EnsureUnwinding() noexcept {
  static const bool is_known = Register();
  (void)is_known;
}

}  // namespace portacl
