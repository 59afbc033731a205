// aclnnEinsum: the products of two vectors' elements, and the products of matrices and vectors in batches.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/einsum_functions.h"

#include <string_view>

#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/jobs/mul.h"
#include "aclnnop/map_list.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace matmul;

enum Tensors { kTensors, kOut };
enum Attributes { kEquation };

constexpr DtypeSet kNumbers{ACL_FLOAT, ACL_FLOAT16, ACL_INT16, ACL_INT32, ACL_INT64};
constexpr DtypeRule kDtypes =
    Everywhere(kNumbers).On(ProductSet{Product::kAtlasInference}, kNumbers.Without(DtypeSet{ACL_FLOAT}));

// Tells whether an equation is `form` with other letters, each of which is another one.
bool IsForm(std::string_view equation, std::string_view form) {
  if (equation.size() != form.size()) return false;
  for (size_t i = 0; i < form.size(); ++i) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (!is_letter(form[i])) {
      if (equation[i] != form[i]) return false;
      continue;
    }
    if (!is_letter(equation[i])) return false;
    for (size_t before = 0; before < i; ++before) {
      if ((form[before] == form[i]) != (equation[before] == equation[i])) return false;
    }
  }
  return true;
}
constexpr std::string_view kOfVectors = "a,b->ab";
constexpr std::string_view kOfBatches = "abcd,abced->abce";

bool IsOfBatches(const OperatorCall& call) noexcept {
  return IsForm(call.attributes[kEquation].text, kOfBatches);
}
const aclTensor& Entry(const OperatorCall& call, int entry) { return *call.Entry(kTensors, entry); }

aclnnStatus EquationGiven(const Check& check, OperatorCall& call) noexcept {
  if (call.attributes[kEquation].text != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("parameter equation is null, accepted: the text of an equation."));
}
aclnnStatus TwoTensors(const Check& check, OperatorCall& call) noexcept {
  if (call.Count(kTensors) == 2) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter tensors has ")
                                   .Add(call.Count(kTensors))
                                   .Add(" tensors, accepted: 2."));
}
aclnnStatus EquationIsKnown(const Check& check, OperatorCall& call) noexcept {
  const std::string_view equation = call.attributes[kEquation].text;
  if (IsForm(equation, kOfVectors) || IsForm(equation, kOfBatches)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call)
                       .Add("parameter equation is \"")
                       .Add(equation.substr(0, 64))
                       .Add("\", accepted: \"a,b->ab\" and \"abcd,abced->abce\", with any letters."));
}
aclnnStatus OneDtype(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(kOut).dtype;
  for (int entry = 0; entry < 2; ++entry) {
    if (Entry(call, entry).dtype == dtype) continue;
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, kTensors, entry).Add(" is not out's, accepted: ");
    AddDtypeName(message, dtype);
    return FailAclnn(check.code, message.Add("."));
  }
  return ACL_SUCCESS;
}
// Integers of the second equation would be computed as FLOAT16 by CANN.
aclnnStatus BatchesAreFloats(const Check& check, OperatorCall& call) noexcept {
  if (kFloatAndHalf.Contains(call.Tensor(kOut).dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kOut);
  return FailAclnn(
      check.code,
      message.Add(" is not summed, accepted with \"abcd,abced->abce\": DT_FLOAT and DT_FLOAT16."));
}

aclnnStatus RefuseEntry(const Check& check, const OperatorCall& call, int entry, const char* accepted) {
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kTensors, entry).Add(" does not fit, accepted: ");
  return FailAclnn(check.code, message.Add(accepted).Add("."));
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& first = Entry(call, 0).shape;
  const Shape& second = Entry(call, 1).shape;
  if (!IsOfBatches(call)) {
    if (first.rank != 1) return RefuseEntry(check, call, 0, "one dim");
    if (second.rank != 1) return RefuseEntry(check, call, 1, "one dim");
    call.broadcast = Shape{first[0], second[0]};
  } else {
    if (first.rank != 4 || first.IsEmpty()) return RefuseEntry(check, call, 0, "four dims, none of them 0");
    const Shape accepted{first[0], first[1], first[2], second.rank == 5 ? second[3] : 1, first[3]};
    if (!(second == accepted) || second.IsEmpty())
      return RefuseEntry(check, call, 1, "five dims that have the first's, none of them 0");
    call.broadcast = Shape{first[0], first[1], first[2], second[3]};
  }
  return call.Tensor(kOut).shape == call.broadcast ? ACL_SUCCESS
                                                   : RefuseShape(check, call, kOut, call.broadcast);
}

constexpr auto kChecks =
    List(NotNull(kTensors), EntriesNotNull(kTensors), Custom(EquationGiven, ACLNN_ERR_PARAM_NULLPTR),
         NotNull(kOut), Custom(TwoTensors), Custom(EquationIsKnown), DtypesIn(kDtypes, {kOut}),
         Custom(OneDtype), Custom(ShapesFit), SizesRepresentable({kOut}), DoneIfEmpty({kOut}),
         If(IsOfBatches, Custom(BatchesAreFloats, ACLNN_ERR_INNER_NULLPTR)), InsideStorage({kTensors}),
         PromotesToDtypeOf(kOut));

void SetEinsum(const OperatorCall& call, Executor& executor) {
  StridedView first = PlainView(Entry(call, 0));
  StridedView second = PlainView(Entry(call, 1));
  const int operands[] = {call.OperandOf(kTensors, 0), call.OperandOf(kTensors, 1)};
  if (!IsOfBatches(call)) {
    InsertDim(first, 1, 1, 0);
    InsertDim(second, 0, 1, 0);
    MapList maps(call, executor, 1);
    maps.Add({{first, operands[0]}, {second, operands[1]}},
             {PlainView(call.Tensor(kOut)), call.OperandOf(kOut)}, ProductKernels(call.promoted));
    return maps.SetJob();
  }
  // The second tensor's matrices times the first one's vectors, as columns.
  StridedView out = PlainView(call.Tensor(kOut));
  InsertDim(first, 4, 1, 0);
  InsertDim(out, 4, 1, 0);
  SetProductJob(
      call,
      {.left = {operands[1], second}, .right = {operands[0], first}, .out = {call.OperandOf(kOut), out}},
      executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnEinsum) { return RunPhase1(call, kChecks, workspaceSize, executor, SetEinsum); }
