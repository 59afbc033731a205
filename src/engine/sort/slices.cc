// Orders slices (see slices.h): blocks of them are sorted side by side, and sorted runs are merged in pairs. The
// order of all slices is total, so the result does not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "engine/sort/slices.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/float_environment.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kRun = 1024;            // slices that are sorted at once
constexpr int64_t kBlockBytes = 1 << 16;  // that a block of copies moves

template <class Bits>
constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));

// Turns the bits of an element into an unsigned number that is ordered as the element is.
template <class Bits>
Bits KeyOfFloat(Bits bits, Bits infinity) {
  const auto magnitude = static_cast<Bits>(bits & static_cast<Bits>(~kSign<Bits>));
  if (magnitude > infinity) return std::numeric_limits<Bits>::max();
  if (magnitude == 0) return kSign<Bits>;
  return bits == magnitude ? static_cast<Bits>(bits | kSign<Bits>) : static_cast<Bits>(~bits);
}
template <class Bits>
Bits KeyOf(Bits bits, aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT:
      return KeyOfFloat<Bits>(bits, static_cast<Bits>(0x7F800000U));
    case ACL_DOUBLE:
      return KeyOfFloat<Bits>(bits, static_cast<Bits>(0x7FF0000000000000U));
    case ACL_FLOAT16:
      return KeyOfFloat<Bits>(bits, static_cast<Bits>(0x7C00U));
    case ACL_BF16:
      return KeyOfFloat<Bits>(bits, static_cast<Bits>(0x7F80U));
    case ACL_INT8:
    case ACL_INT16:
    case ACL_INT32:
    case ACL_INT64:
      return static_cast<Bits>(bits ^ kSign<Bits>);
    case ACL_BOOL:
      return bits != 0 ? Bits{1} : Bits{0};
    default:
      return bits;
  }
}

template <class Bits>
class SlicesRun {
 public:
  SlicesRun(const OrderSlices& slices, const JobContext& context)
      : slices_(slices),
        source_(slices.source.Address(context)),
        keys_(reinterpret_cast<Bits*>(slices.keys.Address(context))),
        order_(reinterpret_cast<int64_t*>(slices.order.Address(context))),
        spare_(reinterpret_cast<int64_t*>(slices.spare.Address(context))),
        sorted_(slices.sorted.Address(context)),
        elements_(slices.before * slices.behind) {}

  void All() {
    ForEachSlices([&](int64_t slice) { MakeKeys(slice); });
    Sort();
    ForEachSlices([&](int64_t position) { CopySlice(order_[position], position); });
  }

 private:
  static constexpr auto kSize = static_cast<int64_t>(sizeof(Bits));

  template <class Body>
  void ForEachSlices(const Body& body) const {
    const int64_t together = std::max<int64_t>(1, kBlockBytes / std::max<int64_t>(elements_ * kSize, 1));
    ForEachBlock((slices_.count + together - 1) / together, slices_.threads, [&](int64_t block) {
      const int64_t end = std::min(slices_.count, (block + 1) * together);
      for (int64_t slice = block * together; slice < end; ++slice) body(slice);
    });
  }

  void MakeKeys(int64_t slice) const {
    Bits* to = keys_ + slice * elements_;
    for (int64_t b = 0; b < slices_.before; ++b) {
      const char* const from = source_ + (b * slices_.count + slice) * slices_.behind * kSize;
      for (int64_t k = 0; k < slices_.behind; ++k) *to++ = KeyOf(Load<Bits>(from + k * kSize), slices_.dtype);
    }
  }
  void CopySlice(int64_t slice, int64_t position) const {
    const auto bytes = static_cast<size_t>(slices_.behind * kSize);
    for (int64_t b = 0; b < slices_.before; ++b) {
      std::memcpy(sorted_ + (b * slices_.count + position) * slices_.behind * kSize,
                  source_ + (b * slices_.count + slice) * slices_.behind * kSize, bytes);
    }
  }

  bool IsBefore(int64_t a, int64_t b) const {
    const Bits* const x = keys_ + a * elements_;
    const Bits* const y = keys_ + b * elements_;
    for (int64_t k = 0; k < elements_; ++k) {
      if (x[k] != y[k]) return x[k] < y[k];
    }
    return a < b;
  }

  void Sort() {
    const auto is_before = [this](int64_t a, int64_t b) { return IsBefore(a, b); };
    const int64_t count = slices_.count;
    ForEachBlock((count + kRun - 1) / kRun, slices_.threads, [&](int64_t run) {
      const int64_t end = std::min(count, (run + 1) * kRun);
      for (int64_t i = run * kRun; i < end; ++i) order_[i] = i;
      std::sort(order_ + run * kRun, order_ + end, is_before);
    });
    for (int64_t length = kRun; length < count; length *= 2) {
      ForEachBlock((count + 2 * length - 1) / (2 * length), slices_.threads, [&](int64_t pair) {
        const int64_t first = pair * 2 * length;
        const int64_t middle = std::min(count, first + length);
        const int64_t end = std::min(count, first + 2 * length);
        std::merge(order_ + first, order_ + middle, order_ + middle, order_ + end, spare_ + first, is_before);
        std::copy(spare_ + first, spare_ + end, order_ + first);
      });
    }
  }

  const OrderSlices& slices_;
  const char* source_;
  Bits* keys_;
  int64_t* order_;
  int64_t* spare_;
  char* sorted_;
  int64_t elements_;
};

}  // namespace

void OrderSlices::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  switch (size) {
    case 1:
      return SlicesRun<uint8_t>(*this, context).All();
    case 2:
      return SlicesRun<uint16_t>(*this, context).All();
    case 4:
      return SlicesRun<uint32_t>(*this, context).All();
    default:
      return SlicesRun<uint64_t>(*this, context).All();
  }
}

void PutWordsInOrder::Run(const JobContext& context) const noexcept {
  const auto* const words = reinterpret_cast<const int64_t*>(source.Address(context));
  const auto* const positions = reinterpret_cast<const int64_t*>(order.Address(context));
  char* const target = to.Address(context);
  for (int64_t i = 0; i < count; ++i) Store(target + positions[i] * int64_t{sizeof(int64_t)}, words[i]);
}

}  // namespace portacl::engine
