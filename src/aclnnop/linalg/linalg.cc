// aclnnTriangularSolve, aclnnInverse, aclnnLinalgQr, aclnnLinalgCholesky, aclnnSlogdet and aclnnSvd: solutions,
// factors and determinants of matrices, in batches.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/linalg/linalg_functions.h"

#include "engine/linalg/factorize.h"
#include "engine/linalg/singular_values.h"

#include <algorithm>
#include <new>

#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "contract/broadcast.h"
#include "plan/views.h"

namespace portacl {
namespace {

using engine::LinalgJob;

constexpr DtypeRule kSolveDtypes = Everywhere(DtypeSet(ACL_FLOAT) | kDouble | kComplex);
constexpr DtypeRule kFactorDtypes = Everywhere(kFloatAndHalf | kDouble | kComplex);

aclnnStatus RefuseTensor(const Check& check, const OperatorCall& call, int tensor, const char* accepted) {
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor).Add(" is not accepted here, accepted: ");
  return FailAclnn(check.code, message.Add(accepted).Add("."));
}

// ---- shared by the jobs ----

// Makes an operand whose last two dims are matrices. The others broadcast to the batch.
engine::LinalgOperand OperandOf(int argument, const StridedView& given, const Shape& batch) {
  const StridedView tensor = PlainView(given);
  const int rank = tensor.shape.rank;
  engine::LinalgOperand made;
  made.argument = static_cast<int8_t>(argument);
  made.dtype = tensor.dtype;
  made.offset = ByteOffset(tensor);
  made.row = ByteStride(tensor, rank - 2);
  made.column = ByteStride(tensor, rank - 1);
  for (int i = 0; i < batch.rank && i < rank - 2; ++i) {
    const int dim = rank - 3 - i;
    made.batch[engine::kLinalgBatchDims - 1 - i] = ByteStride(tensor, dim);
  }
  return made;
}

Shape BatchOf(const Shape& shape) {
  Shape batch = shape;
  batch.rank -= 2;
  return batch;
}

// Makes an operand of values: one for each index of the batch, or a row of them.
engine::LinalgOperand ValuesOf(int argument, const StridedView& given, const Shape& batch) {
  const StridedView tensor = PlainView(given);
  const int rank = tensor.shape.rank;
  const bool has_rows = rank > batch.rank;
  engine::LinalgOperand made;
  made.argument = static_cast<int8_t>(argument);
  made.dtype = tensor.dtype;
  made.offset = ByteOffset(tensor);
  if (has_rows) made.column = ByteStride(tensor, rank - 1);
  for (int i = 0; i < batch.rank; ++i)
    made.batch[engine::kLinalgBatchDims - 1 - i] = ByteStride(tensor, batch.rank - 1 - i);
  return made;
}

template <class Job>
void SetBatch(const Shape& batch, Job& job) {
  std::fill(std::begin(job.batch), std::end(job.batch), int64_t{1});
  for (int i = 0; i < batch.rank; ++i)
    job.batch[engine::kLinalgBatchDims - 1 - i] = batch[batch.rank - 1 - i];
}

LinalgJob JobOf(const OperatorCall& call, LinalgJob::Kind kind, const Shape& batch, aclDataType dtype) {
  LinalgJob job{};
  job.kind = kind;
  SetBatch(batch, job);
  job.computed = dtype == ACL_FLOAT16 || dtype == ACL_BF16 ? ACL_FLOAT : dtype;
  job.isa = call.isa;
  job.threads = call.threads;
  job.operands = static_cast<int8_t>(call.tensors.size());
  return job;
}

// Makes phase 1 fail if copies of the matrices would need more memory than there is. (An expanded tensor takes no
// memory itself, so its size is not limited.)
bool HasMemoryFor(const OperatorCall& call, int64_t rows, int64_t columns, Executor& executor) {
  constexpr int64_t kMostNumbers = int64_t{1} << 48;
  if (rows <= kMostNumbers / std::max<int64_t>(columns, 1)) return true;
  executor.RefuseSize(call.Name(0), call.Tensor(0).numel);
  return false;
}

// ---- TriangularSolve ----

enum SolveTensors { kSelf, kMatrix, kX, kM };
enum SolveAttributes { kUpper, kTranspose, kUnit };

aclnnStatus ShapesOfSolve(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const Shape& matrix = call.Tensor(kMatrix).shape;
  if (matrix[matrix.rank - 1] != matrix[matrix.rank - 2])
    return RefuseTensor(check, call, kMatrix, "square matrices");
  if (self[self.rank - 2] != matrix[matrix.rank - 1])
    return RefuseTensor(check, call, kSelf, "as many rows as A has");
  Shape batch;
  if (!BroadcastShapes(BatchOf(self), BatchOf(matrix), &batch))
    return RefuseTensor(check, call, kMatrix, "dims before the last two that broadcast with self's");
  Shape result = batch;
  result.rank += 2;
  result.dim[batch.rank] = self[self.rank - 2];
  result.dim[batch.rank + 1] = self[self.rank - 1];
  if (!(call.Tensor(kX).shape == result)) return RefuseShape(check, call, kX, result);
  if (!call.IsGiven(kM)) return ACL_SUCCESS;
  result.dim[batch.rank + 1] = matrix[matrix.rank - 1];
  if (!(call.Tensor(kM).shape == result)) return RefuseShape(check, call, kM, result);
  return ACL_SUCCESS;
}

aclnnStatus UnitIsFloat(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kUnit].integer == 0 || call.Tensor(kSelf).dtype == ACL_FLOAT) return ACL_SUCCESS;
  return FailAclnn(
      check.code,
      StartMessage(call).Add("parameter unitriangular is true, accepted: false, and true of DT_FLOAT."));
}

