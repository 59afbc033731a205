// aclnnStridedSlice: TensorFlow's strided_slice. It has an entry for each dim, and masks with a bit for each entry.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/strided_slice_functions.h"

#include <algorithm>
#include <bit>

#include "aclnnop/jobs/moves.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes {
  kBegin,
  kEnd,
  kStrides,
  kBeginMask,
  kEndMask,
  kEllipsisMask,
  kNewAxisMask,
  kShrinkAxisMask
};

bool IsSet(const OperatorCall& call, int mask, size_t entry) {
  return entry < 64 &&
         (static_cast<uint64_t>(call.attributes[static_cast<size_t>(mask)].integer) >> entry & 1) != 0;
}

// The part of a dim that an entry takes.
struct Taken {
  enum class Kind : uint8_t { kWhole, kCut, kOne, kNew };
  Kind kind = Kind::kWhole;
  int dim = 0;
  int64_t start = 0;
  int64_t length = 0;
  int64_t step = 1;
};

// Returns the elements of a dim that an entry with begin, end and stride takes.
Taken CutOf(const OperatorCall& call, size_t entry, int dim, int64_t length) {
  const int64_t step = call.Array(kStrides)[entry];
  // A negative step walks from at most length - 1 down to -1, which is the end before the first element.
  const int64_t least = step > 0 ? 0 : -1;
  const int64_t most = step > 0 ? length : length - 1;
  const auto clamped = [&](int64_t given) {
    return std::clamp(given < 0 ? given + length : given, least, most);
  };
  const int64_t start =
      IsSet(call, kBeginMask, entry) ? (step > 0 ? least : most) : clamped(call.Array(kBegin)[entry]);
  const int64_t end =
      IsSet(call, kEndMask, entry) ? (step > 0 ? most : least) : clamped(call.Array(kEnd)[entry]);
  const int64_t distance = end - start;
  int64_t count = 0;
  if (step > 0 && distance > 0) count = (distance - 1) / step + 1;
  if (step < 0 && distance < 0) count = (distance + 1) / step + 1;
  return {Taken::Kind::kCut, dim, start, count, step};
}

// Calls f(taken) for every dim of self and every new dim, in order, until one call fails. An entry without a dim, or an index outside its
// dim, is refused by refuse(entry, text).
template <class F, class Refuse>
aclnnStatus ForEachTaken(const OperatorCall& call, const F& f, const Refuse& refuse) {
  const Shape& self = call.Tensor(kSelf).shape;
  const size_t entries = call.Array(kBegin).size();
  size_t ellipsis = entries;  // one after the entries, unless one of them is
  int named = 0;
  for (size_t entry = 0; entry < entries; ++entry) {
    if (IsSet(call, kEllipsisMask, entry)) {
      ellipsis = entry;
    } else if (!IsSet(call, kNewAxisMask, entry)) {
      ++named;
    }
  }
  int dim = 0;
  for (size_t entry = 0; entry <= entries; ++entry) {
    if (entry == ellipsis) {
      for (int whole = self.rank - named; whole > 0; --whole, ++dim) {
        if (const aclnnStatus status = f(Taken{Taken::Kind::kWhole, dim, 0, self[dim], 1})) return status;
      }
      continue;
    }
    if (entry == entries) break;
    Taken taken;
    if (IsSet(call, kNewAxisMask, entry)) {
      taken.kind = Taken::Kind::kNew;
    } else if (dim >= self.rank) {
      return refuse(entry, " has an entry for which self has no dim");
    } else if (IsSet(call, kShrinkAxisMask, entry)) {
      const int64_t given = call.Array(kBegin)[entry];
      taken = {Taken::Kind::kOne, dim, given < 0 ? given + self[dim] : given, 1, 1};
      if (taken.start < 0 || taken.start >= self[dim])
        return refuse(entry, " takes one place that is outside its dim");
      ++dim;
    } else {
      taken = CutOf(call, entry, dim, self[dim]);
      ++dim;
    }
    if (const aclnnStatus status = f(taken)) return status;
  }
  return ACL_SUCCESS;
}

