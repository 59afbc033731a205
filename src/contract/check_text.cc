// Texts of the checks' messages (see check_text.h).
// SPDX-License-Identifier: Apache-2.0
#include "contract/check_text.h"

#include "acl/settings/configuration.h"
#include "base/data_type.h"

namespace portacl::check_text {

Text Start(const OperatorCall& call) { return Text(call.api, ": "); }

Text& AddName(Text& text, const OperatorCall& call, int tensor, int entry) {
  text.Add(call.Name(tensor));
  if (call.IsList(tensor)) text.Add('[').Add(entry).Add(']');
  return text;
}

Text& AddTensorShape(Text& text, const OperatorCall& call, int tensor, int entry) {
  AddName(text, call, tensor, entry).Add(" with shape ");
  AddShape(text, call.Entry(tensor, entry)->shape);
  return text;
}

Text& AddTensorDtype(Text& text, const OperatorCall& call, int tensor, int entry) {
  AddName(text, call, tensor, entry).Add(" with dtype ");
  AddDtypeName(text, call.Entry(tensor, entry)->dtype);
  return text;
}

Text& AddScalarDtype(Text& text, const OperatorCall& call, int attribute) {
  const Attribute& named = call.attributes[static_cast<size_t>(attribute)];
  text.Add(named.name).Add(" with dtype ");
  AddDtypeName(text, named.scalar->dtype);
  return text;
}

bool IsScalarGiven(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].scalar != nullptr;
}

Text& AddDtypes(Text& text, const OperatorCall& call, const Check& check) {
  const char* separator = "";
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor)) continue;
    AddTensorDtype(text.Add(separator), call, tensor);
    separator = ", ";
  }
  for (int attribute : check.attributes) {
    if (!IsScalarGiven(call, attribute)) continue;
    AddScalarDtype(text.Add(separator), call, attribute);
    separator = ", ";
  }
  return text;
}

DtypeSet AcceptedBy(const Check& check, const OperatorCall& call) {
  return check.rule != nullptr ? check.rule->For(call.product) : check.dtypes;
}

void AddProductNote(Text& text, const OperatorCall& call) {
  if (call.product == Product::kNoDevice) {
    text.Add(" (no device is set on this thread: aclrtSetDevice first)");
  } else {
    text.Add(" on ").Add(CurrentConfiguration().soc->line);
  }
}

Text& AddTensorFormat(Text& text, const OperatorCall& call, int tensor) {
  text.Add(call.Name(tensor)).Add(" with format ");
  AddFormatName(text, call.Tensor(tensor).format);
  return text;
}

}  // namespace portacl::check_text
