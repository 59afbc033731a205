// Operators on lists of tensors (see lists.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/lists.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "aclnnop/jobs/sums.h"
#include "aclnnop/mapped_view.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/cache_size.h"
#include "engine/map/elementwise_blocks.h"
#include "engine/map/map_types.h"

namespace portacl {
namespace {

// Bytes of outputs that one thread should take at a time.
constexpr int64_t kTogether = 131072;

bool IsFloat(aclDataType dtype) { return kFloatHalfAndBf16.Contains(dtype); }

// Returns the position in the storage, in elements, of an element that is given by its row-major number.
int64_t ElementOffset(const StridedView& tensor, int64_t element) {
  int64_t position = tensor.offset;
  for (int dim = tensor.shape.rank - 1; dim >= 0; --dim) {
    position += element % tensor.shape[dim] * tensor.strides[dim];
    element /= tensor.shape[dim];
  }
  return position;
}

}  // namespace

aclnnStatus RefuseArgument(const OperatorCall& call, aclnnStatus code, int argument, int entry,
                           const char* what_is_wrong) noexcept {
  Text message = StartMessage(call).Add("parameter ");
  if (entry < 0) {
    message.Add(call.Name(argument));
  } else {
    AddArgument(message, call, argument, entry);
  }
  return FailAclnn(code, message.Add(what_is_wrong));
}

aclnnStatus CheckNulls(const OperatorCall& call, Operands arguments) noexcept {
  for (const int i : arguments) {
    const TensorArgument& argument = call.tensors[static_cast<size_t>(i)];
    if (argument.is_list ? argument.list == nullptr : argument.tensor == nullptr) {
      return RefuseArgument(call, ACLNN_ERR_PARAM_NULLPTR, i, -1, " is a null pointer, accepted: an object.");
    }
  }
  return ACL_SUCCESS;
}

namespace {

aclnnStatus CheckEntriesThere(const OperatorCall& call, aclnnStatus code, Operands lists) noexcept {
  for (const int list : lists) {
    for (int entry = 0; entry < call.Count(list); ++entry) {
      if (call.Entry(list, entry) == nullptr)
        return RefuseArgument(call, code, list, entry, " is a null pointer, accepted: a tensor.");
    }
  }
  return ACL_SUCCESS;
}

aclnnStatus RefuseDtype(const OperatorCall& call, aclnnStatus code, int list, int entry, DtypeSet accepted) {
  Text message = StartMessage(call).Add("parameter ");
  AddArgumentDtype(message, call, list, entry).Add(" is not accepted here, accepted: ");
  AddDtypeSet(message, accepted);
  return FailAclnn(code, message.Add("."));
}

aclnnStatus CheckShapes(const OperatorCall& call, aclnnStatus code, Operands lists) noexcept {
  const int first = lists.index[0];
  for (const int list : lists) {
    for (int entry = 0; entry < call.Count(list); ++entry) {
      const aclTensor& tensor = *call.Entry(list, entry);
      if (tensor.shape.rank > kMaxLoopRank)
        return RefuseArgument(call, code, list, entry, " has more than 8 dims, accepted: at most 8.");
      if (IsPrivateFormat(tensor.format))
        return RefuseArgument(call, code, list, entry,
                              " has a private format, accepted: ND and other public formats.");
      if (tensor.shape == call.Entry(first, entry)->shape) continue;
      Text message = StartMessage(call).Add("parameter ");
      AddArgumentShape(message, call, list, entry).Add(" differs from ");
      AddArgumentShape(message, call, first, entry);
      return FailAclnn(code, message.Add(", accepted: the same shape."));
    }
  }
  return ACL_SUCCESS;
}

}  // namespace

aclnnStatus CheckLists(OperatorCall& call, const DtypeRule& dtypes, bool is_generated,
                       Operands lists) noexcept {
  const aclnnStatus structure = StructureCode(is_generated);
  const aclnnStatus null_entry = is_generated ? ACLNN_ERR_PARAM_NULLPTR : ACLNN_ERR_PARAM_INVALID;
  if (const aclnnStatus status = CheckEntriesThere(call, null_entry, lists)) return status;
  const int first = lists.index[0];
  const DtypeSet accepted = dtypes.For(call.product);
  if (accepted.IsEmpty()) {
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, first, -1,
                          " has no dtype on this product, accepted: Atlas A2, Atlas A3 and Ascend 950.");
  }
  call.promoted = call.Count(first) == 0 ? ACL_FLOAT : call.Entry(first, 0)->dtype;
  if (call.Count(first) > 0 && !accepted.Contains(call.promoted))
    return RefuseDtype(call, ACLNN_ERR_PARAM_INVALID, first, 0, accepted);
  const DtypeSet common(call.promoted);
  for (const int list : lists) {
    if (call.Count(first) > 0 && call.Count(list) > 0 && call.Entry(list, 0)->dtype != call.promoted)
      return RefuseDtype(call, ACLNN_ERR_PARAM_INVALID, list, 0, common);
  }
  for (const int list : lists) {
    if (call.Count(list) == call.Count(first)) continue;
    Text message = StartMessage(call).Add("parameter ").Add(call.Name(list)).Add(" has ");
    message.Add(call.Count(list)).Add(" entries, accepted: ").Add(call.Count(first));
    return FailAclnn(structure, message.Add(", as ").Add(call.Name(first)).Add(" has."));
  }
  for (const int list : lists) {
    for (int entry = 1; entry < call.Count(list); ++entry) {
      if (call.Entry(list, entry)->dtype != call.promoted)
        return RefuseDtype(call, structure, list, entry, common);
    }
  }
  return CheckShapes(call, structure, lists);
}

