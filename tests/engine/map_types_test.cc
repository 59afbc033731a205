// How elementwise operators read and write elements: every dtype, cast to every dtype, computed in every type, against
// conversions of one value at a time.
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/map_types.h"

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "support/converted_value.h"

namespace portacl::testing {
namespace {

using engine::ElementType;
using engine::SetOf;
using enum engine::ElementType;

constexpr engine::ElementTypes kEveryType =
    SetOf(kF32) | SetOf(kF64) | SetOf(kI8) | SetOf(kU8) | SetOf(kI16) | SetOf(kU16) | SetOf(kI32) |
    SetOf(kU32) | SetOf(kI64) | SetOf(kU64) | SetOf(kBool) | SetOf(kC64) | SetOf(kC128);
constexpr engine::ElementTypes kWideTypes =
    SetOf(kF32) | SetOf(kF64) | SetOf(kI32) | SetOf(kI64) | SetOf(kC128);
constexpr engine::ElementTypes kWidestTypes = SetOf(kF32) | SetOf(kF64) | SetOf(kI64) | SetOf(kC128);

std::string Names(DtypeNumber a, DtypeNumber b, DtypeNumber c) {
  return DtypeName(a) + ", " + DtypeName(b) + ", " + DtypeName(c);
}

std::vector<std::byte> Joined(const std::vector<Element>& elements) {
  std::vector<std::byte> bytes;
  for (const Element& element : elements) bytes.insert(bytes.end(), element.begin(), element.end());
  return bytes;
}

// Calls use(isa, the dtype that is cast to, what it is computed in, its dtype) for each there is.
template <class Use>
void ForEachComputation(const Use& use) {
  for (const Isa isa : SupportedIsas()) {
    for (const engine::ElementTypes takes : {kEveryType, kWideTypes, kWidestTypes}) {
      for (const DtypeNumber cast : ConvertibleDtypes()) {
        const ElementType computed = engine::ComputedType(static_cast<aclDataType>(cast), takes);
        ASSERT_NE(SetOf(computed) & takes, 0u) << DtypeName(cast);
        use(isa, cast, computed, DtypeNumber{engine::DtypeOf(computed)});
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

void ExpectElements(DtypeNumber dtype, const std::vector<std::byte>& found,
                    const std::vector<Element>& expected, const std::string& what) {
  size_t at = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(IsSameElement(dtype, &found[at], expected[i])) << what << ", element " << i;
    at += expected[i].size();
  }
}

TEST(MapTypes, EveryDtypeIsReadAsIfCastTwice) {
  RandomNumbers random(0x10AD);
  ForEachComputation([&](Isa isa, DtypeNumber cast, ElementType computed, DtypeNumber lanes) {
    const engine::MapTypes types{isa, static_cast<aclDataType>(cast), computed, false};
    for (const DtypeNumber stored : ConvertibleDtypes()) {
      std::vector<Element> elements = TestElements(stored, 40, random);
      if (elements.size() > 250) elements.resize(250);
      ElementType type{};
      const engine::ElementLoad load =
          types.LoadFor(static_cast<aclDataType>(stored), static_cast<aclDataType>(cast), &type);
      const std::string what = std::string(IsaName(isa)) + " " + Names(stored, cast, lanes);
      if (type == computed && stored == lanes) continue;  // kernels take it as it is
      std::vector<Element> expected;
      for (const Element& element : elements) {
        expected.push_back(ConvertedElement(cast, ConvertedElement(stored, element, cast), lanes));
      }
      if (type == computed) {
        // The bytes stay as they are; kernels read those of bools as 0 or 1.
        std::vector<std::byte> found = Joined(elements);
        if (computed == kBool) {
          for (std::byte& byte : found) byte = std::byte{byte != std::byte{0}};
        }
        ExpectElements(lanes, found, expected, what);
      } else {
        std::vector<std::byte> found(elements.size() * static_cast<size_t>(ElementSize(lanes)));
        const std::vector<std::byte> source = Joined(elements);
        load(source.data(), found.data(), elements.size());
        ExpectElements(lanes, found, expected, what);
      }
      if (::testing::Test::HasFailure()) return;
    }
  });
}

TEST(MapTypes, EveryResultIsRoundedOnceOrWraps) {
  RandomNumbers random(0x5704E);
  ForEachComputation([&](Isa isa, DtypeNumber promoted, ElementType computed, DtypeNumber lanes) {
    const engine::MapTypes types{isa, static_cast<aclDataType>(promoted), computed, false};
    const bool wraps = computed != kF32 && computed != kF64 && computed != kC64 && computed != kC128;
    std::vector<Element> elements = TestElements(lanes, 40, random);
    if (elements.size() > 250) elements.resize(250);
    for (const DtypeNumber stored : ConvertibleDtypes()) {
      ElementType type{};
      const engine::ElementStore store = types.StoreFor(static_cast<aclDataType>(stored), &type);
      const std::string what = std::string(IsaName(isa)) + " " + Names(lanes, promoted, stored);
      if (type == computed && stored == lanes) continue;
      std::vector<Element> expected;
      for (const Element& element : elements) {
        const Element number = wraps ? ConvertedElement(lanes, element, promoted) : element;
        expected.push_back(ConvertedElement(wraps ? promoted : lanes, number, stored));
      }
      if (type == computed) {
        ExpectElements(stored, Joined(elements), expected, what);
      } else {
        std::vector<std::byte> found(elements.size() * static_cast<size_t>(ElementSize(stored)));
        const std::vector<std::byte> source = Joined(elements);
        store(source.data(), found.data(), elements.size(), false);
        ExpectElements(stored, found, expected, what);
      }
      if (::testing::Test::HasFailure()) return;
    }
  });
}

}  // namespace
}  // namespace portacl::testing
