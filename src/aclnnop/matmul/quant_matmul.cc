// aclnnQuantMatmulV3, V4, V5 and WeightNz: products of 8-bit or 4-bit matrices with exact sums, which are
// then scaled.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/quant_matmul_functions.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/jobs/statistics.h"
#include "aclnnop/matmul/quant_matmul_blocks.h"
#include "aclnnop/matmul/quant_matmul_codes.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/gemm/integer_product.h"

namespace portacl {
namespace {

using namespace matmul;

// Parameters that V3 and V4 lack are null pointers for them.
enum Tensors { kX1, kX2, kScale, kOffset, kPertoken, kBias, kYScale, kX1Offset, kYOffset, kOut };
enum Attributes { kTranspose1, kTranspose2, kGroupSize };

constexpr int64_t kMostLength = 65535;
constexpr int64_t kInWord = 8;

// Accepted combinations of dtypes. A call must match one of the rows of its product.
enum class Factors : uint8_t { kNone, kMaybe, kAlways };
struct Row {
  DtypeSet x;
  DtypeSet scale;
  DtypeSet out;
  Factors factors;  // whether pertoken is given
  DtypeSet offset;
  DtypeSet bias;
};
constexpr DtypeSet kInt8(ACL_INT8);
constexpr DtypeSet kInt4(ACL_INT4, ACL_INT32);
constexpr DtypeSet kWords(ACL_UINT64, ACL_INT64);
constexpr DtypeSet kFloat(ACL_FLOAT);
constexpr DtypeSet kFloatOrBf16(ACL_FLOAT, ACL_BF16);
constexpr DtypeSet kInt32(ACL_INT32);
constexpr DtypeSet kHalf(ACL_FLOAT16);
constexpr DtypeSet kBiasOfBf16(ACL_INT32, ACL_BF16, ACL_FLOAT);
constexpr DtypeSet kBiasOfHalf(ACL_INT32, ACL_FLOAT16, ACL_FLOAT);

constexpr Row kRows[] = {
    {kInt8, kWords, kHalf, Factors::kNone, {}, kInt32},
    {kInt8, kWords, kInt8, Factors::kNone, kFloat, kInt32},
    {kInt8, kFloatOrBf16, kBf16, Factors::kMaybe, {}, kBiasOfBf16},
    {kInt8, kFloat, kHalf, Factors::kAlways, {}, kBiasOfHalf},
    {kInt8, kFloatOrBf16, kInt32, Factors::kNone, {}, kInt32},
    {kInt4, kWords, kHalf, Factors::kNone, {}, kInt32},
    {kInt4, kFloatOrBf16, kBf16, Factors::kAlways, {}, kBiasOfBf16},
    {kInt4, kFloat, kHalf, Factors::kAlways, {}, kBiasOfHalf},
};
constexpr Row kRowsOfInference[] = {
    {kInt8, kWords, kHalf, Factors::kNone, {}, kInt32},
    {kInt8, kWords, kInt8, Factors::kNone, kFloat, kInt32},
    {kInt8, kFloat, kHalf, Factors::kAlways, {}, kInt32},
};

std::span<const Row> RowsOf(Product product) {
  if (kAtlasInference.Contains(product)) return kRowsOfInference;
  return kRows;
}

aclnnStatus RefuseDtype(const Check& check, const OperatorCall& call, int tensor, DtypeSet accepted,
                        const char* others) {
  Text message = StartMessage(call).Add("parameter ");
  if (call.IsGiven(tensor)) {
    AddArgumentDtype(message, call, tensor);
  } else {
    message.Add(call.Name(tensor)).Add(" as a null pointer");
  }
  message.Add(" does not go with the parameters before, accepted: ");
  if (accepted.IsEmpty()) {
    message.Add("a null pointer");
  } else {
    AddDtypeSet(message, accepted);
  }
  return FailAclnn(check.code, message.Add(others).Add("."));
}

// Narrows the rows down by each parameter in turn. Reports the first parameter that no remaining row accepts.
aclnnStatus DtypesFit(const Check& check, OperatorCall& call) noexcept {
  const std::span<const Row> rows = RowsOf(call.product);
  uint32_t left = (uint32_t{1} << rows.size()) - 1;
  const auto keep = [&](int tensor, auto set_of, auto fits) {
    uint32_t kept = 0;
    DtypeSet accepted;
    for (size_t i = 0; i < rows.size(); ++i) {
      if ((left >> i & 1) == 0) continue;
      accepted = accepted | set_of(rows[i]);
      if (fits(rows[i])) kept |= uint32_t{1} << i;
    }
    if (kept != 0) {
      left = kept;
      return aclnnStatus{ACL_SUCCESS};
    }
    return RefuseDtype(
        check, call, tensor, accepted,
        tensor == kX1 || tensor == kX2
            ? "; 8-bit and 4-bit floats are products of aclnnQuantMatmulV5 and WeightNz on Ascend 950"
            : "");
  };
  const auto has = [&](int tensor, DtypeSet Row::*set) {
    return keep(
        tensor, [&](const Row& row) { return row.*set; },
        [&](const Row& row) { return (row.*set).Contains(call.Tensor(tensor).dtype); });
  };
  const auto has_maybe = [&](int tensor, DtypeSet Row::*set) {
    return call.IsGiven(tensor) ? has(tensor, set) : aclnnStatus{ACL_SUCCESS};
  };
  if (const aclnnStatus status = has(kX1, &Row::x)) return status;
  if (call.Tensor(kX2).dtype != call.Tensor(kX1).dtype)
    return RefuseDtype(
        check, call, kX2, DtypeSet(call.Tensor(kX1).dtype),
        "; 8-bit and 4-bit floats are products of aclnnQuantMatmulV5 and WeightNz on Ascend 950");
  if (const aclnnStatus status = has(kScale, &Row::scale)) return status;
  if (const aclnnStatus status = has(kOut, &Row::out)) return status;
  const aclnnStatus factors = keep(
      kPertoken, [](const Row& row) { return row.factors == Factors::kNone ? DtypeSet() : kFloat; },
      [&](const Row& row) {
        if (!call.IsGiven(kPertoken)) return row.factors != Factors::kAlways;
        return row.factors != Factors::kNone && call.Tensor(kPertoken).dtype == ACL_FLOAT;
      });
  if (factors != ACL_SUCCESS) return factors;
  if (const aclnnStatus status = has_maybe(kOffset, &Row::offset)) return status;
  return has_maybe(kBias, &Row::bias);
}

StridedView AsNd(StridedView tensor) {
  tensor.is_dense = false;
  tensor.Describe();
  return tensor;
}
int64_t TimesWord(int64_t length) { return static_cast<int64_t>(static_cast<uint64_t>(length) * kInWord); }

// Returns the dim along which a word holds eight elements: the last one, unless the one before it is
// contiguous.
int InnerOf(const StridedView& tensor) {
  const int last = tensor.shape.rank - 1;
  return tensor.strides[last] != 1 && tensor.strides[last - 1] == 1 ? last - 1 : last;
}

// Views an operand as matrices of integers. Dims and strides are in elements; a word has eight.
StridedView MatricesOf(const OperatorCall& call, int tensor) {
  StridedView view = AsNd(call.Tensor(tensor));
  const int last = view.shape.rank - 1;
  if (view.dtype == ACL_INT32) {
    const int inner = InnerOf(view);
    for (int i = 0; i <= last; ++i) view.strides.dim[i] = i == inner ? 1 : TimesWord(view.strides[i]);
    view.shape.dim[inner] = TimesWord(view.shape[inner]);
    view.offset = TimesWord(view.offset);
  }
  if (call.attributes[tensor == kX1 ? kTranspose1 : kTranspose2].integer != 0) {
    std::swap(view.shape.dim[last - 1], view.shape.dim[last]);
    std::swap(view.strides.dim[last - 1], view.strides.dim[last]);
  }
  return view;
}

// Marks a check that V5 does differently.
constexpr Check OfV5(Check check) {
  check.low = 1;
  return check;
}
bool IsV5(const Check& check) { return check.low == 1; }

aclnnStatus RanksFit(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kX1, kX2}) {
    const aclTensor& view = call.Tensor(tensor);
    if (view.shape.rank < 2 || view.shape.rank > 6) return Refuse(check, call, tensor, "2 to 6 dims");
    const int last = view.shape.rank - 1;
    if (view.dtype == ACL_INT32 && view.shape[InnerOf(view)] != 1 && view.strides[InnerOf(view)] != 1)
      return Refuse(check, call, tensor,
                    "words of eight elements side by side along one of the last two dims");
    // Takes the dim that is contiguous in memory: a view with its last two dims transposed is accepted as
    // such.
    const bool is_free = view.dtype == ACL_INT8 && kFloatOrBf16.Contains(call.Tensor(kScale).dtype) &&
                         products::kAtlasA2AndA3.Contains(call.product);
    if (IsV5(check) && products::kAscend950.Contains(call.product)) continue;
    const int64_t length = view.shape[IsTransposed(AsNd(view)) ? last - 1 : last];
    const int64_t most = view.dtype == ACL_INT32 ? kMostLength / kInWord : kMostLength;
    if (!is_free && length > most)
      return Refuse(check, call, tensor, "at most 65535 elements along the dim that lies side by side");
  }
  return ACL_SUCCESS;
}

