// aclnnInplaceFillDiagonal: fills the diagonal of a matrix, or of a tensor of more dims that all have one length.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/fill_diagonal_functions.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "aclnnop/jobs/moves.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf };
enum Attributes { kFillValue, kWrap };

aclnnStatus DimsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  const bool is_cube =
      std::all_of(self.dim, self.dim + self.rank, [&](int64_t length) { return length == self[0]; });
  if (self.rank == 2 || is_cube) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf);
  return FailAclnn(
      check.code,
      message.Add(" has dims of several lengths, accepted: one length where there are more than 2."));
}

// Tells whether the dtype has the value in its range. Infinity and NaN fit every float.
bool Fits(double value, aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT16:
      return !std::isfinite(value) || std::fabs(value) <= 65504;
    case ACL_FLOAT:
      return !std::isfinite(value) ||
             std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max());
    case ACL_BF16:
    case ACL_DOUBLE:
    case ACL_BOOL:
      return true;
    default:
      const int bits = static_cast<int>(StorageBits(dtype)) - (dtype == ACL_UINT8 ? 0 : 1);
      const double least = dtype == ACL_UINT8 ? 0.0 : -std::ldexp(1.0, bits);
      const double whole = std::trunc(value);
      return whole >= least && whole < std::ldexp(1.0, bits);
  }
}

aclnnStatus ValueFits(const Check& check, OperatorCall& call) noexcept {
  const aclScalar& scalar = call.Scalar(kFillValue);
  const aclDataType dtype = call.Tensor(kSelf).dtype;
  const bool is_number = ScalarConverts(scalar.dtype, dtype) && !IsComplex(scalar.dtype);
  if (is_number) {
    const ScalarValue value = ConvertScalar(scalar, ACL_DOUBLE);
    double number = 0;
    std::memcpy(&number, value.bytes, sizeof number);
    // Not every 64-bit integer is a double, so these are not compared.
    const bool is_its_own = dtype == ACL_INT64 && kIntegersAndBool.Contains(scalar.dtype);
    if (is_its_own || Fits(number, dtype)) return ACL_SUCCESS;
  }
  Text message(call.api, ": parameter fillValue of dtype ");
  AddDtypeName(message, scalar.dtype);
  AddDtypeName(message.Add(is_number ? " is too large for " : " is no number for "), dtype);
  return FailAclnn(check.code, message.Add(", accepted: a real number in the range of that."));
}

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kRealArithmetic);
constexpr Check kChecks[] = {
    NotNull(kSelf),  // in CANN's order
    ScalarNotNull(kFillValue),
    DtypesIn(kDtypes, {kSelf}),
    RankAtLeast(2, {kSelf}),
    RankAtMost(8, {kSelf}),
    Custom(DimsFit),
    Custom(ValueFits),
    SizesRepresentable({kSelf}),
    DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
};

// Returns the first `count` elements of the diagonal as a view of one dim.
StridedView Diagonal(const StridedView& matrix, int64_t count) {
  StridedView view = matrix;
  int64_t step = 0;
  for (int dim = 0; dim < matrix.shape.rank; ++dim) step += matrix.strides[dim];
  view.shape = Shape{count};
  view.strides = Shape{step};
  view.Describe();
  return view;
}

void SetDiagonal(const OperatorCall& call, Executor& executor) {
  const StridedView self = PlainView(call.Tensor(kSelf));
  const int64_t rows = self.shape[0];
  const int64_t columns = self.shape[1];
  const bool wraps = call.attributes[kWrap].integer != 0 && self.shape.rank == 2 && rows > columns;
  const int64_t block = columns + 1;  // rows of a diagonal, and one row without
  const int64_t blocks = wraps ? rows / block : 0;
  const int64_t rest = wraps ? rows % block : std::min(rows, columns);
  MoveList moves(executor, 2);
  if (blocks > 0) {
    StridedView whole = Diagonal(self, columns);
    InsertDim(whole, 0, blocks, blocks > 1 ? block * self.strides[0] : 0);
    moves.Fill(whole, kSelf);
  }
  if (rest > 0) {
    StridedView last = self;
    Narrow(last, 0, blocks * block, rest);
    moves.Fill(Diagonal(wraps ? last : self, rest), kSelf);
  }
  moves.SetJob(ConvertScalar(call.Scalar(kFillValue), self.dtype));
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnInplaceFillDiagonal) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetDiagonal);
}
