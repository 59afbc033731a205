// Gives a native operator its arguments, taken from a call by type name: tensors, values of inputs, attributes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string_view>
#include <vector>

#include "acl/stream/found_stream.h"
#include "aclnn/acl_meta.h"
#include "aclop/dims.h"
#include "aclop/named_call.h"
#include "aclop/stream_memory.h"

namespace portacl {

class NamedArguments;

// A view of an operand's memory. It becomes an aclTensor where a native operator takes one.
class NamedView {
 public:
  NamedView(NamedArguments& arguments, const NamedOperands& operands, int index);

  // An implicit conversion, so that rows of the table may pass views as tensors.
  operator aclTensor*() const;

  const Dims& dims() const noexcept { return dims_; }
  int rank() const noexcept { return static_cast<int>(dims_.size()); }
  aclDataType dtype() const noexcept;
  // Returns the index of a dim. Negative numbers count from the end.
  int Axis(int64_t axis) const;

  // Reshapes the view.
  NamedView As(const Dims& dims) const;
  // Inserts a dim of 1 at `axis`, unless the view has as many dims as `like`.
  NamedView Widened(int64_t axis, const NamedView& like) const;
  NamedView Permuted(const Dims& order) const;
  // Swaps the last two dims if `transposes`.
  NamedView Transposed(bool transposes) const;
  // Views the operand's memory with these strides; `offset` counts from its start.
  NamedView Strided(const Dims& dims, const Dims& strides, int64_t offset) const;
  // Narrows each dim to `lengths` elements from `begin` on. A length of -1 takes the rest.
  NamedView Part(const Dims& begin, const Dims& lengths) const;
  // Slices the view as TensorFlow's strided_slice does, by the masks among the attributes of the call.
  NamedView Sliced(const Dims& begin, const Dims& end, const Dims& steps) const;
  // Checks that the view has the shape and the dtype of `other`.
  NamedView Like(const NamedView& other) const;
  // Checks that these are the dims of the view.
  NamedView Of(const Dims& dims) const;
  // Sets the format of images with channels in dim 1.
  NamedView Images() const;
  int Channels() const;
  // Views a depthwise filter [1, channels, h, w] as the filter of a grouped convolution, [channels, 1, h, w].
  NamedView OfGroups() const;
  // The first along a dim, which goes.
  NamedView First(int64_t axis) const;
  // The first along each dim that was repeated to make this of `like`, which then has the length 1.
  NamedView Once(const NamedView& like) const;
  // The dims from an axis on.
  Dims From(int64_t axis) const;

 private:
  friend class NamedArguments;

  // Begins at these elements of the dims of `of`, unless the view is empty: then nothing limits them.
  NamedView& At(const Dims& begin, const NamedView& of);

  NamedArguments* arguments_;
  const NamedOperands* operands_;
  int index_;
  Dims dims_;
  Dims strides_;
  int64_t offset_ = 0;
  aclFormat format_ = ACL_FORMAT_ND;
};

// Reads the arguments of a call, and owns the objects that it makes from them. If the call lacks a requested
// argument, a function reports the error and throws Stop.
class NamedArguments {
 public:
  // Thrown after an error was reported. Holds the code that the call returns.
  struct Stop {
    aclError status;
  };

  NamedArguments(const NamedCall& call, const FoundStream& queue, StreamMemory& memory) noexcept
      : call_(call), queue_(queue), memory_(memory) {}
  NamedArguments(const NamedArguments&) = delete;
  NamedArguments& operator=(const NamedArguments&) = delete;
  ~NamedArguments();

  // ---- tensors ----
  NamedView In(int index);
  NamedView Out(int index);
  // Returns an output. It must have the address of the input of the same index.
  NamedView InPlace(int index = 0);
  // A tensor, or null for an input that is not given.
  aclTensor* MaybeIn(int index);
  aclTensorList* AllInputs();
  int64_t Inputs() const noexcept { return call_.inputs.count; }
  // Returns a temporary tensor of the view's shape, for an output that the caller does not need.
  aclTensor* Unread(const NamedView& like, aclDataType dtype);

