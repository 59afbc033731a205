// Channels in turn, diagonals, slices by entries and masks, and chunks side by side, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/shape.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/map_values.h"
#include "support/operator_spec.h"

namespace portacl::testing {
namespace {

const Listed kRealDtypes = kFDI;

OperatorSpec Shuffle() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnChannelShuffle);
  op.valid = {TensorArg("self", {2, 6, 3}), IntegerArg("groups", 2), OutputArg("out", {2, 6, 3})};
  const DtypeList list = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_DOUBLE, ACL_INT8,      ACL_UINT8,
                          ACL_INT16, ACL_INT32,   ACL_INT64, ACL_BOOL,   ACL_COMPLEX64, ACL_COMPLEX128};
  op.rules = {NoNulls("self out"),
              DtypeIn("self", {list}),
              SameDtype("self", "out"),
              Refuses(161002, "groups",
                      [](PlanCall& call) {
                        const Shape& self = call["self"].shape;
                        return call["groups"].integer <= 0 ||
                               (self.size() >= 2 && self[1] % call["groups"].integer != 0);
                      }),
              SameShape("self", "out"),
              Ranks("self", 3, 7),
              DoneIfEmpty("self")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 3, random.Below(6) == 0 ? 7 : 4, 4);
    call["groups"].integer = random.Between(1, 5);
    shape[1] = call["groups"].integer * random.Between(0, 6);
    for (const char* name : {"self", "out"}) call[name].shape = shape;
    call["self"].dtype = call["out"].dtype = DrawDtype(random, list);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t groups = call["groups"].integer;
    return std::vector<Outcome>{
        ForEachElement(call["out"].shape, [&](std::vector<int64_t>& index) -> std::optional<Element> {
          const int64_t each = call["out"].shape[1] / groups;
          index[1] = index[1] % groups * each + index[1] / groups;
          return tensors[0].elements[static_cast<size_t>(PositionOf(call["self"].shape, index))];
        })};
  };
  return op;
}

OperatorSpec Flat() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnFlatten);
  op.valid = {TensorArg("self", {2, 6, 3}), IntegerArg("axis", 1), OutputArg("out", {2, 18})};
  const Listed listed = {{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8,
                          ACL_UINT16, ACL_UINT32, ACL_UINT64, ACL_BOOL},
                         {ACL_BF16}};
  const auto flat = [](const Shape& self, int64_t axis) {
    if (axis < 0) axis += std::ssize(self);
    Shape made = {1, 1};
    for (int64_t dim = 0; dim < std::ssize(self); ++dim)
      made[dim < axis ? 0 : 1] *= self[static_cast<size_t>(dim)];
    return made;
  };
  op.rules = {NoNulls("self out"),
              DtypeIn("self", listed),
              SameDtype("self", "out"),
              Ranks("self", 1, 8),
              Refuses(161002, "axis",
                      [](PlanCall& call) {
                        const int64_t rank = std::ssize(call["self"].shape);
                        return call["axis"].integer < -rank || call["axis"].integer >= rank;
                      }),
              Refuses(161002, "out",
                      [=](PlanCall& call) {
                        return call["out"].shape != flat(call["self"].shape, call["axis"].integer);
                      }),
              DoneIfEmpty("self")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawShape(random, 1, random.Below(6) == 0 ? 8 : 4, 4);
    call["axis"].integer = random.Between(-std::ssize(shape), std::ssize(shape) - 1);
    call["self"].shape = shape;
    call["out"].shape = flat(shape, call["axis"].integer);
    call["self"].dtype = call["out"].dtype =
        DrawDtype(random, {ACL_FLOAT, ACL_INT8, ACL_INT64, ACL_UINT16, ACL_BOOL});
  };
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    Outcome outcome;
    for (const Element& element : tensors[0].elements) outcome.emplace_back(element);
    return std::vector<Outcome>{outcome};
  };
  return op;
}

