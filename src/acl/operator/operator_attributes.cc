// Attributes of operators: set by name, kept, and printed (acl_op.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/operator/operator_attributes.h"

#include <new>
#include <utility>

#include "acl/acl_op.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

void AddValue(Text& text, bool value) { text.Add(value); }
void AddValue(Text& text, int64_t value) { text.Add(value); }
void AddValue(Text& text, float value) { text.Add(value); }
void AddValue(Text& text, aclDataType value) { AddDtypeName(text, value); }
void AddValue(Text& text, const std::string& value) { text.Add('"').Add(value).Add('"'); }

template <class Element>
void AddValue(Text& text, const std::vector<Element>& values) {
  text.Add('[');
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text.Add(", ");
    AddValue(text, static_cast<const Element&>(values[i]));
  }
  text.Add(']');
}

// Stores the result of `make`, which may throw.
template <class Make>
aclError Set(const char* api, aclopAttr* attr, const char* name, Make make) noexcept {
  if (attr == nullptr) return FailNullPointer(api, "attr", "a set of attributes from aclopCreateAttr");
  if (name == nullptr) return FailNullPointer(api, "attrName", "the name of an attribute");
  try {
    AttributeValue value = make();
    attr->values.insert_or_assign(name, std::move(value));
    return ACL_SUCCESS;
  } catch (...) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text(api, ": not enough memory."));
  }
}

aclError CheckList(const char* api, const char* count_name, int count, const char* list_name,
                   const void* list) noexcept {
  if (count < 0) return FailValue(api, count_name, count, "0 or a positive number", ACL_ERROR_INVALID_PARAM);
  if (count > 0 && list == nullptr) return FailNullPointer(api, list_name, "an array of that many values");
  return ACL_SUCCESS;
}

template <class Element, class Given>
aclError SetList(const char* api, aclopAttr* attr, const char* name, int count,
                 const Given* values) noexcept {
  if (aclError status = CheckList(api, "numValues", count, "values", values)) return status;
  return Set(api, attr, name, [&] {
    std::vector<Element> list;
    list.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) list.push_back(static_cast<Element>(values[i]));
    return list;
  });
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): see the header
void AddAttributes(Text& text, const std::map<std::string, AttributeValue>& attributes) noexcept {
  bool first = true;
  for (const auto& [name, value] : attributes) {
    if (!first) text.Add(", ");
    first = false;
    text.Add(name).Add('=');
    std::visit([&](const auto& known) { AddValue(text, known); }, value);
  }
}

}  // namespace portacl

using namespace portacl;

aclopAttr* aclopCreateAttr(void) {
  auto* const created = new (std::nothrow) aclopAttr;
  if (created == nullptr) {
    Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text("aclopCreateAttr: not enough memory."));
  }
  return created;
}

void aclopDestroyAttr(const aclopAttr* attr) { delete attr; }

aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue) {
  return Set("aclopSetAttrBool", attr, attrName, [&] { return attrValue != 0; });
}

aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue) {
  return Set("aclopSetAttrInt", attr, attrName, [&] { return attrValue; });
}

aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue) {
  return Set("aclopSetAttrFloat", attr, attrName, [&] { return attrValue; });
}

aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue) {
  const char* const api = "aclopSetAttrString";
  if (attrValue == nullptr) return FailNullPointer(api, "attrValue", "a text");
  return Set(api, attr, attrName, [&] { return std::string(attrValue); });
}

aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue) {
  return Set("aclopSetAttrDataType", attr, attrName, [&] { return attrValue; });
}

aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues, const uint8_t* values) {
  return SetList<bool>("aclopSetAttrListBool", attr, attrName, numValues, values);
}

aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues, const int64_t* values) {
  return SetList<int64_t>("aclopSetAttrListInt", attr, attrName, numValues, values);
}

aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues, const float* values) {
  return SetList<float>("aclopSetAttrListFloat", attr, attrName, numValues, values);
}

aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues,
                                  const aclDataType values[]) {
  return SetList<aclDataType>("aclopSetAttrListDataType", attr, attrName, numValues, values);
}

aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName, int numValues, const char** values) {
  const char* const api = "aclopSetAttrListString";
  if (aclError status = CheckList(api, "numValues", numValues, "values", values)) return status;
  for (int i = 0; i < numValues; ++i) {
    if (values[i] == nullptr) return FailNullPointer(api, "values[i]", "a text");
  }
  return SetList<std::string>(api, attr, attrName, numValues, values);
}

aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists, const int* numValues,
                                 const int64_t* const values[]) {
  const char* const api = "aclopSetAttrListListInt";
  if (aclError status = CheckList(api, "numLists", numLists, "numValues", numValues)) return status;
  if (aclError status = CheckList(api, "numLists", numLists, "values", values)) return status;
  for (int i = 0; i < numLists; ++i) {
    if (aclError status = CheckList(api, "numValues[i]", numValues[i], "values[i]", values[i])) return status;
  }
  return Set(api, attr, attrName, [&] {
    std::vector<std::vector<int64_t>> lists;
    for (int i = 0; i < numLists; ++i) lists.emplace_back(values[i], values[i] + numValues[i]);
    return lists;
  });
}
