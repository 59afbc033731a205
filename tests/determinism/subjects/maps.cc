// Every elementwise operator for the determinism test, but for the in-place forms, which are the same work.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/subject.h"
#include "support/map_operator.h"
#include "support/map_suite.h"
#include "support/products.h"

namespace portacl::testing {
namespace {

bool IsTensor(const MapOperator& op, size_t i) { return op.valid[i].kind == ParameterKind::kTensor; }

// The promoted dtype where out may have it, BOOL where truths are the result, else the first that goes.
DtypeNumber OutputDtype(const MapOperator& op, const std::vector<DtypeNumber>& inputs) {
  PlanCall call = ValidCall(op, op.numbers_on);
  size_t next = 0;
  for (size_t i = 0; i < op.valid.size(); ++i) {
    if (IsTensor(op, i) && op.IsInput(i)) call.arguments[i].dtype = inputs[next++];
  }
  PlanArgument& out = call.arguments[op.Output()];
  std::vector<DtypeNumber> tried = inputs;
  tried.insert(tried.end(), {ACL_FLOAT, ACL_DOUBLE, ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128, ACL_INT64});
  if (op.formula.truth) tried.insert(tried.begin(), ACL_BOOL);
  for (const DtypeNumber dtype : tried) {
    out.dtype = dtype;
    if (Expected(call).code != 0) continue;
    const DtypeNumber promoted = call.promoted;
    out.dtype = promoted;
    if (!op.formula.truth && promoted != kUndefinedDtype && Expected(call).code == 0) return promoted;
    return dtype;
  }
  return kUndefinedDtype;
}

// Whether the operator takes inputs of these shapes: some want one shape.
bool TakesShapes(const MapOperator& op, std::span<const Shape> shapes) {
  const std::optional<Shape> broadcast = Broadcast(shapes);
  if (!broadcast) return false;
  PlanCall call = ValidCall(op, op.numbers_on);
  size_t next = 0;
  for (size_t i = 0; i < op.valid.size(); ++i) {
    if (IsTensor(op, i)) call.arguments[i].shape = i == op.Output() ? *broadcast : shapes[next++];
  }
  return Expected(call).code == 0;
}

void Register(const std::vector<MapOperator>& operators) {
  for (const MapOperator& op : operators) {
    if (op.in_place) continue;
    if (op.Output() + 1 != op.valid.size()) continue;  // aclnnLogSigmoidForward, which is aclnnLogSigmoid
    Subject subject;
    if (op.numbers_on != Product::kA2) subject.soc = SocNameOf(op.numbers_on);
    NumericDescription& description = subject.description;
    description.binding = BindingOf(op);
    description.input_dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,   ACL_DOUBLE,    ACL_INT8,
                                ACL_UINT8, ACL_INT16,   ACL_UINT16, ACL_INT32,     ACL_UINT32,
                                ACL_INT64, ACL_UINT64,  ACL_BOOL,   ACL_COMPLEX64, ACL_COMPLEX128};
    description.output_dtypes = {ACL_FLOAT};
    description.attributes = {{}};
    // The tensors of the binding are the signature's, and out is the last.
    subject.output_dtype = [&op](const std::vector<DtypeNumber>& inputs) { return OutputDtype(op, inputs); };
    description.accepts = [&op](std::span<const Shape> shapes) { return TakesShapes(op, shapes); };
    subject.cuts_freely = [](const Attributes&) { return true; };
    subject.seed = 0xDE7E4;
    for (const char* c = op.function.name; *c != '\0'; ++c)
      subject.seed = subject.seed * 31 + static_cast<unsigned char>(*c);
    // What moves elements and computes nothing runs no kernel of an instruction set.
    subject.is_plain_code = true;
    Subjects().push_back(std::move(subject));
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  Register(ArithmeticOperators());
  Register(SelectionOperators());
  Register(UnaryOperators());
  Register(ActivationOperators());
  return true;
}();

}  // namespace
}  // namespace portacl::testing
