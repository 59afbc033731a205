// aclnnRotaryPositionEmbedding: pairs (a, b) of a row's elements become (a * cos_a - b * sin_a, b * cos_b + a * sin_b).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_rotary_position_embedding.h"

#include "acl/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/attention/rotary.cc"
#include <hwy/foreach_target.h>

#include "engine/row/row_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace rotary {

namespace hn = hwy::HWY_NAMESPACE;

struct Rotate : engine::HWY_NAMESPACE::RowFormula<Rotate> {
  static constexpr int kInputs = 6;
  explicit Rotate(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    row.template Write2<0, 1, 2, 3, 4, 5>(
        [](auto, V& to_a, V& to_b, V a, V b, V cos_a, V cos_b, V sin_a, V sin_b) HWY_ATTR {
          to_a = hn::Sub(hn::Mul(a, cos_a), hn::Mul(b, sin_a));
          to_b = hn::Add(hn::Mul(b, cos_b), hn::Mul(a, sin_b));
        });
  }
};

}  // namespace rotary
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "acl/errors.h"
#include "aclnnop/norm/rows.h"
#include "aclnnop/operator_facts.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kRotate = PORTACL_ROW_KERNELS(rotary::Rotate);

constexpr aclnnStatus kTiling =
    ACLNN_ERR_INNER_TILING_ERROR;  // CANN's code of what its kernels' own tests refuse
constexpr int kRank = 4;
constexpr int64_t kMostColumns = 1024;

enum Mode : int64_t { kHalf, kInterleave, kQuarter, kInterleaveHalf };
enum Tensors { kX, kCos, kSin, kOut };
enum Attributes { kMode };

aclnnStatus RowsHavePairs(const Check& check, OperatorCall& call) noexcept {
  const int64_t columns = call.Tensor(kX).view[kRank - 1];
  const int64_t of = call.attributes[kMode].integer == kQuarter ? 4 : 2;
  if (columns <= kMostColumns && columns % of == 0) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kX);
  return FailAclnn(check.code, message.Add(" has other rows than accepted: rows of at most ")
                                   .Add(kMostColumns)
                                   .Add(" elements, a multiple of ")
                                   .Add(of)
                                   .Add("."));
}

// Angles are there for each of x's rows, or shared along dims.
aclnnStatus AnglesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& x = call.Tensor(kX).view;
  const Shape& angles = call.Tensor(kCos).view;
  bool fits = angles[kRank - 1] == x[kRank - 1];
  for (int dim = 0; dim < kRank - 1; ++dim) fits = fits && (angles[dim] == 1 || angles[dim] == x[dim]);
  return fits ? ACL_SUCCESS : RefuseShape(check, call, kCos, x);
}

constexpr Check kChecks[] = {
    NotNull(kX),
    NotNull(kCos),
    NotNull(kSin),
    NotNull(kOut),
    DtypesIn(kNoneBeforeAtlasA2, {kX}),
    SameDtype(kX, kCos),
    SameDtype(kX, kSin),
    SameDtype(kX, kOut),
    WithCode(kTiling, IntegerIn(kMode, kHalf, kInterleaveHalf)),
    WithCode(kTiling, RankIs(kRank, {kX, kCos, kSin})),
    WithCode(kTiling, SameShape(kCos, kSin)),
    Own(RowsHavePairs, kTiling),
    Own(AnglesFit, kTiling),
    WithCode(kTiling, SameShape(kX, kOut)),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kCos, kSin}),
};

// The first or the second elements of a row's pairs. Rows of a quarter mode are two rows of the half mode.
aclTensor OfPairs(const aclTensor& tensor, int64_t mode, int64_t which) {
  aclTensor view = PlainView(tensor);
  const int64_t columns = view.view[kRank - 1];
  const int64_t rows = mode == kQuarter ? 2 : 1;
  SplitDim(view, kRank - 1, columns / rows);
  const int64_t half = columns / rows / 2;
  if (mode == kInterleave) {
    Narrow(view, kRank, which, half, 2);
  } else {
    Narrow(view, kRank, which * half, half);
  }
  return view;
}

void SetRotated(const OperatorCall& call, Executor& executor) {
  const int64_t mode = call.attributes[kMode].integer;
  const int64_t of_x = mode == kInterleaveHalf ? int64_t{kInterleave} : mode;
  const int64_t of_rest = mode == kInterleaveHalf ? int64_t{kHalf} : mode;
  const aclTensor first = OfPairs(call.Tensor(kX), of_x, 0);
  engine::RowJobMaker rows(first.view, LastAxes(1, first.view), ACL_FLOAT, JobIsa(), ThreadLimit());
  rows.Input(kX, first);
  rows.Input(kX, OfPairs(call.Tensor(kX), of_x, 1));
  for (const int tensor : {kCos, kSin}) {
    for (const int64_t which : {0, 1}) rows.Input(tensor, OfPairs(call.Tensor(tensor), of_rest, which));
  }
  for (const int64_t which : {0, 1}) rows.Output(kOut, OfPairs(call.Tensor(kOut), of_rest, which));
  SetRowJob(rows, kRotate, engine::NoParameters(), executor);
}

}  // namespace

namespace facts {
extern const OperatorFacts rotary_position_embedding;
}

const OperatorFacts facts::rotary_position_embedding = {
    "aclnnRotaryPositionEmbedding", "aclnnop/aclnn_rotary_position_embedding.h", kNoneBeforeAtlasA2,
    kNoneBeforeAtlasA2, /*by_promotion=*/false};

}  // namespace portacl

using namespace portacl;

aclnnStatus aclnnRotaryPositionEmbeddingGetWorkspaceSize(const aclTensor* x, const aclTensor* cos,
                                                         const aclTensor* sin, int64_t mode, aclTensor* out,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"x", x}, {"cos", cos}, {"sin", sin}, {"out", out}};
  const Attribute attributes[] = {{"mode", mode}};
  OperatorCall call{"aclnnRotaryPositionEmbedding", tensors, attributes};
  return RunPhase1(call, kChecks, workspaceSize, executor, SetRotated);
}
PORTACL_PHASE_2(aclnnRotaryPositionEmbedding)

#endif  // HWY_ONCE
