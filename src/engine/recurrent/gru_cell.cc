// Gated recurrent units over sequences (see gru_cell.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/recurrent/gru_cell.h"

#include "engine/recurrent/layers.h"

namespace portacl::engine {
namespace {

using namespace recurrent;

class Forward : public ForwardLayers<Forward> {
 public:
  static constexpr int kGates = kGruGates;
  static constexpr int kSaved = kGruSaved;

  Forward(const Gru& gru, const JobContext& context, Parts& parts) : ForwardLayers(gru, context, parts) {}

  void LoadFurtherStates(int64_t) {}
  void StoreFurtherStates(int64_t) {}

  void Step(int64_t, float* r, const float* hidden, float* h, const float** saved) {
    const int64_t count = sizes.hidden;
    float* const z = r + count;
    float* const n = z + count;
    const float* const hn = hidden + 2 * count;
    for (int64_t k = 0; k < 2 * count; ++k) r[k] += hidden[k];
    Apply(network_.sigmoid, r, 2 * count);
    for (int64_t k = 0; k < count; ++k) n[k] += r[k] * hn[k];
    Apply(network_.tanh, n, count);
    for (int64_t k = 0; k < count; ++k) h[k] = (h[k] - n[k]) * z[k] + n[k];
    saved[kGruR] = r;
    saved[kGruZ] = z;
    saved[kGruN] = n;
    saved[kGruHn] = hn;
    saved[kGruH] = h;
  }
};

class Backward : public BackwardLayers<Backward> {
 public:
  static constexpr int kGates = kGruGates;
  static constexpr int kSaved = kGruSaved;
  static constexpr int kSavedH = kGruH;
  static constexpr bool kHiddenGatesDiffer = true;

  Backward(const GruGradient& gru, const JobContext& context, Parts& parts)
      : BackwardLayers(gru, context, parts) {
    copies_ = parts.Take<float>(sizes.batch * kSaved * sizes.hidden);
  }

  void LoadFurtherStates(int64_t) {}
  void StoreFurtherStates(int64_t) {}

  void Step(const BackwardStep& step) {
    const int64_t count = sizes.hidden;
    float* const copies = copies_ + step.b * kSaved * count;
    const auto saved = [&](int which) {
      return Load(Saved(step.cell, which), step.t, step.b, count, copies + which * count);
    };
    const float* const r = saved(kGruR);
    const float* const z = saved(kGruZ);
    const float* const n = saved(kGruN);
    const float* const hn = saved(kGruHn);
    float* const of_r = step.of_gates;
    float* const of_z = of_r + count;
    float* const of_n = of_z + count;
    float* const hidden_r = step.of_hidden_gates;
    float* const hidden_z = hidden_r + count;
    float* const hidden_n = hidden_z + count;
    for (int64_t k = 0; k < count; ++k) {
      const float from_h = step.of_output[k] + step.of_h[k];
      of_n[k] = from_h * (1 - z[k]) * (1 - n[k] * n[k]);
      of_z[k] = hidden_z[k] = from_h * (step.h_before[k] - n[k]) * (z[k] * (1 - z[k]));
      of_r[k] = hidden_r[k] = of_n[k] * hn[k] * (r[k] * (1 - r[k]));
      hidden_n[k] = of_n[k] * r[k];
      step.of_h[k] = from_h * z[k];
    }
  }

 private:
  float* copies_;
};

}  // namespace

uint64_t Gru::WorkspaceBytes() const noexcept { return WorkspaceBytesOf<Forward>(*this); }
void Gru::Run(const JobContext& context) const noexcept { RunLayers<Forward>(*this, context); }

uint64_t GruGradient::WorkspaceBytes() const noexcept { return WorkspaceBytesOf<Backward>(*this); }
void GruGradient::Run(const JobContext& context) const noexcept { RunLayers<Backward>(*this, context); }

}  // namespace portacl::engine