// Computes the product's shape into call.broadcast.
aclnnStatus LengthsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape a = MatricesOf(call, kX1).shape;
  const Shape b = MatricesOf(call, kX2).shape;
  if (a[a.rank - 1] != b[b.rank - 2]) return RefuseWith(check, call, kX2, kX1, "as many terms");
  Shape& made = call.broadcast;
  made.rank = std::max(a.rank, b.rank);
  made.dim[made.rank - 2] = a[a.rank - 2];
  made.dim[made.rank - 1] = b[b.rank - 1];
  for (int i = 3; i <= made.rank; ++i) {
    const int64_t left = i <= a.rank ? a[a.rank - i] : 1;
    const int64_t right = i <= b.rank ? b[b.rank - i] : 1;
    if (left != right && left != 1 && right != 1)
      return RefuseWith(check, call, kX2, kX1, "first dims that are equal, or one of them 1");
    made.dim[made.rank - i] = left == 1 ? right : left;
  }
  return ACL_SUCCESS;
}

bool IsHandedOverTransposed(const OperatorCall& call, int tensor) {
  const bool has_flag = call.attributes[tensor == kX1 ? kTranspose1 : kTranspose2].integer != 0;
  return has_flag != IsTransposed(AsNd(call.Tensor(tensor)));
}

