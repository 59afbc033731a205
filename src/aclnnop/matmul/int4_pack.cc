// aclnnConvertWeightToINT4Pack: packs weights of which each number is a code of 4 bits.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/int4_pack_functions.h"

#include "aclnnop/jobs/dense_op_list.h"
#include "base/data_type.h"
#include "engine/quantise/packed_codes.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors { kWeight, kPacked };

constexpr DtypeRule kNumbers = ByGeneration({}, kInt32, DtypeSet(ACL_INT32, ACL_FLOAT));
constexpr int64_t kInWord = 8;

bool IsWord(const OperatorCall& call) { return StorageBits(call.Tensor(kPacked).dtype) == 32; }

aclnnStatus LiesDense(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kWeight, kPacked})
    checks.Holds(IsContiguous(call.Tensor(tensor)), tensor, "a contiguous tensor");
  return checks.status();
}
aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const bool is_float = call.Tensor(kWeight).dtype == ACL_FLOAT;
  const aclDataType packed = call.Tensor(kPacked).dtype;
  checks.Holds(
      packed == (is_float ? ACL_FLOAT4_E2M1 : ACL_INT4) || packed == (is_float ? ACL_FLOAT : ACL_INT32),
      kPacked, "INT4 or INT32, with weight of FLOAT FLOAT4_E2M1 or FLOAT");
  checks.Holds(!IsPrivateFormat(call.Tensor(kWeight).format), kWeight, "no private format");
  checks.Rank(kWeight, 2, 3);
  if (!checks.Passed()) return checks.status();
  Shape shape = call.Tensor(kWeight).shape;
  const int last = shape.rank - 1;
  const int64_t unit = IsWord(call) ? kInWord : 2;
  checks.Holds(shape[last] % unit == 0, kWeight,
               "an even last dim, with eight codes in a word a multiple of 8");
  if (IsWord(call)) shape.dim[last] /= kInWord;
  const bool starts_byte = IsWord(call) || call.Tensor(kPacked).offset % 2 == 0;
  return checks.Holds(starts_byte, kPacked, "a tensor at an even offset").Is(kPacked, shape).status();
}

constexpr Check kChecks[] = {
    NotNull(kWeight),       NotNull(kPacked),
    Custom(LiesDense),      DtypesIn(kNumbers, {kWeight}),
    Custom(Fits),           SizesRepresentable({kPacked}),
    DoneIfEmpty({kWeight}), InsideStorage({kWeight}),
};

void Set(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const aclTensor& packed = call.Tensor(kPacked);
  engine::PackCodes job;
  job.from = ops.In(kWeight);
  job.to = {kPacked, packed.offset * static_cast<int64_t>(StorageBits(packed.dtype)) / 8};
  job.count = call.Tensor(kWeight).numel;
  job.is_float = call.Tensor(kWeight).dtype == ACL_FLOAT;
  job.threads = ops.threads();
  ops.Compute(job, {job.from, job.to}, job.count);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnConvertWeightToINT4Pack) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, Set);
}
