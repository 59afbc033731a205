// Blocks of codes that share a power of two (see mx.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/mx.h"

namespace portacl::quantisation {

using engine::PowerRule;

Shape PairsShape(const Shape& shape, int axis, int64_t block) noexcept {
  Shape pairs = shape;
  const int64_t blocks = shape[axis] / block + (shape[axis] % block != 0 ? 1 : 0);
  pairs.dim[axis] = blocks / 2 + blocks % 2;
  pairs.dim[pairs.rank++] = 2;
  return pairs;
}

PowerRule PowerRuleOf(aclDataType codes, int64_t algorithm, double most, double least_greatest) noexcept {
  PowerRule rule;
  switch (codes) {
    case ACL_FLOAT8_E4M3FN:
      rule.greatest_exponent = 8;
      break;
    case ACL_FLOAT8_E5M2:
      rule.greatest_exponent = 15;
      break;
    case ACL_FLOAT4_E2M1:
      rule.greatest_exponent = 2;
      break;
    default:
      break;
  }
  if (algorithm == 1) {
    rule.kind = PowerRule::Kind::kQuotient;
    rule.most = engine::GreatestNumber(codes);
    rule.least_greatest = static_cast<float>(least_greatest);
  } else if (algorithm == 2 && (most == 0 || most == 6 || most == 7)) {
    rule.kind = PowerRule::Kind::kBfloat16;
    rule.fraction = most == 7 ? 0x60 : 0x40;
  } else if (algorithm == 2) {
    rule.kind = PowerRule::Kind::kQuotient;
    rule.most = static_cast<float>(most);
    rule.rounds_subnormals = false;
  }
  return rule;
}

bool HasAlgorithm(aclDataType codes, int64_t algorithm) noexcept {
  if (algorithm == 0) return true;
  if (algorithm == 1) return kMxFloat8s.Contains(codes);
  return algorithm == 2 && codes == ACL_FLOAT4_E2M1;
}

bool IsMxRounding(aclDataType codes, std::string_view name, bool is_null) noexcept {
  if (is_null || name == "rint") return true;
  return kFloat4s.Contains(codes) && (name == "round" || name == "floor");
}
engine::Rounding MxRoundingOf(std::string_view name) noexcept {
  if (name == "round") return engine::Rounding::kNearestAway;
  if (name == "floor") return engine::Rounding::kFloor;
  return engine::Rounding::kNearestEven;
}

ShapeChecks& HasModes(ShapeChecks& checks, const OperatorCall& call, const Modes& at) {
  const aclDataType y = call.Tensor(at.y).dtype;
  checks.HoldsOf(IsMxRounding(y, TextOf(call, at.round), IsNull(call, at.round)), at.round,
                 "rint, with codes of FLOAT4 round and floor, too");
  checks.HoldsOf(Integer(call, at.dtype) == y, at.dtype, "the dtype of the codes");
  if (at.algorithm >= 0)
    checks.HoldsOf(HasAlgorithm(y, Integer(call, at.algorithm)), at.algorithm,
                   "0, with codes of FLOAT8 also 1, of FLOAT4_E2M1 also 2");
  if (at.most >= 0) {
    const double most = RealOf(call, at.most);
    const bool has_other = at.algorithm >= 0 && Integer(call, at.algorithm) == 2;
    checks.HoldsOf(most == 0 || (has_other && IsGreatestOfFloat4(most)), at.most,
                   "0, with scaleAlg 2 also 6 to 12");
  }
  return checks;
}

ShapeChecks& HasCodes(ShapeChecks& checks, const OperatorCall& call, const Shape& x, int y) {
  const bool is_packed = kFloat4s.Contains(call.Tensor(y).dtype);
  return checks.Holds(!is_packed || x[x.rank - 1] % 2 == 0, y, "of FLOAT4 an even last dim").Is(y, x);
}

PowerRule RuleOf(const OperatorCall& call, const Modes& at, double least_greatest) {
  return PowerRuleOf(call.Tensor(at.y).dtype, at.algorithm < 0 ? 0 : Integer(call, at.algorithm),
                     at.most < 0 ? 0 : RealOf(call, at.most), least_greatest);
}

void AddMx(DenseOpList& ops, const OperatorCall& call, const Numbers& x, const Shape& shape, int axis, int y,
           int scale, engine::QuantiseMx job) {
  const bool keeps = job.groups.ends.is_there || job.covered.ends.is_there;
  Quantiser codes;
  SetCodes(ops, call, y, codes, keeps);
  job.x = x;
  job.codes = codes.codes;
  job.dtype = codes.dtype;
  job.scales = ops.Out(scale, ACL_DT_UNDEFINED, keeps);
  for (int dim = 0; dim < axis; ++dim) job.outer *= shape[dim];
  job.length = shape[axis];
  for (int dim = axis + 1; dim < shape.rank; ++dim) job.inner *= shape[dim];
  job.isa = ops.isa();
  job.threads = ops.threads();
  ops.Compute(job, {x.buffer, job.codes, job.scales, BufferOf(job.groups.ends), BufferOf(job.covered.ends)},
              job.outer * job.length * job.inner);
}

}  // namespace portacl::quantisation
