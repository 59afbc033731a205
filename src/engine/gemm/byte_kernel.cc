// Chooses the instructions for products of INT8 (see byte_kernel.h). The processor must name them, the
// operating system permit them, and a test must give the expected sums.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/byte_kernel.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "acl/settings/configuration.h"
#include "base/byte_words.h"
#include "base/process/fork.h"

namespace portacl::engine {

#if defined(__x86_64__)
const ByteKernels& AmxByteKernels() noexcept;
const ByteKernels& Avx512ByteKernels() noexcept;
const ByteKernels& Avx2ByteKernels() noexcept;
#elif defined(__aarch64__)
const ByteKernels& NeonByteKernels() noexcept;
#endif

namespace {

// The size of the test product: whole and partial words and vectors, and fewer rows than a kernel has.
constexpr int64_t kTestDepth = 183;
constexpr int64_t kTestWidth = 32;
constexpr int64_t kTestColumns = 31;

// Bytes of every value. The least is as frequent as all others together.
class TestBytes {
 public:
  int8_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<uint32_t>(state_ >> 33);
    return (bits & 1) != 0 ? int8_t{-128} : static_cast<int8_t>(bits >> 1);
  }

 private:
  uint64_t state_ = 20261127;
};

bool HasTheSums(const ByteKernels& kernels, int64_t rows) {
  TestBytes random;
  std::vector<int8_t> left(static_cast<size_t>(rows * kTestDepth));
  std::vector<int8_t> right(static_cast<size_t>(kTestDepth * kTestWidth));
  for (int8_t& one : left) one = random.Next();
  for (int8_t& one : right) one = random.Next();
  std::vector<uint32_t> a(static_cast<size_t>(kernels.rows * kPackedRow));
  std::vector<uint32_t> b(static_cast<size_t>(kernels.WordsOf(kTestDepth) * kTestWidth));
  std::vector<uint32_t> expected(static_cast<size_t>(rows * kTestWidth));
  for (int64_t r = 0; r < rows; ++r) {
    uint32_t* const row = a.data() + r * kPackedRow;
    const int8_t* const from = left.data() + r * kTestDepth;
    std::memcpy(row, from, static_cast<size_t>(kTestDepth));
    for (int64_t k = 0; k < kTestDepth; ++k) {
      if (kernels.has_unsigned_panels) row[kFirstSum] -= static_cast<uint32_t>(128 * from[k]);
      for (int64_t j = 0; j < kTestWidth; ++j) {
        expected[static_cast<size_t>(r * kTestWidth + j)] +=
            static_cast<uint32_t>(from[k] * right[static_cast<size_t>(k * kTestWidth + j)]);
      }
    }
  }
  for (int64_t k = 0; k < kTestDepth; ++k) {
    for (int64_t j = 0; j < kTestWidth; ++j) {
      const auto byte = static_cast<uint8_t>(right[static_cast<size_t>(k * kTestWidth + j)]);
      b[static_cast<size_t>(k / kTermsOfWord * kTestWidth + j)] |= uint32_t{byte} << k % kTermsOfWord * 8;
    }
  }
  for (uint32_t& word : b) word ^= kernels.has_unsigned_panels ? kHighBits : 0;
  std::vector<float> sums(static_cast<size_t>(rows * kTestWidth));
  const int64_t width = std::max<int64_t>(kernels.columns, 1);
  kernels.begin();
  // The second call adds the same product once more.
  for (const bool adds : {false, true}) {
    // Cuts the test's panel into panels of the kernel's width.
    for (int64_t column = 0; column < kTestColumns; column += width) {
      std::vector<uint32_t> panel(static_cast<size_t>(kernels.WordsOf(kTestDepth) * width));
      for (int64_t word = 0; word < kernels.WordsOf(kTestDepth); ++word) {
        std::copy_n(b.data() + word * kTestWidth + column, width, panel.data() + word * width);
      }
      kernels.multiply({a.data(), panel.data(), sums.data() + column, kTestWidth, rows,
                        std::min(width, kTestColumns - column), width, kTestDepth, adds, false});
    }
  }
  kernels.end();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < kTestColumns; ++j) {
      const auto at = static_cast<size_t>(r * kTestWidth + j);
      uint32_t sum;
      std::memcpy(&sum, &sums[at], sizeof sum);
      if (sum != 2 * expected[at]) return false;
    }
  }
  if (kernels.multiply_lines == nullptr) return true;
  std::vector<int8_t> lines(right.size());
  for (int64_t k = 0; k < kTestDepth; ++k) {
    for (int64_t j = 0; j < kTestWidth; ++j)
      lines[static_cast<size_t>(j * kTestDepth + k)] = right[static_cast<size_t>(k * kTestWidth + j)];
  }
  for (const bool adds : {false, true}) {
    kernels.multiply_lines(a.data(), reinterpret_cast<const char*>(lines.data()), kTestDepth, kTestDepth,
                           kTestColumns, sums.data(), adds);
  }
  for (int64_t j = 0; j < kTestColumns; ++j) {
    uint32_t sum;
    std::memcpy(&sum, &sums[static_cast<size_t>(j)], sizeof sum);
    if (sum != 2 * expected[static_cast<size_t>(j)]) return false;
  }
  return true;
}

