// A tensor from the host's side: a strided view over guarded storage, its aclTensor, and access by logical
// index.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "dtype_rules.h"
#include "guarded_buffer.h"
#include "random_numbers.h"
#include "shapes.h"

namespace portacl::testing {

enum class Layout {
  kDense,          // row-major, strides given
  kNoStrides,      // row-major, strides passed as nullptr
  kDenseOffset,    // row-major, some elements into a larger storage
  kPermuted,       // dense in another order of the axes
  kNegative,       // dense, some axes walked backwards
  kExpanded,       // some axes with stride 0 (inputs only: an output would overlap itself)
  kStepped,        // every second or third element of the innermost axis, padded rows
  kMixed,          // any of the above together, except stride 0
  kMixedExpanded,  // any of the above together
  kPaddedRows      // row-major, a few elements between rows; for tests that ask for it
};

inline constexpr Layout kOutputLayouts[] = {Layout::kDense,    Layout::kNoStrides, Layout::kDenseOffset,
                                            Layout::kPermuted, Layout::kNegative,  Layout::kStepped,
                                            Layout::kMixed};
inline constexpr Layout kInputLayouts[] = {Layout::kDense,    Layout::kNoStrides, Layout::kDenseOffset,
                                           Layout::kPermuted, Layout::kNegative,  Layout::kExpanded,
                                           Layout::kStepped,  Layout::kMixed,     Layout::kMixedExpanded};

const char* LayoutName(Layout layout);

// The layout of a shape's elements in their storage. Strides and offset count elements.
struct View {
  Shape shape;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  int64_t storage_elements =
      0;  // just enough for the elements that the view reaches, so that the guard page is near
  Shape storage_dims;
  bool pass_strides = true;
};

View MakeView(const Shape& shape, Layout layout, RandomNumbers& random);

struct Placement {
  Guard guard = Guard::kEnd;
  size_t slack_bytes = 0;
  int misalignment_bytes = -1;  // from a multiple of 64; -1: whatever slack_bytes gives. Guard::kEnd only
};

class HostTensor {
 public:
  HostTensor(DtypeNumber dtype, View view, Placement placement = {});

  // A second tensor over the same storage and with the same view, for in-place calls.
  static HostTensor SharingStorageOf(const HostTensor& other, View view);

  DtypeNumber dtype() const { return dtype_; }
  const View& view() const { return view_; }
  const Shape& shape() const { return view_.shape; }
  int64_t size() const { return static_cast<int64_t>(element_offsets_.size()); }

  // Returns the bytes of the element at a row-major logical position.
  std::byte* Element(int64_t position) const {
    const auto bytes = static_cast<size_t>(ElementSize(dtype_));
    std::byte* const element =
        buffer_->peek() + element_offsets_[static_cast<size_t>(position)] * static_cast<int64_t>(bytes);
    buffer_->NoteWritten(element, bytes);
    return element;
  }

  // Copy all elements, in row-major order, from or to dense memory of size() elements.
  void CopyFrom(const std::byte* elements) const;
  void CopyTo(std::byte* elements) const;

  double Real(int64_t position) const { return DecodeReal(dtype_, Element(position)); }
  int64_t Integer(int64_t position) const { return DecodeInteger(dtype_, Element(position)); }
  void Set(int64_t position, double value) { EncodeElement(dtype_, value, Element(position)); }

  // Returns the handle. It is made on first use, and destroyed with this object unless released.
  aclTensor* Handle();
  void DestroyHandle();

  // Saves every accessible byte of the storage for a later comparison.
  void Remember();
  // Tell whether the bytes between the guard pages are unchanged, everywhere or outside the view's elements.
  bool Unchanged() const;
  bool UnchangedOutsideView() const;

  const GuardedBuffer& buffer() const { return *buffer_; }

 private:
  HostTensor(DtypeNumber dtype, View view, std::shared_ptr<GuardedBuffer> buffer);

  struct DestroyTensor {
    void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
  };

  DtypeNumber dtype_;
  View view_;
  std::shared_ptr<GuardedBuffer> buffer_;
  std::vector<int64_t> element_offsets_;  // of each logical position, in elements from the storage's base
  std::vector<std::byte> remembered_;
  std::unique_ptr<aclTensor, DestroyTensor> handle_;
};

}  // namespace portacl::testing
