// Chooses the instructions for pairs of terms (see tile_kernel.h). The processor must name them, the
// operating system permit them, and a test must give the expected bits.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/tile_kernel.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "acl/settings/configuration.h"
#include "base/float_environment.h"
#include "base/process/fork.h"

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace portacl::engine {

#if defined(__x86_64__)
const TileKernels& AmxKernels() noexcept;
const TileKernels& DotKernels() noexcept;
#endif

namespace {

// The size of the test product: whole and partial blocks, and fewer rows than the kernel has.
constexpr int64_t kTestDepth = 75;
constexpr int64_t kTestColumns = 32;

// BF16 numbers of both signs, with zeros, whose least exponents are barely large enough together.
class TestNumbers {
 public:
  float Next(uint32_t least) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<uint32_t>(state_ >> 33);
    if (bits % 17 == 0) return 0;
    const uint32_t word = (bits & 1) << 31 | (least + (bits >> 1) % 6) << 23 | (bits >> 8 & 0x7F) << 16;
    float number;
    std::memcpy(&number, &word, sizeof number);
    return number;
  }

 private:
  uint64_t state_ = 20261126;
};

bool HasTheBits(const TileKernels& kernels, uint32_t left_least, uint32_t right_least, int64_t rows,
                bool adds_apart) {
  TestNumbers random;
  std::vector<float> left(static_cast<size_t>(kernels.rows * kPackedRow));
  std::vector<float> right(static_cast<size_t>(kTestDepth * kTestColumns));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < kTestDepth; ++k)
      left[static_cast<size_t>(r * kPackedRow + k)] = random.Next(left_least);
  }
  for (float& number : right) number = random.Next(right_least);
  std::vector<uint32_t> a(static_cast<size_t>(kernels.rows * kPairedRow));
  std::vector<uint32_t> b(static_cast<size_t>(PairsOf(kTestDepth) * kTestColumns));
  const LeastExponent least[] = {kernels.pair_rows(left.data(), rows, kTestDepth, a.data()),
                                 kernels.pair_panel(right.data(), kTestColumns, kTestDepth, b.data())};
  if (!AreMultiplesOfNormals(least[0], least[1])) return false;
  std::vector<float> sums(static_cast<size_t>(rows * kTestColumns));
  kernels.begin();
  // The second call adds the same product once more.
  for (const bool adds : {false, true}) {
    kernels.multiply({a.data(), b.data(), sums.data(), kTestColumns, rows, kTestColumns, kTestColumns,
                      kTestDepth, adds, adds && adds_apart});
  }
  kernels.end();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < kTestColumns; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < 2 * kTestDepth; k += kTestDepth) {
        for (int64_t block = 0; block < kTestDepth; block += kEvenOddDepth) {
          float chain[2] = {};
          for (int64_t i = block; i < kTestDepth && i < block + kEvenOddDepth; ++i) {
            chain[i % 2] = std::fma(left[static_cast<size_t>(r * kPackedRow + i)],
                                    right[static_cast<size_t>(i * kTestColumns + j)], chain[i % 2]);
          }
          sum += chain[0] + chain[1];
        }
      }
      if (std::memcmp(&sum, &sums[static_cast<size_t>(r * kTestColumns + j)], sizeof sum) != 0) return false;
    }
  }
  return true;
}

}  // namespace

bool GetsTiles() noexcept {
#if defined(__x86_64__)
  constexpr long kRequest = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

bool HaveTheBits(const TileKernels& kernels) noexcept {
  const DefaultFloatEnvironment environment;
  try {
    return HasTheBits(kernels, 71, 71, kernels.rows, false) && HasTheBits(kernels, 122, 125, 1, true);
  } catch (...) {
    return false;  // there is no memory
  }
}

const TileKernels* FindDotKernels() noexcept {
#if defined(__x86_64__)
  static const bool is_there = MachineHas(TermPairs::kDot) && HaveTheBits(DotKernels());
  return is_there ? &DotKernels() : nullptr;
#else
  return nullptr;
#endif
}

const TileKernels* FindAmxKernels() noexcept {
#if defined(__x86_64__)
  static const bool is_there = MachineHas(TermPairs::kAmx) && GetsTiles() && HaveTheBits(AmxKernels());
  return is_there ? &AmxKernels() : nullptr;
#else
  return nullptr;
#endif
}

const TileKernels* FindTileKernels(Isa isa, TermPairs most) noexcept {
  if (isa != Isa::kAvx512 || most == TermPairs::kNone) return nullptr;
  const TileKernels* const amx = most == TermPairs::kAmx ? FindAmxKernels() : nullptr;
  return amx != nullptr ? amx : FindDotKernels();
}

const TileKernels* TileKernelsInUse(Isa isa) noexcept {
  return FindTileKernels(isa, CurrentConfiguration().pairs);
}

namespace {

[[maybe_unused]] const bool before_fork =
    InitialiseBeforeFork([] { TileKernelsInUse(CurrentConfiguration().isa); });

}  // namespace

}  // namespace portacl::engine
