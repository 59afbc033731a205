// Selects the Highway targets that are compiled; must come before any other Highway header of a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compiles every target that PORTACL_ISA can name, the portable fallback included, even if the baseline is
// better.
#define HWY_COMPILE_ALL_ATTAINABLE

// Excludes targets between the named ones: they give the same bits and little speed, and doubling compile
// time and size is not worth it.
#define HWY_DISABLED_TARGETS                                                                    \
  (HWY_SSE2 | HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_AVX10_2 | \
   HWY_NEON_BF16 | HWY_SVE_256 | HWY_SVE2 | HWY_SVE2_128 | PORTACL_DISABLED_TARGETS)

// Builds for fewer targets (quick experiments) may name more here.
#ifndef PORTACL_DISABLED_TARGETS
#define PORTACL_DISABLED_TARGETS 0
#endif

#include <hwy/detect_targets.h>

// Names that this version of Highway lacks.
#ifndef HWY_SSE2
#define HWY_SSE2 0
#endif
#ifndef HWY_AVX3_ZEN4
#define HWY_AVX3_ZEN4 0
#endif
#ifndef HWY_AVX3_SPR
#define HWY_AVX3_SPR 0
#endif
#ifndef HWY_AVX10_2
#define HWY_AVX10_2 0
#endif
#ifndef HWY_NEON_BF16
#define HWY_NEON_BF16 0
#endif
#ifndef HWY_NEON_WITHOUT_AES
#define HWY_NEON_WITHOUT_AES 0
#define HWY_CHOOSE_NEON_WITHOUT_AES(function) nullptr
#endif