OperatorSpec Confused() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnConfusionTranspose);
  op.valid = {TensorArg("x", {2, 6}), ArrayArg("perm", {2, 0, 1}), ArrayArg("shape", {2, 2, 3}),
              IntegerArg("transposeFirst", 0), OutputArg("out", {3, 2, 2})};
  const Listed listed = {{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8,
                          ACL_UINT16, ACL_UINT32, ACL_UINT64},
                         {ACL_BF16}};
  const auto permuted = [](const Shape& shape, const std::vector<int64_t>& perm) {
    Shape made;
    for (const int64_t dim : perm) made.push_back(shape[static_cast<size_t>(dim)]);
    return made;
  };
  const auto is_first = [](const PlanCall& call) { return call["transposeFirst"].integer != 0; };
  const auto turned = [=](const PlanCall& call) {
    return is_first(call) ? call["x"].shape : call["shape"].values;
  };
  op.rules = {
      NoNulls("x perm shape out"),
      DtypeIn("x", listed),
      SameDtype("x", "out"),
      DoneIfEmpty("x"),
      Refuses(561103, "x", [](PlanCall& call) { return call["x"].shape.size() > 8; }),
      Refuses(561103, "shape",
              [](PlanCall& call) {
                const Shape& shape = call["shape"].values;
                return shape.size() > 8 ||
                       std::any_of(shape.begin(), shape.end(), [](int64_t one) { return one < 0; }) ||
                       NumElements(shape) != NumElements(call["x"].shape);
              }),
      Refuses(561103, "perm",
              [=](PlanCall& call) {
                std::vector<int64_t> perm = call["perm"].values;
                std::vector<int64_t> all(turned(call).size());
                std::iota(all.begin(), all.end(), 0);
                std::sort(perm.begin(), perm.end());
                return perm != all;
              }),
      Refuses(561103, "out", [=](PlanCall& call) {
        return call["out"].shape !=
               (is_first(call) ? call["shape"].values : permuted(call["shape"].values, call["perm"].values));
      })};
  op.takes_workspace = true;  // of what is not dense
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    // Two shapes of as many elements: factors, put together in two ways.
    std::vector<int64_t> factors(static_cast<size_t>(random.Between(0, random.Below(6) == 0 ? 8 : 4)));
    for (int64_t& one : factors) one = random.Between(1, 4);
    const auto shape_of = [&] {
      Shape made;
      for (const int64_t one : factors) {
        if (made.empty() || random.Below(2) == 0) {
          made.push_back(one);
        } else {
          made.back() *= one;
        }
      }
      return made;
    };
    call["x"].shape = shape_of();
    call["shape"].values = shape_of();
    call["transposeFirst"].integer = random.Below(2);
    std::vector<int64_t> perm(turned(call).size());
    std::iota(perm.begin(), perm.end(), 0);
    for (size_t i = perm.size(); i > 1; --i)
      std::swap(perm[i - 1], perm[static_cast<size_t>(random.Below(i))]);
    call["perm"].values = perm;
    call["out"].shape = is_first(call) ? call["shape"].values : permuted(call["shape"].values, perm);
    call["x"].dtype = call["out"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_INT8, ACL_INT64, ACL_UINT16});
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape before = turned(call);
    const std::vector<int64_t>& perm = call["perm"].values;
    const Outcome outcome =
        ForEachElement(permuted(before, perm), [&](std::vector<int64_t>& index) -> std::optional<Element> {
          std::vector<int64_t> from(index.size());
          for (size_t i = 0; i < index.size(); ++i) from[static_cast<size_t>(perm[i])] = index[i];
          return tensors[0].elements[static_cast<size_t>(PositionOf(before, from))];
        });
    return std::vector<Outcome>{outcome};
  };
  return op;
}

// The first half of a complex number's bytes, and all of a real one's.
OperatorSpec RealParts() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnReal);
  op.valid = {TensorArg("self", {2, 3}, ACL_COMPLEX64), OutputArg("out", {2, 3})};
  const DtypeList list = {ACL_FLOAT, ACL_FLOAT16, ACL_COMPLEX64, ACL_COMPLEX128};
  const auto part_of = [](DtypeNumber dtype) {
    return dtype == ACL_COMPLEX64    ? DtypeNumber{ACL_FLOAT}
           : dtype == ACL_COMPLEX128 ? DtypeNumber{ACL_DOUBLE}
                                     : dtype;
  };
  op.rules = {NoNulls("self out"),
              DtypeIn("self", {list}),
              Refuses(161002, "out",
                      [=](PlanCall& call) { return call["out"].dtype != part_of(call["self"].dtype); }),
              Ranks("self", 0, 8),
              SameShape("self", "out"),
              DoneIfEmpty("self")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    call["self"].shape = call["out"].shape = DrawShape(random, 0, 4, 5);
    call["self"].dtype = DrawDtype(random, list);
    call["out"].dtype = part_of(call["self"].dtype);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const auto bytes = static_cast<size_t>(ElementSize(call["out"].dtype));
    Outcome outcome;
    for (const Element& element : tensors[0].elements)
      outcome.emplace_back(Element(element.begin(), element.begin() + static_cast<std::ptrdiff_t>(bytes)));
    return std::vector<Outcome>{outcome};
  };
  return op;
}