bool HasCopy(const OperatorCall& call) noexcept { return call.IsGiven(kM); }

constexpr auto kSolveChecks = Join(List(
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kSelf)), WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kMatrix)),
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kX)), DtypesIn(kSolveDtypes, {kSelf}),
    SameDtype(kSelf, kMatrix), SameDtype(kSelf, kX), If(HasCopy, SameDtype(kSelf, kM)),
    RankAtLeast(2, {kSelf}), RankAtMost(8, {kSelf}), RankAtLeast(2, {kMatrix}), RankAtMost(8, {kMatrix}),
    RankAtLeast(2, {kX}), RankAtMost(8, {kX}), Custom(ShapesOfSolve), Custom(UnitIsFloat),
    SizesRepresentable({kX, kM}), DoneIfEmpty({kSelf, kMatrix}), InsideStorage({kSelf, kMatrix})));

void SetSolve(const OperatorCall& call, Executor& executor) {
  const aclTensor& out = call.Tensor(kX);
  const Shape batch = BatchOf(out.shape);
  const int64_t order = out.shape[batch.rank];
  if (!HasMemoryFor(call, order, std::max(order, out.shape[batch.rank + 1]), executor)) return;
  executor.SetJob([&] {
    LinalgJob job = JobOf(call, LinalgJob::Kind::kSolve, batch, out.dtype);
    job.is_upper = call.attributes[kUpper].integer != 0;
    job.transposes = call.attributes[kTranspose].integer != 0;
    job.is_unit = call.attributes[kUnit].integer != 0;
    job.rows = order;
    job.columns = out.shape[batch.rank + 1];
    job.matrix = OperandOf(kMatrix, call.Tensor(kMatrix), batch);
    job.right = OperandOf(kSelf, call.Tensor(kSelf), batch);
    job.out = OperandOf(kX, out, batch);
    job.copies = call.IsGiven(kM);
    if (job.copies) {
      job.copy = engine::MakeMove(call.Tensor(kMatrix), call.Tensor(kM), job.isa, job.threads);
      job.copied_from = kMatrix;
      job.copied_to = kM;
    }
    executor.workspace_size = job.WorkspaceBytes();
    return job;
  });
}

// ---- Inverse ----

enum InverseTensors { kOriginal, kInverse };

aclnnStatus IsSquare(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kOriginal).shape;
  return shape[shape.rank - 1] == shape[shape.rank - 2]
             ? ACL_SUCCESS
             : RefuseTensor(check, call, kOriginal, "square matrices");
}

