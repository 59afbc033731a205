// Tensors, values of inputs and attributes of a call by type name (see named_arguments.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclop/named_arguments.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>

#include "acl/queue/stream.h"
#include "base/data_type.h"
#include "base/held_failure.h"
#include "base/sanitizer_hooks.h"

namespace portacl {
namespace {

template <class T>
T Load(const unsigned char* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Returns false for a dtype that is no real number of whole bytes.
bool LoadNumber(aclDataType dtype, const unsigned char* from, double* number) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
      *number = Load<float>(from);
      return true;
    case ACL_DOUBLE:
      *number = Load<double>(from);
      return true;
    case ACL_FLOAT16:
      *number = aclFloat16ToFloat(Load<aclFloat16>(from));
      return true;
    case ACL_BF16: {
      const uint32_t bits = static_cast<uint32_t>(Load<uint16_t>(from)) << 16;
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      *number = value;
      return true;
    }
    case ACL_INT32:
      *number = Load<int32_t>(from);
      return true;
    case ACL_INT64:
      *number = static_cast<double>(Load<int64_t>(from));
      return true;
    default:
      return false;
  }
}

}  // namespace

// ---- arguments ----

NamedArguments::~NamedArguments() {
  for (aclTensorList* list : lists_) aclDestroyTensorList(list);  // destroys the tensors in it, too
  for (aclTensor* tensor : tensors_) aclDestroyTensor(tensor);
  for (aclIntArray* array : arrays_) aclDestroyIntArray(array);
  for (aclBoolArray* array : flags_) aclDestroyBoolArray(array);
  for (aclScalar* scalar : scalars_) aclDestroyScalar(scalar);
}

void NamedArguments::Refuse(const Text& why) { throw Stop{FailNamed(call_, why)}; }

void NamedArguments::RefuseMissing(const char* name) { Refuse(Text("needs the attribute ", name)); }

aclTensor* NamedArguments::Make(const NamedView& view) {
  const aclDataBuffer* const buffer = view.operands_->buffers[view.index_];
  const size_t bits = StorageBits(view.dtype());
  const size_t room = aclGetDataBufferSizeV2(buffer);
  const size_t elements = bits < 8 ? room * (8 / bits) : room / (bits / 8);
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int64_t>::max());
  const auto storage = static_cast<int64_t>(std::min(elements, kMost));
  void* address = aclGetDataBufferAddr(buffer);
  if (view.operands_->descriptions[view.index_]->placement != ACL_MEMTYPE_DEVICE && room > 0)
    address = CopyToDevice(address, room);
  tensors_.reserve(tensors_.size() + 1);
  aclTensor* const tensor =
      aclCreateTensor(view.dims_.data(), view.dims_.size(), view.dtype(), view.strides_.data(), view.offset_,
                      view.format_, &storage, 1, address);
  if (tensor == nullptr) throw std::bad_alloc();
  tensors_.push_back(tensor);
  return tensor;
}

const aclTensorDesc& NamedArguments::Input(int index) {
  if (index >= call_.inputs.count)
    Refuse(Text("needs inputs[", index, "], and has ", call_.inputs.count, " inputs"));
  return *call_.inputs.descriptions[index];
}

NamedView NamedArguments::In(int index) {
  Input(index);
  return NamedView(*this, call_.inputs, index);
}

NamedView NamedArguments::Out(int index) { return NamedView(*this, call_.outputs, index); }

NamedView NamedArguments::InPlace(int index) {
  if (aclGetDataBufferAddr(call_.inputs.buffers[index]) != aclGetDataBufferAddr(call_.outputs.buffers[index]))
    Refuse(Text("has outputs[", index, "] elsewhere than inputs[", index,
                "], accepted: one address, since it writes in place"));
  return Out(index);
}

aclTensor* NamedArguments::MaybeIn(int index) {
  // A client gives an operand of no dtype for an input that it leaves out.
  if (index >= call_.inputs.count || call_.inputs.descriptions[index]->dtype == ACL_DT_UNDEFINED)
    return nullptr;
  return In(index);
}

aclTensorList* NamedArguments::AllInputs() {
  std::vector<aclTensor*> all;
  for (int i = 0; i < call_.inputs.count; ++i) all.push_back(In(i));
  lists_.reserve(lists_.size() + 1);
  aclTensorList* const list = aclCreateTensorList(all.data(), all.size());
  if (list == nullptr) throw std::bad_alloc();
  lists_.push_back(list);
  tensors_.resize(tensors_.size() - all.size());  // the list owns them
  return list;
}

void* NamedArguments::Memory(size_t bytes) {
  void* const block = memory_.Take(bytes);
  if (block != nullptr) return block;
  throw Stop{FailCall(call_, ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                      Text(call_.api, ": operator ", call_.type, " needs ", bytes,
                           " bytes of device memory until it is done, more than are free."))};
}

