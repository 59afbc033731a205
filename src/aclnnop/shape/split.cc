// aclnnSplitTensor and aclnnSplitWithSize: split a tensor along a dim, into parts of one size or of given
// sizes.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/split_functions.h"

#include <algorithm>

#include "aclnnop/jobs/moves.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kSize, kDim };

constexpr DtypeSet kSplitSet = kArithmetic | kBf16;
constexpr DtypeRule kSplitDtypes = ByGeneration(kSplitSet, kSplitSet, kSplitSet | kUnsignedSince16Bits);

int64_t LengthCut(const OperatorCall& call) {
  const Shape& shape = call.Tensor(kSelf).shape;
  return shape[WrappedDim(call.attributes[kDim].integer, shape.rank)];
}

// Returns the chunk size, a uint64. A size beyond the dim's length gives one chunk.
int64_t ChunkSize(const OperatorCall& call) {
  const auto size = static_cast<uint64_t>(call.attributes[kSize].integer);
  return static_cast<int64_t>(std::min(size, static_cast<uint64_t>(std::max<int64_t>(LengthCut(call), 1))));
}

int64_t ChunksOf(const OperatorCall& call) {
  const int64_t size = ChunkSize(call);
  return size == 0 ? 0 : LengthCut(call) / size + (LengthCut(call) % size != 0 ? 1 : 0);
}

aclnnStatus OneDtypeOut(const Check& check, OperatorCall& call) noexcept {
  for (int entry = 1; entry < call.Count(kOut); ++entry) {
    if (call.Entry(kOut, entry)->dtype == call.Entry(kOut, 0)->dtype) continue;
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, kOut, entry).Add(" differs from ");
    AddArgumentDtype(message, call, kOut, 0);
    return FailAclnn(check.code, message.Add(", accepted: one dtype for all."));
  }
  return ACL_SUCCESS;
}

aclnnStatus SizeCuts(const Check& check, OperatorCall& call) noexcept {
  const int64_t length = LengthCut(call);
  const auto size = static_cast<uint64_t>(call.attributes[kSize].integer);
  if ((length != 0) == (size != 0)) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter splitSections has the value ").Add(size);
  message.Add(" for a dim of length ").Add(length);
  return FailAclnn(check.code, message.Add(length == 0 ? ", accepted: 0." : ", accepted: at least 1."));
}

aclnnStatus ChunksFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t chunks = ChunksOf(call);
  if (chunks <= call.Count(kOut)) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter out has ").Add(call.Count(kOut)).Add(" tensors for ");
  return FailAclnn(check.code, message.Add(chunks).Add(" chunks, accepted: at least as many."));
}

// Checks the shape of an entry that has this length along the dim.
aclnnStatus PartFits(const Check& check, const OperatorCall& call, int entry, int64_t length) {
  Shape part = call.Tensor(kSelf).shape;
  part.dim[WrappedDim(call.attributes[kDim].integer, part.rank)] = length;
  const aclTensor& out = *call.Entry(kOut, entry);
  if (out.shape == part || (out.numel == 1 && NumelOf(part) == 1)) return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, part, entry);
}

aclnnStatus ChunkShapes(const Check& check, OperatorCall& call) noexcept {
  const int64_t chunks = ChunksOf(call);
  const int64_t size = ChunkSize(call);
  const bool is_whole = chunks == 1 && call.attributes[kSize].integer == LengthCut(call);
  const int64_t most = call.product == Product::kAscend950 ? 512 : 32;
  Check shape = check;
  if (is_whole || chunks > most) shape.code = ACLNN_ERR_INNER_NULLPTR;
  for (int64_t i = 0; i < chunks; ++i) {
    const int64_t length = std::min(size, LengthCut(call) - i * size);
    if (const aclnnStatus status = PartFits(shape, call, static_cast<int>(i), length)) return status;
  }
  return ACL_SUCCESS;
}

