// The ceiling's loops, once per instruction set, and the threads that share them.
// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ceiling.cc"
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#include "ceiling.h"

#ifndef PORTACL_BENCH_MOVE
#define PORTACL_BENCH_MOVE
namespace portacl::bench {

struct Pointers {
  const uint32_t* in[3];
  uint32_t* out;
};

using Move = void (*)(const Pointers& pointers, size_t begin_step, size_t end_step);

struct MoveOfTarget {
  Move move;
  size_t lanes;  // of 32 bits in a vector
  const char* name;
};

}  // namespace portacl::bench
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl::bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes32 = hn::ScalableTag<uint32_t>;
using Vector = hn::Vec<Lanes32>;

// A step takes `count` vectors from a stream. Vector `index` of the step, modulo count.
template <int count>
HWY_INLINE Vector Take(const uint32_t* stream, size_t step, int index) {
  const Lanes32 d;
  return hn::LoadU(d, stream + (step * count + static_cast<size_t>(index % count)) * hn::Lanes(d));
}

template <int a, int b, int c>
HWY_INLINE Vector Add(const Pointers& p, size_t step, int index) {
  Vector sum = Take<a>(p.in[0], step, index);
  if constexpr (b > 0) sum = hn::Add(sum, Take<b>(p.in[1], step, index));
  if constexpr (c > 0) sum = hn::Add(sum, Take<c>(p.in[2], step, index));
  return sum;
}

template <bool streaming>
HWY_INLINE void Put(Vector v, uint32_t* to) {
  const Lanes32 d;
  if constexpr (streaming) {
    hn::Stream(v, d, to);
  } else {
    hn::StoreU(v, d, to);
  }
}

template <int a, int b, int c, int w, bool streaming>
HWY_INLINE void WriteStep(const Pointers& p, size_t step) {
  const size_t lanes = hn::Lanes(Lanes32());
  uint32_t* out = p.out + step * w * lanes;
  if constexpr (w == 2) {
    Put<streaming>(Add<a, b, c>(p, step, 0), out);
    Put<streaming>(Add<a, b, c>(p, step, 1), out + lanes);
  } else if constexpr (a == 2) {  // the first stream is the widest
    Vector sum = hn::Add(Take<a>(p.in[0], step, 0), Take<a>(p.in[0], step, 1));
    if constexpr (b > 0) sum = hn::Add(sum, Take<b>(p.in[1], step, 0));
    if constexpr (b > 1) sum = hn::Add(sum, Take<b>(p.in[1], step, 1));
    if constexpr (c > 0) sum = hn::Add(sum, Take<c>(p.in[2], step, 0));
    if constexpr (c > 1) sum = hn::Add(sum, Take<c>(p.in[2], step, 1));
    Put<streaming>(sum, out);
  } else {
    Put<streaming>(Add<a, b, c>(p, step, 0), out);
  }
}

template <int a, int b, int c, int w, bool streaming>
void WriteLoop(const Pointers& pointers, size_t begin, size_t end) {
  const Pointers p = pointers;
  size_t step = begin;
  for (; step + 4 <= end; step += 4) {
    WriteStep<a, b, c, w, streaming>(p, step);
    WriteStep<a, b, c, w, streaming>(p, step + 1);
    WriteStep<a, b, c, w, streaming>(p, step + 2);
    WriteStep<a, b, c, w, streaming>(p, step + 3);
  }
  for (; step < end; ++step) WriteStep<a, b, c, w, streaming>(p, step);
  if (streaming) hwy::FlushStream();
}

template <int a, int b, int c>
HWY_INLINE Vector ReadStep(const Pointers& p, size_t step) {
  Vector sum = Add<a, b, c>(p, step, 0);
  if constexpr (a == 2) {
    sum = hn::Add(sum, Take<a>(p.in[0], step, 1));
    if constexpr (b == 2) sum = hn::Add(sum, Take<b>(p.in[1], step, 1));
    if constexpr (c == 2) sum = hn::Add(sum, Take<c>(p.in[2], step, 1));
  }
  return sum;
}

