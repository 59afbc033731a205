// The measurements (see comparisons.h).
// SPDX-License-Identifier: Apache-2.0
#include "comparisons.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "limit_loops.h"
#include "measure.h"

namespace portacl::bench {
namespace {

// Seconds that a comparison of this size needs to say anything.
double LeastSeconds(const Case& c) {
  if (c.log2 <= 16) return 0.03;
  if (c.log2 <= 20) return 0.06;
  return c.log2 <= 24 ? 0.35 : 1.2;
}

double Elements(const Case& c) { return static_cast<double>(int64_t{1} << c.log2); }

Figures FiguresOf(const Case& c, const Comparison& result) {
  Figures figures;
  figures.seconds = result.ours;
  figures.counters = {{"elements", Elements(c)},
                      {"threads", c.threads},
                      {"ratio", result.ratio},
                      {"ratio_p10", result.p10},
                      {"ratio_p90", result.p90},
                      {"pairs", result.pairs},
                      {"ns_per_call", result.ours * 1e9},
                      {"ns_per_element", result.ours * 1e9 / Elements(c)}};
  return figures;
}

// Unrolled threads on data that stays in their caches: a burst must be long enough for helpers to be awake and for each
// thread's part of the data to come into its own cache. Both sides get the same.
bool IsBackToBack(const Case& c) { return c.threads > 1 && c.log2 <= 18; }
constexpr double kWarmUp = 2e-3;  // seconds of a burst that are not counted

// Helper threads that still look out for work would disturb the other side.
void LetHelpersSleep() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

Side OurSide(const Case& c, ReadyCall& call) {
  Side side{[&call] { call(); }};
  if (c.threads > 1) side.after_burst = LetHelpersSleep;
  if (IsBackToBack(c)) side.warm_up = kWarmUp;
  return side;
}

Effort EffortFor(const Case& c, double patience) {
  Effort effort;
  effort.seconds = LeastSeconds(c) * patience;
  if (IsBackToBack(c)) effort.burst = kWarmUp;
  return effort;
}

// A loop shared among threads, and what one of them does when all are done.
template <class Share, class Finish>
Side SharedSide(int threads, Rig& rig, const Share& share, const Finish& finish) {
  if (threads == 1) {
    return {[share, finish] {
      share(0, 1);
      finish();
    }};
  }
  Team& team = rig.TeamOf(threads);
  return {[&team, share = std::function<void(int, int)>(share), finish] {
            team.Run(share);
            finish();
          },
          [&team] { team.Wake(); }, [&team] { team.Sleep(); }};
}

// On one thread and on all.
std::vector<Side> CeilingSides(const Case& c, const CeilingLoop& loop, Rig& rig) {
  std::vector<Side> ceilings;
  for (const bool streaming : {false, true}) {
    if (streaming && (!loop.may_stream || loop.traffic.out.width == 0)) continue;
    const auto share = [loop, streaming](int part, int parts) {
      MoveBytes(loop.traffic, streaming, part, parts);
    };
    const auto nothing = [] {};
    ceilings.push_back(SharedSide(1, rig, share, nothing));
    if (c.threads > 1) ceilings.push_back(SharedSide(c.threads, rig, share, nothing));
  }
  if (IsBackToBack(c)) {
    for (Side& side : ceilings) side.warm_up = kWarmUp;
  }
  return ceilings;
}

Figures AgainstCeiling(const Case& c, Rig& rig, double patience) {
  rig.StartFor(c);
  ReadyCall call(c, rig.storage, rig.portacl);
  const Side ours = OurSide(c, call);

  const CeilingLoop loop = Ceiling(c, call.operands(), call.data());
  const std::vector<Side> ceilings = CeilingSides(c, loop, rig);
  Effort effort = EffortFor(c, patience);
  const Comparison result = Compare(ours, ceilings, effort);
  const double bytes = static_cast<double>(loop.traffic.BytesPerElement() * loop.traffic.elements);
  Figures figures = FiguresOf(c, result);
  figures.counters["ceiling_ns_per_element"] = result.theirs * 1e9 / Elements(c);
  figures.counters["gigabytes_per_second"] = bytes / result.ours / 1e9;
  figures.counters["ceiling_gigabytes_per_second"] = bytes / result.theirs / 1e9;

  if (c.call->uses_exp_or_log && c.log2 >= 20) {
    // What the processors take for the formula alone: the same operator on data that stays in cache, on one
    // thread, shared among all.
    Case small = c;
    small.log2 = 14;
    small.layout = Layout::kDense;
    ReadyCall in_cache(small, rig.storage, rig.portacl);
    effort.seconds /= 2;
    const Side own_side{[&] { in_cache(); }, [] {}, ours.after_burst};
    const Comparison own = Compare(ours, {own_side}, effort);
    const double own_ratio = own.ratio * Elements(c) / Elements(small) / c.threads;
    figures.counters["own_in_cache_ratio"] = own_ratio;
    figures.counters["ratio_to_smaller"] = std::max(result.ratio, own_ratio);
  }
  return figures;
}

// All threads against one, back to back or with 2 ms of idleness before every call.
Figures SecondThread(const Case& c, bool after_idleness, Rig& rig, double patience) {
  ReadyCall call(c, rig.storage, rig.portacl);
  const auto side = [&](int threads) {
    Side result{[&] { call(); }, [&rig, threads] { rig.portacl.Use(threads, rig.always_blocking); },
                LetHelpersSleep};
    // Back to back: the helper is awake, and each thread finds the data of the last call in its own cache.
    if (after_idleness) {
      result.idle_before_call = std::chrono::milliseconds(2);
    } else {
      result.warm_up = kWarmUp;
    }
    return result;
  };
  Effort effort;
  if (!after_idleness) effort.burst = 5e-3;
  effort.seconds = 3 * LeastSeconds(c) * patience;
  return FiguresOf(c, Compare(side(c.threads), {side(1)}, effort));
}

// Whether a loop computes what the library does. Sums are left in scratch: float32 outputs must be their roundings, to
// 16 bits it is enough to come near.
bool Agrees(const Case& c, const ReadyCall& call, const std::vector<std::byte>& expected,
            const double* scratch) {
  const Operand& out = call.operands().back();
  const bool is_summed = c.layout == Layout::kSumToRow;
  if (c.call->output == LossCall::Output::kEveryElement && !is_summed)
    return std::memcmp(expected.data(), call.data().back(), expected.size()) == 0;
  const int64_t count = c.call->output == LossCall::Output::kOneElement ? 1 : out.elements;
  // Sums of a gradient's terms are not divided.
  const double terms = is_summed ? 1 : Elements(c) / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    const double mean = scratch[i] / terms;
    float value;
    if (out.dtype == ACL_FLOAT) {
      std::memcpy(&value, &expected[static_cast<size_t>(i) * 4], 4);
      if (value != static_cast<float>(mean)) return false;
      continue;
    }
    uint16_t half;
    std::memcpy(&half, &expected[static_cast<size_t>(i) * 2], 2);
    const uint32_t bits = static_cast<uint32_t>(half) << 16;
    std::memcpy(&value, &bits, 4);
    if (out.dtype == ACL_FLOAT16) value = aclFloat16ToFloat(half);
    if (std::abs(value - mean) > std::abs(mean) / 128) return false;
  }
  return true;
}

Figures AgainstLimit(const Case& c, Rig& rig, double patience) {
  rig.StartFor(c);
  ReadyCall call(c, rig.storage, rig.portacl);
  const Side ours = OurSide(c, call);
  const CeilingLoop ceiling = Ceiling(c, call.operands(), call.data());

  std::vector<double> scratch(LimitScratch(c));
  const std::vector<LimitLoop> loops = LimitLoops(c, call.data(), scratch.data());
  if (loops.empty()) throw std::runtime_error("there are no loops for this machine's vectors");
  const Operand& out = call.operands().back();
  const size_t bytes = static_cast<size_t>(out.elements) * static_cast<size_t>(DtypeSize(out.dtype));
  const auto clear = [&] { std::memset(call.data().back(), 0xFF, bytes); };
  clear();
  call();
  std::vector<std::byte> expected(call.data().back(), call.data().back() + bytes);
  std::vector<Side> limits;
  for (const LimitLoop& loop : loops) {
    clear();
    std::fill(scratch.begin(), scratch.end(), -1.0);
    for (int part = 0; part < c.threads; ++part) loop.share(part, c.threads);
    loop.finish();
    if (!Agrees(c, call, expected, scratch.data()))
      throw std::runtime_error("the loop computes something else: " + loop.name);
    limits.push_back(SharedSide(c.threads, rig, loop.share, loop.finish));
    if (IsBackToBack(c)) limits.back().warm_up = kWarmUp;
  }
  expected = {};

  Effort effort = EffortFor(c, 3 * patience);
  effort.least_pairs = 9;
  const Turns turns = TakeTurns({{ours}, CeilingSides(c, ceiling, rig), limits}, effort);
  const Comparison of_limit = CompareTimes(turns.times[0], turns.times[2]);
  const Comparison of_ceiling = CompareTimes(turns.times[0], turns.times[1]);
  const Comparison limit = CompareTimes(turns.times[2], turns.times[1]);
  Figures figures = FiguresOf(c, of_limit);
  figures.label = loops[static_cast<size_t>(turns.best[2])].name;
  const auto add = [&](const std::string& name, const Comparison& one) {
    figures.counters[name] = one.ratio;
    figures.counters[name + "_p10"] = one.p10;
    figures.counters[name + "_p90"] = one.p90;
  };
  add("library_of_ceiling", of_ceiling);
  add("limit_of_ceiling", limit);
  figures.counters["limit_ns_per_element"] = limit.ours * 1e9 / Elements(c);
  figures.counters["ceiling_ns_per_element"] = limit.theirs * 1e9 / Elements(c);
  return figures;
}

double StatusMebibytes(const char* field) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) throw std::runtime_error("/proc/self/status cannot be read");
  char line[256];
  double kibibytes = -1;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, field, std::strlen(field)) == 0)
      std::sscanf(line + std::strlen(field), ": %lf", &kibibytes);
  }
  std::fclose(file);
  return kibibytes / 1024;
}