OperatorSpec Diagonal() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInplaceFillDiagonal);
  op.valid = {OutputArg("selfRef", {3, 3}), ScalarArg("fillValue", {2, 0}), IntegerArg("wrap", 0)};
  op.updates = true;
  op.rules = {NoNulls("selfRef fillValue"),
              DtypeIn("selfRef", kRealDtypes),
              Ranks("selfRef", 2, 8),
              Refuses(161002, "selfRef",
                      [](PlanCall& call) {
                        const Shape& self = call["selfRef"].shape;
                        return self.size() > 2 && std::adjacent_find(self.begin(), self.end(),
                                                                     std::not_equal_to<>()) != self.end();
                      }),
              Refuses(161002, "fillValue",
                      [](PlanCall& call) {
                        return call["fillValue"].dtype == ACL_COMPLEX64 ||
                               call["fillValue"].dtype == ACL_COMPLEX128;
                      }),
              DoneIfEmpty("selfRef")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = {random.Between(0, 20), random.Between(0, 6)};
    if (random.Below(3) == 0) shape.assign(static_cast<size_t>(random.Between(3, 5)), random.Between(1, 4));
    call["selfRef"].shape = shape;
    call["selfRef"].dtype = DrawDtype(
        random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT64, ACL_BOOL});
    call["wrap"].integer = random.Between(0, 1);
    call["fillValue"].number = {static_cast<long double>(random.Between(0, 100)), 0};
    call["fillValue"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_INT64, ACL_DOUBLE});
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["selfRef"].shape;
    return std::vector<Outcome>{
        ForEachElement(shape, [&](std::vector<int64_t>& index) -> std::optional<Element> {
          int64_t row = index[0];
          if (shape.size() == 2 && call["wrap"].integer != 0) row %= shape[1] + 1;
          bool is_on = row == index[1];
          for (size_t dim = 2; dim < index.size(); ++dim) is_on = is_on && index[dim] == index[1];
          if (!is_on) return tensors[0].elements[static_cast<size_t>(PositionOf(shape, index))];
          return ElementOfNumber(call["selfRef"].dtype, call["fillValue"].number);
        })};
  };
  return op;
}

// ---- slices ----