// ---- the choice ----

struct Choice {
  Isa isa;
  TermPairs least;     // of what may be used for BF16
  int64_t least_rows;  // for which it pays
  const ByteKernels* (*find)();
};

#if defined(__x86_64__)
const ByteKernels* FindAmx() {
  static const bool is_there = MachineHasByteTiles() && GetsTiles() && HaveTheSums(AmxByteKernels());
  return is_there ? &AmxByteKernels() : nullptr;
}
const ByteKernels* FindAvx512() {
  static const bool is_there = MachineHasByteDot(Isa::kAvx512) && HaveTheSums(Avx512ByteKernels());
  return is_there ? &Avx512ByteKernels() : nullptr;
}
const ByteKernels* FindAvx2() {
  static const bool is_there = MachineHasByteDot(Isa::kAvx2) && HaveTheSums(Avx2ByteKernels());
  return is_there ? &Avx2ByteKernels() : nullptr;
}
// The kernels in the order of preference. The first ones that the machine supports are used.
constexpr Choice kChoices[] = {{Isa::kAvx512, TermPairs::kAmx, 8, FindAmx},
                               {Isa::kAvx512, TermPairs::kNone, 1, FindAvx512},
                               {Isa::kAvx2, TermPairs::kNone, 1, FindAvx2}};
#elif defined(__aarch64__)
const ByteKernels* FindNeon() {
  static const bool is_there = MachineHasByteDot(Isa::kNeon) && HaveTheSums(NeonByteKernels());
  return is_there ? &NeonByteKernels() : nullptr;
}
constexpr Choice kChoices[] = {{Isa::kNeon, TermPairs::kNone, 1, FindNeon},
                               {Isa::kSve, TermPairs::kNone, 1, FindNeon}};
#else
constexpr Choice kChoices[] = {
    {Isa::kPortable, TermPairs::kNone, 1, []() -> const ByteKernels* { return nullptr; }}};
#endif

}  // namespace

bool HaveTheSums(const ByteKernels& kernels) noexcept {
  try {
    return HasTheSums(kernels, kernels.rows) && HasTheSums(kernels, 1);
  } catch (...) {
    return false;  // there is no memory
  }
}

const ByteKernels* FindByteKernels(Isa isa, TermPairs most, int64_t rows) noexcept {
  for (const Choice& choice : kChoices) {
    if (choice.isa != isa || choice.least > most || rows < choice.least_rows) continue;
    if (const ByteKernels* const found = choice.find()) return found;
  }
  return nullptr;
}

const ByteKernels* ByteKernelsInUse(Isa isa, int64_t rows) noexcept {
  return FindByteKernels(isa, CurrentConfiguration().pairs, rows);
}

namespace {

[[maybe_unused]] const bool before_fork = InitialiseBeforeFork([] {
  for (const Choice& choice : kChoices) ByteKernelsInUse(CurrentConfiguration().isa, choice.least_rows);
});

}  // namespace

}  // namespace portacl::engine
