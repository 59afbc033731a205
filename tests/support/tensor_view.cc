// Views over guarded storage: see tensor_view.h.
// SPDX-License-Identifier: Apache-2.0
#include "tensor_view.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace portacl::testing {
namespace {

// The differences between a layout and row-major order.
struct Traits {
  bool permute = false;
  bool reverse = false;
  bool expand = false;
  bool step = false;
  bool offset = false;
};

Traits TraitsOf(Layout layout, RandomNumbers& random) {
  switch (layout) {
    case Layout::kDense:
    case Layout::kNoStrides:
    case Layout::kPaddedRows:
      return {};
    case Layout::kDenseOffset:
      return {.offset = true};
    case Layout::kPermuted:
      return {.permute = true};
    case Layout::kNegative:
      return {.reverse = true};
    case Layout::kExpanded:
      return {.expand = true};
    case Layout::kStepped:
      return {.step = true};
    case Layout::kMixed:
    case Layout::kMixedExpanded:
      break;
  }
  return {.permute = random.Chance(60),
          .reverse = random.Chance(60),
          .expand = layout == Layout::kMixedExpanded && random.Chance(60),
          .step = random.Chance(60),
          .offset = random.Chance(60)};
}

// Draws a random subset of the axes. It is not empty if any axis is longer than 1.
std::vector<bool> SomeAxes(const Shape& shape, RandomNumbers& random) {
  std::vector<bool> chosen(shape.size());
  std::vector<size_t> candidates;
  for (size_t i = 0; i < shape.size(); ++i) {
    chosen[i] = random.Chance(50);
    if (shape[i] > 1) {
      candidates.push_back(i);
    }
  }
  if (!candidates.empty()) {
    chosen[candidates[static_cast<size_t>(random.Below(static_cast<int64_t>(candidates.size())))]] = true;
  }
  return chosen;
}

}  // namespace

const char* LayoutName(Layout layout) {
  switch (layout) {
    case Layout::kDense:
      return "dense";
    case Layout::kNoStrides:
      return "no strides";
    case Layout::kDenseOffset:
      return "offset";
    case Layout::kPermuted:
      return "permuted";
    case Layout::kNegative:
      return "negative";
    case Layout::kExpanded:
      return "expanded";
    case Layout::kStepped:
      return "stepped";
    case Layout::kMixed:
      return "mixed";
    case Layout::kMixedExpanded:
      return "mixed, expanded";
    case Layout::kPaddedRows:
      return "padded rows";
  }
  return "?";
}

View MakeView(const Shape& shape, Layout layout, RandomNumbers& random) {
  const Traits traits = TraitsOf(layout, random);
  const size_t rank = shape.size();
  View view;
  view.shape = shape;
  view.strides.resize(rank);
  view.pass_strides = layout != Layout::kNoStrides;

  // The order of the axes in memory, outermost first.
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (traits.permute && rank > 1) {
    for (size_t i = rank - 1; i > 0; --i) {
      std::swap(order[i], order[static_cast<size_t>(random.Below(static_cast<int64_t>(i) + 1))]);
    }
    if (std::is_sorted(order.begin(), order.end())) {
      std::swap(order[rank - 1], order[rank - 2]);
    }
  }

  const std::vector<bool> expanded = traits.expand ? SomeAxes(shape, random) : std::vector<bool>(rank, false);
  int64_t stride = traits.step ? random.Between(2, 3) : 1;
  for (size_t i = rank; i-- > 0;) {
    const size_t axis = order[i];
    if (expanded[axis]) {
      view.strides[axis] = 0;
      continue;
    }
    view.strides[axis] = stride;
    stride *= shape[axis];
    if (traits.step) {
      stride += random.Below(3);
    }
    if (layout == Layout::kPaddedRows && i + 1 == rank) {
      stride += 3;
    }
    if (shape[axis] == 0) {
      stride = 1;
    }
  }
  if (traits.reverse) {
    const std::vector<bool> reversed = SomeAxes(shape, random);
    for (size_t axis = 0; axis < rank; ++axis) {
      if (reversed[axis]) {
        view.strides[axis] = -view.strides[axis];
      }
    }
  }

  if (NumElements(shape) > 0) {
    int64_t lowest = 0;
    int64_t highest = 0;
    for (size_t axis = 0; axis < rank; ++axis) {
      const int64_t reach = view.strides[axis] * (shape[axis] - 1);
      (reach < 0 ? lowest : highest) += reach;
    }
    view.offset = -lowest + (traits.offset ? random.Between(1, 19) : 0);
    view.storage_elements = view.offset + highest + 1;
  }
  const bool dense = layout == Layout::kDense || layout == Layout::kNoStrides;
  view.storage_dims = dense ? shape : Shape{view.storage_elements};
  return view;
}