// Python's slices, one dim after the other: what of self's dims is taken, -1 for a new dim; nullopt where it is refused.
struct Sliced {
  Shape shape;
  std::vector<std::vector<int64_t>> places;  // of each dim of self
  std::vector<bool> is_kept;                 // of each dim of self, whether the result has it
  std::vector<int> source;                   // of each dim of the result
};
std::optional<Sliced> SliceOf(const PlanCall& call) {
  const Shape& self = call["self"].shape;
  const auto& begin = call["begin"].values;
  const auto bit = [&](const char* mask, size_t i) { return (call[mask].integer >> i & 1) != 0; };
  int named = 0;
  size_t ellipsis = begin.size();
  for (size_t i = 0; i < begin.size(); ++i) {
    if (bit("ellipsisMask", i)) {
      ellipsis = i;
    } else if (!bit("newAxisMask", i)) {
      ++named;
    }
  }
  Sliced sliced;
  const auto take = [&](const std::vector<int64_t>& places, bool is_kept) {
    if (is_kept) {
      sliced.shape.push_back(std::ssize(places));
      sliced.source.push_back(static_cast<int>(sliced.places.size()));
    }
    sliced.places.push_back(places);
    sliced.is_kept.push_back(is_kept);
  };
  const auto next = [&] { return sliced.places.size(); };
  for (size_t i = 0; i <= begin.size(); ++i) {
    if (i == ellipsis) {
      for (int64_t whole = std::ssize(self) - named; whole > 0; --whole) {
        std::vector<int64_t> all(static_cast<size_t>(self[next()]));
        std::iota(all.begin(), all.end(), 0);
        take(all, true);
      }
    } else if (i < begin.size() && bit("newAxisMask", i)) {
      sliced.shape.push_back(1);
      sliced.source.push_back(-1);
    } else if (i < begin.size()) {
      if (next() >= self.size()) return std::nullopt;
      const int64_t n = self[next()];
      const int64_t step = call["strides"].values[i];
      const auto wrap = [&](int64_t at) { return at < 0 ? at + n : at; };
      if (bit("shrinkAxisMask", i)) {
        const int64_t at = wrap(begin[i]);
        if (at < 0 || at >= n) return std::nullopt;
        take({at}, false);
        continue;
      }
      // Every place that there is, in the order of the step, is asked whether it is taken.
      int64_t first = bit("beginMask", i) ? (step > 0 ? 0 : n - 1) : wrap(begin[i]);
      first = step > 0 ? std::max<int64_t>(first, 0) : std::min(first, n - 1);
      const int64_t end = wrap(call["end"].values[i]);
      std::vector<int64_t> taken;
      for (int64_t at = first; at >= 0 && at < n; at += step) {
        if (!bit("endMask", i) && (step > 0 ? at >= end : at <= end)) break;
        taken.push_back(at);
      }
      take(taken, true);
    }
  }
  return sliced;
}

OperatorSpec Slices() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnStridedSlice);
  op.numbers_on = Product::k950;
  op.valid = {TensorArg("self", {4, 5}),     ArrayArg("begin", {1, 0}),    ArrayArg("end", {4, 5}),
              ArrayArg("strides", {2, 1}),   IntegerArg("beginMask", 0),   IntegerArg("endMask", 0),
              IntegerArg("ellipsisMask", 0), IntegerArg("newAxisMask", 0), IntegerArg("shrinkAxisMask", 0),
              OutputArg("out", {2, 5})};
  const DtypeList list = {ACL_FLOAT,       ACL_FLOAT16,      ACL_BF16,      ACL_INT8,      ACL_INT16,
                          ACL_INT32,       ACL_INT64,        ACL_UINT8,     ACL_UINT16,    ACL_UINT32,
                          ACL_UINT64,      ACL_BOOL,         ACL_COMPLEX32, ACL_COMPLEX64, ACL_HIFLOAT8,
                          ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};
  op.rules = {
      NoNulls("self begin end strides out"),
      DtypeIn("self", {.on_950 = list}),
      SameDtype("self", "out"),
      Ranks("self", 0, 8),
      Refuses(161002, "end",
              [](PlanCall& call) { return call["end"].values.size() != call["begin"].values.size(); }),
      Refuses(161002, "strides",
              [](PlanCall& call) { return call["strides"].values.size() != call["begin"].values.size(); }),
      Refuses(161002, "strides",
              [](PlanCall& call) {
                const auto& strides = call["strides"].values;
                return std::find(strides.begin(), strides.end(), 0) != strides.end();
              }),
      Refuses(161002, "ellipsisMask",
              [](PlanCall& call) {
                const int64_t mask = call["ellipsisMask"].integer;
                return (mask & (mask - 1)) != 0;
              }),
      Refuses(161002, "strides",
              [](PlanCall& call) {
                for (size_t i = 0; i < call["strides"].values.size(); ++i) {
                  if ((call["shrinkAxisMask"].integer >> i & 1) != 0 && call["strides"].values[i] <= 0)
                    return true;
                }
                return false;
              }),
      DoneIfEmpty("self"),
      Refuses(161002, "begin",
              [](PlanCall& call) {
                const auto sliced = SliceOf(call);
                if (sliced) call.result = sliced->shape;
                return !sliced || sliced->shape.size() > 8;
              }),
      ResultIsOrOne("out"),
      DoneIfEmpty("out")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    call["self"].dtype = call["out"].dtype = DrawDtype(
        random, {ACL_FLOAT, ACL_FLOAT8_E5M2, ACL_BF16, ACL_INT64, ACL_UINT32, ACL_BOOL, ACL_COMPLEX64});
    for (;;) {
      Shape& self = call["self"].shape;
      self = DrawShape(random, 0, 5, 6);
      const size_t entries = static_cast<size_t>(random.Below(static_cast<uint32_t>(self.size()) + 2));
      for (const char* name : {"begin", "end", "strides"}) {
        auto& values = call[name].values;
        values.clear();
        for (size_t i = 0; i < entries; ++i) values.push_back(random.Between(-8, 8));
      }
      for (const char* name : {"beginMask", "endMask", "newAxisMask", "shrinkAxisMask"}) {
        call[name].integer = 0;
        for (size_t i = 0; i < entries; ++i) call[name].integer |= int64_t{random.Below(5) == 0} << i;
      }
      call["ellipsisMask"].integer = random.Below(3) == 0 && entries > 0
                                         ? int64_t{1} << random.Below(static_cast<uint32_t>(entries))
                                         : 0;
      for (size_t i = 0; i < entries; ++i) {
        int64_t& stride = call["strides"].values[i];
        if (stride == 0 || (call["shrinkAxisMask"].integer >> i & 1) != 0) stride = random.Between(1, 3);
      }
      const auto sliced = SliceOf(call);
      if (!sliced || sliced->shape.size() > 8) continue;
      call["out"].shape = sliced->shape;
      return;
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const auto sliced = SliceOf(call);
    return std::vector<Outcome>{
        ForEachElement(call["out"].shape, [&](std::vector<int64_t>& index) -> std::optional<Element> {
          std::vector<int64_t> at(sliced->places.size());
          for (size_t dim = 0; dim < at.size(); ++dim) at[dim] = sliced->places[dim][0];
          for (size_t i = 0; i < index.size(); ++i) {
            const int dim = sliced->source[i];
            if (dim >= 0)
              at[static_cast<size_t>(dim)] =
                  sliced->places[static_cast<size_t>(dim)][static_cast<size_t>(index[i])];
          }
          return tensors[0].elements[static_cast<size_t>(PositionOf(call["self"].shape, at))];
        })};
  };
  return op;
}