// By how much the process's peak exceeds what its operands take, in the first call and one more.
Figures Resident(const Case& c, Rig& rig) {
  rig.StartFor(c);
  ReadyCall call(c, rig.storage, rig.portacl);
  std::memset(call.data().back(), 0,
              static_cast<size_t>(call.operands().back().elements) *
                  static_cast<size_t>(DtypeSize(call.operands().back().dtype)));
  std::FILE* file = std::fopen("/proc/self/clear_refs", "w");
  if (file == nullptr || std::fputs("5", file) < 0 || std::fclose(file) != 0)
    throw std::runtime_error("the peak cannot be reset");
  const double before = StatusMebibytes("VmRSS");
  call();
  call();
  Figures figures;
  figures.seconds = 1e-9;
  figures.counters = {{"elements", Elements(c)},
                      {"threads", c.threads},
                      {"mebibytes", std::max(0.0, StatusMebibytes("VmHWM") - before)}};
  return figures;
}

bool IsOneOf(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
}

}  // namespace

Team& Rig::TeamOf(int threads) {
  auto& team = teams[threads];
  if (!team) team = std::make_unique<Team>(threads);
  return *team;
}

void Rig::StartFor(const Case& c) { portacl.Use(c.threads, always_blocking || c.log2 >= 24); }