constexpr auto kInverseChecks = Join(
    List(NotNull(kOriginal), NotNull(kInverse), DtypesIn(kFactorDtypes, {kOriginal}),
         CastsTo(kOriginal, kInverse), SameShape(kOriginal, kInverse), RankAtLeast(2, {kOriginal}),
         RankAtMost(8, {kOriginal}), Custom(IsSquare), SizesRepresentable({kInverse}),
         DoneIfEmpty({kOriginal}), InsideStorage({kOriginal}), DtypeImplemented({kInverse}, kConvertible)));

void SetInverse(const OperatorCall& call, Executor& executor) {
  const aclTensor& self = call.Tensor(kOriginal);
  const aclTensor& out = call.Tensor(kInverse);
  const Shape batch = BatchOf(out.shape);
  const int64_t order = out.shape[batch.rank];
  const bool casts = out.dtype != self.dtype;
  if (!HasMemoryFor(call, order, order, executor)) return;
  if (casts && !HasMemoryFor(call, out.numel, 1, executor)) return;
  executor.SetJob([&] {
    LinalgJob job = JobOf(call, LinalgJob::Kind::kInverse, batch, self.dtype);
    job.rows = job.columns = order;
    job.matrix = OperandOf(kOriginal, self, batch);
    job.out = OperandOf(kInverse, out, batch);
    const uint64_t own = job.WorkspaceBytes();
    executor.workspace_size = own;
    if (casts) {
      StridedView dense;
      dense.dtype = job.computed;
      FillShape(dense, out.shape, 1);
      dense.Describe();
      job.out = OperandOf(job.operands, dense, batch);
      job.copies = true;
      job.copy = engine::MakeMove(dense, out, job.isa, job.threads);
      job.copied_from = job.operands;
      job.copied_to = kInverse;
      executor.workspace_size = own + static_cast<uint64_t>(dense.numel) * (StorageBits(dense.dtype) / 8);
    }
    return job;
  });
}

// ---- LinalgQr ----

enum QrTensors { kFactored, kQ, kR };
enum QrAttributes { kMode };
enum Mode : int64_t { kComplete = 1, kOnlyR = 2 };

int64_t ModeOf(const OperatorCall& call) { return call.attributes[kMode].integer; }

aclnnStatus ShapesOfQr(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kFactored).shape;
  const int64_t m = self[self.rank - 2];
  const int64_t kept = ModeOf(call) == kComplete ? m : std::min(m, self[self.rank - 1]);
  Shape q = self;
  q.dim[q.rank - 1] = kept;
  if (ModeOf(call) == kOnlyR) q = Shape{0};
  Shape r = self;
  r.dim[r.rank - 2] = kept;
  if (!(call.Tensor(kQ).shape == q)) return RefuseShape(check, call, kQ, q);
  if (!(call.Tensor(kR).shape == r)) return RefuseShape(check, call, kR, r);
  return ACL_SUCCESS;
}

// A matrix without columns still has a complete Q.
aclnnStatus DoneIfNothing(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kQ).shape.IsEmpty() && call.Tensor(kR).shape.IsEmpty())
    call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr auto kQrChecks = Join(List(
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kFactored)), WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kQ)),
    WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kR)), DtypesIn(kFactorDtypes, {kFactored, kQ, kR}),
    RankAtLeast(2, {kFactored}), RankAtMost(8, {kFactored}), Custom(ShapesOfQr), SizesRepresentable({kQ, kR}),
    Custom(DoneIfNothing), InsideStorage({kFactored})));

// Computes factors in the workspace, behind the workspace of that computation, and casts them to the
// outputs. The casts are in the executor's memory.
struct CastFactorsJob {
  LinalgJob factors;
  int8_t casts;
  int8_t cast_to[2];

  bool Touches(int operand) const noexcept {
    return factors.Touches(operand) || operand == cast_to[0] || (casts > 1 && operand == cast_to[1]);
  }
  void Run(const JobContext& context) const noexcept {
    factors.Run(context.addresses, context.workspace);
    const char* const made = static_cast<const char*>(context.workspace) + factors.WorkspaceBytes();
    const auto* const moves = reinterpret_cast<const engine::Move*>(context.memory);
    for (int i = 0; i < casts; ++i) moves[i].Run(made, static_cast<char*>(context.addresses[cast_to[i]]));
  }
};