void* NamedArguments::CopyToDevice(const void* from, size_t bytes) {
  void* const copy = Memory(bytes);
  std::memcpy(sanitizer::Working(copy), from, bytes);
  if (sanitizer::IsOn(sanitizer::kInit)) sanitizer::hooks->MarkWritten(copy, bytes);
  return copy;
}

aclTensor* NamedArguments::Unread(const NamedView& like, aclDataType dtype) {
  int64_t count = 0;
  size_t bytes = 0;
  if (!CountElements(like.dims_, &count) || !CountBytes(dtype, static_cast<size_t>(count), &bytes))
    Refuse(Text("needs more memory than there is"));
  void* const block = bytes == 0 ? nullptr : Memory(bytes);
  tensors_.reserve(tensors_.size() + 1);
  aclTensor* const tensor = aclCreateTensor(like.dims_.data(), like.dims_.size(), dtype, nullptr, 0,
                                            ACL_FORMAT_ND, like.dims_.data(), like.dims_.size(), block);
  if (tensor == nullptr) throw std::bad_alloc();
  tensors_.push_back(tensor);
  return tensor;
}

// ---- values of inputs ----

void NamedArguments::Wait() {
  if (has_waited_) return;
  Text why;
  aclError status = ACL_SUCCESS;
  {
    HeldFailure held;
    status = SynchronizeStream(call_.api, *queue_.stream, queue_.handle, kForever);
    if (status != ACL_SUCCESS) why = held.Take();
  }
  if (status != ACL_SUCCESS) throw Stop{FailCall(call_, status, MessageClass::kAclInner, why)};
  has_waited_ = true;
}

const unsigned char* NamedArguments::Values(int index, size_t* count) {
  const aclTensorDesc& description = Input(index);
  size_t bytes = 0;
  if (!CountElements(description, count) || !CountBytes(description.dtype, *count, &bytes)) {
    Text text("has as inputDesc[");
    AddDescription(text.Add(index).Add("] "), description);
    Refuse(text.Add(", accepted: dims that are known and a type whose elements have a size"));
  }
  Require(CheckRoom(call_, call_.inputs, index, bytes));
  if (description.placement == ACL_MEMTYPE_DEVICE && bytes > 0) Wait();
  return static_cast<const unsigned char*>(
      sanitizer::Working(aclGetDataBufferAddr(call_.inputs.buffers[index])));
}

Dims NamedArguments::Ints(int index) {
  size_t count = 0;
  const aclTensorDesc& description = Input(index);
  const bool is_wide = description.dtype == ACL_INT64;
  if ((!is_wide && description.dtype != ACL_INT32) || description.dims.size() > 2) {
    Text text("has as inputDesc[");
    AddDescription(text.Add(index).Add("] "), description);
    Refuse(text.Add(", accepted: a list of DT_INT64 or DT_INT32"));
  }
  const unsigned char* const from = Values(index, &count);
  Dims values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(is_wide ? Load<int64_t>(from + i * 8) : Load<int32_t>(from + i * 4));
  return values;
}

int64_t NamedArguments::Int(int index) {
  const Dims values = Ints(index);
  if (values.size() != 1)
    Refuse(Text("has ", values.size(), " numbers in inputs[", index, "], accepted: one"));
  return values[0];
}

double NamedArguments::Number(int index) {
  size_t count = 0;
  const unsigned char* const from = Values(index, &count);
  double number = 0;
  if (count != 1 || !LoadNumber(Input(index).dtype, from, &number)) {
    Text text("has as inputDesc[");
    AddDescription(text.Add(index).Add("] "), Input(index));
    Refuse(text.Add(", accepted: one real number"));
  }
  return number;
}

aclScalar* NamedArguments::Scalar(int index) {
  size_t count = 0;
  const unsigned char* const from = Values(index, &count);
  if (count != 1) {
    Text text("has as inputDesc[");
    AddDescription(text.Add(index).Add("] "), Input(index));
    Refuse(text.Add(", accepted: one number"));
  }
  alignas(16) unsigned char value[16] = {};
  std::memcpy(value, from, std::min<size_t>(sizeof value, StorageBits(Input(index).dtype) / 8));
  scalars_.reserve(scalars_.size() + 1);
  aclScalar* scalar = nullptr;
  {
    HeldFailure held;
    scalar = aclCreateScalar(value, Input(index).dtype);
    held.Take();
  }
  if (scalar == nullptr) {
    Text text("has as inputDesc[");
    AddDescription(text.Add(index).Add("] "), Input(index));
    Refuse(text.Add(", accepted: a number of whole bytes"));
  }
  scalars_.push_back(scalar);
  return scalar;
}

// ---- attributes ----