// Further checks of V3 and V4 for 4-bit elements.
aclnnStatus FourBitsFit(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& x2 = call.Tensor(kX2);
  if (x2.dtype == ACL_INT8) return ACL_SUCCESS;
  if (x2.shape.rank != 2) return Refuse(check, call, kX2, "2 dims of elements of 4 bits");
  if (call.IsGiven(kBias) && call.Tensor(kBias).shape.rank != 1)
    return Refuse(check, call, kBias, "one dim beside elements of 4 bits");
  if (IsHandedOverTransposed(call, kX1))
    return Refuse(check, call, kX1, "elements of 4 bits that are not transposed");
  const Shape matrix = MatricesOf(call, kX2).shape;
  const bool is_transposed = IsHandedOverTransposed(call, kX2);
  if (matrix[0] % 2 != 0) return Refuse(check, call, kX2, "an even number of terms of 4 bits");
  if (!is_transposed && matrix[1] % 2 != 0)
    return Refuse(check, call, kX2, "an even number of columns of 4 bits, or to be transposed");
  const Shape& storage = x2.storage;
  if (x2.format != ACL_FORMAT_FRACTAL_NZ || storage.rank != 4) return ACL_SUCCESS;
  // Blocks have 16 rows. The last dim of the storage gives their columns, as elements or as words of eight.
  const int64_t unit = is_transposed && x2.dtype == ACL_INT32 ? kInWord : 1;
  const int64_t of_block = storage[is_transposed ? 3 : 2];
  const int64_t terms = matrix[0] / unit;
  const int64_t blocks = of_block > 0 ? terms / of_block + (terms % of_block != 0 ? 1 : 0) : -1;
  if (storage[is_transposed ? 0 : 1] == blocks) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddShape(AddArgumentShape(message.Add("parameter "), call, kX2).Add(" has the storage "), storage);
  return FailAclnn(check.code, message.Add(", accepted: the blocks that its terms fill."));
}

