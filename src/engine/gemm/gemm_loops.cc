// The loops of matrix products for each instruction set (see gemm_kernel.h). Vectors run along the columns,
// so that each element has its own chain, whatever the vector width.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/gemm_loops.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include "engine/gemm/gemm_even_odd-inl.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/gemm/gemm_panels-inl.h"
#include "engine/gemm/gemm_small-inl.h"
#include "engine/gemm/gemm_unpacked-inl.h"
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

const GemmKernels& KernelsHere() {
  static const GemmKernels kernels = {
    kGemmIsa,
    kRows,
    static_cast<int>(PanelColumns()),
    MultiplyPacked,
#if HWY_HAVE_SCALABLE
    nullptr,
#else
    MultiplySmall,
#endif
    {PackColumns<F32Elements>, PackColumns<F16Elements>, PackColumns<Bf16Elements>, PackColumns<I8Elements>},
    {Transpose<F32Elements>, Transpose<F16Elements>, Transpose<Bf16Elements>, Transpose<I8Elements>},
    {PackWordsOfBytes, PackWordsOfHalves},
    {MultiplyRow<F32Elements>, MultiplyRow<F16Elements>, MultiplyRow<Bf16Elements>, MultiplyRow<I8Elements>},
    {MultiplyAcross<F32Elements>, MultiplyAcross<F16Elements>, MultiplyAcross<Bf16Elements>,
     MultiplyAcross<I8Elements>},
    {MultiplyLines<F32Elements>, MultiplyLines<F16Elements>, MultiplyLines<Bf16Elements>},
    MultiplyPanels,
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    MultiplyPairs,
    PairRows,
    PairPanels,
#else
    nullptr,
    nullptr,
    nullptr,
#endif
    {MultiplyEvenOdd,
     {AddRowEvenOdd<F32Elements>, AddRowEvenOdd<F16Elements>, AddRowEvenOdd<Bf16Elements>},
     {AddHeadsEvenOdd<F32Elements>, AddHeadsEvenOdd<F16Elements>, AddHeadsEvenOdd<Bf16Elements>},
     {AddAcrossEvenOdd<F32Elements>, AddAcrossEvenOdd<F16Elements>, AddAcrossBf16},
     {MultiplyLinesEvenOdd<F32Elements>, MultiplyLinesEvenOdd<F16Elements>,
      MultiplyLinesEvenOdd<Bf16Elements>},
     MultiplyPanelsEvenOdd,
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
     MultiplyKeysBf16
#else
     nullptr
#endif
    }
  };
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

const GemmKernels& FindGemmKernels(Isa isa) noexcept {
  static constexpr auto kTable = PORTACL_ISA_TABLE(KernelsHere);
  return kTable.For(isa)();
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
