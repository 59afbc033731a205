// Convolutions as matrix products (see convolve.h). Rows are a group's channels of the result; groups are the
// batch.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/convolve.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/float_environment.h"
#include "engine/gemm/depthwise.h"
#include "engine/gemm/gemm.h"
#include "engine/gemm/gemm_tile.h"

namespace portacl::engine {
namespace {

constexpr int kGroup = kGemmBatchDims - 1;

// A product, and the data that it points at.
struct PatchProduct {
  Gemm gemm;
  Patches left;
  Patches right;
  GemmColumns columns;
};

GemmOperand OperandOf(const ConvolutionOperand& tensor, int64_t group) {
  GemmOperand operand{};
  operand.argument = tensor.argument;
  operand.dtype = tensor.dtype;
  operand.offset = tensor.offset;
  operand.batch[kGroup] = group;
  return operand;
}

// An axis without a kernel: every coordinate, one after the other.
PatchAxis Whole(int64_t length, int64_t stride) {
  return {.taps = 1,
          .positions = length,
          .tap_step = 0,
          .position_step = 1,
          .first = 0,
          .length = length,
          .stride = stride};
}

// Makes columns of dims, the last one fastest. Neighbouring dims that can be one dim are merged.
GemmColumns MergedColumns(const int64_t (&length)[GemmColumns::kDims],
                          const int64_t (&stride)[GemmColumns::kDims]) {
  GemmColumns merged;
  std::fill_n(merged.length, GemmColumns::kDims, int64_t{1});
  std::fill_n(merged.stride, GemmColumns::kDims, int64_t{0});
  int at = GemmColumns::kDims - 1;
  bool is_first = true;
  for (int dim = GemmColumns::kDims - 1; dim >= 0; --dim) {
    if (length[dim] == 1) continue;
    if (!is_first && stride[dim] != merged.length[at] * merged.stride[at]) --at;
    if (is_first || merged.length[at] == 1) merged.stride[at] = stride[dim];
    merged.length[at] *= length[dim];
    is_first = false;
  }
  return merged;
}

Gemm GemmOfRows(const Convolution& convolution, int64_t rows) {
  Gemm gemm{};
  std::fill(std::begin(gemm.batch), std::end(gemm.batch), int64_t{1});
  gemm.batch[kGroup] = convolution.groups;
  gemm.rows = rows;
  gemm.groups = 1;
  gemm.alpha = gemm.beta = 1;
  return gemm;
}

void Add(const Convolution& convolution, int64_t rows, Gemm& gemm) {
  gemm.adds = convolution.adds;
  if (!gemm.adds) return;
  gemm.added = OperandOf(convolution.added, rows * convolution.added.inner);
  gemm.added.row = convolution.added.inner;
}

// Tells whether merged patches are those of one kernel element, which reads everything in order.
bool IsMatrix(const Patches& patches) {
  for (int i = 0; i < kPatchAxes; ++i) {
    const PatchAxis& axis = patches.axis[i];
    const bool is_whole =
        axis.taps == 1 && axis.position_step == 1 && axis.first == 0 && axis.length == axis.positions;
    if (!is_whole || (i < kPatchAxes - 1 && axis.length != 1)) return false;
  }
  return true;
}

// Columns of an image from which on its last panel, which may be filled in part, does not matter.
constexpr int64_t kColumnsOfImage = 512;

// Turns the product of an image with one element of a kernel into that of matrices, one for each image, which packing
// reads in longer runs. Columns are those of all images, dims of their positions follow behind dims[0].
void MakeMatrices(int64_t images, int64_t image_of_out, const int64_t (&positions)[GemmColumns::kDims],
                  const int64_t (&strides)[GemmColumns::kDims], PatchProduct& product) {
  const Patches& right = product.right;
  Gemm& gemm = product.gemm;
  const int64_t columns = gemm.columns / std::max<int64_t>(1, images);
  if (!IsMatrix(right) || columns < 2 || (images != 1 && columns < kColumnsOfImage)) return;
  const int64_t of_image[GemmColumns::kDims] = {1, positions[1], positions[2], positions[3]};
  const GemmColumns out = MergedColumns(of_image, strides);
  if (out.length[GemmColumns::kDims - 1] != columns) return;
  constexpr int kImage = kGroup - 1;
  gemm.batch[kImage] = images;
  gemm.columns = columns;
  gemm.right.patches = nullptr;
  gemm.right.row = right.channel;
  gemm.right.column = right.axis[kPatchAxes - 1].stride;
  gemm.right.batch[kImage] = right.image;
  gemm.out_columns = nullptr;
  gemm.out.column = out.stride[GemmColumns::kDims - 1];
  gemm.out.batch[kImage] = image_of_out;
}

void Run(const PatchProduct& product, const ConvolutionJob& job, void* const* addresses) {
  MakeGemmJob(product.gemm, job.isa, job.threads).Run(addresses, nullptr);
}

// The input's axis, with one window for each position of the output.
PatchAxis Windows(const ConvolutionAxis& axis, int64_t stride) {
  return {.taps = axis.kernel,
          .positions = axis.y,
          .tap_step = axis.dilation,
          .position_step = axis.stride,
          .first = -axis.padding,
          .length = axis.x,
          .stride = stride};
}

// Begins a product without packing: fills in what all results have.
WindowProduct BegunWindows(const ConvolutionJob& job) {
  const Convolution& c = job.convolution;
  WindowProduct product{};
  product.images = c.images;
  product.groups = c.groups;
  product.high_parts = product.last_parts = 1;
  product.w = c.w;
  product.w_group = c.y_channels * c.w.outer;
  product.adds = c.adds;
  product.added = c.added;
  return product;
}

bool RunYOfWindows(const ConvolutionJob& job, void* const* addresses) {
  const Convolution& c = job.convolution;
  WindowProduct product = BegunWindows(job);
  product.rows = c.y_channels;
  product.channels = c.x_channels;
  product.image = c.x;
  product.out = c.y;
  product.depth = Windows(c.axis[0], c.x.axis[0]);
  product.high[0] = {Windows(c.axis[1], c.x.axis[1]), 0, c.w.axis[1]};
  product.last[0] = {Windows(c.axis[2], c.x.axis[2]), 0, c.w.axis[2]};
  return RunWindows(product, job.isa, job.threads, addresses);
}

// Computes y. Rows are channels of y, terms (channel of x, kernel element), columns (image, position).
void RunY(const ConvolutionJob& job, void* const* addresses) {
  if (RunYOfWindows(job, addresses)) return;
  const Convolution& c = job.convolution;
  PatchProduct product;
  Gemm& gemm = product.gemm = GemmOfRows(c, c.y_channels);
  gemm.columns = c.images;
  gemm.depth = c.x_channels;
  product.left = {.channel = c.w.outer, .image = c.w.inner, .axis = {}, .taps_are_lines = true};
  product.right = {.channel = c.x.inner, .image = c.x.outer, .axis = {}, .taps_are_lines = false};
  int64_t terms[GemmColumns::kDims] = {c.x_channels};
  int64_t term_strides[GemmColumns::kDims] = {c.w.inner};
  int64_t positions[GemmColumns::kDims] = {c.images};
  int64_t position_strides[GemmColumns::kDims] = {c.y.outer};
  for (int i = 0; i < kPatchAxes; ++i) {
    const ConvolutionAxis& axis = c.axis[i];
    gemm.columns *= axis.y;
    gemm.depth *= axis.kernel;
    product.left.axis[i] = Whole(axis.kernel, c.w.axis[i]);
    product.right.axis[i] = Windows(axis, c.x.axis[i]);
    terms[i + 1] = axis.kernel;
    term_strides[i + 1] = c.w.axis[i];
    positions[i + 1] = axis.y;
    position_strides[i + 1] = c.y.axis[i];
  }
  product.left.Merge();
  product.right.Merge();
  product.columns = MergedColumns(positions, position_strides);
  gemm.left = OperandOf(c.w, c.y_channels * c.w.outer);
  const GemmColumns merged = MergedColumns(terms, term_strides);
  if (merged.length[GemmColumns::kDims - 1] == gemm.depth) {
    gemm.left.row = c.w.outer;
    gemm.left.column = merged.stride[GemmColumns::kDims - 1];
  } else {
    gemm.left.patches = &product.left;
  }
  gemm.right = OperandOf(c.x, c.x_channels * c.x.inner);
  gemm.right.patches = &product.right;
  gemm.out = OperandOf(c.y, c.y_channels * c.y.inner);
  gemm.out.row = c.y.inner;
  gemm.out_columns = &product.columns;
  if (gemm.left.patches == nullptr) MakeMatrices(c.images, c.y.outer, positions, position_strides, product);
  Add(c, c.y_channels, gemm);
  Run(product, job, addresses);
}

// Positions of x with one residue modulo the stride. They all use the same kernel elements, an arithmetic
// sequence, and y is read backwards along it.
struct Residue {
  int64_t positions;
  int64_t first_tap;
  int64_t tap_step;
  int64_t taps;
  int64_t first;   // y's coordinate for the first position and the first kernel element
  int64_t y_step;  // of the coordinate, from a kernel element to the next
};

Residue ResidueOf(const ConvolutionAxis& axis, int64_t residue) {
  Residue found{};
  if (residue >= axis.x) return found;
  found.positions = (axis.x - residue + axis.stride - 1) / axis.stride;
  const int64_t divisor = std::gcd(axis.stride, axis.dilation);
  found.tap_step = axis.stride / divisor;
  found.y_step = -(axis.dilation / divisor);
  const int64_t start = residue + axis.padding;
  if (start % divisor != 0) return found;
  // The steps between kernel elements are now coprime with the stride, so that one of the first ones fits.
  while (found.first_tap < axis.kernel && found.first_tap < found.tap_step &&
         (start - found.first_tap * axis.dilation) % axis.stride != 0) {
    ++found.first_tap;
  }
  if (found.first_tap >= axis.kernel || found.first_tap >= found.tap_step) return found;
  found.taps = (axis.kernel - found.first_tap + found.tap_step - 1) / found.tap_step;
  found.first = (start - found.first_tap * axis.dilation) / axis.stride;
  return found;
}

PatchAxis WindowsOf(const Residue& residue, const ConvolutionAxis& axis, int64_t stride) {
  return {.taps = residue.taps,
          .positions = residue.positions,
          .tap_step = residue.y_step,
          .position_step = 1,
          .first = residue.first,
          .length = axis.y,
          .stride = stride};
}

// One residue of an axis, or both of them if the stride is 2.
struct ResiduesOfAxis {
  Residue residue[2];
  int count;
};

// Computes x's gradient for residues along each axis without packing, or returns false. `at` is the first residue of
// each.
bool RunXOfWindows(const ConvolutionJob& job, void* const* addresses,
                   const ResiduesOfAxis (&residues)[kPatchAxes], const int64_t (&at)[kPatchAxes]) {
  const Convolution& c = job.convolution;
  WindowProduct product = BegunWindows(job);
  product.rows = c.x_channels;
  product.channels = c.y_channels;
  product.image = c.y;
  product.out = c.x;
  product.w.outer = c.w.inner;
  product.w.inner = c.w.outer;
  const Residue& depth = residues[0].residue[0];
  product.depth = WindowsOf(depth, c.axis[0], c.y.axis[0]);
  product.w.offset += depth.first_tap * c.w.axis[0];
  product.out.offset += at[0] * c.x.axis[0];
  for (const int axis : {1, 2}) {
    const ResiduesOfAxis& along = residues[axis];
    WindowPart* const parts = axis == 1 ? product.high : product.last;
    for (int i = 0; i < along.count; ++i) {
      const Residue& residue = along.residue[i];
      parts[i] = {WindowsOf(residue, c.axis[axis], c.y.axis[axis]), residue.first_tap * c.w.axis[axis],
                  residue.tap_step * c.w.axis[axis]};
    }
    (axis == 1 ? product.high_parts : product.last_parts) = along.count;
    product.out.offset += at[axis] * c.x.axis[axis];
    if (along.count == 1) product.out.axis[axis] *= c.axis[axis].stride;
  }
  return RunWindows(product, job.isa, job.threads, addresses);
}

// Computes all residues together, as far as neighbours of a result have two different ones.
bool RunXOfAllWindows(const ConvolutionJob& job, void* const* addresses) {
  const ConvolutionAxis(&axis)[kPatchAxes] = job.convolution.axis;
  ResiduesOfAxis residues[kPatchAxes];
  for (int i = 0; i < kPatchAxes; ++i) {
    residues[i].count = axis[i].stride == 2 && axis[i].x >= 2 ? 2 : 1;
    if (axis[i].stride > residues[i].count && axis[i].x > 1) return false;
    for (int64_t at = 0; at < residues[i].count; ++at) residues[i].residue[at] = ResidueOf(axis[i], at);
  }
  return residues[0].count == 1 && RunXOfWindows(job, addresses, residues, {0, 0, 0});
}

// Computes x's gradient for one residue along each axis. Rows are channels of x, terms (channel of y, kernel
// element), columns (image, position).
void RunXOfResidues(const ConvolutionJob& job, void* const* addresses, const Residue (&residues)[kPatchAxes],
                    const int64_t (&at)[kPatchAxes]) {
  if (RunXOfWindows(job, addresses, {{{residues[0]}, 1}, {{residues[1]}, 1}, {{residues[2]}, 1}}, at)) return;
  const Convolution& c = job.convolution;
  PatchProduct product;
  Gemm& gemm = product.gemm = GemmOfRows(c, c.x_channels);
  gemm.columns = c.images;
  gemm.depth = c.y_channels;
  product.left = {.channel = c.w.inner, .image = c.w.outer, .axis = {}, .taps_are_lines = true};
  product.right = {.channel = c.y.inner, .image = c.y.outer, .axis = {}, .taps_are_lines = false};
  gemm.left = OperandOf(c.w, c.y_channels * c.w.outer);
  gemm.right = OperandOf(c.y, c.y_channels * c.y.inner);
  gemm.out = OperandOf(c.x, c.x_channels * c.x.inner);
  int64_t terms[GemmColumns::kDims] = {c.y_channels};
  int64_t term_strides[GemmColumns::kDims] = {c.w.outer};
  int64_t positions[GemmColumns::kDims] = {c.images};
  int64_t position_strides[GemmColumns::kDims] = {c.x.outer};
  for (int i = 0; i < kPatchAxes; ++i) {
    const ConvolutionAxis& axis = c.axis[i];
    const Residue& residue = residues[i];
    gemm.columns *= residue.positions;
    gemm.depth *= residue.taps;
    gemm.left.offset += residue.first_tap * c.w.axis[i];
    gemm.out.offset += at[i] * c.x.axis[i];
    product.left.axis[i] = Whole(residue.taps, residue.tap_step * c.w.axis[i]);
    product.right.axis[i] = WindowsOf(residue, axis, c.y.axis[i]);
    terms[i + 1] = residue.taps;
    term_strides[i + 1] = residue.tap_step * c.w.axis[i];
    positions[i + 1] = residue.positions;
    position_strides[i + 1] = axis.stride * c.x.axis[i];
  }
  product.columns = MergedColumns(positions, position_strides);
  gemm.out.row = c.x.inner;
  gemm.out_columns = &product.columns;
  gemm.right.patches = &product.right;
  if (gemm.depth > 0) {
    product.left.Merge();
    product.right.Merge();
    const GemmColumns merged = MergedColumns(terms, term_strides);
    if (merged.length[GemmColumns::kDims - 1] == gemm.depth) {
      gemm.left.row = c.w.inner;
      gemm.left.column = merged.stride[GemmColumns::kDims - 1];
      MakeMatrices(c.images, c.x.outer, positions, position_strides, product);
    } else {
      gemm.left.patches = &product.left;
    }
  }
  Add(c, c.x_channels, gemm);
  Run(product, job, addresses);
}

void RunX(const ConvolutionJob& job, void* const* addresses) {
  if (RunXOfAllWindows(job, addresses)) return;
  const ConvolutionAxis(&axis)[kPatchAxes] = job.convolution.axis;
  int64_t at[kPatchAxes];
  Residue residues[kPatchAxes];
  for (at[0] = 0; at[0] < std::min(axis[0].stride, axis[0].x); ++at[0]) {
    residues[0] = ResidueOf(axis[0], at[0]);
    for (at[1] = 0; at[1] < std::min(axis[1].stride, axis[1].x); ++at[1]) {
      residues[1] = ResidueOf(axis[1], at[1]);
      for (at[2] = 0; at[2] < std::min(axis[2].stride, axis[2].x); ++at[2]) {
        residues[2] = ResidueOf(axis[2], at[2]);
        RunXOfResidues(job, addresses, residues, at);
      }
    }
  }
}

// Tells whether lines of columns fill panels worse than rows would, by more than a tenth.
bool FillsPanelsWorse(int64_t columns, int64_t rows, int64_t width) {
  const auto share = [&](int64_t lines) {
    return static_cast<double>(lines) / static_cast<double>(gemm_tile::RoundedUp(lines, width));
  };
  return share(columns) * 1.1 < share(rows);
}

// Changes the product for w's gradient if a kernel has one element. Packing reads both images as matrices if blocks of
// terms end where images do. Otherwise channels of y become the columns if they fill panels better.
void MakeMatricesOfW(const ConvolutionJob& job, PatchProduct& product) {
  const Convolution& c = job.convolution;
  Gemm& gemm = product.gemm;
  const GemmColumns merged = product.columns;
  const int64_t step = merged.stride[GemmColumns::kDims - 1];
  if (gemm.columns != c.x_channels || c.x_channels < 2 || c.y_channels < 2 || c.images < 1 ||
      merged.length[GemmColumns::kDims - 1] != gemm.columns) {
    return;
  }
  const int64_t terms = gemm.depth / c.images;
  const bool is_even_odd = c.x.dtype == c.y.dtype && c.x.dtype != ACL_FLOAT;
  const bool ends_blocks = terms % (is_even_odd ? kEvenOddDepth : kGemmDepth) == 0;
  if (IsMatrix(product.left) && IsMatrix(product.right) && (c.images == 1 || ends_blocks)) {
    gemm.left.patches = gemm.right.patches = nullptr;
    gemm.groups = c.images;
    gemm.depth = terms;
    gemm.left.group = product.left.image;
    gemm.left.row = product.left.channel;
    gemm.left.column = product.left.axis[kPatchAxes - 1].stride;
    gemm.right.group = product.right.image;
    gemm.right.row = product.right.axis[kPatchAxes - 1].stride;
    gemm.right.column = product.right.channel;
    gemm.out_columns = nullptr;
    gemm.out.column = step;
    return;
  }
  if (!FillsPanelsWorse(gemm.columns, gemm.rows, FindGemmKernels(job.isa).columns)) return;
  std::swap(gemm.left, gemm.right);
  std::swap(gemm.rows, gemm.columns);
  product.columns.length[GemmColumns::kDims - 1] = gemm.columns;
  product.columns.stride[GemmColumns::kDims - 1] = gemm.out.row;
  gemm.out.row = step;
}

// Computes w's gradient. Rows are channels of y, terms (image, position of y), columns (channel of x, kernel
// element).
void RunW(const ConvolutionJob& job, void* const* addresses) {
  const Convolution& c = job.convolution;
  if (RunWeightOfWindows(c, job.isa, job.threads, addresses)) return;
  PatchProduct product;
  Gemm& gemm = product.gemm = GemmOfRows(c, c.y_channels);
  gemm.columns = c.x_channels;
  gemm.depth = c.images;
  product.left = {.channel = c.y.inner, .image = c.y.outer, .axis = {}, .taps_are_lines = true};
  product.right = {.channel = c.x.inner, .image = c.x.outer, .axis = {}, .taps_are_lines = true};
  int64_t taps[GemmColumns::kDims] = {c.x_channels};
  int64_t tap_strides[GemmColumns::kDims] = {c.w.inner};
  for (int i = 0; i < kPatchAxes; ++i) {
    const ConvolutionAxis& axis = c.axis[i];
    gemm.columns *= axis.kernel;
    gemm.depth *= axis.y;
    product.left.axis[i] = Whole(axis.y, c.y.axis[i]);
    product.right.axis[i] = Windows(axis, c.x.axis[i]);
    taps[i + 1] = axis.kernel;
    tap_strides[i + 1] = c.w.axis[i];
  }
  product.left.Merge();
  product.right.Merge();
  product.columns = MergedColumns(taps, tap_strides);
  gemm.left = OperandOf(c.y, c.y_channels * c.y.inner);
  gemm.left.patches = &product.left;
  gemm.right = OperandOf(c.x, c.x_channels * c.x.inner);
  gemm.right.patches = &product.right;
  gemm.out = OperandOf(c.w, c.y_channels * c.w.outer);
  gemm.out.row = c.w.outer;
  gemm.out_columns = &product.columns;
  MakeMatricesOfW(job, product);
  Run(product, job, addresses);
}

}  // namespace

bool ConvolutionJob::Touches(int operand) const noexcept {
  const Convolution& c = convolution;
  return operand == c.x.argument || operand == c.y.argument || operand == c.w.argument ||
         (c.adds && operand == c.added.argument);
}

// Returns the elements of an elementwise job that takes as long.
int64_t ConvolutionJob::Elements() const noexcept {
  const Convolution& c = convolution;
  constexpr double kMultiplicationsOfElement = 32;
  constexpr double kMost = double{1LL << 62};
  double work = static_cast<double>(c.images) * static_cast<double>(c.groups) *
                static_cast<double>(c.x_channels) * static_cast<double>(c.y_channels);
  for (const ConvolutionAxis& axis : c.axis)
    work *= static_cast<double>(axis.y) * static_cast<double>(axis.kernel);
  return static_cast<int64_t>(std::min(work / kMultiplicationsOfElement, kMost));
}

void ConvolutionJob::Run(void* const* addresses, void* /*workspace*/) const noexcept {
  // Making a product computes lengths in floating point.
  const DefaultFloatEnvironment environment;
  switch (result) {
    case ConvolutionResult::kY:
      return RunY(*this, addresses);
    case ConvolutionResult::kX:
      return RunX(*this, addresses);
    case ConvolutionResult::kW:
      return RunW(*this, addresses);
  }
}

void BufferConvolution::Run(const JobContext& context) const noexcept {
  void* addresses[kBuffers];
  for (int i = 0; i < kBuffers; ++i) addresses[i] = buffer[i].Address(context);
  job.Run(addresses, nullptr);
}

}  // namespace portacl::engine
