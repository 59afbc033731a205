// Products of integers (see integer_product.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/integer_product.h"

#include <algorithm>

#include "base/float_environment.h"
#include "engine/gemm/quantised.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kUnpackedTogether = 1 << 18;

void UnpackAllNibbles(const IntegerGemmJob::Halves& halves, int threads, void* const* addresses,
                      char* workspace) {
  const auto* const from = static_cast<const char*>(addresses[halves.argument]);
  auto* const to = reinterpret_cast<int8_t*>(workspace + halves.to);
  const int64_t blocks = (halves.count + kUnpackedTogether - 1) / kUnpackedTogether;
  ForEachBlock(blocks, threads, [&](int64_t block) {
    const int64_t at = block * kUnpackedTogether;
    UnpackNibbles(from, halves.first + at, std::min(kUnpackedTogether, halves.count - at), to + at);
  });
}

}  // namespace

bool IntegerGemmJob::Touches(int operand) const noexcept {
  const auto is_of = [&](const Halves& some) { return some.count > 0 && operand == some.argument; };
  return operand == gemm.left.argument || operand == gemm.right.argument || operand == gemm.out.argument ||
         is_of(halves[0]) || is_of(halves[1]) || operand == scale.argument || operand == factor.argument ||
         operand == offset.argument || (gemm.adds && operand == gemm.added.argument);
}

int64_t IntegerGemmJob::Elements() const noexcept { return MultiplicationsOf(gemm); }

void IntegerGemmJob::Run(void* const* addresses, void* workspace) const noexcept {
  for (const Halves& some : halves) {
    if (some.count > 0) UnpackAllNibbles(some, threads, addresses, static_cast<char*>(workspace));
  }
  const auto numbers = [&](const Numbers& at) {
    const char* const first =
        at.argument < 0 ? nullptr : static_cast<const char*>(addresses[at.argument]) + at.offset;
    return IntegerNumbers{first, at.row, at.column, at.dtype};
  };
  const IntegerResult result{numbers(scale),
                             numbers(factor),
                             numbers(offset),
                             has_words,
                             gemm.out.dtype,
                             FindLoad(isa, ACL_FLOAT16, ACL_FLOAT),
                             FindLoad(isa, ACL_BF16, ACL_FLOAT),
                             FindGather(isa, GatherSource::kCache)};
  Gemm made = gemm;
  made.integers = &result;
  // Cutting the product computes in floating point, too.
  const DefaultFloatEnvironment environment;
  MakeGemmJob(made, isa, threads).Run(addresses, workspace);
}

}  // namespace portacl::engine
