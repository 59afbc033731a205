// The loops that somebody would write by hand, for peers.py: OpenMP, and whatever the compiler makes of them.
// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

typedef _Float16 f16;
typedef struct {
  uint16_t bits;
} bf16;

static inline float from_f32(float x) { return x; }
static inline float to_f32(float x) { return x; }
static inline float from_f16(f16 x) { return (float)x; }
static inline f16 to_f16(float x) { return (f16)x; }
static inline float from_bf16(bf16 x) {
  const uint32_t bits = (uint32_t)x.bits << 16;
  float result;
  memcpy(&result, &bits, 4);
  return result;
}
static inline bf16 to_bf16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  const bf16 result = {(uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
  return result;
}

#define SIGN(d) ((float)((d) > 0) - (float)((d) < 0))

// NAME(g, s, t, out, rows, columns, t_step): t_step is 0 where all rows share one row of t.
#define LOOP(NAME, TYPE, FROM, TO, FORMULA)                                                            \
  static void NAME(const TYPE* restrict g_, const TYPE* restrict s_, const TYPE* restrict t_,          \
                   TYPE* restrict o_, int64_t rows, int64_t columns, int64_t t_step) {                 \
    if (t_step == columns) {                                                                           \
      _Pragma("omp parallel for simd schedule(static)") for (int64_t i = 0; i < rows * columns; ++i) { \
        const float g = FROM(g_[i]), s = FROM(s_[i]), t = FROM(t_[i]);                                 \
        (void)s;                                                                                       \
        o_[i] = TO(FORMULA);                                                                           \
      }                                                                                                \
    } else {                                                                                           \
      _Pragma("omp parallel for schedule(static)") for (int64_t r = 0; r < rows; ++r) {                \
        for (int64_t k = 0; k < columns; ++k) {                                                        \
          const float g = FROM(g_[r * columns + k]), s = FROM(s_[r * columns + k]),                    \
                      t = FROM(t_[r * t_step + k]);                                                    \
          (void)s;                                                                                     \
          o_[r * columns + k] = TO(FORMULA);                                                           \
        }                                                                                              \
      }                                                                                                \
    }                                                                                                  \
  }

#define LOOPS(NAME, FORMULA)                         \
  LOOP(NAME##_f32, float, from_f32, to_f32, FORMULA) \
  LOOP(NAME##_f16, f16, from_f16, to_f16, FORMULA)   \
  LOOP(NAME##_bf16, bf16, from_bf16, to_bf16, FORMULA)

LOOPS(l1, SIGN(s - t) * g)
LOOPS(smooth_l1, (fabsf(s - t) >= 1.0f ? SIGN(s - t) : s - t) * g)
LOOPS(kl, -(t* g))
LOOPS(kl_log, -(expf(t) * g))
LOOPS(mse, 2.0f * (s - t) * g)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Operators: l1, smooth_l1, kl, kl_log, mse. Dtypes: f32, f16, bf16. Returns seconds per call, the first left out.
double loops_burst(int op, int dtype, int threads, const void* g, const void* s, const void* t, void* out,
                   int64_t rows, int64_t columns, int64_t t_step, int calls) {
  typedef void (*loop)(const void*, const void*, const void*, void*, int64_t, int64_t, int64_t);
#define ROW(NAME) \
  { (loop)(void*) NAME##_f32, (loop)(void*)NAME##_f16, (loop)(void*)NAME##_bf16 }
  static const loop kLoops[5][3] = {ROW(l1), ROW(smooth_l1), ROW(kl), ROW(kl_log), ROW(mse)};
  omp_set_num_threads(threads);
  double begin = 0;
  for (int call = 0; call <= calls; ++call) {
    if (call == 1) begin = now();
    kLoops[op][dtype](g, s, t, out, rows, columns, t_step);
  }
  return calls > 0 ? (now() - begin) / calls : 0;
}