HostTensor::HostTensor(DtypeNumber dtype, View view, Placement placement)
    : HostTensor(dtype, view, [&] {
        const auto bytes = static_cast<size_t>(view.storage_elements * ElementSize(dtype));
        const size_t slack =
            placement.misalignment_bytes >= 0
                ? SlackForMisalignment(bytes, static_cast<size_t>(placement.misalignment_bytes))
                : placement.slack_bytes;
        return std::make_shared<GuardedBuffer>(bytes, placement.guard, slack);
      }()) {}

HostTensor::HostTensor(DtypeNumber dtype, View view, std::shared_ptr<GuardedBuffer> buffer)
    : dtype_(dtype), view_(std::move(view)), buffer_(std::move(buffer)) {
  element_offsets_ = StridedOffsets(view_.shape, view_.strides);
  for (int64_t& offset : element_offsets_) {
    offset += view_.offset;
  }
}

HostTensor HostTensor::SharingStorageOf(const HostTensor& other, View view) {
  return HostTensor(other.dtype_, std::move(view), other.buffer_);
}

namespace {

// Calls copy(offset, position, n) for each run of n adjacent elements.
template <class Copy>
void ForEachRun(const std::vector<int64_t>& offsets, const Copy& copy) {
  for (size_t i = 0; i < offsets.size();) {
    size_t n = 1;
    while (i + n < offsets.size() && offsets[i + n] == offsets[i] + static_cast<int64_t>(n)) ++n;
    copy(offsets[i], i, n);
    i += n;
  }
}

}  // namespace

void HostTensor::CopyFrom(const std::byte* elements) const {
  const auto bytes = static_cast<size_t>(ElementSize(dtype_));
  ForEachRun(element_offsets_, [&](int64_t offset, size_t position, size_t n) {
    std::byte* const to = buffer_->peek() + offset * static_cast<int64_t>(bytes);
    std::memcpy(to, elements + position * bytes, n * bytes);
    buffer_->NoteWritten(to, n * bytes);
  });
}

void HostTensor::CopyTo(std::byte* elements) const {
  const auto bytes = static_cast<size_t>(ElementSize(dtype_));
  ForEachRun(element_offsets_, [&](int64_t offset, size_t position, size_t n) {
    std::memcpy(elements + position * bytes, buffer_->peek() + offset * static_cast<int64_t>(bytes),
                n * bytes);
  });
}

aclTensor* HostTensor::Handle() {
  if (handle_ == nullptr) {
    handle_.reset(aclCreateTensor(view_.shape.data(), view_.shape.size(), AsAclDataType(dtype_),
                                  view_.pass_strides ? view_.strides.data() : nullptr, view_.offset,
                                  ACL_FORMAT_ND, view_.storage_dims.data(), view_.storage_dims.size(),
                                  buffer_->device()));
  }
  return handle_.get();
}

void HostTensor::DestroyHandle() { handle_.reset(); }

void HostTensor::Remember() {
  const std::span<const std::byte> bytes = buffer_->Accessible();
  remembered_.assign(bytes.begin(), bytes.end());
}

bool HostTensor::Unchanged() const {
  const std::span<const std::byte> bytes = buffer_->Accessible();
  return std::memcmp(bytes.data(), remembered_.data(), bytes.size()) == 0;
}

bool HostTensor::UnchangedOutsideView() const {
  const std::span<const std::byte> bytes = buffer_->Accessible();
  std::vector<std::byte> masked(bytes.begin(), bytes.end());
  const ptrdiff_t base = buffer_->peek() - bytes.data();
  const int64_t element_bytes = ElementSize(dtype_);
  for (const int64_t offset : element_offsets_) {
    const auto at = static_cast<size_t>(base + offset * element_bytes);
    std::memcpy(&masked[at], &remembered_[at], static_cast<size_t>(element_bytes));
  }
  return masked == remembered_;
}

}  // namespace portacl::testing