aclnnStatus CheckStorage(OperatorCall& call, Operands outputs, Operands inputs) noexcept {
  const Check sizes = SizesRepresentable(outputs);
  if (const aclnnStatus status = sizes.run(sizes, call)) return status;
  const Check inside = InsideStorage(inputs);
  return inside.run(inside, call);
}

ListMaps::ListMaps(const OperatorCall& call, Executor& executor, int most) noexcept
    : call_(call),
      executor_(executor),
      maps_(reinterpret_cast<engine::PlannedMap*>(
          executor.ReserveMemory(static_cast<size_t>(std::max(most, 1)) * sizeof(engine::PlannedMap)))) {}

void ListMaps::Add(int entry, Operands inputs, int output, const engine::KernelTable& kernels,
                   const engine::Scalars& scalars, const Number& number) noexcept {
  if (maps_ == nullptr || call_.Entry(output, entry)->shape.IsEmpty()) return;
  // Numbers the operands of this map alone. A list may have more operands than a formula can number.
  engine::ViewOperand of_map[kMaxLoopOperands];
  int count = 0;
  for (const int input : inputs) {
    of_map[count] = {call_.Entry(input, entry), count};
    ++count;
  }
  const engine::ViewOperand result{call_.Entry(output, entry), count};
  engine::PlannedMap& map = *new (maps_ + count_++) engine::PlannedMap{
      engine::MakeMapJob(SettingsOf(call_), {of_map, static_cast<size_t>(count)}, result, kernels, scalars),
      {},
      {},
      blocks_};
  for (int k = 0; k < count; ++k) map.operand[k] = call_.OperandOf(inputs.index[k], entry);
  map.operand[count] = call_.OperandOf(output, entry);
  if (number.tensor >= 0) {
    const aclTensor& tensor = call_.Tensor(number.tensor);
    const auto size = static_cast<int64_t>(StorageBits(tensor.dtype) / 8);
    const engine::MapTypes types{call_.isa, call_.promoted, map.loop.formula.computed, /*writes_bool=*/false};
    const aclDataType cast = IsFloat(call_.promoted) ? ACL_FLOAT : call_.promoted;
    engine::ElementType type{};
    map.number.operand = call_.OperandOf(number.tensor);
    map.number.offset = ElementOffset(tensor, number.element) * size;
    map.number.load = types.LoadFor(tensor.dtype, cast, &type);
    map.number.is_converted = type != types.computed;
    map.number.size = static_cast<int8_t>(size);
    map.number.position = number.position;
    map.number.is_negated = number.is_negated;
    map.number.is_integer = types.computed != engine::ElementType::kF32;
  }
  blocks_ += engine::BlocksOf(map.loop);
  elements_ += map.loop.plan.count;
  bytes_ += map.loop.plan.BytesWalked();
}

void ListMaps::SetJob() noexcept {
  if (maps_ == nullptr || count_ == 0) return;
  executor_.SetJob([&] {
    engine::MapGroupJob job;
    job.count = count_;
    job.threads = executor_.threads;
    job.blocks = blocks_;
    job.blocks_together = std::max<int64_t>(1, blocks_ * kTogether / std::max<int64_t>(bytes_, 1));
    job.elements = elements_;
    return job;
  });
  for (int i = 0; i < count_; ++i) {
    const engine::PlannedMap& map = maps_[i];
    for (int k = 0; k < map.loop.plan.operand_count; ++k) executor_.touched[map.operand[k]] = true;
    if (map.number.operand >= 0) executor_.touched[map.number.operand] = true;
  }
}

