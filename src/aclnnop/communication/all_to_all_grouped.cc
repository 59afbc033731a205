// aclnnAlltoAllvGroupedMatMul and aclnnGroupedMatMulAlltoAllv: rows travel to the ranks of their experts before a
// grouped product, or back behind it.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/all_to_all_grouped_functions.h"

#include <cstring>
#include <iterator>
#include <new>
#include <utility>
#include <vector>

#include "aclnnop/communication/rank_products.h"
#include "aclnnop/jobs/exchanges.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/matrix_product.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace communication;
using dense::DenseOpList;
using dense::Integer;
using dense::ShapeChecks;
using engine::BufferRef;
using engine::GroupedPart;

// aclnnGroupedMatMulAlltoAllv has no kPermuted.
enum Tensors { kX, kWeight, kSendTensor, kRecvTensor, kMmX, kMmWeight, kY, kMmY, kPermuted };
enum Attributes { kGroup, kRanks, kSend, kRecv, kTransposes, kMmTransposes, kPermutes };

constexpr size_t kMostName = 127;

bool HasMm(const OperatorCall& call) noexcept { return call.IsGiven(kMmX); }
bool HasPermuted(const OperatorCall& call) noexcept {
  return std::ssize(call.tensors) > kPermuted && call.IsGiven(kPermuted);
}

// ---- checks ----

aclnnStatus CountTensorsAreNull(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kSendTensor, kRecvTensor})
    checks.Holds(!call.IsGiven(tensor), tensor, "a null pointer");
  return checks.status();
}
aclnnStatus GroupIsNamed(const Check& check, OperatorCall& call) noexcept {
  if (*call.attributes[kGroup].text != '\0') return ACL_SUCCESS;
  return attention::RefuseAttribute(check, call, kGroup, "a name that is not empty");
}
aclnnStatus GroupIsShort(const Check& check, OperatorCall& call) noexcept {
  if (std::strlen(call.attributes[kGroup].text) <= kMostName) return ACL_SUCCESS;
  return attention::RefuseAttribute(check, call, kGroup, "a name of at most 127 characters");
}
aclnnStatus OptionalsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kMmX, kMmWeight, kMmY}) {
    const bool is_any = call.IsGiven(kMmX) || call.IsGiven(kMmWeight) || call.IsGiven(kMmY);
    if (is_any) checks.Given(tensor, "beside one of mmX, mmWeight and mmY");
  }
  return checks
      .HoldsOf((Integer(call, kPermutes) != 0) == HasPermuted(call), kPermutes,
               "true beside permuteOutOptional, else false")
      .status();
}
aclnnStatus CountsAreGiven(const Check& check, OperatorCall& call) noexcept {
  for (const int attribute : {kSend, kRecv}) {
    if (call.attributes[static_cast<size_t>(attribute)].array != nullptr) continue;
    return attention::RefuseAttribute(check, call, attribute, "an array of counts");
  }
  return ACL_SUCCESS;
}

// Adds up counts. Returns -1 if one is negative or the sum has no number.
int64_t SumOf(const std::vector<int64_t>& counts) noexcept {
  int64_t sum = 0;
  for (const int64_t count : counts) {
    if (count < 0 || __builtin_add_overflow(sum, count, &sum)) return -1;
  }
  return sum;
}