std::vector<Measurement> AllMeasurements(int all_threads) {
  std::vector<Measurement> all;
  for (const Case& c : AllCases(all_threads)) {
    const double factor = c.call->uses_exp_or_log && c.log2 >= 20 ? 1.5 : 1;
    all.push_back({c.Name(), IsInQuickSelection(c), IsInUsualSelection(c), IsInTable(c),
                   LeastSeconds(c) * factor,
                   [c](Rig& rig, double patience) { return AgainstCeiling(c, rig, patience); }});
  }
  for (const LossCall& call : LossCalls()) {
    const std::string name = call.name;
    if (all_threads > 1 && IsOneOf(name, {"l1_loss_backward", "smooth_l1_loss_backward", "kl_div_backward",
                                          "kl_div_backward.log", "mse_loss_backward", "l1_loss.mean"})) {
      for (const Dtypes dtypes : {Dtypes::kF32, Dtypes::kBf16}) {
        for (const int log2 : {8, 12, 14, 16, 18, 20, 24}) {
          for (const bool after_idleness : {false, true}) {
            const Case c{&call, dtypes, log2, Layout::kDense, all_threads};
            const char* group = after_idleness ? "second_thread_after_idle/" : "second_thread/";
            const bool quick = name == "l1_loss_backward" && dtypes == Dtypes::kF32 && log2 == 18;
            all.push_back({group + c.Name(), quick, true, true, 3 * LeastSeconds(c),
                           [c, after_idleness](Rig& rig, double patience) {
                             return SecondThread(c, after_idleness, rig, patience);
                           }});
          }
        }
      }
    }
    for (const Layout layout : {Layout::kDense, Layout::kOneTransposed, Layout::kSumToRow}) {
      const Case c{&call, Dtypes::kF32, 26, layout, all_threads};
      if (!c.IsPossible()) continue;
      all.push_back({"resident/" + c.Name(), false, true, true, 0.5,
                     [c](Rig& rig, double) { return Resident(c, rig); }});
    }
  }
  return all;
}

std::vector<Measurement> AllLimits(int all_threads) {
  std::vector<Measurement> all;
  for (const Case& c : LimitCases(all_threads)) {
    all.push_back({"limit/" + c.Name(), true, true, true, 4 * LeastSeconds(c),
                   [c](Rig& rig, double patience) { return AgainstLimit(c, rig, patience); }});
  }
  return all;
}

}  // namespace portacl::bench