LinalgJob FactorsOf(const OperatorCall& call) {
  const aclTensor& self = call.Tensor(kFactored);
  const Shape batch = BatchOf(self.shape);
  LinalgJob job = JobOf(call, LinalgJob::Kind::kQr, batch, self.dtype);
  job.rows = self.shape[batch.rank];
  job.columns = self.shape[batch.rank + 1];
  job.kept = call.Tensor(kR).shape[batch.rank];
  job.matrix = OperandOf(kFactored, self, batch);
  job.r = OperandOf(kR, call.Tensor(kR), batch);
  if (ModeOf(call) != kOnlyR) {
    job.factor = call.Tensor(kQ).shape[batch.rank + 1];
    job.out = OperandOf(kQ, call.Tensor(kQ), batch);
  }
  return job;
}

// A result that is cast: the argument, the job's operand, and how that operand is made of a tensor.
struct CastResult {
  int tensor;
  engine::LinalgOperand LinalgJob::*operand;
  engine::LinalgOperand (*make)(int argument, const StridedView& given, const Shape& batch);
};

void SetCastFactors(const OperatorCall& call, const LinalgJob& made_of, const Shape& batch,
                    std::initializer_list<CastResult> results, Executor& executor) {
  for (const CastResult& result : results) {
    if (!HasMemoryFor(call, call.Tensor(result.tensor).numel, 1, executor)) return;
  }
  auto* const moves = reinterpret_cast<engine::Move*>(executor.ReserveMemory(2 * sizeof(engine::Move)));
  if (moves == nullptr) return;
  executor.SetJob([&] {
    CastFactorsJob job{made_of, 0, {}};
    LinalgJob& factors = job.factors;
    int64_t made = 0;
    for (const CastResult& result : results) {
      engine::LinalgOperand& operand = factors.*result.operand;
      const aclTensor& out = call.Tensor(result.tensor);
      if (operand.argument < 0 || out.shape.IsEmpty() || out.dtype == call.Tensor(kFactored).dtype) continue;
      StridedView dense;
      dense.dtype = factors.computed;
      FillShape(dense, out.shape, 1);
      dense.offset = made;
      dense.Describe();
      made += dense.numel;
      operand = result.make(factors.operands, dense, batch);
      new (moves + job.casts) engine::Move(engine::MakeMove(dense, out, factors.isa, factors.threads));
      job.cast_to[job.casts++] = static_cast<int8_t>(result.tensor);
    }
    executor.workspace_size =
        factors.WorkspaceBytes() + static_cast<uint64_t>(made) * (StorageBits(factors.computed) / 8);
    return job;
  });
}

void SetQr(const OperatorCall& call, Executor& executor) {
  const aclDataType self = call.Tensor(kFactored).dtype;
  const bool casts_q = ModeOf(call) != kOnlyR && call.Tensor(kQ).dtype != self;
  const LinalgJob job = FactorsOf(call);
  if (!HasMemoryFor(call, job.rows, std::max(job.columns, job.factor), executor)) return;
  if (casts_q || call.Tensor(kR).dtype != self)
    return SetCastFactors(call, job, BatchOf(call.Tensor(kFactored).shape),
                          {{kR, &LinalgJob::r, OperandOf}, {kQ, &LinalgJob::out, OperandOf}}, executor);
  executor.SetJob([&] {
    executor.workspace_size = job.WorkspaceBytes();
    return job;
  });
}

// ---- LinalgCholesky ----

enum CholeskyTensors { kSymmetric, kTriangle };
enum CholeskyAttributes { kIsUpper };

constexpr DtypeRule kCholeskyDtypes = SinceAtlasA2(kFloatHalfAndBf16);
constexpr int64_t kMostRows = 8192;

aclnnStatus OrderFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& shape = call.Tensor(kSymmetric).shape;
  const int64_t n = shape[shape.rank - 1];
  if (n == shape[shape.rank - 2] && n <= kMostRows) return ACL_SUCCESS;
  return RefuseTensor(check, call, kSymmetric, "square matrices of at most 8192 rows");
}

constexpr auto kCholeskyChecks =
    List(NotNull(kSymmetric), NotNull(kTriangle), SameDtype(kSymmetric, kTriangle),
         DtypesIn(kCholeskyDtypes, {kSymmetric}), SameFormat({kSymmetric, kTriangle}),
         NotPrivate({kSymmetric, kTriangle}), RankAtLeast(2, {kSymmetric}), RankAtMost(8, {kSymmetric}),
         SameShape(kSymmetric, kTriangle), SizesRepresentable({kTriangle}), DoneIfEmpty({kSymmetric}),
         Custom(OrderFits), InsideStorage({kSymmetric}));