namespace {

DtypeSet ScalarDtypesFor(const ListCall& call) {
  const ListRules& rules = *call.rules;
  if (!rules.number_dtypes.IsEmpty()) return rules.number_dtypes;
  const bool is_list = rules.number == ListNumber::kScalarEach;
  const aclDataType dtype = call.Entry(0, 0)->dtype;
  if (!IsFloat(dtype)) return is_list ? DtypeSet(ACL_INT64) : DtypeSet(ACL_INT32, ACL_INT64);
  if (is_list || dtype != ACL_FLOAT16) return DtypeSet(ACL_FLOAT, ACL_DOUBLE);
  const bool takes_float = rules.takes_float_on_950 && call.product == Product::kAscend950;
  return takes_float ? DtypeSet(ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE) : DtypeSet(ACL_FLOAT16, ACL_DOUBLE);
}

DtypeSet TensorDtypesFor(const ListCall& call) {
  const ListRules& rules = *call.rules;
  if (!rules.number_dtypes.IsEmpty()) return rules.number_dtypes;
  const aclDataType dtype = call.Entry(0, 0)->dtype;
  DtypeSet accepted(ACL_INT32);
  if (rules.number == ListNumber::kTensorEach) {
    accepted = DtypeSet(dtype);
  } else if (dtype == ACL_FLOAT16) {
    accepted = DtypeSet(ACL_FLOAT16);
    if (rules.takes_float_on_950 && call.product == Product::kAscend950)
      accepted = DtypeSet(ACL_FLOAT16, ACL_FLOAT);
  } else if (IsFloat(dtype)) {
    accepted = DtypeSet(ACL_FLOAT);
  }
  if (rules.takes_wide_numbers && rules.number == ListNumber::kTensor)
    accepted = accepted | (IsFloat(dtype) ? DtypeSet(ACL_DOUBLE) : DtypeSet(ACL_INT64));
  return accepted;
}

aclnnStatus RefuseScalar(const ListCall& call, const char* name, aclDataType dtype, DtypeSet accepted) {
  Text message = StartMessage(call).Add("parameter ").Add(name).Add(" with dtype ");
  AddDtypeName(message, dtype);
  message.Add(" does not go with ").Add(call.Name(0)).Add(", accepted: ");
  AddDtypeSet(message, accepted);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add("."));
}

aclnnStatus CheckNumberNulls(const ListCall& call) {
  const ListNumber number = call.rules->number;
  if (number == ListNumber::kScalar && call.attributes[0].scalar == nullptr) {
    return FailAclnn(ACLNN_ERR_PARAM_NULLPTR, StartMessage(call)
                                                  .Add("parameter ")
                                                  .Add(call.attributes[0].name)
                                                  .Add(" is a null pointer, accepted: a scalar."));
  }
  if (number != ListNumber::kScalarEach) return ACL_SUCCESS;
  bool is_null = call.scalars == nullptr;
  if (!is_null) {
    const auto& values = call.scalars->values;
    is_null = std::find(values.begin(), values.end(), nullptr) != values.end();
  }
  if (!is_null) return ACL_SUCCESS;
  return FailAclnn(
      ACLNN_ERR_PARAM_NULLPTR,
      StartMessage(call).Add("parameter scalars, or one of them, is a null pointer, accepted: scalars."));
}

// Checks dtypes of the numbers first, then how many there are.
aclnnStatus CheckNumber(const ListCall& call) {
  const ListRules& rules = *call.rules;
  if (call.Count(0) == 0) return ACL_SUCCESS;
  if (rules.number == ListNumber::kScalar || rules.number == ListNumber::kScalarEach) {
    const DtypeSet accepted = ScalarDtypesFor(call);
    const bool is_list = rules.number == ListNumber::kScalarEach;
    const size_t count = is_list ? call.scalars->values.size() : 1;
    for (size_t i = 0; i < count; ++i) {
      const aclScalar& scalar = is_list ? *call.scalars->values[i] : call.Scalar(0);
      if (!accepted.Contains(scalar.dtype))
        return RefuseScalar(call, is_list ? "scalars" : call.attributes[0].name, scalar.dtype, accepted);
    }
    return ACL_SUCCESS;
  }
  if (rules.number == ListNumber::kNone) return ACL_SUCCESS;
  const int tensor = rules.inputs;
  const DtypeSet accepted = TensorDtypesFor(call);
  if (!accepted.Contains(call.Tensor(tensor).dtype))
    return RefuseDtype(call, ACLNN_ERR_PARAM_INVALID, tensor, 0, accepted);
  return ACL_SUCCESS;
}

