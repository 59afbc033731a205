// aclnnChunkCat: cuts every tensor along its first dim into numChunks chunks. Row i of the result is the i-th chunk of all tensors.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/chunk_cat_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/jobs/moves.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kTensors, kOut };
enum Attributes { kDim, kNumChunks };

// The chunks of a tensor, all with the same number of rows. Zeros fill up the last ones.
struct Chunks {
  int64_t rows;
  int64_t row;
  int64_t whole;  // chunks without zeros
  int64_t rest;   // rows of the tensor in the chunk after those
};
Chunks ChunksOf(const StridedView& tensor, int64_t count) {
  const int64_t length = tensor.shape[0];
  Chunks chunks{};
  chunks.rows = length / count + (length % count != 0 ? 1 : 0);
  chunks.row = length == 0 ? 0 : tensor.numel / length;
  chunks.whole = chunks.rows == 0 ? 0 : length / chunks.rows;
  chunks.rest = chunks.rows == 0 ? 0 : length % chunks.rows;
  return chunks;
}

aclnnStatus DoneIfNoTensors(const Check&, OperatorCall& call) noexcept {
  if (call.Count(kTensors) == 0) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr DtypeRule kDtypes = kNoneBeforeAtlasA2;
constexpr DtypeSet kFloat{ACL_FLOAT};

aclnnStatus EntriesAgree(const Check& check, OperatorCall& call) noexcept {
  const aclDataType first = call.Entry(kTensors, 0)->dtype;
  for (int entry = 1; entry < call.Count(kTensors); ++entry) {
    if (call.Entry(kTensors, entry)->dtype == first) continue;
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, kTensors, entry)
        .Add(" differs from the first tensor's, accepted: ");
    AddDtypeName(message, first);
    return FailAclnn(check.code, message.Add("."));
  }
  return ACL_SUCCESS;
}
aclnnStatus EntriesArePublic(const Check& check, OperatorCall& call) noexcept {
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    const aclFormat format = call.Entry(kTensors, entry)->format;
    if (!IsPrivateFormat(format)) continue;
    Text message = StartMessage(call);
    AddArgument(message.Add("parameter "), call, kTensors, entry).Add(" has the format ");
    AddFormatName(message, format);
    return FailAclnn(check.code, message.Add(", accepted: ND, NCHW and other public formats."));
  }
  return ACL_SUCCESS;
}
aclnnStatus EntriesHaveDims(const Check& check, OperatorCall& call) noexcept {
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    const int rank = call.Entry(kTensors, entry)->shape.rank;
    if (rank >= 1 && rank <= 8) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kTensors, entry).Add(" has ").Add(rank);
    return FailAclnn(check.code, message.Add(" dims, accepted: 1 to 8."));
  }
  return ACL_SUCCESS;
}
bool AreFloat(const OperatorCall& call) noexcept { return call.Entry(kTensors, 0)->dtype == ACL_FLOAT; }

// Refuses numChunks below 1, and strided tensors of 8 dims: cutting adds a dim, and loops have at most 8.
aclnnStatus ChunksFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t count = call.attributes[kNumChunks].integer;
  if (count < 1)
    return RefuseInteger(check, call, "numChunks", count, 1, std::numeric_limits<int64_t>::max());
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    const aclTensor& tensor = *call.Entry(kTensors, entry);
    if (tensor.shape.rank < 8 || IsContiguous(tensor)) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kTensors, entry);
    return FailAclnn(check.code,
                     message.Add(" has 8 dims and is not contiguous, accepted: at most 7 dims then."));
  }
  return ACL_SUCCESS;
}

