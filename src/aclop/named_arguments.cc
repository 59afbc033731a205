// Views of operands, values of inputs and attributes of a call by type name (see named_arguments.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclop/named_arguments.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>

#include "acl/acl_rt.h"
#include "aclnn/tensor.h"
#include "base/data_type.h"
#include "base/latest_message.h"
#include "base/sanitizer_hooks.h"
#include "plan/shape.h"

namespace portacl {
namespace {

Text& AddDims(Text& text, const Dims& dims) {
  text.Add('[');
  for (size_t i = 0; i < dims.size(); ++i) text.Add(i == 0 ? "" : ", ").Add(dims[i]);
  return text.Add(']');
}

// Returns false where the number overflows. Dims are not negative.
bool Count(const Dims& dims, int64_t* count) noexcept {
  *count = 1;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) {
    *count = 0;
    return true;
  }
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(*count, dim, count)) return false;
  }
  return true;
}

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

bool IsOnHost(const aclTensorDesc& description) noexcept {
  return description.placement != ACL_MEMTYPE_DEVICE;
}

}  // namespace

// ---- views ----

NamedView::NamedView(NamedArguments& arguments, const NamedOperands& operands, int index)
    : arguments_(&arguments), operands_(&operands), index_(index) {
  const aclTensorDesc& description = *operands.descriptions[index];
  dims_ = description.dims;
  const auto refuse = [&](const char* what) {
    Text text("has as ");
    text.Add(operands.descriptions_name).Add('[').Add(index).Add("] ");
    AddDescription(text, description);
    arguments.Refuse(text.Add(what));
  };
  size_t elements = 0;
  size_t bytes = 0;
  if (dims_.size() > kFewDims) refuse(", accepted: at most 8 dims");
  if (!CountElements(description, &elements)) refuse(", accepted: dims that are known");
  if (!CountBytes(description.dtype, elements, &bytes))
    refuse(", accepted: a type whose elements have a size");
  if (IsOnHost(description)) refuse(" in host memory, accepted: device memory");
  arguments.Require(CheckRoom(arguments.call_, operands, index, bytes));
  strides_ = RowMajor(dims_);
}

NamedView::operator aclTensor*() const { return arguments_->Make(*this); }

aclDataType NamedView::dtype() const noexcept { return operands_->descriptions[index_]->dtype; }

Dims NamedView::RowMajor(const Dims& dims) const {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * std::max<int64_t>(dims[i - 1], 1);
  return strides;
}

int NamedView::Axis(int64_t axis) const {
  const int64_t rank = std::max<int64_t>(static_cast<int64_t>(dims_.size()), 1);
  if (axis < -rank || axis >= rank)
    arguments_->Refuse(Text("has the axis ", axis, ", accepted: ", -rank, " to ", rank - 1));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

NamedView NamedView::As(const Dims& dims) const {
  int64_t had = 0;
  int64_t has = 0;
  if (dims.size() > kFewDims || !Count(dims_, &had) || !Count(dims, &has) || had != has) {
    Text text("takes ");
    AddDims(text, dims_);
    AddDims(text.Add(" for the dims "), dims);
    arguments_->Refuse(text.Add(", accepted: dims of as many elements, at most 8"));
  }
  NamedView view(*this);
  view.dims_ = dims;
  view.strides_ = RowMajor(dims);
  return view;
}

NamedView NamedView::Widened(int64_t axis, const NamedView& like) const {
  if (rank() == like.rank()) return *this;
  Dims dims = dims_;
  const auto at = std::min<size_t>(static_cast<size_t>(like.Axis(axis)), dims.size());
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(at), 1);
  return As(dims);
}

NamedView NamedView::Permuted(const Dims& order) const {
  NamedView view(*this);
  std::vector<bool> taken(dims_.size(), false);
  bool is_order = order.size() == dims_.size();
  for (size_t i = 0; is_order && i < order.size(); ++i) {
    const int64_t from = order[i] < 0 ? order[i] + rank() : order[i];
    is_order = from >= 0 && from < rank() && !taken[static_cast<size_t>(from)];
    if (!is_order) break;
    taken[static_cast<size_t>(from)] = true;
    view.dims_[i] = dims_[static_cast<size_t>(from)];
    view.strides_[i] = strides_[static_cast<size_t>(from)];
  }
  if (!is_order) {
    Text text("has the order ");
    AddDims(text, order);
    AddDims(text.Add(", accepted: each dim once of "), dims_);
    arguments_->Refuse(text);
  }
  return view;
}