aclnnStatus CheckNumberCount(const ListCall& call) {
  const ListRules& rules = *call.rules;
  const aclnnStatus code = StructureCode(rules.is_generated);
  const auto count = static_cast<size_t>(call.Count(0));
  if (rules.number == ListNumber::kScalarEach && call.scalars->values.size() != count) {
    return FailAclnn(code, StartMessage(call)
                               .Add("parameter scalars has ")
                               .Add(call.scalars->values.size())
                               .Add(" scalars, accepted: ")
                               .Add(count)
                               .Add(", one for each tensor."));
  }
  if (rules.number == ListNumber::kTensor && call.Tensor(rules.inputs).numel != 1) {
    return RefuseArgument(call, code, rules.inputs, -1, " has not one element, accepted: one element.");
  }
  if (rules.number == ListNumber::kTensorEach) {
    const aclTensor& numbers = call.Tensor(rules.inputs);
    if (numbers.shape.rank > kMaxLoopRank || !numbers.countable || numbers.numel != call.Count(0))
      return RefuseArgument(
          call, code, rules.inputs, -1,
          " has another shape, accepted: at most 8 dims, an element for each tensor of a list.");
  }
  return ACL_SUCCESS;
}

double AsDouble(const aclScalar& scalar) {
  const ScalarValue value = ConvertScalar(scalar, ACL_DOUBLE);
  double number = 0;
  std::memcpy(&number, value.bytes, sizeof number);
  return number;
}

// Returns the largest finite value of a dtype.
double LargestOf(aclDataType dtype) {
  if (dtype == ACL_FLOAT16) return 65504;
  if (dtype == ACL_BF16) return 0x1.fep127;
  return dtype == ACL_FLOAT ? 0x1.fffffep127 : 2147483647;
}

aclnnStatus CheckNumberRange(const ListCall& call) {
  if (!call.rules->number_has_range || call.Count(0) == 0) return ACL_SUCCESS;
  const aclScalar& scalar = call.Scalar(0);
  if (scalar.dtype == call.promoted) return ACL_SUCCESS;
  const double value = AsDouble(scalar);
  const double least = call.promoted == ACL_INT32 ? -2147483648.0 : -LargestOf(call.promoted);
  if (std::isnan(value) || (value >= least && value <= LargestOf(call.promoted))) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter scalar has a value that is not a finite number of dtype ");
  AddDtypeName(message, call.promoted);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add(", accepted: one in its range, or NaN."));
}

Operands ListsOf(const ListCall& call) {
  Operands lists;
  for (int i = 0; i < static_cast<int>(call.tensors.size()); ++i) {
    if (call.IsList(i)) lists.index[lists.count++] = static_cast<int8_t>(i);
  }
  return lists;
}