// Tells whether the scale is a vector. V3, V4 and WeightNz also accept x2's number of dims with 1 before the
// last; in V5 that would be a scale of groups.
template <bool takes_dims_of_x2>
bool IsLine(const OperatorCall& call, int tensor) {
  const Shape& shape = call.Tensor(tensor).shape;
  if (shape.rank == 1) return true;
  if (!takes_dims_of_x2 || tensor != kScale || shape.rank != call.Tensor(kX2).shape.rank) return false;
  for (int i = 0; i + 1 < shape.rank; ++i) {
    if (shape[i] != 1) return false;
  }
  return true;
}

template <bool takes_dims_of_x2>
aclnnStatus NumbersFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& made = call.broadcast;
  const int64_t rows = made[made.rank - 2];
  const int64_t columns = made[made.rank - 1];
  for (const int tensor : {kScale, kOffset}) {
    if (!call.IsGiven(tensor)) continue;
    const Shape& shape = call.Tensor(tensor).shape;
    if (!IsLine<takes_dims_of_x2>(call, tensor) ||
        (shape[shape.rank - 1] != 1 && shape[shape.rank - 1] != columns))
      return Refuse(check, call, tensor,
                    takes_dims_of_x2 && tensor == kScale
                        ? "one dim, or x2's number of dims with 1 before the last, of one element or one for "
                          "each column"
                        : "one dim, of one element or one for each column");
  }
  if (call.IsGiven(kPertoken) && call.Tensor(kPertoken).shape != Shape{rows})
    return RefuseShape(check, call, kPertoken, {rows});
  if (!call.IsGiven(kBias)) return ACL_SUCCESS;
  const Shape& bias = call.Tensor(kBias).shape;
  const bool is_of_batch = made.rank == 3 && bias == Shape{made[0], 1, columns};
  if (bias == Shape{columns} || is_of_batch) return ACL_SUCCESS;
  return Refuse(check, call, kBias,
                "one element for each column, or of each matrix of a batch for each column");
}

// The product of two matrices may be written to [rows, 1, columns].
bool IsApart(const OperatorCall& call) {
  const Shape& made = call.broadcast;
  return made.rank == 2 && call.Tensor(kOut).shape == Shape{made[0], 1, made[1]};
}
aclnnStatus OutFits(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kOut).shape == call.broadcast || IsApart(call)) return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, call.broadcast);
}

aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kX1, kX2, kScale, kOffset, kPertoken, kBias, kOut}) {
    if (!call.IsGiven(tensor)) continue;
    const aclFormat format = call.Tensor(tensor).format;
    if (!IsPrivateFormat(format) || (tensor == kX2 && format == ACL_FORMAT_FRACTAL_NZ)) continue;
    const bool is_of_v5 =
        tensor == kX2 && format == ACL_FORMAT_FRACTAL_NZ_C0_32 && call.Tensor(kX2).dtype == ACL_INT8;
    if (!IsV5(check)) return Refuse(check, call, tensor, "no private format, but FRACTAL_NZ of x2");
    if (!is_of_v5)
      return Refuse(check, call, tensor,
                    "no private format, but FRACTAL_NZ of x2, and FRACTAL_NZ_C0_32 of an INT8 x2");
  }
  return ACL_SUCCESS;
}
aclnnStatus IsFractal(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kX2).format == ACL_FORMAT_FRACTAL_NZ) return ACL_SUCCESS;
  return Refuse(check, call, kX2, "the format FRACTAL_NZ");
}

// Ascend 950 accepts results without elements, and does nothing.
aclnnStatus NotEmpty(const Check& check, OperatorCall& call) noexcept {
  const Shape a = MatricesOf(call, kX1).shape;
  if (a[a.rank - 1] == 0) return Refuse(check, call, kX1, "at least one term");
  for (const int tensor : {kX1, kX2}) {
    if (call.Tensor(tensor).shape.IsEmpty() && !products::kAscend950.Contains(call.product))
      return Refuse(check, call, tensor, "at least one element");
  }
  return ACL_SUCCESS;
}

aclnnStatus RefuseGroup(const Check& check, const OperatorCall& call, const char* accepted) {
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter groupSize has the value ")
                                   .Add(call.attributes[kGroupSize].integer)
                                   .Add(", accepted: ")
                                   .Add(accepted));
}

