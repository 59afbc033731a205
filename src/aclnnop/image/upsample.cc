// Shared code of operators that resize images (see upsample.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/upsample.h"

#include <algorithm>
#include <limits>

#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {

ImageDims DimsOf(const aclTensor& image) noexcept {
  if (image.format == ACL_FORMAT_NHWC) return {3, 1, 2};
  return {1, 2, 3};
}

StridedView ImageView(const aclTensor& image) noexcept {
  StridedView view = PlainView(image);
  constexpr int kChannelsSecond[] = {0, 3, 1, 2};
  if (image.format == ACL_FORMAT_NHWC) Permute(view, kChannelsSecond);
  return view;
}

double SpacingBetween(int64_t from, int64_t to, double scale, bool aligns_corners, bool is_wide) noexcept {
  if (aligns_corners) {
    if (to == 1) return 0;
    return is_wide ? static_cast<double>(from - 1) / static_cast<double>(to - 1)
                   : static_cast<float>(from - 1) / static_cast<float>(to - 1);
  }
  if (scale > 0) return is_wide ? 1 / scale : static_cast<float>(1 / scale);
  return is_wide ? static_cast<double>(from) / static_cast<double>(to)
                 : static_cast<float>(from) / static_cast<float>(to);
}

engine::AxisMap ResizedAxis(engine::AxisMap::Kind kind, const StridedView& image, const StridedView& resized,
                            int dim, double step, bool aligns_corners, bool is_wide) noexcept {
  engine::AxisMap map;
  map.kind = kind;
  map.aligns_corners = aligns_corners;
  map.is_wide = is_wide;
  map.length = image.shape[dim];
  map.inner = resized.shape[dim];
  map.step = step;
  map.index_stride = image.strides[dim];
  map.inner_stride = resized.strides[dim];
  return map;
}

aclnnStatus ImageFormat(const Check& check, const OperatorCall& call, int tensor, int other, bool takes_nd) {
  const aclFormat format = call.Tensor(tensor).format;
  const bool is_image = format == ACL_FORMAT_NCHW || format == ACL_FORMAT_NHWC;
  if ((is_image || (takes_nd && format == ACL_FORMAT_ND)) && format == call.Tensor(other).format)
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  message.Add("parameter ").Add(call.Name(tensor)).Add(" has the format ");
  AddFormatName(message, format);
  message.Add(", accepted: ").Add(takes_nd ? "NCHW, NHWC or ND" : "NCHW or NHWC");
  return FailAclnn(check.code, message.Add(", and that of ").Add(call.Name(other)).Add("."));
}

aclnnStatus SameImagesAndChannels(const Check& check, const OperatorCall& call, int tensor, int other) {
  const aclTensor& one = call.Tensor(tensor);
  const aclTensor& two = call.Tensor(other);
  if (one.shape[0] == two.shape[0] && one.shape[DimsOf(one).channels] == two.shape[DimsOf(two).channels])
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor)
      .Add(" has other images or channels than ")
      .Add(call.Name(other));
  AddShape(message.Add(", accepted: those of "), two.shape);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus ArrayHas(const Check& check, const OperatorCall& call, int attribute, size_t count) {
  if (call.Array(attribute).size() == count) return ACL_SUCCESS;
  return RefuseArray(check, call, attribute, " has another number of values",
                     count == 2 ? "2 values" : "4 values");
}

aclnnStatus ArrayIsPositive(const Check& check, const OperatorCall& call, int attribute) {
  const auto& values = call.Array(attribute);
  if (std::all_of(values.begin(), values.end(), [](int64_t value) { return value > 0; })) return ACL_SUCCESS;
  return RefuseArray(check, call, attribute, " has a value less than 1", "at least 1 each");
}

aclnnStatus SizesFit32Bits(const Check& check, const OperatorCall& call, int tensor) {
  const Shape& shape = call.Tensor(tensor).shape;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (std::all_of(shape.dim, shape.dim + shape.rank, [&](int64_t length) { return length <= kMost; }))
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor)
      .Add(" has a dim that is too long, accepted: up to ");
  return FailAclnn(check.code, message.Add(kMost).Add("."));
}

Shape ResizedShape(const aclTensor& image, int64_t rows, int64_t columns) noexcept {
  Shape shape = image.shape;
  shape.dim[DimsOf(image).rows] = rows;
  shape.dim[DimsOf(image).columns] = columns;
  return shape;
}

}  // namespace portacl
