// Shared code of operators that draw random numbers: seed and offset, as attributes or in tensors, and the
// jobs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/phase1.h"
#include "engine/random/random_numbers.h"

namespace portacl::random {

inline engine::RandomSource SourceOf(int64_t seed, int64_t offset) noexcept {
  return {static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)};
}

// 161002 when one of the tensors does not have one element of a dtype in the list.
aclnnStatus CheckOneInteger(const Check& check, OperatorCall& call) noexcept;
constexpr Check OneInteger(DtypeSet dtypes, Operands tensors) {
  return {.run = CheckOneInteger, .operands = tensors, .dtypes = dtypes};
}

// Reads the seed and the offset from the tensors at these positions; -1 for none.
engine::DeviceSource DeviceSourceOf(const OperatorCall& call, int seed, int offset) noexcept;

// 161002 when the double attribute is not between 0 and 1. NaN passes.
aclnnStatus CheckProbability(const Check& check, OperatorCall& call) noexcept;
constexpr Check ProbabilityAt(int attribute) { return {.run = CheckProbability, .operands = {attribute}}; }

// Returns the greatest word for which word * 2^-32 < probability. The probability is above 0 and at most 1.
uint32_t GreatestWordBelow(double probability) noexcept;

// Tell whether a probability is within 2^-52 of 0, or of 1. CANN then draws nothing.
inline bool IsZero(double probability) noexcept { return probability < 0x1p-52 && probability > -0x1p-52; }
inline bool IsOne(double probability) noexcept { return IsZero(1.0 - probability); }

// Rounds a double to a dtype.
double RoundedTo(aclDataType dtype, double value) noexcept;

// Sets the executor's job: draws random numbers.
template <class Numbers>
void SetRandomJob(const OperatorCall& call, const Numbers& numbers, const SequenceOperands& operands,
                  const engine::DeviceSource& device, Executor& executor) noexcept {
  executor.SetJob([&] {
    engine::RandomJob job;
    job.sequence = MakeSequenceJob(call, engine::TypeOf(numbers), operands);
    job.sequence.Set(call.isa, numbers);
    job.device = device;
    return job;
  });
}

inline constexpr DtypeSet kFillable{ACL_FLOAT, ACL_INT32, ACL_INT64, ACL_FLOAT16,
                                    ACL_INT16, ACL_INT8,  ACL_UINT8, ACL_DOUBLE};
inline constexpr DtypeSet kWords{ACL_INT64, ACL_UINT64};
inline constexpr ProductSet kDocumented{Product::kAscend950, Product::kAtlasA2, Product::kAtlasA3,
                                        Product::kAtlasTraining};

}  // namespace portacl::random