aclnnStatus StridesFit(const Check& check, OperatorCall& call) noexcept {
  const auto& strides = call.Array(kStrides);
  if (std::find(strides.begin(), strides.end(), 0) == strides.end()) return ACL_SUCCESS;
  return RefuseArray(check, call, kStrides, " has a 0", "other values");
}

aclnnStatus OneEllipsis(const Check& check, OperatorCall& call) noexcept {
  const int64_t mask = call.attributes[kEllipsisMask].integer;
  if (std::popcount(static_cast<uint64_t>(mask)) <= 1) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter ellipsisMask has the value ")
                                   .Add(mask)
                                   .Add(", accepted: a number with at most 1 bit."));
}

aclnnStatus OneGoesUp(const Check& check, OperatorCall& call) noexcept {
  const auto& strides = call.Array(kStrides);
  for (size_t entry = 0; entry < strides.size(); ++entry) {
    if (IsSet(call, kShrinkAxisMask, entry) && strides[entry] <= 0)
      return RefuseArray(check, call, kStrides, " has a value below 0 for a dim of which one place is taken",
                         "at least 1 there");
  }
  return ACL_SUCCESS;
}

constexpr int kMostDims = 8;

aclnnStatus SetResult(const Check& check, OperatorCall& call) noexcept {
  call.broadcast = Shape{};
  return ForEachTaken(
      call,
      [&](const Taken& taken) -> aclnnStatus {
        if (taken.kind == Taken::Kind::kOne) return ACL_SUCCESS;
        if (call.broadcast.rank == kMostDims)
          return RefuseArray(check, call, kBegin, " gives the result more than 8 dims", "at most 8 dims");
        call.broadcast.dim[call.broadcast.rank++] = taken.kind == Taken::Kind::kNew ? 1 : taken.length;
        return ACL_SUCCESS;
      },
      [&](size_t, const char* wrong) {
        return RefuseArray(check, call, kBegin, wrong, "dims and places that self has");
      });
}

constexpr DtypeSet kTaken =
    kFloatHalfAndBf16 | kIntegersAndBool | kUnsignedSince16Bits |
    DtypeSet{ACL_COMPLEX32, ACL_COMPLEX64, ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
constexpr DtypeRule kDtypes = ByGeneration({}, {}, kTaken);
constexpr Check kChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ArrayNotNull(kBegin),
    ArrayNotNull(kEnd),
    ArrayNotNull(kStrides),
    NotNull(kOut),
    DtypesIn(kDtypes, {kSelf}),
    SameDtype(kSelf, kOut),
    RankAtMost(kMostDims, {kSelf}),
    ArraySizeIs(kEnd, kBegin),
    ArraySizeIs(kStrides, kBegin),
    Custom(StridesFit),
    Custom(OneEllipsis),
    Custom(OneGoesUp),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),
    Custom(SetResult),
    ShapeIsResultOrOne(kOut),
    DoneIfEmpty({kOut}),
    InsideStorage({kSelf}),
};

void SetSlice(const OperatorCall& call, Executor& executor) {
  StridedView view = PlainView(call.Tensor(kSelf));
  int at = 0;  // the dim of the view that comes next
  ForEachTaken(
      call,
      [&](const Taken& taken) -> aclnnStatus {
        switch (taken.kind) {
          case Taken::Kind::kOne:
            Select(view, at, taken.start);
            return ACL_SUCCESS;
          case Taken::Kind::kNew:
            InsertDim(view, at, 1, 0);
            break;
          case Taken::Kind::kCut:
            Narrow(view, at, taken.start, taken.length, taken.step);
            break;
          case Taken::Kind::kWhole:
            break;
        }
        ++at;
        return ACL_SUCCESS;
      },
      [](size_t, const char*) { return ACL_SUCCESS; });
  MoveList moves(executor, 1);
  moves.Copy(view, kSelf, PlainView(call.Tensor(kOut)), kOut);
  moves.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnStridedSlice) { return RunPhase1(call, kChecks, workspaceSize, executor, SetSlice); }
