// aclnnAmpUpdateScale: updates the loss scale of mixed precision. It grows after an interval of good steps
// and shrinks after a bad one.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/optimizers/amp_update_scale_functions.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "aclnnop/jobs/lists.h"
#include "base/errors.h"
#include "base/float_environment.h"
#include "contract/arguments.h"
#include "engine/rowwise/rowwise_operand.h"

namespace portacl {
namespace {

enum Tensors { kScale, kTracker, kFound, kUpdatedScale, kUpdatedTracker };
enum Attributes { kGrowth, kBackoff, kInterval };

constexpr DtypeRule kDtypes = SinceAtlasA2(kFloatHalfAndBf16);

// Operands of one element each, in the order of Tensors. Trackers are INT32.
struct ScaleJob {
  engine::RowwiseOperand scale;
  engine::RowwiseOperand found;
  engine::RowwiseOperand updated;
  int64_t tracker_offset;
  int64_t updated_tracker_offset;
  float growth;
  float backoff;
  int32_t interval;

  bool Touches(int) const noexcept { return true; }
  int64_t Elements() const noexcept { return 1; }

  void Run(void* const* addresses, void*) const noexcept {
    const DefaultFloatEnvironment environment;
    float factor = 0;
    float is_found = 0;
    alignas(8) char raw[8];
    engine::LoadRows(scale, addresses, 0, 1, 0, 1, sizeof factor, reinterpret_cast<char*>(&factor), raw);
    engine::LoadRows(found, addresses, 0, 1, 0, 1, sizeof is_found, reinterpret_cast<char*>(&is_found), raw);
    int32_t good_steps = 0;
    std::memcpy(&good_steps, static_cast<const char*>(addresses[kTracker]) + tracker_offset,
                sizeof good_steps);
    if (is_found != 0) {  // NaN, too
      factor *= backoff;
      good_steps = 0;
    } else {
      good_steps = static_cast<int32_t>(static_cast<uint32_t>(good_steps) + 1);
      if (good_steps == interval) {
        const float grown = factor * growth;
        if (std::isfinite(grown)) factor = grown;
        good_steps = 0;
      }
    }
    engine::StoreRows(updated, addresses, 0, 1, 0, 1, sizeof factor, reinterpret_cast<const char*>(&factor),
                      raw);
    std::memcpy(static_cast<char*>(addresses[kUpdatedTracker]) + updated_tracker_offset, &good_steps,
                sizeof good_steps);
  }
};

aclnnStatus CheckAll(const Check&, OperatorCall& call) noexcept {
  if (const aclnnStatus status = CheckNulls(call, {kScale, kTracker, kFound, kUpdatedScale, kUpdatedTracker}))
    return status;
  const DtypeSet accepted = kDtypes.For(call.product);
  const aclDataType dtype = call.Tensor(kScale).dtype;
  for (const int tensor : {kScale, kFound, kUpdatedScale}) {
    if (call.Tensor(tensor).dtype == dtype && accepted.Contains(dtype)) continue;
    Text message = StartMessage(call).Add("parameter ");
    AddArgumentDtype(message, call, tensor).Add(" is not accepted, accepted: that of currentScale, one of ");
    AddDtypeSet(message, accepted);
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add("."));
  }
  for (const int tensor : {kTracker, kUpdatedTracker}) {
    if (call.Tensor(tensor).dtype != ACL_INT32)
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, tensor, -1,
                            " is not of DT_INT32, accepted: DT_INT32.");
  }
  for (const int tensor : {kScale, kTracker, kFound, kUpdatedScale, kUpdatedTracker}) {
    if (call.Tensor(tensor).numel != 1)
      return RefuseArgument(call, ACLNN_ERR_INNER_TILING_ERROR, tensor, -1,
                            " has not one element, accepted: one element.");
  }
  const int64_t interval = call.attributes[kInterval].integer;
  if (interval < 1 || interval > INT32_MAX) {
    return RefuseInteger({.code = ACLNN_ERR_INNER_TILING_ERROR}, call, "growthInterval", interval, 1,
                         INT32_MAX);
  }
  return ACL_SUCCESS;
}
constexpr Check kChecks[] = {{.run = CheckAll}};

void SetScale(const OperatorCall& call, Executor& executor) {
  executor.SetJob([&] {
    const auto one = [&](int tensor, bool is_output) {
      StridedView value = call.Tensor(tensor);
      value.shape.rank = value.strides.rank = 0;
      return engine::RowwiseOperandOf(tensor, value, value.shape, 0, is_output, ACL_FLOAT, call.isa);
    };
    const auto offset = [&](int tensor) { return ByteOffset(call.Tensor(tensor)); };
    return ScaleJob{one(kScale, false),
                    one(kFound, false),
                    one(kUpdatedScale, true),
                    offset(kTracker),
                    offset(kUpdatedTracker),
                    static_cast<float>(call.attributes[kGrowth].wide),
                    static_cast<float>(call.attributes[kBackoff].wide),
                    static_cast<int32_t>(call.attributes[kInterval].integer)};
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAmpUpdateScale) { return RunPhase1(call, kChecks, workspaceSize, executor, SetScale); }