aclnnStatus SetResult(const Check& check, OperatorCall& call) noexcept {
  int64_t width = 0;
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    const Chunks chunks = ChunksOf(*call.Entry(kTensors, entry), call.attributes[kNumChunks].integer);
    if (__builtin_add_overflow(width, chunks.rows * chunks.row, &width))
      return FailAclnn(
          check.code,
          StartMessage(call).Add(
              "parameter tensors has too many elements together, accepted: as many as can be counted."));
  }
  call.broadcast = Shape{call.attributes[kNumChunks].integer, width};
  int64_t numel = 0;
  if (call.broadcast.Numel(&numel)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call)
                       .Add("parameter numChunks has the value ")
                       .Add(call.attributes[kNumChunks].integer)
                       .Add(", which makes the result of these tensors too large, accepted: fewer than "
                            "2^63 elements in all."));
}

constexpr auto kChecks =
    Join(List(IntegerIn(kDim, 0, 0), NotNull(kTensors), Custom(DoneIfNoTensors), EntriesNotNull(kTensors),
              NotNull(kOut), DtypesIn(kDtypes, {kTensors}), Custom(EntriesAgree), DtypesIn(kDtypes, {kOut}),
              If(AreFloat, DtypesIn(kFloat, {kOut})), Custom(EntriesArePublic), NotPrivate({kOut}),
              Custom(EntriesHaveDims)),
         List(SizesRepresentable({kOut}), Custom(ChunksFit, ACLNN_ERR_INNER_NULLPTR), Custom(SetResult),
              ShapeIsResultOrOne(kOut), DoneIfEmpty({kOut}), InsideStorage({kTensors})));

// Returns a view of some rows of the result, from a column on: `chunks` tensors of `rows` rows, which have the other dims of `shape`.
StridedView PartOf(const StridedView& out, int64_t first, int64_t chunks, int64_t column, const Shape& shape,
                   int64_t rows) {
  StridedView part = out;
  Narrow(part, 0, first, chunks);
  Narrow(part, 1, column, 1);
  const int64_t along = part.strides[0];
  Shape inner = shape;
  inner.dim[0] = rows;
  FillShape(part, inner, out.strides[1]);
  InsertDim(part, 0, chunks, along);
  return part;
}

void SetChunks(const OperatorCall& call, Executor& executor) {
  const int64_t count = call.attributes[kNumChunks].integer;
  const int out_operand = call.OperandOf(kOut);
  StridedView out = PlainView(call.Tensor(kOut));
  if (!(out.shape == call.broadcast)) FillShape(out, call.broadcast, 1);  // one element of another rank
  MoveList moves(executor, int64_t{4} * call.Count(kTensors));
  int64_t column = 0;
  for (int entry = 0; entry < call.Count(kTensors); ++entry) {
    const StridedView tensor = PlainView(*call.Entry(kTensors, entry));
    const Chunks chunks = ChunksOf(tensor, count);
    const int64_t width = chunks.rows * chunks.row;
    if (width == 0) continue;
    int64_t done = chunks.whole;
    if (chunks.whole > 0) {
      StridedView source = tensor;
      Narrow(source, 0, 0, chunks.whole * chunks.rows);
      SplitDim(source, 0, chunks.rows);
      moves.Copy(source, entry, PartOf(out, 0, chunks.whole, column, tensor.shape, chunks.rows), out_operand);
    }
    if (chunks.rest > 0) {
      StridedView source = tensor;
      Narrow(source, 0, chunks.whole * chunks.rows, chunks.rest);
      InsertDim(source, 0, 1, 0);
      moves.Copy(source, entry, PartOf(out, done, 1, column, tensor.shape, chunks.rest), out_operand);
      StridedView zeros = out;
      Narrow(zeros, 0, done, 1);
      Narrow(zeros, 1, column + chunks.rest * chunks.row, width - chunks.rest * chunks.row);
      moves.Fill(zeros, out_operand);
      ++done;
    }
    StridedView zeros = out;
    Narrow(zeros, 0, done, count - done);
    Narrow(zeros, 1, column, width);
    moves.Fill(zeros, out_operand);
    column += width;
  }
  moves.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnChunkCat) { return RunPhase1(call, kChecks, workspaceSize, executor, SetChunks); }