// The lower triangle is the upper one of the transposed matrix.
void SetCholesky(const OperatorCall& call, Executor& executor) {
  const aclTensor& self = call.Tensor(kSymmetric);
  const Shape batch = BatchOf(self.shape);
  executor.SetJob([&] {
    LinalgJob job = JobOf(call, LinalgJob::Kind::kCholesky, batch, self.dtype);
    job.rows = self.shape[batch.rank];
    job.matrix = OperandOf(kSymmetric, self, batch);
    job.out = OperandOf(kTriangle, call.Tensor(kTriangle), batch);
    if (call.attributes[kIsUpper].integer == 0) {
      std::swap(job.matrix.row, job.matrix.column);
      std::swap(job.out.row, job.out.column);
    }
    executor.workspace_size = job.WorkspaceBytes();
    return job;
  });
}

// ---- Slogdet ----

enum SlogdetTensors { kSquares, kSign, kLog };

constexpr DtypeRule kDeterminantDtypes = Everywhere(DtypeSet(ACL_FLOAT) | kDouble | kComplex);

aclnnStatus ComplexStays(const Check& check, OperatorCall& call) noexcept {
  if (!IsComplex(call.Tensor(kSquares).dtype)) return ACL_SUCCESS;
  for (const int tensor : {kSign, kLog}) {
    if (!IsComplex(call.Tensor(tensor).dtype))
      return RefuseTensor(check, call, tensor, "a complex dtype, as self's is");
  }
  return ACL_SUCCESS;
}
aclnnStatus ShapesOfSlogdet(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSquares).shape;
  if (self[self.rank - 1] != self[self.rank - 2])
    return RefuseTensor(check, call, kSquares, "square matrices");
  const Shape batch = BatchOf(self);
  for (const int tensor : {kSign, kLog}) {
    if (!(call.Tensor(tensor).shape == batch)) return RefuseShape(check, call, tensor, batch);
  }
  return ACL_SUCCESS;
}

constexpr auto kSlogdetChecks = List(
    NotNull(kSquares), NotNull(kSign), NotNull(kLog), DtypesIn(kDeterminantDtypes, {kSquares, kSign, kLog}),
    Custom(ComplexStays), RankAtLeast(2, {kSquares}), Custom(ShapesOfSlogdet),
    SizesRepresentable({kSign, kLog}), DoneIfEmpty({kSquares}),
    WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMost(8, {kSquares})), InsideStorage({kSquares}),
    PromotesToDtypeOf(kSquares), FunctionsThere(kDouble | DtypeSet{ACL_COMPLEX128}, WhyFunctionsAreMissing));

void SetSlogdet(const OperatorCall& call, Executor& executor) {
  const aclTensor& self = call.Tensor(kSquares);
  const Shape batch = BatchOf(self.shape);
  const int64_t order = self.shape[batch.rank];
  if (!HasMemoryFor(call, order, order, executor)) return;
  LinalgJob job = JobOf(call, LinalgJob::Kind::kDeterminant, batch, self.dtype);
  job.rows = order;
  job.matrix = OperandOf(kSquares, self, batch);
  job.out = ValuesOf(kSign, call.Tensor(kSign), batch);
  job.r = ValuesOf(kLog, call.Tensor(kLog), batch);
  job.logarithm = engine::LogarithmOf(call.isa);
  if (call.Tensor(kSign).dtype != self.dtype || call.Tensor(kLog).dtype != self.dtype)
    return SetCastFactors(call, job, batch,
                          {{kSign, &LinalgJob::out, ValuesOf}, {kLog, &LinalgJob::r, ValuesOf}}, executor);
  executor.SetJob([&] {
    executor.workspace_size = job.WorkspaceBytes();
    return job;
  });
}

// ---- Svd ----

enum SvdTensors { kDecomposed, kSigma, kU, kV };
enum SvdAttributes { kIsFull, kGivesVectors };