const AttributeValue* NamedArguments::Find(const char* name) {
  asked_.insert(name);
  if (call_.attributes == nullptr) return nullptr;
  const auto found = call_.attributes->values.find(name);
  return found == call_.attributes->values.end() ? nullptr : &found->second;
}

template <class Value>
const Value* NamedArguments::FindAs(const char* name, const char* accepted) {
  const AttributeValue* const found = Find(name);
  if (found == nullptr) return nullptr;
  if (const auto* const value = std::get_if<Value>(found)) return value;
  Text text("has the attribute ");
  AddAttributes(text, {{name, *found}});
  Refuse(text.Add(", accepted: ").Add(accepted));
}

bool NamedArguments::Flag(const char* name, bool otherwise) {
  const auto* const value = FindAs<bool>(name, "a bool");
  return value == nullptr ? otherwise : *value;
}

int64_t NamedArguments::Int(const char* name, int64_t otherwise) {
  const AttributeValue* const found = Find(name);
  // Some clients pass a dtype as an integer attribute, others as a dtype attribute.
  if (found != nullptr && std::holds_alternative<aclDataType>(*found))
    return static_cast<int64_t>(std::get<aclDataType>(*found));
  const auto* const value = FindAs<int64_t>(name, "an integer");
  return value == nullptr ? otherwise : *value;
}

int64_t NamedArguments::Int(const char* name) {
  if (Find(name) == nullptr) RefuseMissing(name);
  return Int(name, 0);
}

int NamedArguments::ShortInt(int64_t value, const char* what) {
  if (value == static_cast<int>(value)) return static_cast<int>(value);
  Refuse(Text("has the ", what, " ", value, ", accepted: numbers of 32 bits"));
}

double NamedArguments::Number(const char* name, double otherwise) {
  const auto* const value = FindAs<float>(name, "a float");
  return value == nullptr ? otherwise : static_cast<double>(*value);
}

double NamedArguments::Number(const char* name) {
  if (Find(name) == nullptr) RefuseMissing(name);
  return Number(name, 0);
}

Dims NamedArguments::Ints(const char* name, const Dims& otherwise) {
  const auto* const values = FindAs<std::vector<int64_t>>(name, "a list of integers");
  return values == nullptr ? otherwise : *values;
}

Dims NamedArguments::Ints(const char* name) {
  if (Find(name) == nullptr) RefuseMissing(name);
  return Ints(name, {});
}

int NamedArguments::Choice(const char* name, std::initializer_list<std::string_view> accepted) {
  const auto* const value = FindAs<std::string>(name, "a text");
  if (value == nullptr) return 0;
  int index = 0;
  for (const std::string_view one : accepted) {
    if (*value == one) return index;
    ++index;
  }
  Text text("has the attribute ");
  text.Add(name).Add("=\"").Add(std::string_view(*value)).Add("\", accepted: ");
  index = 0;
  for (const std::string_view one : accepted) text.Add(index++ == 0 ? "" : ", ").Add(one);
  Refuse(text);
}

NamedArguments& NamedArguments::Only(const char* name, int64_t accepted) {
  const int64_t value = Int(name, accepted);
  if (value == accepted) return *this;
  Refuse(Text("has the attribute ", name, "=", value, ", accepted: ", accepted));
}

NamedArguments& NamedArguments::Only(const char* name, bool accepted) {
  const bool value = Flag(name, accepted);
  if (value == accepted) return *this;
  Refuse(Text("has the attribute ", name, "=", value, ", accepted: ", accepted));
}

NamedArguments& NamedArguments::Only(const char* name, const char* accepted) {
  Choice(name, {accepted});
  return *this;
}

NamedArguments& NamedArguments::OnlyNumber(const char* name, double accepted) {
  const double value = Number(name, accepted);
  if (value == accepted) return *this;
  Refuse(Text("has the attribute ", name, "=", static_cast<float>(value),
              ", accepted: ", static_cast<float>(accepted)));
}

void NamedArguments::CheckAttributes() {
  if (call_.attributes == nullptr) return;
  for (const auto& [name, value] : call_.attributes->values) {
    if (name.starts_with('_') || asked_.count(name) > 0) continue;
    Text text("has the attribute ");
    AddAttributes(text, {{name, value}});
    text.Add(", accepted: ");
    bool is_first = true;
    for (const std::string_view known : asked_) {
      text.Add(is_first ? "" : ", ").Add(known);
      is_first = false;
    }
    Refuse(asked_.empty() ? text.Add("none") : text);
  }
}

// ---- convolutions and windows ----

size_t NamedArguments::SpatialDims(int rank) {
  if (rank == 4 || rank == 5) return static_cast<size_t>(rank) - 2;
  Refuse(Text("has images of ", rank, " dims, accepted: 4, of the layout NCHW, or 5, of NCDHW"));
}

