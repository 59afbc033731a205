// Operators over lists of tensors, each declared by a few rules: what the lists hold, what number goes with them, which formula of
// operators over tensors is computed for every entry. Checks and jobs follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "aclnnop/phase1.h"
#include "engine/map/map_group.h"

namespace portacl {

// Where a formula's number comes from.
enum class ListNumber : uint8_t {
  kNone,
  kScalar,      // the first attribute
  kScalarEach,  // a list of scalars, one for each entry
  kTensor,      // the tensor argument behind the inputs, of one element, which is read when the job runs
  kTensorEach   // the same, of any dims, an element for each entry
};

// A formula as entries of lists have it: the kernels for a number, which is null where it is read later; what its other number is,
// and where its own one goes.
struct ListFormula {
  enum class Other : uint8_t { kNone, kOne, kLargest, kSmallest };

  const engine::KernelTable& (*kernels)(const OperatorCall& call, const aclScalar* number) noexcept;
  int8_t place = 0;
  Other other = Other::kNone;  // at place 1 - `place`
  bool is_negated = false;
  bool number_is_first = false;
  bool computes_floats = false;  // of integers, too
};

struct ListRules {
  const ListFormula& formula;
  DtypeRule dtypes{};
  // Whether phase 1 of CANN's operator is generated: what is wrong with lists and shapes then has another code, 561002.
  bool is_generated = true;
  int inputs = 1;
  ListNumber number = ListNumber::kNone;
  DtypeSet number_dtypes{};         // those of the number; empty: what goes with the list's
  bool takes_float_on_950 = false;  // with a FLOAT16 list; its numbers then are not rounded
  bool number_has_range = false;    // of another dtype, it is finite in the list's
  bool number_is_float = false;     // it is not rounded to a FLOAT16 list's dtype
  bool number_is_int8 = false;      // it is a mode
  bool takes_wide_numbers = false;  // a tensor's number may be DOUBLE, or INT64 of integers
};

// A call of such an operator: its tensor arguments are the input lists, the number's tensor if it has one, and the list of outputs.
struct ListCall : OperatorCall {
  const ListRules* rules = nullptr;
  const aclScalarList* scalars = nullptr;
};

// Phase 1 of an operator with these rules, which are static; `scalars` where it has a number for each entry.
aclnnStatus RunLists(const OperatorCall& given, const ListRules& rules, const aclScalarList* scalars,
                     uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;

// ---- what other operators over lists share ----

// The code of what is wrong with lists and shapes.
constexpr aclnnStatus StructureCode(bool is_generated) {
  return is_generated ? ACLNN_ERR_INNER_TILING_ERROR : ACLNN_ERR_PARAM_INVALID;
}

// Reports what is wrong with a parameter, or with an entry of one.
aclnnStatus RefuseArgument(const OperatorCall& call, aclnnStatus code, int argument, int entry,
                           const char* what_is_wrong) noexcept;

// Lists are as long as the first one, their entries of its first one's dtype, which is in the rule, of at most 8 dims and of its
// shapes. Leaves call.promoted, and says where there is nothing to do.
aclnnStatus CheckLists(OperatorCall& call, const DtypeRule& dtypes, bool is_generated,
                       Operands lists) noexcept;

// 161001 where one of the arguments is null.
aclnnStatus CheckNulls(const OperatorCall& call, Operands arguments) noexcept;

// 161002 for sizes that no storage has, 561103 for entries that reach outside theirs.
aclnnStatus CheckStorage(OperatorCall& call, Operands outputs, Operands inputs) noexcept;

// A job of maps, one for each entry of lists.
class ListMaps {
 public:
  // A number that is an element of a tensor argument.
  struct Number {
    int tensor = -1;
    int64_t element = 0;
    int8_t place = 0;
    bool is_negated = false;
  };

  // For at most `most` maps. Where there is no memory for them, phase 1 fails and nothing below does anything.
  ListMaps(const OperatorCall& call, Executor& executor, int most) noexcept;

  // As SetMapJob, of one entry of the arguments.
  void Add(int entry, Operands inputs, int output, const engine::KernelTable& kernels,
           const engine::Scalars& scalars, const Number& number) noexcept;

  // Ends the list: sets the executor's job. Without maps there is none.
  void SetJob() noexcept;

 private:
  const OperatorCall& call_;
  Executor& executor_;
  engine::PlannedMap* maps_;
  int count_ = 0;
  int64_t blocks_ = 0;
  int64_t bytes_ = 0;
  int64_t elements_ = 0;
};

}  // namespace portacl
