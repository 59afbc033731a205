// Cells of boxes on images (regions of interest), and the gradient.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/image/roi_align_functions.h"

#include <limits>

#include "acl/settings/configuration.h"
#include "aclnnop/phase1.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/resample/boxes.h"
#include "plan/views.h"

namespace portacl {
namespace {

// The first tensor is the images, or the gradient of the cells.
enum Tensors { kSelf, kRois, kOut };

// The gradient has the cells' width before their height.
enum Attributes { kSpatialScale, kPooledHeight, kPooledWidth, kSampleNum, kRoiEndMode };
enum GradientAttributes {
  kXdiffShape,
  kGradPooledWidth,
  kGradPooledHeight,
  kGradSpatialScale,
  kGradSampleNum,
  kGradRoiEndMode
};

constexpr DtypeSet kDtypes = kFloatAndHalf;
constexpr int64_t kBoxNumbers = 5;
// A cell has the square of it.
constexpr int64_t kMostSamples = 1024;

struct Form {
  int images;
  int cells;
  int scale;
  int rows;
  int columns;
  int samples;
  int end_mode;
};
constexpr Form kForward{kSelf, kOut, kSpatialScale, kPooledHeight, kPooledWidth, kSampleNum, kRoiEndMode};
constexpr Form kGradient{
    kOut, kSelf, kGradSpatialScale, kGradPooledHeight, kGradPooledWidth, kGradSampleNum, kGradRoiEndMode};

// ---- checks ----

aclnnStatus OutIsAsAsked(const Check& check, OperatorCall& call) noexcept {
  const auto& asked = call.Array(kXdiffShape);
  const Shape& out = call.Tensor(kOut).shape;
  bool is_same = asked.size() == static_cast<size_t>(out.rank);
  for (int dim = 0; is_same && dim < out.rank; ++dim) is_same = asked[static_cast<size_t>(dim)] == out[dim];
  if (is_same) return ACL_SUCCESS;
  return RefuseArray(check, call, kXdiffShape, " is not out's shape", "that shape");
}

template <const Form& kForm>
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& images = call.Tensor(kForm.images).shape;
  const Shape& rois = call.Tensor(kRois).shape;
  const auto refuse = [&](int tensor, const char* why) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(why));
  };
  if (images[2] == 0 || images[3] == 0)
    return refuse(kForm.images, " has no rows or columns, accepted: at least 1 each.");
  if (rois[1] != kBoxNumbers)
    return refuse(kRois, " does not have five numbers, accepted: 5 in its last dim.");
  const auto& attributes = call.attributes;
  call.broadcast = images;
  call.broadcast.dim[0] = rois[0];
  call.broadcast.dim[2] = attributes[static_cast<size_t>(kForm.rows)].integer;
  call.broadcast.dim[3] = attributes[static_cast<size_t>(kForm.columns)].integer;
  if (call.Tensor(kForm.cells).shape == call.broadcast) return ACL_SUCCESS;
  return RefuseShape(check, call, kForm.cells, call.broadcast);
}

template <const Form& kForm>
constexpr auto SharedChecks() {
  return List(DtypesIn(kDtypes, {kSelf}), SameDtype(kSelf, kRois), SameDtype(kSelf, kOut),
              IntegerIn(kForm.rows, 1, std::numeric_limits<int32_t>::max()),
              IntegerIn(kForm.columns, 1, std::numeric_limits<int32_t>::max()),
              IntegerIn(kForm.samples, std::numeric_limits<int64_t>::min(), kMostSamples),
              IntegerIn(kForm.end_mode, 0, 1), RankIs(4, {kSelf}), RankIs(2, {kRois}), RankIs(4, {kOut}));
}

constexpr auto kChecks = Join(List(NotNull(kSelf), NotNull(kRois), NotNull(kOut)), SharedChecks<kForward>(),
                              List(Custom(ShapesFit<kForward>), SizesRepresentable({kOut}),
                                   DoneIfEmpty({kOut}), InsideStorage({kSelf, kRois})));
constexpr auto kGradientChecks = Join(
    List(NotNull(kSelf), NotNull(kRois), ArrayNotNull(kXdiffShape), NotNull(kOut)), SharedChecks<kGradient>(),
    List(Custom(OutIsAsAsked), Custom(ShapesFit<kGradient>), SizesRepresentable({kSelf, kOut}),
         DoneIfEmpty({kOut}), InsideStorage({kSelf, kRois})));

// ---- jobs ----

template <const Form& kForm>
void SetJob(const OperatorCall& call, Executor& executor) {
  const StridedView images = PlainView(call.Tensor(kForm.images));
  const StridedView rois = PlainView(call.Tensor(kRois));
  const StridedView cells = PlainView(call.Tensor(kForm.cells));
  const auto& attributes = call.attributes;
  const engine::BoxRules rules{attributes[static_cast<size_t>(kForm.scale)].real,
                               attributes[static_cast<size_t>(kForm.end_mode)].integer == 1,
                               attributes[static_cast<size_t>(kForm.samples)].integer, kForm.images == kOut,
                               CurrentConfiguration().index_errors_raise};
  executor.SetJob([&] {
    return engine::MakeBoxJob({&images, kForm.images, &rois, kRois, call.Name(kRois), &cells, kForm.cells},
                              rules, call.isa, call.threads);
  });
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnROIAlign) { return RunPhase1(call, kChecks, workspaceSize, executor, SetJob<kForward>); }

PORTACL_PHASE_1(aclnnROIAlignBackward) {
  return RunPhase1(call, kGradientChecks, workspaceSize, executor, SetJob<kGradient>);
}
