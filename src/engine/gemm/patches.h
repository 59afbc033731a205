// Patches of images as operands of matrix products. Packing reads the image in memory, whatever the kernel's
// strides, padding and dilation, so that the image is never copied as a whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/conversions.h"
#include "engine/gemm/gemm_kernel.h"
#include "engine/strided.h"

namespace portacl::engine {

// An axis: kernel element `tap` at `position` reads the coordinate first + tap * tap_step + position *
// position_step. Outside [0, length) it reads +0.
struct PatchAxis {
  int64_t taps;
  int64_t positions;
  int64_t tap_step;       // may be negative
  int64_t position_step;  // 1 or more
  int64_t first;
  int64_t length;
  int64_t stride;  // in bytes
};

inline constexpr int kPatchAxes = 3;

// A matrix of the elements that kernel elements (channel, index along each axis, the last one fastest) read
// at positions (image, position along each axis). Either of the two are its lines, rows of a left or columns
// of a right operand; the others are its terms.
struct Patches {
  int64_t channel;  // in bytes
  int64_t image;    // in bytes
  PatchAxis axis[kPatchAxes];
  bool taps_are_lines;

  // Merges adjacent axes that are read contiguously, for longer runs.
  void Merge() noexcept;
};

struct PatchSource {
  const Patches* patches;
  const char* base;  // the first image's first element
  int32_t size;      // of an element
  LoadFunction load;
  GatherFunction gather;
  TransposeFunction transpose;  // of float32
};

// Bytes of scratch memory for packing panels.
inline constexpr int64_t kPatchMemory = int64_t{56} << 10;

// Like PackRows and PackPanels (engine/gemm/pack.h), from a line and a term on. Rows are kernel elements.
void PackPatchRows(const PatchSource& source, int64_t line, int64_t lines, int64_t term, int64_t depth,
                   float* to) noexcept;
void PackPatchPanels(const PatchSource& source, int64_t line, int64_t lines, int64_t term, int64_t depth,
                     int64_t width, char* memory, float* to) noexcept;
// Returns one element.
float PatchElement(const PatchSource& source, int64_t line, int64_t term) noexcept;

}  // namespace portacl::engine
