// aclnnRotaryPositionEmbedding and V2, aclnnApplyRotaryPosEmb and V2, aclnnInterleaveRope: rotate pairs (a,
// b) of a row's elements to (a * cos_a - b * sin_a, b * cos_b + a * sin_b). The gradients of pairs are
// rotated back. The gradients of angles are sums over the rows that share them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/attention/rotary.cc"
#include "base/foreach_target.h"

#include "engine/reduction/sum_loop-inl.h"
#include "engine/rowwise/rowwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace rotary {

namespace hn = hwy::HWY_NAMESPACE;

struct Rotate : engine::HWY_NAMESPACE::RowwiseFormula<Rotate> {
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

struct TurnBack : engine::HWY_NAMESPACE::RowwiseFormula<TurnBack> {
  static constexpr int kInputs = 6;
  explicit TurnBack(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    row.template Write2<0, 1, 2, 3, 4, 5>(
        [](auto, V& to_a, V& to_b, V a, V b, V cos_a, V cos_b, V sin_a, V sin_b) HWY_ATTR {
          to_a = hn::Add(hn::Mul(a, cos_a), hn::Mul(b, sin_b));
          to_b = hn::Sub(hn::Mul(b, cos_b), hn::Mul(a, sin_a));
        });
  }
};

// Computes x * cos + y * sin.
struct Mixed : engine::HWY_NAMESPACE::RowwiseFormula<Mixed> {
  static constexpr int kInputs = 4;
  explicit Mixed(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    using V = typename Row::V;
    row.template Write<0, 0, 1, 2, 3>([](auto, V x, V y, V cos, V sin)
                                          HWY_ATTR { return hn::Add(hn::Mul(x, cos), hn::Mul(y, sin)); });
  }
};

// Computes one term of an angle's gradient, with a sign.
struct SignedProduct : engine::HWY_NAMESPACE::Summable<SignedProduct> {
  using Parameters = engine::FactorAlone;
  static constexpr int kInputs = 2;

  explicit SignedProduct(const Parameters& parameters) : sign(parameters.c) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    return hn::Mul(hn::Mul(gradient, x), hn::Set(d, sign));
  }

  float sign;
};

}  // namespace rotary
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/attention/rotary_functions.h"
#include "aclnnop/attention/rotate.h"
#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/jobs/normalized.h"
#include "aclnnop/jobs/rowwise_job.h"
#include "aclnnop/mapped_view.h"
#include "aclnnop/stage_list.h"
#include "base/errors.h"
#include "engine/reduction/reduction_job.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kRotated = PORTACL_ROWWISE_KERNELS(rotary::Rotate);
constexpr auto kMixed = PORTACL_ROWWISE_KERNELS(rotary::Mixed);

constexpr auto kTurnBack = PORTACL_ROWWISE_KERNELS(rotary::TurnBack);
constexpr auto kSignedProduct = PORTACL_KERNELS(rotary::SignedProduct);

constexpr aclnnStatus kTiling =
    ACLNN_ERR_INNER_TILING_ERROR;  // CANN's code when a kernel's own checks refuse a call
constexpr int kRank = 4;
constexpr int64_t kMostColumns = 1024;

enum Mode : int64_t { kHalf, kInterleave, kQuarter, kInterleaveHalf };
enum Tensors { kX, kCos, kSin, kOut };
enum Attributes { kMode };

aclnnStatus RowsHavePairs(const Check& check, OperatorCall& call) noexcept {
  const int64_t columns = call.Tensor(kX).shape[kRank - 1];
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

// Checks that each row of x has its own angles, or that rows share them along whole dims.
aclnnStatus AnglesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& x = call.Tensor(kX).shape;
  const Shape& angles = call.Tensor(kCos).shape;
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
    Custom(RowsHavePairs, kTiling),
    Custom(AnglesFit, kTiling),
    WithCode(kTiling, SameShape(kX, kOut)),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kCos, kSin}),
};

// Views the first or the second elements of a row's pairs. Rows of the quarter mode are two rows of the half
// mode.
StridedView OfPairs(const StridedView& tensor, int64_t mode, int64_t which) {
  StridedView view = PlainView(tensor);
  const int64_t columns = view.shape[kRank - 1];
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

// Return the pair mode of x, and that of all other tensors.
int64_t ModeOfX(int64_t mode) { return mode == kInterleaveHalf ? int64_t{kInterleave} : mode; }
int64_t ModeOfRest(int64_t mode) { return mode == kInterleaveHalf ? int64_t{kHalf} : mode; }

// ---- aclnnRotaryPositionEmbeddingV2: a matrix rotates the rows ----

enum TensorsV2 { kRotate = kOut, kOutV2 };

aclnnStatus MatrixFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t columns = call.Tensor(kX).shape[kRank - 1];
  const Shape accepted{columns, columns};
  return call.Tensor(kRotate).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, kRotate, accepted);
}

