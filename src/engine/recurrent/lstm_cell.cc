// Long short-term memory over sequences (see lstm_cell.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/recurrent/lstm_cell.h"

#include <algorithm>

#include "engine/recurrent/layers.h"

namespace portacl::engine {
namespace {

using namespace recurrent;

class Forward : public ForwardLayers<Forward> {
 public:
  static constexpr int kGates = kLstmGates;
  static constexpr int kSaved = kLstmSaved;

  Forward(const Lstm& lstm, const JobContext& context, Parts& parts)
      : ForwardLayers(lstm, context, parts), lstm_(lstm) {
    c_ = parts.Take<float>(sizes.batch * sizes.hidden);
  }

  void LoadFurtherStates(int64_t cell) { LoadState(lstm_.c0, cell, c_); }
  void StoreFurtherStates(int64_t cell) { StoreState(c_, lstm_.cy, cell); }

  void Step(int64_t b, float* i, float* hidden, float* h, const float** saved) {
    const int64_t n = sizes.hidden;
    float* const f = i + n;
    float* const g = f + n;
    float* const o = g + n;
    float* const c = c_ + b * n;
    for (int64_t k = 0; k < 4 * n; ++k) i[k] += hidden[k];
    Apply(lstm_.sigmoid, i, 2 * n);
    Apply(lstm_.tanh, g, n);
    Apply(lstm_.sigmoid, o, n);
    for (int64_t k = 0; k < n; ++k) c[k] = f[k] * c[k] + i[k] * g[k];
    std::copy_n(c, n, hidden);
    Apply(lstm_.tanh, hidden, n);
    for (int64_t k = 0; k < n; ++k) h[k] = o[k] * hidden[k];
    saved[kLstmI] = i;
    saved[kLstmG] = g;
    saved[kLstmF] = f;
    saved[kLstmO] = o;
    saved[kLstmH] = h;
    saved[kLstmC] = c;
    saved[kLstmTanhC] = hidden;
  }

 private:
  const Lstm& lstm_;
  float* c_;
};

class Backward : public BackwardLayers<Backward> {
 public:
  static constexpr int kGates = kLstmGates;
  static constexpr int kSaved = kLstmSaved;
  static constexpr int kSavedH = kLstmH;
  static constexpr bool kHiddenGatesDiffer = false;

  Backward(const LstmGradient& lstm, const JobContext& context, Parts& parts)
      : BackwardLayers(lstm, context, parts), lstm_(lstm) {
    c_ = parts.Take<float>(sizes.batch * sizes.hidden);
    copies_ = parts.Take<float>(sizes.batch * kSaved * sizes.hidden);
  }

  void LoadFurtherStates(int64_t cell) { LoadState(lstm_.of_cy, cell, c_); }
  void StoreFurtherStates(int64_t cell) { StoreState(c_, lstm_.of_c0, cell); }

  void Step(const BackwardStep& step) {
    const int64_t n = sizes.hidden;
    float* const copies = copies_ + step.b * kSaved * n;
    const auto saved = [&](int which) {
      return Load(Saved(step.cell, which), step.t, step.b, n, copies + which * n);
    };
    const float* const i = saved(kLstmI);
    const float* const g = saved(kLstmG);
    const float* const f = saved(kLstmF);
    const float* const o = saved(kLstmO);
    const float* const tanh_c = saved(kLstmTanhC);
    const float* const c = Previous(lstm_.c0, kLstmC, step.cell, step.before, step.b, copies + kLstmC * n);
    float* const of_i = step.of_gates;
    float* const of_f = of_i + n;
    float* const of_g = of_f + n;
    float* const of_o = of_g + n;
    float* const of_c = c_ + step.b * n;
    for (int64_t k = 0; k < n; ++k) {
      const float from_h = step.of_output[k] + step.of_h[k];
      const float from_c = of_c[k] + from_h * o[k] * (1 - tanh_c[k] * tanh_c[k]);
      of_i[k] = from_c * g[k] * (i[k] * (1 - i[k]));
      of_f[k] = from_c * c[k] * (f[k] * (1 - f[k]));
      of_g[k] = from_c * i[k] * (1 - g[k] * g[k]);
      of_o[k] = from_h * tanh_c[k] * (o[k] * (1 - o[k]));
      of_c[k] = from_c * f[k];
    }
  }

 private:
  const LstmGradient& lstm_;
  float* c_;  // the gradient of c
  float* copies_;
};

}  // namespace

uint64_t Lstm::WorkspaceBytes() const noexcept { return WorkspaceBytesOf<Forward>(*this); }
void Lstm::Run(const JobContext& context) const noexcept { RunLayers<Forward>(*this, context); }

uint64_t LstmGradient::WorkspaceBytes() const noexcept { return WorkspaceBytesOf<Backward>(*this); }
void LstmGradient::Run(const JobContext& context) const noexcept { RunLayers<Backward>(*this, context); }

}  // namespace portacl::engine