// ---- chunks ----

// Rows of a chunk, and elements of a row.
std::pair<int64_t, int64_t> ChunkOf(const Shape& shape, int64_t count) {
  int64_t row = 1;
  for (size_t dim = 1; dim < shape.size(); ++dim) row *= shape[dim];
  return {(shape[0] + count - 1) / count, row};
}

OperatorSpec Chunks() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnChunkCat);
  op.valid = {ListArg("tensors", {{4, 2}, {3}}), IntegerArg("dim", 0), IntegerArg("numChunks", 2),
              OutputArg("out", {2, 6})};
  const Listed list = {.on_new = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};
  const auto result = [](const PlanCall& call) {
    int64_t width = 0;
    for (const PlanArgument& entry : call["tensors"].entries) {
      const auto [rows, row] = ChunkOf(entry.shape, call["numChunks"].integer);
      width += rows * row;
    }
    return Shape{call["numChunks"].integer, width};
  };
  op.rules = {Refuses(161002, "dim", [](PlanCall& call) { return call["dim"].integer != 0; }),
              NoNulls("tensors"),
              SucceedsIf([](PlanCall& call) { return call["tensors"].entries.empty(); }),
              NoNulls("tensors"),
              NoNulls("out"),
              DtypeIn("tensors", list),
              Refuses(161002, "tensors",
                      [](PlanCall& call) {
                        for (const PlanArgument& entry : call["tensors"].entries) {
                          if (entry.dtype != call["tensors"].entries[0].dtype) return true;
                        }
                        return false;
                      }),
              DtypeIn("out", list),
              Refuses(161002, "out",
                      [](PlanCall& call) {
                        return call["tensors"].entries[0].dtype == ACL_FLOAT &&
                               call["out"].dtype != ACL_FLOAT;
                      }),
              Refuses(161002, "tensors",
                      [](PlanCall& call) {
                        for (const PlanArgument& entry : call["tensors"].entries) {
                          if (entry.format == ACL_FORMAT_FRACTAL_NZ || entry.format == ACL_FORMAT_NC1HWC0)
                            return true;
                        }
                        return false;
                      }),
              Refuses(161002, "out",
                      [](PlanCall& call) {
                        return call["out"].format == ACL_FORMAT_FRACTAL_NZ ||
                               call["out"].format == ACL_FORMAT_NC1HWC0;
                      }),
              Refuses(161002, "tensors",
                      [](PlanCall& call) {
                        for (const PlanArgument& entry : call["tensors"].entries) {
                          if (entry.shape.empty() || entry.shape.size() > 8) return true;
                        }
                        return false;
                      }),
              Refuses(561103, "numChunks", [](PlanCall& call) { return call["numChunks"].integer < 1; }),
              Refuses(161002, "out",
                      [=](PlanCall& call) {
                        call.result = result(call);
                        return false;
                      }),
              ResultIsOrOne("out"),
              DoneIfEmpty("out")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
    call["numChunks"].integer = random.Between(1, random.Below(4) == 0 ? 40 : 6);
    auto& entries = call["tensors"].entries;
    const PlanArgument entry = entries[0];
    entries.assign(static_cast<size_t>(random.Between(1, 4)), entry);
    for (size_t i = 0; i < entries.size(); ++i) {
      entries[i].dtype = dtype;
      entries[i].shape = DrawShape(random, 1, 5, 4);
      entries[i].shape[0] = random.Between(0, 20);
    }
    call["out"].dtype = dtype == ACL_FLOAT ? dtype : DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
    call["out"].shape = result(call);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t count = call["numChunks"].integer;
    return std::vector<Outcome>{
        ForEachElement(call["out"].shape, [&](std::vector<int64_t>& index) -> std::optional<Element> {
          int64_t column = index[1];
          for (size_t i = 0; i + 1 < tensors.size(); ++i) {
            const auto [rows, row] = ChunkOf(tensors[i].shape, count);
            if (column >= rows * row) {
              column -= rows * row;
              continue;
            }
            const int64_t at = index[0] * rows * row + column;
            const bool is_there = at < std::ssize(tensors[i].elements);
            const Number number =
                is_there ? NumberOf(tensors[i].dtype, tensors[i].elements[static_cast<size_t>(at)].data())
                         : Number{};
            return ElementOfNumber(call["out"].dtype, number);
          }
          return std::nullopt;
        })};
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (HostTensor& tensor : tensors) {
      for (int64_t k = 0; k < tensor.size(); ++k) {
        const Element element = ElementOfNumber(
            tensor.dtype(), {static_cast<long double>(random.Between(-3000, 3000)) / 1000, 0});
        std::copy(element.begin(), element.end(), tensor.Element(k));
      }
    }
  };
  return op;
}

