// Operators on lists of tensors. A few rules declare each of them: what the lists hold, which number belongs
// to them, and which formula is computed for every entry. Checks and jobs follow from the rules.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "aclnnop/phase1.h"
#include "engine/map/map_group.h"

namespace portacl {

// The source of a formula's number.
enum class ListNumber : uint8_t {
  kNone,
  kScalar,      // the first attribute
  kScalarEach,  // a list of scalars, one for each entry
  kTensor,      // a tensor argument after the inputs, of one element, which is read when the job runs
  kTensorEach   // the same, of any dims, with one element for each entry
};

// A formula applied to the entries of lists: its kernels for a number, which is null if it is read later; the
// position of the number among the formula's scalars; and the value of the other scalar.
struct ListFormula {
  enum class Other : uint8_t { kNone, kOne, kLargest, kSmallest };

  const engine::KernelTable& (*kernels)(const OperatorCall& call, const aclScalar* number) noexcept;
  int8_t position = 0;
  Other other = Other::kNone;  // value of scalar 1 - `position`
  bool is_negated = false;
  bool number_is_first = false;
  bool computes_floats = false;  // computes integers in float32, too
};

struct ListRules {
  const ListFormula& formula;
  DtypeRule dtypes{};
  // Tells whether CANN generates phase 1. Wrong lists and shapes then have another code, 561002.
  bool is_generated = true;
  int inputs = 1;
  ListNumber number = ListNumber::kNone;
  DtypeSet number_dtypes{};         // the number's dtypes; empty: those that belong to the list's dtype
  bool takes_float_on_950 = false;  // FLOAT numbers with a FLOAT16 list, which are then not rounded
  bool number_has_range = false;    // a number of another dtype must be finite in the list's dtype
  bool number_is_float = false;     // not rounded to FLOAT16 for a FLOAT16 list
  bool number_is_int8 = false;      // a mode
  bool takes_wide_numbers = false;  // a tensor's number may be DOUBLE, or INT64 for integers
};

// A call of such an operator. Its tensor arguments are the input lists, the number's tensor if it has one,
// and the list of outputs.
struct ListCall : OperatorCall {
  const ListRules* rules = nullptr;
  const aclScalarList* scalars = nullptr;
};

// Runs phase 1 of an operator with these rules, which must be static. `scalars` holds one number for each
// entry, if the operator takes such.
aclnnStatus RunLists(const OperatorCall& given, const ListRules& rules, const aclScalarList* scalars,
                     uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;

// ---- shared with other operators on lists ----

// Returns the code for wrong lists and shapes.
constexpr aclnnStatus StructureCode(bool is_generated) {
  return is_generated ? ACLNN_ERR_INNER_TILING_ERROR : ACLNN_ERR_PARAM_INVALID;
}

// Reports a refused parameter, or an entry of one.
aclnnStatus RefuseArgument(const OperatorCall& call, aclnnStatus code, int argument, int entry,
                           const char* what_is_wrong) noexcept;

// Checks that all lists are as long as the first one, and that their entries have its first entry's dtype and
// the shapes of its entries. The dtype must be in the rule, and shapes have at most 8 dims. Sets
// call.promoted, and call.work where there is nothing to do.
aclnnStatus CheckLists(OperatorCall& call, const DtypeRule& dtypes, bool is_generated,
                       Operands lists) noexcept;

// 161001 where one of the arguments is null.
aclnnStatus CheckNulls(const OperatorCall& call, Operands arguments) noexcept;

// 161002 for sizes that no storage can have, 561103 for entries that reach outside their storage.
aclnnStatus CheckStorage(OperatorCall& call, Operands outputs, Operands inputs) noexcept;

// Builds a job of maps, one for each entry of lists.
class ListMaps {
 public:
  // Names a number that is an element of a tensor argument.
  struct Number {
    int tensor = -1;
    int64_t element = 0;
    int8_t position = 0;
    bool is_negated = false;
  };

  // Reserves room for `most` maps. Without memory phase 1 fails, and the functions below do nothing.
  ListMaps(const OperatorCall& call, Executor& executor, int most) noexcept;

  // Adds a map like SetMapJob, over one entry of the arguments.
  void Add(int entry, Operands inputs, int output, const engine::KernelTable& kernels,
           const engine::Scalars& scalars, const Number& number) noexcept;

  // Sets the executor's job, unless there are no maps.
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