constexpr Check kV2Checks[] = {
    NotNull(kX),
    NotNull(kCos),
    NotNull(kSin),
    NotNull(kOutV2),
    DtypesIn(kNoneBeforeAtlasA2, {kX}),
    SameDtype(kX, kCos),
    SameDtype(kX, kSin),
    IfThere<kRotate>(SameDtype(kX, kRotate)),
    SameDtype(kX, kOutV2),
    IntegerIn(kMode, kHalf, kInterleaveHalf),
    SameShape(kX, kOutV2),
    WithCode(kTiling, RankIs(kRank, {kX, kCos, kSin})),
    WithCode(kTiling, SameShape(kCos, kSin)),
    Custom(RowsHavePairs, kTiling),
    Custom(AnglesFit, kTiling),
    IfThere<kRotate>(Custom(MatrixFits, kTiling)),
    SizesRepresentable({kOutV2}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kCos, kSin, kRotate}),
};

// ---- aclnnInterleaveRope ----

constexpr DtypeRule kHalfDtypes = SinceAtlasA2(DtypeSet(ACL_FLOAT16, ACL_BF16));
constexpr int64_t kInterleavedColumns = 64;

aclnnStatus RowsAreOf64(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kX).shape[kRank - 1] == kInterleavedColumns) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kX);
  return FailAclnn(check.code, message.Add(", accepted: a last dim of 64."));
}
// Checks that heads share their angles. Positions may share them too.
aclnnStatus AnglesOfHeadsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& x = call.Tensor(kX).shape;
  const Shape& angles = call.Tensor(kCos).shape;
  const bool fits =
      angles[0] == x[0] && angles[1] == 1 && (angles[2] == 1 || angles[2] == x[2]) && angles[3] == x[3];
  return fits ? ACL_SUCCESS : RefuseShape(check, call, kCos, Shape{x[0], 1, x[2], x[3]});
}

constexpr Check kInterleaveChecks[] = {
    NotNull(kX),
    NotNull(kCos),
    NotNull(kSin),
    NotNull(kOut),
    DtypesIn(kHalfDtypes, {kX}),
    SameDtype(kX, kCos),
    SameDtype(kX, kSin),
    SameDtype(kX, kOut),
    WithCode(kTiling, RankIs(kRank, {kX, kCos, kSin})),
    WithCode(kTiling, SameShape(kCos, kSin)),
    Custom(RowsAreOf64, kTiling),
    Custom(AnglesOfHeadsFit, kTiling),
    WithCode(kTiling, SameShape(kX, kOut)),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kX}),
    InsideStorage({kX, kCos, kSin}),
};

// ---- aclnnApplyRotaryPosEmb: query and key in place ----

enum Applied { kQuery, kKey, kAppliedCos, kAppliedSin };
enum AppliedAttributes { kLayout, kModeName };
constexpr int64_t kMostLayouts = 4;
constexpr int64_t kPacked = 4;  // TND

// Returns -1 for any other text.
int64_t NamedMode(const OperatorCall& call) {
  const char* const text = call.attributes.size() > kModeName ? call.attributes[kModeName].text : nullptr;
  if (text == nullptr || std::strcmp(text, "half") == 0) return kHalf;
  if (std::strcmp(text, "interleave") == 0) return kInterleave;
  return std::strcmp(text, "quarter") == 0 ? int64_t{kQuarter} : -1;
}
aclnnStatus ModeIsNamed(const Check& check, OperatorCall& call) noexcept {
  if (NamedMode(call) >= 0) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter rotaryMode is \"")
                                   .Add(call.attributes[kModeName].text)
                                   .Add("\", accepted: half, interleave, quarter, or a null pointer."));
}
aclnnStatus RanksFitLayout(const Check& check, OperatorCall& call) noexcept {
  const bool is_packed = call.attributes[kLayout].integer == kPacked;
  const Check rank =
      WithCode(check.code, RankIs(is_packed ? 3 : 4, {kQuery, kKey, kAppliedCos, kAppliedSin}));
  return rank.run(rank, call);
}
// Returns the dim of heads: 2 in BSND and SBND, 1 in BNSD and TND.
int HeadsDim(const OperatorCall& call) { return call.attributes[kLayout].integer <= 2 ? 2 : 1; }