const OperatorSpec kOperators[] = {Shuffle(),  Flat(),   Confused(), RealParts(),
                                   Diagonal(), Slices(), Chunks()};
PORTACL_OPERATOR_TESTS(ShapeParts, kOperators);

// 7 * numChunks is 1 modulo 2^64, as many elements as `out` has.
TEST(ChunkCat, RefusesResultsThatCannotBeCounted) {
  const ScopedEnvironment environment(Variables{});
  float values[7] = {};
  const int64_t shape[] = {1, 7};
  const int64_t strides[] = {7, 1};
  aclTensor* entry = aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 2, values);
  aclTensor* const out =
      aclCreateTensor(shape, 1, ACL_FLOAT, strides + 1, 0, ACL_FORMAT_ND, shape, 1, values);
  aclTensorList* const entries = aclCreateTensorList(&entry, 1);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnChunkCatGetWorkspaceSize(entries, 0, 0x6db6db6db6db6db7, out, &size, &executor), 161002);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("numChunks"), std::string::npos);
  aclDestroyTensorList(entries);
  aclDestroyTensor(out);
}

TEST(FillDiagonal, RefusesViewsOutsideOfTheirStorage) {
  const ScopedEnvironment environment(Variables{});
  float values[4] = {};
  const int64_t shape[] = {3, 3};
  const int64_t strides[] = {16, 1};
  const int64_t storage = 4;
  aclTensor* const self =
      aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, &storage, 1, values);
  float five = 5;
  aclScalar* const value = aclCreateScalar(&five, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnInplaceFillDiagonalGetWorkspaceSize(self, value, false, &size, &executor), 561103);
  aclDestroyTensor(self);
  aclDestroyScalar(value);
}

}  // namespace
}  // namespace portacl::testing