template <bool is_behind>
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int64_t ranks = exchanges::RanksOf(call, kGroup);
  checks.HoldsOf(Integer(call, kRanks) == ranks, kRanks, "the number of ranks of the group");
  checks.Rank(kX, 2, 2).Rank(kWeight, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const bool is_transposed = Integer(call, kTransposes) != 0;
  const int64_t terms = weight[is_transposed ? 2 : 1];
  const int64_t columns = weight[is_transposed ? 1 : 2];
  int64_t entries = 0;
  checks.Holds(!weight.IsEmpty() && !__builtin_mul_overflow(weight[0], ranks, &entries), kWeight,
               "at least one element, and experts that can be counted");
  checks.Holds(terms == x[1], kWeight, "as many terms as gmmX has columns");
  for (const int attribute : {kSend, kRecv})
    checks.HoldsOf(std::ssize(call.Array(attribute)) == entries, attribute,
                   "a count for each expert of each rank");
  if (!checks.Passed()) return checks.status();
  const int64_t sent = SumOf(call.Array(kSend));
  const int64_t received = SumOf(call.Array(kRecv));
  checks.HoldsOf(sent == x[0], kSend, "counts from 0 on, the rows of gmmX together");
  checks.HoldsOf(received >= 0, kRecv, "counts from 0 on");
  if (!checks.Passed()) return checks.status();
  const int64_t own = exchanges::OwnRank(call, kGroup) * weight[0];
  for (int64_t i = own; i < own + weight[0]; ++i) {
    const auto at = static_cast<size_t>(i);
    checks.HoldsOf(call.Array(kSend)[at] == call.Array(kRecv)[at], kRecv,
                   "the counts of sendCounts for the own rank");
  }
  checks.Is(kY, Shape{received, columns});
  if (is_behind && HasPermuted(call)) checks.Is(kPermuted, Shape{received, x[1]});
  if (!checks.Passed() || !HasMm(call)) return checks.status();
  checks.Rank(kMmX, 2, 2).Rank(kMmWeight, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& right = call.Tensor(kMmWeight).shape;
  const bool is_other_transposed = Integer(call, kMmTransposes) != 0;
  checks.Holds(right[is_other_transposed ? 1 : 0] == call.Tensor(kMmX).shape[1], kMmWeight,
               "as many terms as mmX has columns");
  return checks.Is(kMmY, Shape{call.Tensor(kMmX).shape[0], right[is_other_transposed ? 0 : 1]}).status();
}

template <bool is_behind>
constexpr auto Checks() {
  return Join(
      List(NotNull(kX), NotNull(kWeight), NotNull(kY), Custom(CountTensorsAreNull, ACLNN_ERR_PARAM_NULLPTR),
           exchanges::GroupGiven(kGroup), Custom(GroupIsNamed, ACLNN_ERR_PARAM_NULLPTR),
           Custom(OptionalsFit, ACLNN_ERR_PARAM_NULLPTR), Custom(GroupIsShort)),
      List(DtypesIn(kHalvesSinceAtlasA2, {kX}), SameDtype(kX, kWeight), SameDtype(kX, kY),
           If(HasMm, SameDtype(kX, kMmX)), If(HasMm, SameDtype(kX, kMmWeight)),
           If(HasMm, SameDtype(kX, kMmY)), If(HasPermuted, SameDtype(kX, kPermuted)),
           Custom(CountsAreGiven, ACLNN_ERR_PARAM_NULLPTR), exchanges::GroupKnown(kGroup)),
      List(Custom(ShapesFit<is_behind>, dense::kTiling), SizesRepresentable({kX, kWeight, kY}),
           matmul::FractalInsideStorage({kWeight}), matmul::MatricesInsideStorage({kX, kWeight}),
           If(HasMm, matmul::MatricesInsideStorage({kMmX, kMmWeight}))));
}
constexpr auto kBehind = Checks<true>();
constexpr auto kBefore = Checks<false>();

// ---- the jobs ----

// The numbers that a job reads: the ranges of the exchange, the number of rows of each expert, and a permutation that
// takes rows from rank-major to expert-major order or back.
struct Numbers {
  std::vector<int64_t> all;
  int64_t sizes = 0;  // index of the first
  int64_t places = 0;

  // `by_expert` are the counts of rows on the rank of the experts, [ranks][experts]. With `is_behind` the permutation
  // gives the rank-major position of each row in expert-major order, else the reverse.
  void Set(const std::vector<int64_t>& send, const std::vector<int64_t>& receive,
           const std::vector<int64_t>& by_expert, int64_t ranks, int64_t experts, int64_t bytes,
           bool is_behind) {
    for (const std::vector<int64_t>* const counts : {&send, &receive}) {
      int64_t first = 0;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        int64_t rows = 0;
        for (int64_t expert = 0; expert < experts; ++expert) rows += At(*counts, rank * experts + expert);
        all.push_back(first);
        all.push_back(rows * bytes);
        first += rows * bytes;
      }
    }
    sizes = std::ssize(all);
    for (int64_t expert = 0; expert < experts; ++expert) {
      int64_t rows = 0;
      for (int64_t rank = 0; rank < ranks; ++rank) rows += At(by_expert, rank * experts + expert);
      all.push_back(rows);
    }
    places = std::ssize(all);
    // begins[rank][expert] is the first row's position in the order that is read.
    std::vector<int64_t> begins(by_expert.size());
    int64_t next = 0;
    ForEach(is_behind, ranks, experts, [&](int64_t i) {
      begins[static_cast<size_t>(i)] = next;
      next += At(by_expert, i);
    });
    ForEach(!is_behind, ranks, experts, [&](int64_t i) {
      for (int64_t row = 0; row < At(by_expert, i); ++row) all.push_back(At(begins, i) + row);
    });
  }

 private:
  static int64_t At(const std::vector<int64_t>& numbers, int64_t i) {
    return numbers[static_cast<size_t>(i)];
  }
  // Visits the index [rank][expert] of every count, rank by rank or expert by expert.
  template <class F>
  static void ForEach(bool by_rank, int64_t ranks, int64_t experts, const F& f) {
    for (int64_t i = 0; i < ranks * experts; ++i) f(by_rank ? i : i % ranks * experts + i / ranks);
  }
};

BufferRef Behind(BufferRef array, int64_t words) {
  array.offset += words * int64_t{sizeof(int64_t)};
  return array;
}

void TakeInOrder(const OperatorCall& call, DenseOpList& ops, BufferRef from, BufferRef to, BufferRef places,
                 int64_t rows, int64_t bytes) {
  engine::TakeRows taken{};
  taken.source = from;
  taken.to = to;
  taken.entry = {places, true};
  taken.rows = taken.source_rows = rows;
  taken.bytes = bytes;
  taken.divisor = 1;
  taken.threads = call.threads;
  ops.Compute(taken, {from, to}, rows * bytes);
}