template <int a, int b, int c>
void ReadLoop(const Pointers& pointers, size_t begin, size_t end) {
  const Lanes32 d;
  const Pointers p = pointers;
  Vector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  size_t step = begin;
  for (; step + 4 <= end; step += 4) {
    s0 = hn::Add(s0, ReadStep<a, b, c>(p, step));
    s1 = hn::Add(s1, ReadStep<a, b, c>(p, step + 1));
    s2 = hn::Add(s2, ReadStep<a, b, c>(p, step + 2));
    s3 = hn::Add(s3, ReadStep<a, b, c>(p, step + 3));
  }
  for (; step < end; ++step) s0 = hn::Add(s0, ReadStep<a, b, c>(p, step));
  volatile uint32_t used = hn::GetLane(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
  (void)used;
}

template <int a, int b, int c>
Move Choose(int w, bool streaming) {
  if (w == 0) return ReadLoop<a, b, c>;
  if (w == 1) return streaming ? WriteLoop<a, b, c, 1, true> : WriteLoop<a, b, c, 1, false>;
  return streaming ? WriteLoop<a, b, c, 2, true> : WriteLoop<a, b, c, 2, false>;
}

// Vectors a step takes of each stream, the widest stream first; the narrowest takes 1.
MoveOfTarget FindMove(int a, int b, int c, int w, bool streaming) {
  Move move = nullptr;
  switch (a * 100 + b * 10 + c) {
    case 100:
      move = Choose<1, 0, 0>(w, streaming);
      break;
    case 110:
      move = Choose<1, 1, 0>(w, streaming);
      break;
    case 111:
      move = Choose<1, 1, 1>(w, streaming);
      break;
    case 200:
      move = Choose<2, 0, 0>(w, streaming);
      break;
    case 210:
      move = Choose<2, 1, 0>(w, streaming);
      break;
    case 211:
      move = Choose<2, 1, 1>(w, streaming);
      break;
    case 220:
      move = Choose<2, 2, 0>(w, streaming);
      break;
    case 221:
      move = Choose<2, 2, 1>(w, streaming);
      break;
    case 222:
      move = Choose<2, 2, 2>(w, streaming);
      break;
    default:
      break;
  }
  return {move, hn::Lanes(Lanes32()), hwy::TargetName(HWY_TARGET)};
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstring>
#include <utility>

namespace portacl::bench {
namespace {

HWY_EXPORT(FindMove);

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

size_t Traffic::BytesPerElement() const {
  return static_cast<size_t>(in[0].width + in[1].width + in[2].width + out.width);
}

const char* CeilingInstructionSet() { return HWY_DYNAMIC_DISPATCH(FindMove)(1, 0, 0, 0, false).name; }

void MoveBytes(const Traffic& traffic, bool streaming, int part, int parts) {
  Traffic::Stream in[3] = {traffic.in[0], traffic.in[1], traffic.in[2]};
  std::sort(in, in + 3, [](const auto& x, const auto& y) { return x.width > y.width; });
  int narrowest = in[0].width;
  for (const auto& stream : in) narrowest = stream.width > 0 ? stream.width : narrowest;
  if (traffic.out.width > 0) narrowest = std::min(narrowest, traffic.out.width);
  if (narrowest == 0) return;
  int count[3];
  for (int i = 0; i < 3; ++i) count[i] = in[i].width / narrowest;
  const MoveOfTarget target =
      HWY_DYNAMIC_DISPATCH(FindMove)(count[0], count[1], count[2], traffic.out.width / narrowest, streaming);
  const Pointers pointers = {
      {reinterpret_cast<const uint32_t*>(in[0].data), reinterpret_cast<const uint32_t*>(in[1].data),
       reinterpret_cast<const uint32_t*>(in[2].data)},
      reinterpret_cast<uint32_t*>(traffic.out.data)};
  const size_t elements_per_step = target.lanes * sizeof(uint32_t) / static_cast<size_t>(narrowest);
  const size_t steps = traffic.elements / elements_per_step;
  const auto boundary = [&](int i) {
    return i == parts ? steps : steps * static_cast<size_t>(i) / static_cast<size_t>(parts) / 4 * 4;
  };
  target.move(pointers, boundary(part), boundary(part + 1));
  if (part + 1 == parts) {  // less than a vector
    for (size_t i = steps * elements_per_step; i < traffic.elements; ++i) {
      uint16_t sum = 0;
      for (const auto& stream : in) {
        uint16_t value = 0;
        if (stream.width > 0) std::memcpy(&value, stream.data + i * static_cast<size_t>(stream.width), 2);
        sum = static_cast<uint16_t>(sum + value);
      }
      for (int k = 0; k < traffic.out.width; k += 2)
        std::memcpy(traffic.out.data + i * static_cast<size_t>(traffic.out.width) + k, &sum, 2);
      volatile uint16_t used = sum;
      (void)used;
    }
  }
}

Team::Team(int threads) : threads_(threads) {
  for (int i = 1; i < threads; ++i) helpers_.emplace_back([this, i] { Loop(i); });
}

Team::~Team() {
  end_ = true;
  Wake();
  for (auto& helper : helpers_) helper.join();
}

void Team::Wake() {
  awake_ = 1;
  awake_.notify_all();
}

void Team::Sleep() { awake_ = 0; }

void Team::Run(const std::function<void(int, int)>& share) {
  share_ = &share;
  running_.store(threads_ - 1, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  share(0, threads_);
  while (running_.load(std::memory_order_acquire) > 0) Pause();
}

void Team::Loop(int thread) {
  uint64_t seen = 0;
  while (!end_) {
    awake_.wait(0);
    const uint64_t now = round_.load(std::memory_order_acquire);
    if (now == seen) {
      Pause();
      continue;
    }
    seen = now;
    (*share_)(thread, threads_);
    running_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace portacl::bench
#endif  // HWY_ONCE