Dims NamedArguments::Spatial(const char* name, int64_t first, int rank) {
  SpatialDims(rank);
  Only("data_format", rank == 4 ? "NCHW" : "NCDHW");
  Only("offset_x", int64_t{0});
  const Dims values = Ints(name, Dims(static_cast<size_t>(rank), first));
  if (values.size() != static_cast<size_t>(rank) || values[0] != first || values[1] != first) {
    Text text("has the attribute ");
    text.Add(name).Add("=");
    AddDims(text, values);
    Refuse(text.Add(", accepted: ").Add(rank).Add(" numbers, of which the first two are ").Add(first));
  }
  return Dims(values.begin() + 2, values.end());
}

Dims NamedArguments::Pads(int rank) {
  const size_t spatial = SpatialDims(rank);
  const Dims pads = Ints("pads");
  if (pads.size() != 2 * spatial) {
    Text text("has the attribute pads=");
    AddDims(text, pads);
    Refuse(text.Add(", accepted: two numbers for each of ").Add(spatial).Add(" dims"));
  }
  Dims one_each;
  for (size_t i = 0; i < spatial; ++i) {
    if (pads[2 * i] == pads[2 * i + 1]) {
      one_each.push_back(pads[2 * i]);
    } else if (spatial == 2) {
      return pads;
    } else {
      Text text("has the attribute pads=");
      AddDims(text, pads);
      Refuse(text.Add(", accepted: as much behind each of three dims as before it"));
    }
  }
  return one_each;
}

// ---- more ----

Dims NamedArguments::Axes(int index) {
  Dims axes = Ints(index);
  if (axes.empty()) Refuse(Text("has no axes in inputs[", index, "], accepted: at least one"));
  return axes;
}

int64_t NamedArguments::OnlyAxis(const char* name) {
  const Dims axes = Ints(name, {-1});
  if (axes.size() != 1) Refuse(Text("has ", axes.size(), " numbers in ", name, ", accepted: one"));
  return axes[0];
}

Dims NamedArguments::Borders(int index, int rank) {
  const Dims given = Ints(index);
  if (given.size() != 2 * static_cast<size_t>(rank)) {
    Refuse(Text("has ", given.size(), " lengths in inputs[", index, "], accepted: two for each of ", rank,
                " dims"));
  }
  Dims borders;
  for (size_t dim = static_cast<size_t>(rank); dim > 0; --dim) {
    borders.push_back(given[2 * dim - 2]);
    borders.push_back(given[2 * dim - 1]);
  }
  return borders;
}

NamedView NamedArguments::Confused() {
  const Dims order = Ints("perm");
  const Dims shape = Ints("shape");
  if (!Flag("transpose_first", false)) return In(0).As(shape).Permuted(order);
  int64_t count = 0;
  int64_t wanted = 0;
  if (!CountElements(In(0).dims(), &count) || !CountElements(shape, &wanted) || count != wanted) {
    Text text("has the attribute shape=");
    AddDims(text, shape);
    AddDims(text.Add(", accepted: dims of as many elements as "), In(0).dims());
    Refuse(text);
  }
  return In(0).Permuted(order);
}

bool NamedArguments::CornersAligned() {
  const bool aligned = Flag("align_corners", false);
  if (aligned == Flag("half_pixel_centers", false)) {
    Refuse(Text("has align_corners=", aligned, " and half_pixel_centers=", aligned,
                ", accepted: one of them true"));
  }
  return aligned;
}

// ---- for native functions ----

aclIntArray* NamedArguments::Array(const Dims& values) {
  arrays_.reserve(arrays_.size() + 1);
  aclIntArray* const array = aclCreateIntArray(values.data(), values.size());
  if (array == nullptr) throw std::bad_alloc();
  arrays_.push_back(array);
  return array;
}

aclBoolArray* NamedArguments::Flags(std::initializer_list<bool> values) {
  flags_.reserve(flags_.size() + 1);
  aclBoolArray* const array = aclCreateBoolArray(values.begin(), values.size());
  if (array == nullptr) throw std::bad_alloc();
  flags_.push_back(array);
  return array;
}

aclScalar* NamedArguments::Real(double value) {
  auto number = static_cast<float>(value);
  scalars_.reserve(scalars_.size() + 1);
  aclScalar* const scalar = aclCreateScalar(&number, ACL_FLOAT);
  if (scalar == nullptr) throw std::bad_alloc();
  scalars_.push_back(scalar);
  return scalar;
}

aclScalar* NamedArguments::Whole(int64_t value) {
  scalars_.reserve(scalars_.size() + 1);
  aclScalar* const scalar = aclCreateScalar(&value, ACL_INT64);
  if (scalar == nullptr) throw std::bad_alloc();
  scalars_.push_back(scalar);
  return scalar;
}

}  // namespace portacl