// Unpacks group sizes: bits 32 and above for rows, 16 to 31 for columns, 0 to 15 for terms. 0 means that the
// shapes of the scales decide.
aclnnStatus GroupIsKnown(const Check& check, OperatorCall& call) noexcept {
  const int64_t group = call.attributes[kGroupSize].integer;
  const int64_t of_terms = group & 0xffff;
  const int64_t of_columns = group >> 16 & 0xffff;
  const int64_t of_rows = group >> 32;
  const auto is_block = [](int64_t length) { return length == 0 || length == 1 || length == 128; };
  if (is_block(of_rows) && is_block(of_columns) &&
      (of_terms == 0 || of_terms == 32 || of_terms == 128 || of_terms == 256))
    return ACL_SUCCESS;
  return RefuseGroup(check, call, "0, or groups of 1 or 128 rows and columns and of 32, 128 or 256 terms.");
}

// Refuses products of groups, which docs/compatibility.md lists as unsupported.
aclnnStatus HasNoGroups(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kGroupSize].integer == 0) return ACL_SUCCESS;
  return RefuseGroup(check, call, "0 with these types and scales.");
}

// Accepts tensors without elements, which torch_npu passes as offsets.
aclnnStatus HasNoMore(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kYScale, kX1Offset, kYOffset}) {
    if (call.IsGiven(tensor) && !call.Tensor(tensor).shape.IsEmpty())
      return Refuse(
          check, call, tensor,
          "a null pointer or no elements: what is asymmetric, of groups or scaled again is not computed");
  }
  return ACL_SUCCESS;
}

// 4-bit operands are unpacked to bytes of the workspace, from the first to the last element in memory,
// rounded up to cache lines.
constexpr int64_t kLine = 64;

aclnnStatus WorkspaceFits(const Check& check, OperatorCall& call) noexcept {
  int64_t workspace = 0;
  for (const int tensor : {kX1, kX2}) {
    const StridedView view = AsNd(call.Tensor(tensor));
    if (view.dtype == ACL_INT8 || view.shape.IsEmpty()) continue;
    const int64_t elements = view.dtype == ACL_INT32 ? kInWord : 1;
    int64_t lowest;
    int64_t highest;
    int64_t end;
    int64_t begin;
    int64_t bytes;
    if (!ReachOf(view, &lowest, &highest) || __builtin_add_overflow(highest, 1, &end) ||
        __builtin_mul_overflow(end, elements, &end) || __builtin_mul_overflow(lowest, elements, &begin) ||
        __builtin_sub_overflow(end, begin, &bytes) || __builtin_add_overflow(bytes, kLine, &bytes) ||
        __builtin_add_overflow(workspace, bytes, &workspace))
      return Refuse(check, call, tensor,
                    "elements of 4 bits that lie no more than 2^63 apart, x1's and x2's together");
  }
  return ACL_SUCCESS;
}

constexpr auto kTypes =
    List(NotNull(kX1), NotNull(kX2), NotNull(kScale), NotNull(kOut), HasQuantised(), Custom(DtypesFit));
template <bool takes_dims_of_x2>
constexpr auto Shapes() {
  return List(Custom(LengthsFit), Custom(NumbersFit<takes_dims_of_x2>), Custom(OutFits));
}
constexpr auto kRest =
    List(SizesRepresentable({kOut}), DoneIfEmpty({kOut}), FractalInsideStorage({kX2}),
         MatricesInsideStorage({kX1, kX2}), MatricesInsideStorage({kScale, kOffset, kPertoken}),
         MatricesInsideStorage({kBias}), Custom(WorkspaceFits));
constexpr auto kGroups =
    List(Custom(NotEmpty), Custom(GroupIsKnown), Custom(HasNoGroups, ACLNN_ERR_INNER_NULLPTR));
constexpr auto kChecks = Join(kTypes,
                              List(Custom(RanksFit), Custom(LengthsFit), Custom(FourBitsFit),
                                   Custom(NumbersFit<true>), Custom(OutFits)),
                              List(Custom(FormatsFit), Custom(NotEmpty)), kRest);
constexpr auto kChecksOfV5 =
    Join(kTypes, List(Custom(HasNoMore, ACLNN_ERR_PARAM_NULLPTR), OfV5(Custom(RanksFit))), Shapes<false>(),
         List(OfV5(Custom(FormatsFit))), kGroups, kRest);