template <int tensor>
aclnnStatus AppliedFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& query = call.Tensor(kQuery).shape;
  const int heads = HeadsDim(call);
  Shape accepted = query;
  if constexpr (tensor == kKey) {
    accepted.dim[heads] = call.Tensor(kKey).shape[heads];
  } else {
    accepted.dim[heads] = 1;
  }
  return call.Tensor(tensor).shape == accepted ? ACL_SUCCESS : RefuseShape(check, call, tensor, accepted);
}
aclnnStatus AppliedHasPairs(const Check& check, OperatorCall& call) noexcept {
  const Shape& query = call.Tensor(kQuery).shape;
  const int64_t columns = query[query.rank - 1];
  const int64_t of = NamedMode(call) == kQuarter ? 4 : 2;
  if (!query.IsEmpty() && !call.Tensor(kKey).shape.IsEmpty() && columns <= kMostColumns && columns % of == 0)
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kQuery);
  AddArgumentShape(message.Add(" or "), call, kKey);
  return FailAclnn(check.code, message.Add(", accepted: no dim of 0, rows of at most ")
                                   .Add(kMostColumns)
                                   .Add(" elements, a multiple of ")
                                   .Add(of)
                                   .Add("."));
}

constexpr Check kAppliedChecks[] = {
    NotNull(kQuery),
    NotNull(kKey),
    NotNull(kAppliedCos),
    NotNull(kAppliedSin),
    DtypesIn(kNoneBeforeAtlasA2, {kQuery}),
    SameDtype(kQuery, kKey),
    SameDtype(kQuery, kAppliedCos),
    SameDtype(kQuery, kAppliedSin),
    WithCode(kTiling, IntegerIn(kLayout, 1, kMostLayouts)),
    Custom(ModeIsNamed, kTiling),
    Custom(RanksFitLayout, kTiling),
    Custom(AppliedFits<kKey>, kTiling),
    Custom(AppliedFits<kAppliedCos>, kTiling),
    Custom(AppliedFits<kAppliedSin>, kTiling),
    Custom(AppliedHasPairs, kTiling),
    SizesRepresentable({kQuery, kKey}),
    InsideStorage({kAppliedCos, kAppliedSin}),
};

engine::RowwiseJobMaker RowsOf(const OperatorCall& call, int64_t of_input, int64_t of_rest, int output,
                               int64_t of_output) {
  const StridedView first = OfPairs(call.Tensor(kX), of_input, 0);
  engine::RowwiseJobMaker rows(first.shape, LastAxes(1, first.shape), ACL_FLOAT, call.isa, call.threads);
  rows.Input(kX, first);
  rows.Input(kX, OfPairs(call.Tensor(kX), of_input, 1));
  for (const int tensor : {kCos, kSin}) {
    for (const int64_t which : {0, 1}) rows.Input(tensor, OfPairs(call.Tensor(tensor), of_rest, which));
  }
  for (const int64_t which : {0, 1}) rows.Output(output, OfPairs(call.Tensor(output), of_output, which));
  return rows;
}

void SetRotated(const OperatorCall& call, Executor& executor) {
  const int64_t mode = call.attributes[kMode].integer;
  engine::RowwiseJobMaker rows = RowsOf(call, ModeOfX(mode), ModeOfRest(mode), kOut, ModeOfRest(mode));
  SetRowwiseJob(rows, kRotated, engine::NoParameters(), executor);
}

void SetMixed(const OperatorCall& call, Executor& executor) {
  const MappedView x{PlainView(call.Tensor(kX)), call.OperandOf(kX)};
  const MappedView matrix{PlainView(call.Tensor(kRotate)), call.OperandOf(kRotate)};
  StageList stages(call, executor, 2);
  const MappedView turned = stages.Scratch(x.tensor.shape, ACL_FLOAT);
  matmul::MatrixProduct product{
      {x.operand, x.tensor}, {matrix.operand, matrix.tensor}, {turned.operand, turned.tensor}};
  stages.Product(matmul::GemmOf(product), x, matrix, turned);
  engine::RowwiseJobMaker rows(x.tensor.shape, LastAxes(1, x.tensor.shape), ACL_FLOAT, call.isa,
                               call.threads);
  rows.Input(x.operand, x.tensor);
  rows.Input(turned.operand, turned.tensor);
  for (const int tensor : {kCos, kSin}) rows.Input(call.OperandOf(tensor), call.Tensor(tensor));
  rows.Output(call.OperandOf(kOutV2), call.Tensor(kOutV2));
  stages.Rows(rows, kMixed, engine::NoParameters());
  stages.SetJob();
}