  // ---- values of inputs: from host memory at once, from device memory after the work queued so far ----
  Dims Ints(int index);
  int64_t Int(int index);
  double Number(int index);
  aclScalar* Scalar(int index);

  // ---- attributes; without a default they must be given ----
  bool Flag(const char* name, bool otherwise);
  int64_t Int(const char* name);
  int64_t Int(const char* name, int64_t otherwise);
  double Number(const char* name);
  double Number(const char* name, double otherwise);
  Dims Ints(const char* name);
  Dims Ints(const char* name, const Dims& otherwise);
  // Returns the index of a text attribute among the accepted texts. The first one is the default.
  int Choice(const char* name, std::initializer_list<std::string_view> accepted);
  // Checks that an attribute is missing or has the only accepted value.
  NamedArguments& Only(const char* name, int64_t accepted);
  NamedArguments& Only(const char* name, bool accepted);
  NamedArguments& Only(const char* name, const char* accepted);
  NamedArguments& OnlyNumber(const char* name, double accepted);

  // ---- attributes of convolutions and windows, of the two or three dims of an image ----
  // The number of those dims.
  size_t SpatialDims(int rank);
  // Returns an attribute with a number for each dim. The numbers of the batch and the channels must be `first`.
  Dims Spatial(const char* name, int64_t first, int rank);
  // Returns one padding for each dim, or both of each dim if the two of a dim differ.
  Dims Pads(int rank);

  // ---- more ----
  // Axes to reduce, from an input: at least one.
  Dims Axes(int index);
  // The only axis in a list.
  int64_t OnlyAxis(const char* name);
  // Returns the paddings before and after each dim, in the reversed order of aclnnConstantPadNd.
  Dims Borders(int index, int rank);
  // Returns the input of ConfusionTransposeD in the order of its output's elements, before the last reshape.
  NamedView Confused();
  // Checks that images are not resized by the coordinates of the oldest TensorFlow, and tells whether corners
  // are aligned.
  bool CornersAligned();

  // ---- for native functions ----
  aclIntArray* Array(const Dims& values);
  aclBoolArray* Flags(std::initializer_list<bool> values);
  aclScalar* Real(double value);
  aclScalar* Whole(int64_t value);

  // For native functions that take fewer bits than calls give.
  int ShortInt(int64_t value, const char* what);

  [[noreturn]] void Refuse(const Text& why);
  void Require(const Refused& refused) {
    if (refused) throw Stop{*refused};
  }
  // Refuses attributes that nobody has asked for. Names that begin with _ are the graph engine's own.
  void CheckAttributes();
  // Returns device memory that lives until the call's work is done.
  void* Memory(size_t bytes);

 private:
  friend class NamedView;

  const AttributeValue* Find(const char* name);
  template <class Value>
  const Value* FindAs(const char* name, const char* accepted);
  [[noreturn]] void RefuseMissing(const char* name);
  // Returns the values of an input, where the host can read them.
  const unsigned char* Values(int index, size_t* count);
  const aclTensorDesc& Input(int index);
  aclTensor* Make(const NamedView& view);
  void* CopyToDevice(const void* from, size_t bytes);

  // Waits for the work that is queued, so that the host can read values in device memory.
  void Wait();

  const NamedCall& call_;
  const FoundStream& queue_;
  StreamMemory& memory_;
  bool has_waited_ = false;
  std::set<std::string_view> asked_;
  std::vector<aclTensor*> tensors_;
  std::vector<aclTensorList*> lists_;
  std::vector<aclIntArray*> arrays_;
  std::vector<aclBoolArray*> flags_;
  std::vector<aclScalar*> scalars_;
};

}  // namespace portacl