aclnnStatus CheckAll(const Check&, OperatorCall& whole) noexcept {
  auto& call = static_cast<ListCall&>(whole);
  const ListRules& rules = *call.rules;
  Operands all;
  for (int i = 0; i < static_cast<int>(call.tensors.size()); ++i)
    all.index[all.count++] = static_cast<int8_t>(i);
  if (const aclnnStatus status = CheckNulls(call, all)) return status;
  if (const aclnnStatus status = CheckNumberNulls(call)) return status;
  // If CANN generates phase 1, it checks the dtypes of numbers before the lists' lengths and shapes.
  // Otherwise both have one code, and the order does not show.
  const Operands lists = ListsOf(call);
  const aclnnStatus of_lists = CheckLists(call, rules.dtypes, rules.is_generated, lists);
  if (of_lists != ACL_SUCCESS && of_lists != ACLNN_ERR_INNER_TILING_ERROR) return of_lists;
  if (const aclnnStatus status = CheckNumber(call)) return status;
  if (of_lists != ACL_SUCCESS) return of_lists;
  if (const aclnnStatus status = CheckNumberCount(call)) return status;
  const int output = static_cast<int>(call.tensors.size()) - 1;
  Operands inputs;
  for (int i = 0; i < output; ++i) inputs.index[inputs.count++] = static_cast<int8_t>(i);
  bool is_empty = true;
  for (int entry = 0; entry < call.Count(0); ++entry)
    is_empty = is_empty && call.Entry(0, entry)->shape.IsEmpty();
  if (call.Count(0) > 0) {
    if (const aclnnStatus status = CheckStorage(call, {output}, inputs)) return status;
    if (const aclnnStatus status = CheckNumberRange(call)) return status;
  }
  if (is_empty) call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

void PutFloat(float value, engine::Scalars& scalars, int position) {
  std::memcpy(scalars.bytes[position], &value, sizeof value);
}

// Returns the formula's scalars for an entry, except those that are read when the job runs.
engine::Scalars NumbersOf(const ListCall& call, const engine::KernelTable& kernels, const aclScalar* number) {
  const ListFormula& formula = call.rules->formula;
  using Other = ListFormula::Other;
  engine::Scalars scalars;
  const bool is_float = IsFloat(call.promoted);
  const int other = 1 - formula.position;
  if (formula.other != Other::kNone && is_float) {
    const float infinity = std::numeric_limits<float>::infinity();
    PutFloat(formula.other == Other::kOne       ? 1.0f
             : formula.other == Other::kLargest ? infinity
                                                : -infinity,
             scalars, other);
  } else if (formula.other != Other::kNone) {
    const int64_t value = formula.other == Other::kOne       ? 1
                          : formula.other == Other::kLargest ? std::numeric_limits<int32_t>::max()
                                                             : std::numeric_limits<int32_t>::min();
    std::memcpy(scalars.bytes[other], &value, sizeof value);
  }
  if (number != nullptr) {
    const bool stays_float = call.rules->number_is_float || call.rules->number == ListNumber::kScalarEach ||
                             (call.rules->takes_float_on_950 && call.product == Product::kAscend950);
    const bool is_rounded = call.promoted == ACL_FLOAT16 && !stays_float;
    const aclDataType cast = call.rules->number_is_int8 ? ACL_INT8
                             : is_rounded               ? ACL_FLOAT16
                                                        : ACL_DT_UNDEFINED;
    SetMapScalar(call, kernels, *number, scalars, formula.position, cast);
    if (formula.is_negated) Negate(call, kernels, scalars, formula.position);
  }
  if (formula.number_is_first) scalars.SetScalarIsFirst();
  return scalars;
}

void SetLists(const ListCall& call, Executor& executor) {
  const ListRules& rules = *call.rules;
  const ListFormula& formula = rules.formula;
  const int output = static_cast<int>(call.tensors.size()) - 1;
  Operands inputs;
  for (int i = 0; i < rules.inputs; ++i) inputs.index[inputs.count++] = static_cast<int8_t>(i);
  ListMaps maps(call, executor, call.Count(0));
  for (int entry = 0; entry < call.Count(0); ++entry) {
    const aclScalar* number = nullptr;
    ListMaps::Number in_memory;
    if (rules.number == ListNumber::kScalar) number = &call.Scalar(0);
    if (rules.number == ListNumber::kScalarEach) number = call.scalars->values[static_cast<size_t>(entry)];
    if (rules.number == ListNumber::kTensor || rules.number == ListNumber::kTensorEach) {
      in_memory = {rules.inputs, rules.number == ListNumber::kTensor ? 0 : entry, formula.position,
                   formula.is_negated};
    }
    const engine::KernelTable& kernels = formula.kernels(call, number);
    maps.Add(entry, inputs, output, kernels, NumbersOf(call, kernels, number), in_memory);
  }
  maps.SetJob();
}

constexpr Check kListChecks[] = {{.run = CheckAll}};

}  // namespace

aclnnStatus RunLists(const OperatorCall& given, const ListRules& rules, const aclScalarList* scalars,
                     uint64_t* workspaceSize, aclOpExecutor** executor) noexcept {
  ListCall call{{given.api, given.tensors, given.attributes}, &rules, scalars};
  return RunPhase1(call, kListChecks, workspaceSize, executor, [](OperatorCall& checked, Executor& fresh) {
    auto& lists = static_cast<ListCall&>(checked);
    if (lists.rules->formula.computes_floats) lists.promoted = ACL_FLOAT;
    SetLists(lists, fresh);
  });
}

}  // namespace portacl