void SetRotatedV2(const OperatorCall& call, Executor& executor) {
  if (call.IsGiven(kRotate)) return SetMixed(call, executor);
  const int64_t mode = call.attributes[kMode].integer;
  engine::RowwiseJobMaker rows = RowsOf(call, ModeOfX(mode), ModeOfRest(mode), kOutV2, ModeOfRest(mode));
  SetRowwiseJob(rows, kRotated, engine::NoParameters(), executor);
}

void SetInterleaved(const OperatorCall& call, Executor& executor) {
  engine::RowwiseJobMaker rows = RowsOf(call, kInterleave, kHalf, kOut, kHalf);
  SetRowwiseJob(rows, kRotated, engine::NoParameters(), executor);
}

void SetApplied(const OperatorCall& call, Executor& executor) {
  const int64_t mode = NamedMode(call);
  const auto of_four = [&](int tensor) {
    StridedView view = call.Tensor(tensor);
    if (view.shape.rank == kRank) return view;
    view = PlainView(view);
    InsertDim(view, 0, 1, 0);
    return view;
  };
  engine::RowwiseJob made[2];
  const engine::RowwiseJob* jobs[2];
  uint32_t touched = 0;
  for (const int turned : {kQuery, kKey}) {
    const StridedView whole = of_four(turned);
    const StridedView first = OfPairs(whole, mode, 0);
    engine::RowwiseJobMaker rows(first.shape, LastAxes(1, first.shape), ACL_FLOAT, call.isa, call.threads);
    for (const int64_t which : {0, 1}) rows.Input(turned, OfPairs(whole, mode, which));
    for (const int tensor : {kAppliedCos, kAppliedSin}) {
      for (const int64_t which : {0, 1}) rows.Input(tensor, OfPairs(of_four(tensor), mode, which));
    }
    for (const int64_t which : {0, 1}) rows.Output(turned, OfPairs(whole, mode, which));
    made[turned] = rows.Make(kRotated, engine::NoParameters(), &executor.workspace_size);
    jobs[turned] = &made[turned];
    touched |= rows.touched();
  }
  executor.SetJob([&] { return engine::MakeRowJobs(executor, jobs, 2, touched); });
}

// ---- gradients: kX is dy ----

enum GradTensors { kGivenX = kOut, kDx, kDcos, kDsin };