constexpr auto kFractalChecks = Join(kTypes, List(Custom(HasNoMore), Custom(RanksFit)), Shapes<true>(),
                                     List(Custom(FormatsFit), Custom(IsFractal)), kGroups, kRest);

engine::IntegerGemmJob::Numbers NumbersOf(const OperatorCall& call, int tensor, bool is_of_rows) {
  if (!call.IsGiven(tensor)) return {-1, 0, 0, 0, ACL_FLOAT};
  const aclTensor& view = call.Tensor(tensor);
  const int64_t step = ByteStride(view, view.shape.rank - 1);
  // The lower half of a word is its scale.
  return {static_cast<int8_t>(tensor), ByteOffset(view), is_of_rows ? step : 0, is_of_rows ? 0 : step,
          StorageBits(view.dtype) == 64 ? ACL_FLOAT : view.dtype};
}

// Returns an operand of the product. A 4-bit operand is read from its unpacked bytes.
Matrices OperandOf(const OperatorCall& call, int tensor, engine::IntegerGemmJob::Halves& halves,
                   int64_t& workspace) {
  Matrices matrices{tensor, MatricesOf(call, tensor)};
  StridedView& view = matrices.view;
  halves = {};
  if (view.dtype != ACL_INT8) {
    int64_t lowest = 0;
    int64_t highest = 0;
    ReachOf(view, &lowest, &highest);
    halves = {static_cast<int8_t>(tensor), lowest, highest - lowest + 1, workspace};
    view.offset += workspace - lowest;
    workspace += (halves.count + kLine - 1) / kLine * kLine;
    matrices.argument = -1;
  }
  view.dtype = ACL_INT8;
  return matrices;
}

void SetProduct(const OperatorCall& call, Executor& executor) {
  engine::IntegerGemmJob job{};
  int64_t workspace = 0;
  const Matrices left = OperandOf(call, kX1, job.halves[0], workspace);
  const Matrices right = OperandOf(call, kX2, job.halves[1], workspace);
  Matrices out{kOut, call.Tensor(kOut)};
  if (IsApart(call)) {
    Shape& strides = out.view.strides;
    out.view.shape = call.broadcast;
    strides = {strides[0], strides[2]};
  }
  const Matrices bias{kBias, call.IsGiven(kBias) ? StridedView(call.Tensor(kBias)) : StridedView{}};
  job.gemm =
      GemmOf({.left = left, .right = right, .out = out, .added = call.IsGiven(kBias) ? &bias : nullptr});
  job.scale = NumbersOf(call, kScale, /*is_of_rows=*/false);
  job.factor = NumbersOf(call, kPertoken, /*is_of_rows=*/true);
  job.offset = NumbersOf(call, kOffset, /*is_of_rows=*/false);
  job.has_words = kWords.Contains(call.Tensor(kScale).dtype);
  job.isa = call.isa;
  job.threads = call.threads;
  executor.workspace_size = static_cast<uint64_t>(workspace);
  executor.SetJob([&] { return job; });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnQuantMatmulV3) { return RunPhase1(call, kChecks, workspaceSize, executor, SetProduct); }

PORTACL_PHASE_1(aclnnQuantMatmulV4) { return RunPhase1(call, kChecks, workspaceSize, executor, SetProduct); }

// NOLINTBEGIN(readability-identifier-naming): the names are CANN's
PORTACL_PHASE_1(aclnnQuantMatmulV5) {
  if (matmul::IsBlockScaled(call)) return matmul::RunBlockScaled(call, false, workspaceSize, executor);
  if (matmul::AreCodes(call)) return matmul::RunCodes(call, false, workspaceSize, executor);
  return RunPhase1(call, kChecksOfV5, workspaceSize, executor, SetProduct);
}

PORTACL_PHASE_1(aclnnQuantMatmulWeightNz) {
  if (matmul::IsBlockScaled(call)) return matmul::RunBlockScaled(call, true, workspaceSize, executor);
  if (matmul::AreCodes(call)) return matmul::RunCodes(call, true, workspaceSize, executor);
  return RunPhase1(call, kFractalChecks, workspaceSize, executor, SetProduct);
}
// NOLINTEND(readability-identifier-naming)