NamedView NamedView::Transposed(bool transposes) const {
  if (!transposes) return *this;
  if (rank() < 2) {
    Text text("transposes a matrix of the dims ");
    AddDims(text, dims_);
    arguments_->Refuse(text.Add(", accepted: at least two"));
  }
  NamedView view(*this);
  std::swap(view.dims_[dims_.size() - 1], view.dims_[dims_.size() - 2]);
  std::swap(view.strides_[dims_.size() - 1], view.strides_[dims_.size() - 2]);
  return view;
}

NamedView NamedView::Strided(const Dims& dims, const Dims& strides, int64_t offset) const {
  const uint32_t bits = StorageBits(dtype());
  const size_t room = aclGetDataBufferSizeV2(operands_->buffers[index_]);
  int64_t last = offset;
  int64_t count = 0;
  bool fits = dims.size() == strides.size() && dims.size() <= kFewDims && offset >= 0 &&
              Count(dims, &count) && bits % 8 == 0;
  for (size_t i = 0; fits && count > 0 && i < dims.size(); ++i) {
    int64_t reach = 0;
    fits = strides[i] >= 0 && !__builtin_mul_overflow(dims[i] - 1, strides[i], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  if (!fits || (count > 0 && static_cast<uint64_t>(last) >= room / (bits / 8))) {
    Text text("has a view of the dims ");
    AddDims(text, dims);
    AddDims(text.Add(", the strides "), strides);
    text.Add(" and the offset ").Add(offset).Add(" of ").Add(operands_->buffers_name).Add('[').Add(index_);
    arguments_->Refuse(text.Add("], accepted: one inside its data buffer, which has the size ").Add(room));
  }
  NamedView view(*this);
  view.dims_ = dims;
  view.strides_ = strides;
  view.offset_ = offset;
  return view;
}

NamedView NamedView::Part(const Dims& begin, const Dims& lengths) const {
  bool fits = begin.size() == dims_.size() && lengths.size() == dims_.size();
  NamedView view(*this);
  for (size_t i = 0; fits && i < dims_.size(); ++i) {
    fits = begin[i] >= 0 && begin[i] <= dims_[i] && lengths[i] >= -1 && lengths[i] <= dims_[i] - begin[i];
    view.dims_[i] = fits && lengths[i] == -1 ? dims_[i] - begin[i] : lengths[i];
    view.offset_ += begin[i] * strides_[i];
  }
  if (!fits) {
    Text text("cuts out ");
    AddDims(text, lengths);
    AddDims(text.Add(" from "), begin);
    AddDims(text.Add(" on of the dims "), dims_);
    arguments_->Refuse(text.Add(", accepted: a begin and a length inside each dim, or -1 for its rest"));
  }
  int64_t count = 0;
  if (Count(view.dims_, &count) && count == 0) view.offset_ = 0;
  return view;
}

NamedView NamedView::Sliced(const Dims& begin, const Dims& end, const Dims& steps) const {
  NamedArguments& call = *arguments_;
  const auto mask = [&](const char* name) { return static_cast<uint64_t>(call.Int(name, 0)); };
  const uint64_t begin_mask = mask("begin_mask");
  const uint64_t end_mask = mask("end_mask");
  const uint64_t ellipsis_mask = mask("ellipsis_mask");
  const uint64_t new_axis_mask = mask("new_axis_mask");
  const uint64_t shrink_axis_mask = mask("shrink_axis_mask");
  const size_t entries = begin.size();
  const auto has = [](uint64_t bits, size_t entry) { return (bits >> entry & 1) != 0; };
  size_t taken = 0;  // entries that stand for a dim
  size_t ellipses = 0;
  for (size_t i = 0; i < entries; ++i) {
    if (has(ellipsis_mask, i)) {
      ++ellipses;
    } else if (!has(new_axis_mask, i)) {
      ++taken;
    }
  }
  if (entries > 64 || end.size() != entries || steps.size() != entries || ellipses > 1 ||
      taken > dims_.size())
    call.Refuse(
        Text("slices ", dims_.size(), " dims by ", entries,
             " entries, accepted: begin, end and strides of one length, one for each dim, with at most "
             "one ellipsis"));
  NamedView view(*this);
  view.dims_.clear();
  view.strides_.clear();
  size_t dim = 0;
  const auto keep_whole = [&] {
    view.dims_.push_back(dims_[dim]);
    view.strides_.push_back(strides_[dim]);
    ++dim;
  };
  for (size_t i = 0; i < entries; ++i) {
    if (has(ellipsis_mask, i)) {
      for (size_t missing = dims_.size() - taken; missing > 0; --missing) keep_whole();
      continue;
    }
    if (has(new_axis_mask, i)) {
      view.dims_.push_back(1);
      view.strides_.push_back(1);
      continue;
    }
    const int64_t length = dims_[dim];
    const auto counted = [&](int64_t place) { return place < 0 ? place + length : place; };
    if (has(shrink_axis_mask, i)) {
      const int64_t place = counted(begin[i]);
      if (place < 0 || place >= length)
        call.Refuse(Text("takes the element ", begin[i], " of a dim of ", length));
      view.offset_ += place * strides_[dim];
    } else {
      if (steps[i] <= 0) call.Refuse(Text("slices with the stride ", steps[i], ", accepted: 1 and more"));
      const int64_t from = has(begin_mask, i) ? 0 : std::clamp<int64_t>(counted(begin[i]), 0, length);
      const int64_t to = has(end_mask, i) ? length : std::clamp<int64_t>(counted(end[i]), 0, length);
      const int64_t left = std::max<int64_t>(to - from, 0);
      const int64_t count = left / steps[i] + (left % steps[i] != 0 ? 1 : 0);
      view.dims_.push_back(count);
      view.strides_.push_back(count > 1 ? strides_[dim] * steps[i] : strides_[dim]);
      if (count > 0) view.offset_ += from * strides_[dim];
    }
    ++dim;
  }
  while (dim < dims_.size()) keep_whole();
  int64_t count = 0;
  if (Count(view.dims_, &count) && count == 0) view.offset_ = 0;
  return view;
}

NamedView NamedView::Like(const NamedView& other) const {
  if (dtype() == other.dtype()) return Of(other.dims_);
  Text text("makes ");
  AddDtypeName(text, other.dtype());
  AddDtypeName(text.Add(" of "), dtype());
  arguments_->Refuse(text.Add(", accepted: one type"));
}

NamedView NamedView::Of(const Dims& dims) const {
  if (dims_ == dims) return *this;
  Text text("has the dims ");
  AddDims(text, dims);
  AddDims(text.Add(" where its operands say "), dims_);
  arguments_->Refuse(text);
}

NamedView NamedView::Images() const {
  NamedView view(*this);
  if (rank() == 4) view.format_ = ACL_FORMAT_NCHW;
  if (rank() == 5) view.format_ = ACL_FORMAT_NCDHW;
  return view;
}

int NamedView::Channels() const {
  const int64_t channels = rank() < 2 ? 0 : dims_[1];
  if (channels <= 0 || channels > std::numeric_limits<int>::max()) {
    Text text("has images of the dims ");
    AddDims(text, dims_);
    arguments_->Refuse(text.Add(", accepted: dims of which the second are channels"));
  }
  return static_cast<int>(channels);
}

NamedView NamedView::OfGroups() const {
  if (rank() == 4 && dims_[0] == 1) return As({dims_[1], 1, dims_[2], dims_[3]}).Images();
  Text text("has a depthwise filter of the dims ");
  AddDims(text, dims_);
  arguments_->Refuse(text.Add(", accepted: 4, of which the first is 1"));
}

Dims NamedView::From(int64_t axis) const { return Dims(dims_.begin() + Axis(axis), dims_.end()); }

// ---- arguments ----

NamedArguments::~NamedArguments() {
  for (aclTensorList* list : lists_) aclDestroyTensorList(list);  // destroys the tensors in it, too
  for (aclTensor* tensor : tensors_) aclDestroyTensor(tensor);
  for (aclIntArray* array : arrays_) aclDestroyIntArray(array);
  for (aclBoolArray* array : flags_) aclDestroyBoolArray(array);
  for (aclScalar* scalar : scalars_) aclDestroyScalar(scalar);
  for (void* block : memory_) aclrtFree(block);
}

void NamedArguments::Refuse(const Text& why) { throw Stop{FailNamed(call_, why)}; }

void NamedArguments::RefuseMissing(const char* name) { Refuse(Text("needs the attribute ", name)); }

aclTensor* NamedArguments::Make(const NamedView& view) {
  const aclDataBuffer* const buffer = view.operands_->buffers[view.index_];
  const uint32_t bits = StorageBits(view.dtype());
  const auto storage = static_cast<int64_t>(aclGetDataBufferSizeV2(buffer) * 8 / bits);
  tensors_.reserve(tensors_.size() + 1);
  aclTensor* const tensor =
      aclCreateTensor(view.dims_.data(), view.dims_.size(), view.dtype(), view.strides_.data(), view.offset_,
                      view.format_, &storage, 1, aclGetDataBufferAddr(buffer));
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

NamedView NamedArguments::InPlace() {
  if (aclGetDataBufferAddr(call_.inputs.buffers[0]) != aclGetDataBufferAddr(call_.outputs.buffers[0]))
    Refuse(Text("has outputs[0] elsewhere than inputs[0], accepted: one address, since it writes in place"));
  return Out(0);
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
  memory_.reserve(memory_.size() + 1);
  void* block = nullptr;
  if (aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
    const Text message = TakeLatestMessage();
    throw Stop{FailCall(call_, ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                        Text(call_.api, ": operator ", call_.type, " needs memory: ", message.view()))};
  }
  memory_.push_back(block);
  return block;
}

aclTensor* NamedArguments::Unread(const NamedView& like, aclDataType dtype) {
  int64_t count = 0;
  size_t bytes = 0;
  if (!Count(like.dims_, &count) || !CountBytes(dtype, static_cast<size_t>(count), &bytes))
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

const unsigned char* NamedArguments::Values(int index, size_t* count) {
  const aclTensorDesc& description = Input(index);
  size_t bytes = 0;
  if (!CountElements(description, count) || !CountBytes(description.dtype, *count, &bytes)) {
    Text text("has as inputDesc[");
    AddDescription(text.Add(index).Add("] "), description);
    Refuse(text.Add(", accepted: dims that are known and a type whose elements have a size"));
  }
  Require(CheckRoom(call_, call_.inputs, index, bytes));
  if (!IsOnHost(description) && !has_waited_) {
    if (const aclError status = aclrtSynchronizeStream(call_.stream)) throw Stop{status};
    has_waited_ = true;
  }
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
  aclScalar* const scalar = aclCreateScalar(value, Input(index).dtype);
  if (scalar == nullptr) throw std::bad_alloc();
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
  // Types are numbers in one client and types in another.
  if (found != nullptr && std::holds_alternative<aclDataType>(*found))
    return static_cast<int64_t>(std::get<aclDataType>(*found));
  const auto* const value = FindAs<int64_t>(name, "an integer");
  return value == nullptr ? otherwise : *value;
}

int64_t NamedArguments::Int(const char* name) {
  if (Find(name) == nullptr) RefuseMissing(name);
  return Int(name, 0);
}

double NamedArguments::Number(const char* name, double otherwise) {
  const auto* const value = FindAs<float>(name, "a float");
  return value == nullptr ? otherwise : static_cast<double>(*value);
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

Dims NamedArguments::Spatial(const char* name, int64_t first, int rank) {
  if (rank != 4 && rank != 5)
    Refuse(Text("has images of ", rank, " dims, accepted: 4, of the layout NCHW, or 5, of NCDHW"));
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
  const auto spatial = static_cast<size_t>(rank) - 2;
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
  if (!Count(In(0).dims(), &count) || !Count(shape, &wanted) || count != wanted) {
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