// Returns the product's part of gmmX, without rows and operands of rows.
GroupedPart PartOf(const OperatorCall& call, int weight, bool is_transposed, bool has_groups) {
  GroupedPart part{};
  part.right = grouped::OperandOf(call, weight, 0, true, has_groups);
  const Shape& shape = call.Tensor(weight).shape;
  part.depth = shape[shape.rank - 2];
  part.columns = shape[shape.rank - 1];
  if (!is_transposed) return part;
  std::swap(part.right.row, part.right.column);
  std::swap(part.depth, part.columns);
  return part;
}

void AddOther(const OperatorCall& call, DenseOpList& ops) {
  if (!HasMm(call) || call.Tensor(kMmY).shape.IsEmpty()) return;
  GroupedPart part = PartOf(call, kMmWeight, Integer(call, kMmTransposes) != 0, false);
  part.rows = call.Tensor(kMmX).shape[0];
  part.left = LeftOf(call, ops, kMmX);
  part.out = DenseRows(ops.Out(kMmY), call.Tensor(kMmY).dtype, part.columns);
  Multiply(ops, part);
}

// Operands without rows may have no address.
BufferRef InOr(const OperatorCall& call, DenseOpList& ops, int tensor) {
  return call.Tensor(tensor).shape.IsEmpty() ? ops.Bytes(1) : ops.In(tensor);
}
BufferRef OutOr(const OperatorCall& call, DenseOpList& ops, int tensor) {
  return call.Tensor(tensor).shape.IsEmpty() ? ops.Bytes(1) : ops.Out(tensor);
}

void AddJob(const OperatorCall& call, Executor& executor, bool is_behind) {
  if (!exchanges::Join(call, kGroup, 1, executor)) return;
  const int64_t ranks = exchanges::RanksIn(executor);
  const int64_t experts = call.Tensor(kWeight).shape[0];
  const aclDataType dtype = call.Tensor(kX).dtype;
  const int64_t size = dense::SizeOf(call, kX);
  GroupedPart part = PartOf(call, kWeight, Integer(call, kTransposes) != 0, true);
  const int64_t bytes = (is_behind ? part.depth : part.columns) * size;  // of a row that travels
  Numbers numbers;
  numbers.Set(call.Array(kSend), call.Array(kRecv), call.Array(is_behind ? kRecv : kSend), ranks, experts,
              bytes, is_behind);
  DenseOpList ops(call, executor, &numbers.all);
  part.rows = call.Tensor(is_behind ? kY : kX).shape[0];
  const BufferRef sizes = Behind(ops.Array(), numbers.sizes);
  const BufferRef places = Behind(ops.Array(), numbers.places);
  exchanges::ListedParts parts{};
  parts.list = ops.Array();
  parts.ranks = ranks;
  const auto moved = ops.Bytes(part.rows * bytes);
  if (is_behind) {
    parts.send = InOr(call, ops, kX);
    parts.receive = moved;
    exchanges::Add(ops, parts);
    const BufferRef permuted = HasPermuted(call) ? OutOr(call, ops, kPermuted) : ops.Bytes(part.rows * bytes);
    TakeInOrder(call, ops, moved, permuted, places, part.rows, bytes);
    part.left = DenseRows(permuted, dtype, part.depth);
    part.out = DenseRows(OutOr(call, ops, kY), dtype, part.columns);
    MultiplyGroups(ops, part, experts, sizes);
  } else {
    part.left = DenseRows(InOr(call, ops, kX), dtype, part.depth);
    part.out = DenseRows(ops.Bytes(part.rows * bytes), dtype, part.columns);
    MultiplyGroups(ops, part, experts, sizes);
    TakeInOrder(call, ops, part.out.buffer, moved, places, part.rows, bytes);
    parts.send = moved;
    parts.receive = OutOr(call, ops, kY);
    exchanges::Add(ops, parts);
  }
  AddOther(call, ops);
  ops.SetJob();
}

template <bool is_behind>
void SetJobOf(const OperatorCall& call, Executor& executor) {
  try {
    AddJob(call, executor, is_behind);
  } catch (const std::bad_alloc&) {
    executor.out_of_memory = true;
  }
}

}  // namespace
}  // namespace portacl

using namespace portacl;

// NOLINTBEGIN(readability-identifier-naming): the names are CANN's
PORTACL_PHASE_1(aclnnAlltoAllvGroupedMatMul) {
  return dense::RunOpList(call, kBehind, workspaceSize, executor, SetJobOf<true>);
}
PORTACL_PHASE_1(aclnnAlltoAllvGroupedMatMulV2) {
  return dense::RunOpList(call, kBehind, workspaceSize, executor, SetJobOf<true>);
}
PORTACL_PHASE_1(aclnnGroupedMatMulAlltoAllv) {
  return dense::RunOpList(call, kBefore, workspaceSize, executor, SetJobOf<false>);
}
PORTACL_PHASE_1(aclnnGroupedMatMulAlltoAllvV2) {
  return dense::RunOpList(call, kBefore, workspaceSize, executor, SetJobOf<false>);
}
// NOLINTEND(readability-identifier-naming)
