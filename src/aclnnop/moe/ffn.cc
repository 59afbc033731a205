// aclnnFFN, V2 and V3: two products with an activation between them, whose rows may be cut among experts.
// SPDX-License-Identifier: Apache-2.0
#include <strings.h>

#include <span>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/heads.h"
#include "aclnnop/moe/ffn_functions.h"
#include "base/data_type.h"

namespace portacl {
namespace {

using namespace dense;
using engine::GroupedPart;
using engine::GroupedProducts;
using engine::GroupedRows;

// V1 and V2 have tokens as an array, V3 as a tensor.
enum Tensors {
  kX,
  kWeight1,
  kWeight2,
  kTokens,
  kBias1,
  kBias2,
  kScale,
  kOffset,
  kDequantScale1,
  kDequantScale2,
  kScale1,
  kScale2,
  kOffset1,
  kOffset2,
  kY
};
enum Attributes { kTokenArray, kActivation, kPrecise, kAreEnds };

constexpr int64_t kMostColumns = 65535;
constexpr int64_t kMostActivated = int64_t{1} << 48;

struct ActivationName {
  const char* name;
  GroupedRows::Function function;
  bool has_gate;
};
constexpr ActivationName kActivations[] = {
    {"relu", GroupedRows::Function::kRelu, false},         {"gelu", GroupedRows::Function::kGeluTanh, false},
    {"fastgelu", GroupedRows::Function::kFastGelu, false}, {"silu", GroupedRows::Function::kSilu, false},
    {"geglu", GroupedRows::Function::kNone, true},         {"swiglu", GroupedRows::Function::kNone, true},
    {"reglu", GroupedRows::Function::kNone, true}};
const ActivationName* ActivationOf(const OperatorCall& call) {
  const char* const text = call.attributes[kActivation].text;
  for (const ActivationName& one : kActivations) {
    if (text != nullptr && strcasecmp(text, one.name) == 0) return &one;
  }
  return nullptr;
}

// Tells whether a tensor is given and has elements.
bool Has(const OperatorCall& call, int tensor) noexcept {
  return attention::IsThere(call, tensor) && !call.Tensor(tensor).shape.IsEmpty();
}
std::span<const int64_t> TokensIn(const OperatorCall& call) noexcept {
  const aclIntArray* const array = call.attributes[kTokenArray].array;
  return array == nullptr ? std::span<const int64_t>() : array->values;
}
// Returns the number of experts, or 0 if rows are not cut.
int64_t ExpertsOf(const OperatorCall& call) noexcept {
  return Has(call, kTokens) ? call.Tensor(kTokens).numel : std::ssize(TokensIn(call));
}
int64_t RowsOf(const OperatorCall& call) noexcept {
  const aclTensor& x = call.Tensor(kX);
  int64_t rows = 1;
  for (int dim = 0; dim + 1 < x.shape.rank; ++dim) {
    // A number that does not fit belongs to an x that is empty or refused.
    if (__builtin_mul_overflow(rows, x.shape[dim], &rows)) return 0;
  }
  return rows;
}
Shape MatrixOf(const OperatorCall& call, int weight) {
  return grouped::InElements(call.Tensor(weight)).shape;
}
bool IsQuantised(const OperatorCall& call, int weight) {
  return call.Tensor(weight).dtype != call.Tensor(kX).dtype;
}

// ---- checks ----

aclnnStatus ActivationFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  return checks
      .HoldsOf(ActivationOf(call) != nullptr, kActivation,
               "relu, gelu, fastgelu, silu, geglu, swiglu or reglu")
      .status();
}

aclnnStatus ScalesComeTogether(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  if (Has(call, kDequantScale1)) checks.Given(kDequantScale2, "beside deqScale1Optional");
  if (Has(call, kDequantScale2)) checks.Given(kDequantScale1, "beside deqScale2Optional");
  return checks.status();
}

aclnnStatus TokensFit(const Check& check, OperatorCall& call) noexcept {
  const auto refuse = [&](int64_t at) {
    return FailAclnn(check.code, StartMessage(call)
                                     .Add("parameter ")
                                     .Add(call.attributes[kTokenArray].name)
                                     .Add(" has the value ")
                                     .Add(TokensIn(call)[static_cast<size_t>(at)])
                                     .Add(" at ")
                                     .Add(at)
                                     .Add(", accepted: rows of each expert, or their ends, up to x's ")
                                     .Add(RowsOf(call))
                                     .Add("."));
  };
  const bool are_ends = Integer(call, kAreEnds) != 0;
  const int64_t rows = RowsOf(call);
  const auto tokens = TokensIn(call);
  int64_t end = 0;
  for (int64_t i = 0; i < std::ssize(tokens); ++i) {
    const int64_t value = tokens[static_cast<size_t>(i)];
    const int64_t size = are_ends ? value - end : value;
    if (value < 0 || value > rows || size < 0 || size > rows - end) return refuse(i);
    end += size;
  }
  return tokens.empty() || end == rows ? ACL_SUCCESS : refuse(std::ssize(tokens) - 1);
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape& x = call.Tensor(kX).shape;
  checks.Rank(kY, x.rank, x.rank).Rank(kX, 2, 8);
  const int64_t experts = ExpertsOf(call);
  const int rank = experts > 0 ? 3 : 2;
  checks.Rank(kWeight1, rank, rank).Rank(kWeight2, rank, rank);
  if (!checks.Passed()) return checks.status();
  for (const int weight : {kWeight1, kWeight2})
    checks.Holds(grouped::WordsLieTogether(call.Tensor(weight)), weight, "words of 4 bits side by side");
  if (!checks.Passed()) return checks.status();
  const Shape first = MatrixOf(call, kWeight1);
  const Shape second = MatrixOf(call, kWeight2);
  const int64_t columns = x[x.rank - 1];
  checks.Holds(columns <= kMostColumns, kX, "at most 65535 columns");
  checks.Holds(first[rank - 2] == columns, kWeight1, "as many rows as x has columns");
  checks.Holds(second[rank - 1] == columns, kWeight2, "as many columns as x has");
  checks.Holds(second[rank - 2] == first[rank - 1], kWeight2, "as many rows as weight1 has columns");
  if (experts > 0) {
    checks.Holds(first[0] == experts, kWeight1, "a matrix for each expert");
    checks.Holds(second[0] == experts, kWeight2, "a matrix for each expert");
    if (Has(call, kTokens)) checks.Rank(kTokens, 1, 1);
  }
  checks.Is(kY, x);
  if (!checks.Passed()) return checks.status();
  const int biases[] = {kBias1, kBias2};
  const int scales[] = {kScale1, kScale2};
  const int offsets[] = {kOffset1, kOffset2};
  for (int i = 0; i < 2 && checks.Passed(); ++i) {
    const Shape& matrix = i == 0 ? first : second;
    const int64_t width = matrix[rank - 1];
    const Shape accepted = experts > 0 ? Shape{experts, width} : Shape{width};
    if (Has(call, biases[i])) checks.Is(biases[i], accepted);
    if (!IsQuantised(call, kWeight1 + i)) continue;
    checks.Given(scales[i], "beside weights of integers");
    if (!checks.Passed()) break;
    const Shape& scale = call.Tensor(scales[i]).shape;
    const bool has_terms = scale.rank == rank && scale[rank - 1] == width &&
                           (experts == 0 || scale[0] == experts) && scale[rank - 2] > 0 &&
                           matrix[rank - 2] % scale[rank - 2] == 0;
    checks.Holds(scale == accepted || has_terms, scales[i],
                 "[N], [groups of terms, N], with experts behind a dim of these");
    if (Has(call, offsets[i])) checks.Is(offsets[i], scale);
  }
  return checks.status();
}

aclnnStatus DtypesFit(const Check& check, OperatorCall& call) noexcept {
  const aclDataType x = call.Tensor(kX).dtype;
  const auto run = [&](const Check& one) {
    const Check coded = WithCode(check.code, one);
    return coded.run(coded, call);
  };
  for (const int weight : {kWeight1, kWeight2}) {
    if (IsQuantised(call, weight)) {
      if (const auto status = run(DtypesIn(DtypeSet(ACL_INT8, ACL_INT4, ACL_INT32), {weight}))) return status;
    }
  }
  const DtypeSet bias(x == ACL_FLOAT16 ? ACL_FLOAT16 : ACL_FLOAT);
  for (const int tensor : {kBias1, kBias2}) {
    if (!Has(call, tensor)) continue;
    if (const auto status = run(DtypesIn(bias, {tensor}))) return status;
  }
  for (const int tensor : {kScale1, kScale2, kOffset1, kOffset2}) {
    if (!Has(call, tensor)) continue;
    if (const auto status = run(SameDtype(kX, tensor))) return status;
  }
  if (Has(call, kTokens)) {
    if (const auto status = run(DtypesIn(kInt64, {kTokens}))) return status;
  }
  ShapeChecks checks(check, call);
  const bool has_integers = IsQuantised(call, kWeight1) || IsQuantised(call, kWeight2);
  return checks.Integer(kPrecise, 0, x == ACL_FLOAT16 || has_integers ? 1 : 0).status();
}

// Refuses gates, of which it is not known which half is activated, and tensors of quantised rows.
aclnnStatus IsComputed(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(!ActivationOf(call)->has_gate, kActivation,
                 "relu, gelu, fastgelu or silu: portacl does not compute with gates");
  for (const int tensor : {kScale, kOffset, kDequantScale1, kDequantScale2}) {
    if (Has(call, tensor)) checks.Holds(false, tensor, "null: portacl does not compute with quantised rows");
  }
  return checks.status();
}
aclnnStatus Lies(const Check&, OperatorCall& call) noexcept {
  return grouped::CheckLies(call, kWeight1, kTokens);
}

constexpr DtypeRule kRows = ByGeneration({}, DtypeSet(ACL_FLOAT16, ACL_BF16), {});
constexpr auto kChecks = Join(
    List(Custom(ActivationFits), NotNull(kX), NotNull(kWeight1), NotNull(kWeight2), NotNull(kY),
         Custom(ScalesComeTogether), Custom(TokensFit), SizesRepresentable({kX, kWeight1, kWeight2, kY})),
    List(Custom(ShapesFit), DtypesIn(kRows, {kX}), Custom(DtypesFit), SameDtype(kX, kY),
         Custom(IsComputed, ACLNN_ERR_INNER_NULLPTR), DoneIfEmpty({kX})),
    List(Custom(Lies), InsideStorage({kX, kBias1, kBias2}),
         InsideStorage({kScale1, kScale2, kOffset1, kOffset2})));

// ---- the job ----

// Sets a product's right operand and what is added.
void SetRight(const OperatorCall& call, int i, GroupedPart& part) {
  const int weight = kWeight1 + i;
  const Shape matrix = MatrixOf(call, weight);
  const bool has_experts = matrix.rank == 3;
  part.columns = matrix[matrix.rank - 1];
  part.depth = matrix[matrix.rank - 2];
  const int bias = kBias1 + i;
  if (Has(call, bias)) part.added = grouped::OperandOf(call, bias, 0, false, has_experts);
  if (!IsQuantised(call, weight)) {
    part.right = grouped::OperandOf(call, weight, 0, true, has_experts);
    return;
  }
  grouped::SetWeights(part, call, weight, 0);
  const Shape& scale = call.Tensor(kScale1 + i).shape;
  const bool has_terms = scale.rank == matrix.rank;
  part.scale = grouped::OperandOf(call, kScale1 + i, 0, has_terms, has_experts);
  if (Has(call, kOffset1 + i))
    part.offset = grouped::OperandOf(call, kOffset1 + i, 0, has_terms, has_experts);
  if (has_terms) part.group_terms = std::max<int64_t>(part.depth / scale[scale.rank - 2], 1);
  part.rounds_weights = true;
}

void SetNetwork(const OperatorCall& call, Executor& executor) {
  // Expanded weights take no memory themselves, but the rows between the products do.
  const Shape first = MatrixOf(call, kWeight1);
  const int64_t width = first[first.rank - 1];
  int64_t activations;
  if (__builtin_mul_overflow(RowsOf(call), width, &activations) || activations > kMostActivated)
    return executor.RefuseSize(call.Name(kWeight1), width);
  const aclIntArray* const array = call.attributes[kTokenArray].array;
  DenseOpList ops(call, executor, array == nullptr ? nullptr : &array->values);
  const int64_t rows = RowsOf(call);
  const int64_t experts = ExpertsOf(call);
  const auto size = static_cast<int64_t>(aclDataTypeSize(call.Tensor(kX).dtype));
  const auto dense = [&](engine::BufferRef buffer, aclDataType dtype, int64_t columns) {
    const auto bytes = static_cast<int64_t>(aclDataTypeSize(dtype));
    return engine::GroupedOperand{true, buffer, dtype, columns * bytes, bytes, 0};
  };
  const aclDataType dtype = call.Tensor(kX).dtype;
  GroupedProducts products{};
  products.isa = call.isa;
  products.threads = call.threads;
  products.groups = std::max<int64_t>(experts, 1);
  if (experts > 0) {
    const auto kind =
        Integer(call, kAreEnds) != 0 ? GroupedProducts::List::kEnds : GroupedProducts::List::kSizes;
    if (Has(call, kTokens)) {
      grouped::SetList(products, call, kTokens, kind);
    } else {
      products.list_kind = kind;
      products.list = {true, ops.Array(), ACL_INT64, int64_t{sizeof(int64_t)}, 0, 0};
      products.entries = experts;
    }
    products.cut = GroupedProducts::Cut::kRows;
  }
  products.schedule = ops.Words(products.ScheduleWords());
  GroupedPart& part = products.part;
  part.rows = rows;
  SetRight(call, 0, part);
  GroupedRows activated{};
  activated.function = ActivationOf(call)->function;
  activated.rows = rows;
  activated.columns = part.columns;
  activated.sums = ops.Floats(activations);
  activated.covered = products.schedule;
  activated.out = dense(ops.Bytes(activations * size), dtype, part.columns);
  activated.threads = call.threads;
  SetFunction(activated, call.isa);
  part.left = dense(ops.In(kX), dtype, part.depth);
  part.out = dense(activated.sums, ACL_FLOAT, part.columns);
  const auto add = [&] {
    ops.Compute(products,
                {part.left.buffer, part.right.buffer, part.added.buffer, part.scale.buffer,
                 part.offset.buffer, part.out.buffer, products.list.buffer},
                products.Elements());
  };
  add();
  ops.Compute(activated, {}, activations);
  part = {};
  part.rows = rows;
  SetRight(call, 1, part);
  part.left = activated.out;
  part.out = dense(ops.Out(kY, ACL_DT_UNDEFINED, /*keeps=*/true), dtype, part.columns);
  add();
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFFN) { return dense::RunOpList(call, kChecks, workspaceSize, executor, SetNetwork); }
PORTACL_PHASE_1(aclnnFFNV2) { return dense::RunOpList(call, kChecks, workspaceSize, executor, SetNetwork); }
PORTACL_PHASE_1(aclnnFFNV3) { return dense::RunOpList(call, kChecks, workspaceSize, executor, SetNetwork); }