constexpr DtypeRule kSvdDtypes = Everywhere(DtypeSet(ACL_FLOAT) | kDouble | kComplex);

aclnnStatus ShapesOfSvd(const Check& check, OperatorCall& call) noexcept {
  const Shape& input = call.Tensor(kDecomposed).shape;
  const int64_t m = input[input.rank - 2];
  const int64_t n = input[input.rank - 1];
  const int64_t k = std::min(m, n);
  Shape sigma = BatchOf(input);
  sigma.dim[sigma.rank++] = k;
  if (!(call.Tensor(kSigma).shape == sigma)) return RefuseShape(check, call, kSigma, sigma);
  if (call.attributes[kGivesVectors].integer == 0) return ACL_SUCCESS;
  const bool is_full = call.attributes[kIsFull].integer != 0;
  for (const int tensor : {kU, kV}) {
    Shape vectors = input;
    vectors.dim[input.rank - 2] = tensor == kU ? m : n;
    vectors.dim[input.rank - 1] = is_full ? (tensor == kU ? m : n) : k;
    if (!(call.Tensor(tensor).shape == vectors)) return RefuseShape(check, call, tensor, vectors);
  }
  return ACL_SUCCESS;
}

constexpr auto kSvdChecks =
    List(NotNull(kDecomposed), NotNull(kSigma), NotNull(kU), NotNull(kV), DtypesIn(kSvdDtypes, {kDecomposed}),
         SameDtype(kDecomposed, kSigma), SameDtype(kDecomposed, kU), SameDtype(kDecomposed, kV),
         RankAtLeast(2, {kDecomposed}), RankAtMost(8, {kDecomposed}), Custom(ShapesOfSvd),
         SizesRepresentable({kSigma, kU, kV}), DoneIfEmpty({kDecomposed}), InsideStorage({kDecomposed}));

void SetSvd(const OperatorCall& call, Executor& executor) {
  const aclTensor& input = call.Tensor(kDecomposed);
  const Shape batch = BatchOf(input.shape);
  const int64_t rows = input.shape[batch.rank];
  const int64_t columns = input.shape[batch.rank + 1];
  const int64_t longer = std::max(rows, columns);
  const bool is_square = call.attributes[kGivesVectors].integer != 0 && call.attributes[kIsFull].integer != 0;
  if (!HasMemoryFor(call, longer, is_square ? longer : std::min(rows, columns), executor)) return;
  executor.SetJob([&] {
    engine::SingularValuesJob job{};
    job.gives_vectors = call.attributes[kGivesVectors].integer != 0;
    job.is_full = call.attributes[kIsFull].integer != 0;
    job.dtype = input.dtype;
    SetBatch(batch, job);
    job.rows = rows;
    job.columns = columns;
    job.matrix = OperandOf(kDecomposed, input, batch);
    job.sigma = ValuesOf(kSigma, call.Tensor(kSigma), batch);
    if (job.gives_vectors) {
      job.u = OperandOf(kU, call.Tensor(kU), batch);
      job.v = OperandOf(kV, call.Tensor(kV), batch);
    }
    job.kernels = engine::SingularKernelsOf(call.isa);
    job.threads = call.threads;
    executor.workspace_size = job.WorkspaceBytes();
    return job;
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

// NOLINTBEGIN(readability-identifier-naming): CANN's names
PORTACL_PHASE_1(aclnnTriangularSolve) {
  return RunPhase1(call, kSolveChecks, workspaceSize, executor, SetSolve);
}

PORTACL_PHASE_1(aclnnInverse) { return RunPhase1(call, kInverseChecks, workspaceSize, executor, SetInverse); }

PORTACL_PHASE_1(aclnnLinalgQr) { return RunPhase1(call, kQrChecks, workspaceSize, executor, SetQr); }

PORTACL_PHASE_1(aclnnLinalgCholesky) {
  return RunPhase1(call, kCholeskyChecks, workspaceSize, executor, SetCholesky);
}

PORTACL_PHASE_1(aclnnSlogdet) { return RunPhase1(call, kSlogdetChecks, workspaceSize, executor, SetSlogdet); }

PORTACL_PHASE_1(aclnnSvd) { return RunPhase1(call, kSvdChecks, workspaceSize, executor, SetSvd); }
// NOLINTEND(readability-identifier-naming)