aclnnStatus SizesAddUp(const Check& check, OperatorCall& call) noexcept {
  int64_t sum = 0;
  for (const int64_t size : call.Array(kSize)) {
    if (size < 0 || __builtin_add_overflow(sum, size, &sum))
      return RefuseArray(check, call, kSize, " has a size that is none", "sizes of at least 0");
  }
  if (sum != LengthCut(call)) {
    return RefuseArray(check, call, kSize, " does not add up to the length of the dim", "sizes that do");
  }
  if (call.Array(kSize).size() == static_cast<size_t>(call.Count(kOut))) return ACL_SUCCESS;
  Text message =
      StartMessage(call).Add("parameter out has ").Add(call.Count(kOut)).Add(" tensors, accepted: ");
  return FailAclnn(check.code, message.Add(call.Array(kSize).size()).Add(", as splitSize has sizes."));
}

aclnnStatus PartShapes(const Check& check, OperatorCall& call) noexcept {
  for (int entry = 0; entry < call.Count(kOut); ++entry) {
    const int64_t length = call.Array(kSize)[static_cast<size_t>(entry)];
    if (const aclnnStatus status = PartFits(check, call, entry, length)) return status;
  }
  return ACL_SUCCESS;
}

aclnnStatus PartsConvert(const Check& check, OperatorCall& call) noexcept {
  const aclDataType self = call.Tensor(kSelf).dtype;
  for (int entry = 0; entry < call.Count(kOut); ++entry) {
    const aclDataType out = call.Entry(kOut, entry)->dtype;
    if (self == out || (kConvertible.Contains(self) && kConvertible.Contains(out))) continue;
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, kOut, entry).Add(" is not converted to from ");
    AddArgumentDtype(message, call, kSelf).Add(", accepted: ");
    AddDtypeSet(message, kConvertible);
    return FailAclnn(check.code, message.Add("."));
  }
  return ACL_SUCCESS;
}

constexpr Check kSplitTensorChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOut),
    EntriesNotNull(kOut),
    DtypesIn(kSplitDtypes, {kSelf, kOut}),
    Custom(OneDtypeOut),
    RankAtLeast(1, {kSelf}),
    RankAtMost(8, {kSelf, kOut}),
    DimIn(kDim, kSelf),
    SizesRepresentable({kOut}),
    Custom(SizeCuts),
    Custom(ChunksFit),
    DoneIfEmpty({kSelf}),
    Custom(ChunkShapes),
    InsideStorage({kSelf}),
    Custom(PartsConvert, ACLNN_ERR_INNER_NULLPTR),
};

constexpr Check kSplitWithSizeChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kSize),
    NotNull(kOut),
    EntriesNotNull(kOut),
    DtypesIn(kSplitDtypes, {kSelf, kOut}),
    RankAtLeast(1, {kSelf}),
    RankAtMost(8, {kSelf}),
    DimIn(kDim, kSelf),
    SizesRepresentable({kOut}),
    Custom(SizesAddUp),
    DoneIfEmpty({kSelf}),
    Custom(PartShapes, ACLNN_ERR_INNER_NULLPTR),
    InsideStorage({kSelf}),
    Custom(PartsConvert, ACLNN_ERR_INNER_NULLPTR),
};

template <class Length>
void SetParts(const OperatorCall& call, int64_t parts, const Length& length, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  const int dim = WrappedDim(call.attributes[kDim].integer, self.shape.rank);
  MoveList moves(executor, parts);
  int64_t start = 0;
  for (int entry = 0; entry < parts; ++entry) {
    StridedView part = self;
    Narrow(part, dim, start, length(entry));
    moves.Copy(part, kSelf, PlainView(*call.Entry(kOut, entry)), call.OperandOf(kOut, entry));
    start += length(entry);
  }
  moves.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSplitTensor) {
  return RunPhase1(call, kSplitTensorChecks, workspaceSize, executor,
                   [](const OperatorCall& checked, Executor& fresh) {
                     const int64_t size = ChunkSize(checked);
                     SetParts(
                         checked, ChunksOf(checked),
                         [&](int64_t i) { return std::min(size, LengthCut(checked) - i * size); }, fresh);
                   });
}

PORTACL_PHASE_1(aclnnSplitWithSize) {
  return RunPhase1(call, kSplitWithSizeChecks, workspaceSize, executor,
                   [](const OperatorCall& checked, Executor& fresh) {
                     SetParts(
                         checked, checked.Count(kOut),
                         [&](int64_t i) { return checked.Array(kSize)[static_cast<size_t>(i)]; }, fresh);
                   });
}