// Without rows, the gradients of angles are sums of no terms.
aclnnStatus NothingToDo(const Check&, OperatorCall& call) noexcept {
  if (!call.Tensor(kX).shape.IsEmpty()) return ACL_SUCCESS;
  const bool has_angles = call.IsGiven(kGivenX) && !call.Tensor(kCos).shape.IsEmpty();
  call.work = has_angles ? OperatorCall::Work::kNoTerms : OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr Check kGradChecks[] = {
    NotNull(kX),
    NotNull(kCos),
    NotNull(kSin),
    NotNull(kDx),
    NotNull(kDcos),
    NotNull(kDsin),
    DtypesIn(kNoneBeforeAtlasA2, {kX}),
    SameDtype(kX, kCos),
    SameDtype(kX, kSin),
    IfThere<kGivenX>(SameDtype(kX, kGivenX)),
    SameDtype(kX, kDx),
    SameDtype(kX, kDcos),
    SameDtype(kX, kDsin),
    WithCode(kTiling, IntegerIn(kMode, kHalf, kInterleaveHalf)),
    WithCode(kTiling, RankIs(kRank, {kX, kCos, kSin})),
    WithCode(kTiling, SameShape(kCos, kSin)),
    Custom(RowsHavePairs, kTiling),
    Custom(AnglesFit, kTiling),
    IfThere<kGivenX>(WithCode(kTiling, SameShape(kX, kGivenX))),
    WithCode(kTiling, SameShape(kX, kDx)),
    IfThere<kGivenX>(WithCode(kTiling, SameShape(kCos, kDcos))),
    IfThere<kGivenX>(WithCode(kTiling, SameShape(kCos, kDsin))),
    SizesRepresentable({kDx, kDcos, kDsin}),
    Custom(NothingToDo),
    InsideStorage({kX, kCos, kSin, kGivenX}),
};

constexpr int kSums = 4;

// Layout of the job's memory. The sums run before the rows.
struct GradientJob {
  engine::ReductionJob sums[kSums];
  engine::RowwiseJob rows;
};

struct GradientsJob {
  int sums;
  int64_t elements;

  bool Touches(int operand) const noexcept { return operand < kGivenX || operand == kDx || sums != 0; }
  int64_t Elements() const noexcept { return elements; }
  void Run(const JobContext& context) const noexcept {
    const auto& jobs = *reinterpret_cast<const GradientJob*>(context.memory);
    for (int i = 0; i < sums; ++i) jobs.sums[i].Run(context.addresses, context.workspace);
    jobs.rows.Run(context.addresses, static_cast<char*>(context.workspace));
  }
};

// Makes an angle's gradient for the first or second elements of pairs: the sum of sign * dy * x.
engine::ReductionJob SumOfProducts(const OperatorCall& call, int output, int64_t which, int64_t which_x,
                                   Executor& executor) {
  const int64_t mode = call.attributes[kMode].integer;
  const StridedView dy = OfPairs(call.Tensor(kX), ModeOfRest(mode), which);
  const StridedView x = OfPairs(call.Tensor(kGivenX), ModeOfX(mode), which_x);
  const StridedView to = OfPairs(call.Tensor(output), ModeOfRest(mode), which);
  const engine::ViewOperand inputs[] = {{&dy, kX}, {&x, kGivenX}};
  engine::ReductionJob job =
      engine::MakeReductionJob(SettingsOf(call), dy.shape, to.shape, inputs, {&to, output}, /*factor=*/1.0);
  executor.workspace_size = std::max(executor.workspace_size, job.plan.workspace_bytes());
  const float sign = which == 0 && which_x == 1 ? -1.0f : 1.0f;
  job.formula.Set(kSignedProduct.For(call.isa), engine::FactorAlone{sign});
  return job;
}

void SetGradients(const OperatorCall& call, Executor& executor) {
  const int angles[] = {kDcos, kDsin};
  if (call.work == OperatorCall::Work::kNoTerms) return SetZeroJob(call, angles, 2, executor);
  std::byte* const memory = executor.ReserveMemory(sizeof(GradientJob));
  if (memory == nullptr) return;
  auto* const jobs = reinterpret_cast<GradientJob*>(memory);
  int count = 0;
  if (call.IsGiven(kGivenX)) {
    for (const int output : angles) {
      for (const int64_t which : {0, 1}) {
        new (&jobs->sums[count++]) engine::ReductionJob(
            SumOfProducts(call, output, which, output == kDcos ? which : 1 - which, executor));
      }
    }
  }
  const int64_t mode = call.attributes[kMode].integer;
  engine::RowwiseJobMaker rows = RowsOf(call, ModeOfRest(mode), ModeOfRest(mode), kDx, ModeOfX(mode));
  std::memcpy(&jobs->rows, &rows.Make(kTurnBack, engine::NoParameters(), &executor.workspace_size),
              sizeof(engine::RowwiseJob));
  const int64_t elements = call.Tensor(kX).numel;
  executor.SetJob([&] { return GradientsJob{count, elements}; });
}

}  // namespace

const engine::RowwiseKernels& attention::RotateKernels() noexcept { return kRotated; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRotaryPositionEmbedding) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetRotated);
}

PORTACL_PHASE_1(aclnnRotaryPositionEmbeddingGrad) {
  return RunPhase1(call, kGradChecks, workspaceSize, executor, SetGradients);
}

PORTACL_PHASE_1(aclnnRotaryPositionEmbeddingV2) {
  return RunPhase1(call, kV2Checks, workspaceSize, executor, SetRotatedV2);
}

PORTACL_PHASE_1(aclnnApplyRotaryPosEmb) {
  return RunPhase1(call, kAppliedChecks, workspaceSize, executor, SetApplied);
}

PORTACL_PHASE_1(aclnnApplyRotaryPosEmbV2) {
  return RunPhase1(call, kAppliedChecks, workspaceSize, executor, SetApplied);
}

PORTACL_PHASE_1(aclnnInterleaveRope) {
  return RunPhase1(call, kInterleaveChecks, workspaceSize, executor, SetInterleaved);
}

#endif  // HWY_ONCE
