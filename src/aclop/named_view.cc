// Views of the operands of a call by type name (see named_arguments.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include "aclop/named_arguments.h"
#include "base/data_type.h"
#include "plan/shape.h"

namespace portacl {
namespace {

constexpr size_t kMostEntries = 64;  // of a slice: the bits of its masks

Dims RowMajor(const Dims& dims) {
  Dims strides(dims.size(), 1);
  // Dims beside one of 0 may be of any length.
  int64_t count = 0;
  if (!CountElements(dims, &count) || count == 0) return strides;
  for (size_t i = dims.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * dims[i - 1];
  return strides;
}

}  // namespace

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
  if (description.placement != ACL_MEMTYPE_DEVICE && &operands == &arguments.call_.outputs)
    refuse(" in host memory, accepted: device memory");
  arguments.Require(CheckRoom(arguments.call_, operands, index, bytes));
  strides_ = RowMajor(dims_);
}

NamedView::operator aclTensor*() const { return arguments_->Make(*this); }

aclDataType NamedView::dtype() const noexcept { return operands_->descriptions[index_]->dtype; }

int NamedView::Axis(int64_t axis) const {
  const int64_t rank = std::max<int64_t>(static_cast<int64_t>(dims_.size()), 1);
  if (axis < -rank || axis >= rank)
    arguments_->Refuse(Text("has the axis ", axis, ", accepted: ", -rank, " to ", rank - 1));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

NamedView NamedView::As(const Dims& dims) const {
  int64_t had = 0;
  int64_t has = 0;
  if (dims.size() > kFewDims || !CountElements(dims_, &had) || !CountElements(dims, &has) || had != has) {
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
              CountElements(dims, &count) && bits % 8 == 0;
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
  view.strides_ = count > 0 ? strides : RowMajor(dims);
  view.offset_ = count > 0 ? offset : 0;
  return view;
}

NamedView NamedView::Part(const Dims& begin, const Dims& lengths) const {
  bool fits = begin.size() == dims_.size() && lengths.size() == dims_.size();
  NamedView view(*this);
  for (size_t i = 0; fits && i < dims_.size(); ++i) {
    fits = begin[i] >= 0 && begin[i] <= dims_[i] && lengths[i] >= -1 && lengths[i] <= dims_[i] - begin[i];
    view.dims_[i] = fits && lengths[i] == -1 ? dims_[i] - begin[i] : lengths[i];
  }
  if (!fits) {
    Text text("cuts out ");
    AddDims(text, lengths);
    AddDims(text.Add(" from "), begin);
    AddDims(text.Add(" on of the dims "), dims_);
    arguments_->Refuse(text.Add(", accepted: a begin and a length inside each dim, or -1 for its rest"));
  }
  return view.At(begin, *this);
}

NamedView& NamedView::At(const Dims& begin, const NamedView& of) {
  int64_t count = 0;
  if (!CountElements(dims_, &count) || count == 0) return *this;
  for (size_t i = 0; i < begin.size(); ++i) offset_ += begin[i] * of.strides_[i];
  return *this;
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
  for (size_t i = 0; i < std::min(entries, kMostEntries); ++i) {
    if (has(ellipsis_mask, i)) {
      ++ellipses;
    } else if (!has(new_axis_mask, i)) {
      ++taken;
    }
  }
  if (entries > kMostEntries || end.size() != entries || steps.size() != entries || ellipses > 1 ||
      taken > dims_.size())
    call.Refuse(
        Text("slices ", dims_.size(), " dims by ", entries,
             " entries, accepted: begin, end and strides of one length, one for each dim, with at most "
             "one ellipsis"));
  NamedView view(*this);
  view.dims_.clear();
  view.strides_.clear();
  Dims begins(dims_.size(), 0);
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
    const auto counted = [&](int64_t index) { return index < 0 ? index + length : index; };
    if (has(shrink_axis_mask, i)) {
      const int64_t index = counted(begin[i]);
      if (index < 0 || index >= length)
        call.Refuse(Text("takes the element ", begin[i], " of a dim of ", length));
      begins[dim] = index;
    } else {
      if (steps[i] <= 0) call.Refuse(Text("slices with the stride ", steps[i], ", accepted: 1 and more"));
      const int64_t from = has(begin_mask, i) ? 0 : std::clamp<int64_t>(counted(begin[i]), 0, length);
      const int64_t to = has(end_mask, i) ? length : std::clamp<int64_t>(counted(end[i]), 0, length);
      const int64_t left = std::max<int64_t>(to - from, 0);
      const int64_t count = left / steps[i] + (left % steps[i] != 0 ? 1 : 0);
      view.dims_.push_back(count);
      view.strides_.push_back(count > 1 ? strides_[dim] * steps[i] : strides_[dim]);
      begins[dim] = from;
    }
    ++dim;
  }
  while (dim < dims_.size()) keep_whole();
  if (view.dims_.size() > kFewDims)
    call.Refuse(Text("slices to ", view.dims_.size(), " dims, accepted: at most 8"));
  return view.At(begins, *this);
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

NamedView NamedView::First(int64_t axis) const {
  const int at = Axis(axis);
  if (dims_.empty() || dims_[static_cast<size_t>(at)] == 0) {
    Text text("takes the first along the axis ");
    AddDims(text.Add(at).Add(" of the dims "), dims_);
    arguments_->Refuse(text.Add(", accepted: a dim of one element at least"));
  }
  NamedView view(*this);
  view.dims_.erase(view.dims_.begin() + at);
  view.strides_.erase(view.strides_.begin() + at);
  return view;
}

NamedView NamedView::Once(const NamedView& like) const {
  NamedView view(*this);
  const int missing = rank() - like.rank();
  bool fits = missing >= 0;
  for (int i = 0; fits && i < rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t length = i < missing ? 1 : like.dims_[static_cast<size_t>(i - missing)];
    fits = length == dims_[at] || (length == 1 && dims_[at] > 0);
    view.dims_[at] = length;
  }
  if (fits) return view;
  Text text("has the dims ");
  AddDims(text, dims_);
  AddDims(text.Add(", accepted: dims to which these can be repeated: "), like.dims_);
  arguments_->Refuse(text);
}

Dims NamedView::From(int64_t axis) const { return Dims(dims_.begin() + Axis(axis), dims_.end()); }

}  // namespace portacl
