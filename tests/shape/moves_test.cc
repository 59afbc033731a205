// Operators that join, cut, reorder, repeat and pad: their checks, and every element against loops over logical indices.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "aclnnop/families/indexing.h"
#include "aclnnop/families/shape.h"
#include "gtest/gtest.h"
#include "support/map_values.h"
#include "support/operator_spec.h"

namespace portacl::testing {
namespace {

using Index = std::vector<int64_t>;

const Listed kAll = {{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32,
                      ACL_INT64, ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128}};
const DtypeList kFloat8s = {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0};

Listed OnNew(Listed list, const DtypeList& more) {
  list.on_new.insert(list.on_new.end(), more.begin(), more.end());
  return list;
}
Listed On950(Listed list, const DtypeList& more) {
  list.on_950.insert(list.on_950.end(), more.begin(), more.end());
  return list;
}

bool Converts(DtypeNumber from, DtypeNumber to) {
  const auto& all = ConvertibleDtypes();
  const auto has = [&](DtypeNumber dtype) { return std::find(all.begin(), all.end(), dtype) != all.end(); };
  return has(from) && has(to);
}

// self's element at an index, unchanged.
Element At(const TensorValues& tensor, const Index& index) {
  return tensor.elements[static_cast<size_t>(PositionOf(tensor.shape, index))];
}

// ---- Cat and Stack ----

bool IsLegacy(const PlanArgument& one) { return !one.null && one.shape == Shape{0}; }

std::vector<const PlanArgument*> Kept(const PlanCall& call) {
  std::vector<const PlanArgument*> kept;
  for (const PlanArgument& one : call["tensors"].entries) {
    if (!IsLegacy(one)) kept.push_back(&one);
  }
  return kept;
}

DtypeNumber ReductionPromotion(const std::vector<const PlanArgument*>& tensors) {
  DtypeNumber promoted = tensors[0]->dtype;
  for (size_t i = 1; i < tensors.size() && promoted != kUndefinedDtype; ++i)
    promoted = PromoteDtypes(promoted, tensors[i]->dtype);
  return promoted;
}

Element Through(DtypeNumber from, const Element& element, DtypeNumber via, DtypeNumber to) {
  return ConvertedElement(via, ConvertedElement(from, element, via), to);
}

OperatorSpec Cat() {
  const Listed list = On950({{ACL_FLOAT, ACL_INT32, ACL_INT64, ACL_FLOAT16, ACL_INT16, ACL_INT8, ACL_UINT8,
                              ACL_DOUBLE, ACL_COMPLEX64, ACL_BOOL},
                             {ACL_BF16}},
                            {ACL_UINT16, ACL_UINT32, ACL_UINT64, ACL_HIFLOAT8, ACL_FLOAT8_E5M2,
                             ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0});
  const auto in_list = [=](const PlanCall& call, DtypeNumber dtype) {
    return list.Has(call.product, dtype) || (call.product == Product::k310B && dtype == ACL_BF16);
  };
  const auto with_elements = [](const PlanCall& call) {
    std::vector<const PlanArgument*> filled;
    for (const PlanArgument* one : Kept(call)) {
      if (NumElements(one->shape) > 0) filled.push_back(one);
    }
    return filled;
  };
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnCat);
  op.valid = {ListArg("tensors", {{2, 3}, {4, 3}, {1, 3}}), IntegerArg("dim", 0), OutputArg("out", {7, 3})};
  op.rules = {
      SucceedsIf([](PlanCall& call) { return !call["tensors"].null && Kept(call).empty(); }),
      NoNulls("tensors out"),
      Refuses(161002, "tensors",
              [=](PlanCall& call) {
                const auto kept = Kept(call);
                return std::any_of(kept.begin(), kept.end(),
                                   [&](auto* one) { return !in_list(call, one->dtype); });
              }),
      Refuses(161002, "out", [=](PlanCall& call) { return !in_list(call, call["out"].dtype); }),
      Refuses(161002, "tensors",
              [](PlanCall& call) {
                call.promoted = ReductionPromotion(Kept(call));
                return call.promoted == kUndefinedDtype || call.promoted == ACL_COMPLEX128;
              }),
      Refuses(161002, "out", [](PlanCall& call) { return !CanCastDtype(call.promoted, call["out"].dtype); }),
      Refuses(161002, "tensors out",
              [](PlanCall& call) {
                const auto kept = Kept(call);
                const int32_t first = kept[0]->format;
                return first == ACL_FORMAT_FRACTAL_NZ || call["out"].format != first ||
                       std::any_of(kept.begin(), kept.end(), [&](auto* one) { return one->format != first; });
              }),
      Refuses(161002, "tensors dim",
              [](PlanCall& call) {
                const auto kept = Kept(call);
                const Shape& first = kept[0]->shape;
                if (first.empty() || first.size() > 8 || !IsDimOf(call["dim"].integer, first)) return true;
                const size_t dim = Wrapped(call["dim"].integer, first);
                call.result = first;
                call.result[dim] = 0;
                for (auto* one : kept) {
                  if (one->shape.size() != first.size()) return true;
                  for (size_t i = 0; i < first.size(); ++i) {
                    if (i != dim && one->shape[i] != first[i]) return true;
                  }
                  call.result[dim] += one->shape[dim];
                }
                return false;
              }),
      SucceedsIf([=](PlanCall& call) { return with_elements(call).empty(); }),
      [=](PlanCall& call) {
        return ResultIsOrOne("out", with_elements(call).size() == 1 ? 561103 : 161002)(call);
      },
      Refuses(561103, "tensors", [](PlanCall& call) {
        const auto kept = Kept(call);
        const DtypeNumber out = call["out"].dtype;
        return std::any_of(kept.begin(), kept.end(), [&](auto* one) {
          const bool same = one->dtype == call.promoted && call.promoted == out;
          return !same && !(Converts(one->dtype, call.promoted) && Converts(call.promoted, out));
        });
      })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 4);
    const auto dim = static_cast<size_t>(random.Below(std::ssize(shape)));
    call["dim"].integer = static_cast<int64_t>(dim) - (random.Chance(50) ? std::ssize(shape) : 0);
    std::vector<Shape> shapes;
    int64_t length = 0;
    const int64_t count = random.Chance(10) ? 40 : random.Between(1, 6);
    for (int64_t i = 0; i < count; ++i) {
      Shape one = shape;
      if (i > 0 || random.Chance(50)) one[dim] = random.Below(5);
      length += one[dim];
      if (random.Chance(10)) shapes.push_back({0});
      shapes.push_back(one);
    }
    call["tensors"] = ListArg("tensors", shapes);
    shape[dim] = length;
    const DtypeList dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8,
                              ACL_INT32, ACL_INT64,   ACL_BOOL, ACL_DOUBLE};
    const DtypeNumber common = DrawDtype(random, dtypes);
    for (PlanArgument& one : call["tensors"].entries)
      one.dtype = random.Chance(75) ? common : DrawDtype(random, dtypes);
    call["out"] = OutputArg("out", shape, random.Chance(70) ? common : DrawDtype(random, dtypes));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& out = tensors.back();
    Outcome outcome(out.elements.size());
    size_t dim = 0;
    for (const PlanArgument* one : Kept(call)) dim = Wrapped(call["dim"].integer, one->shape);
    int64_t start = 0;
    for (size_t k = 0; k + 1 < tensors.size(); ++k) {
      const TensorValues& one = tensors[k];
      if (one.shape == Shape{0}) continue;
      for (int64_t i = 0; i < NumElements(one.shape); ++i) {
        Index index = IndexAt(one.shape, i);
        index[dim] += start;
        const int64_t place = NumElements(out.shape) == 1 ? 0 : PositionOf(out.shape, index);
        outcome[static_cast<size_t>(place)] =
            Through(one.dtype, one.elements[static_cast<size_t>(i)], call.promoted, out.dtype);
      }
      start += one.shape[dim];
    }
    return std::vector<Outcome>{outcome};
  };
  return op;
}

OperatorSpec Stack() {
  const Listed list = OnNew(kAll + kUnsigned, {ACL_BF16});
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnStack);
  op.valid = {ListArg("tensors", {{2, 3}, {2, 3}, {2, 3}}), IntegerArg("dim", 1),
              OutputArg("out", {2, 3, 3})};
  op.rules = {
      Refuses(561103, "tensors out", [](PlanCall& call) { return call["tensors"].null || call["out"].null; }),
      Refuses(161002, "tensors", [](PlanCall& call) { return call["tensors"].entries.empty(); }),
      NoNulls("tensors"),
      DtypeIn("tensors out", list),
      Refuses(161002, "tensors",
              [](PlanCall& call) {
                call.promoted = ReductionPromotion(TensorsOf(call).size() > 1
                                                  ? [&] {
                                                      auto all = TensorsOf(call);
                                                      all.pop_back();
                                                      return all;
                                                    }()
                                                  : TensorsOf(call));
                return call.promoted == kUndefinedDtype;
              }),
      Refuses(161002, "out", [](PlanCall& call) { return !CanCastDtype(call.promoted, call["out"].dtype); }),
      Refuses(161002, "tensors dim",
              [](PlanCall& call) {
                const auto& entries = call["tensors"].entries;
                const Shape& first = entries[0].shape;
                Shape result = first;
                result.push_back(1);
                if (first.size() > 8 || !IsDimOf(call["dim"].integer, result)) return true;
                call.result = first;
                call.result.insert(
                    call.result.begin() + static_cast<std::ptrdiff_t>(Wrapped(call["dim"].integer, result)),
                    std::ssize(entries));
                return std::any_of(entries.begin(), entries.end(),
                                   [&](auto& one) { return one.shape != first; });
              }),
      SucceedsIf([](PlanCall& call) { return NumElements(call["tensors"].entries[0].shape) == 0; }),
      ResultIsOrOne("out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawShape(random, 0, 4);
    const int64_t count = random.Between(1, 12);
    call["tensors"] = ListArg("tensors", std::vector<Shape>(static_cast<size_t>(count), shape));
    call["dim"].integer = random.Between(-std::ssize(shape) - 1, std::ssize(shape));
    Shape result = shape;
    Shape longer = shape;
    longer.push_back(1);
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(Wrapped(call["dim"].integer, longer)), count);
    const DtypeList dtypes = {ACL_FLOAT,     ACL_FLOAT16,    ACL_INT8,  ACL_INT64,
                              ACL_COMPLEX64, ACL_COMPLEX128, ACL_UINT16};
    const DtypeNumber common = DrawDtype(random, dtypes);
    for (PlanArgument& one : call["tensors"].entries)
      one.dtype = random.Chance(80) ? common : DrawDtype(random, dtypes);
    call["out"] = OutputArg("out", result, common);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& out = tensors.back();
    if (NumElements(out.shape) == 1)
      return std::vector<Outcome>{
          {Through(tensors[0].dtype, tensors[0].elements[0], call.promoted, out.dtype)}};
    const size_t dim = Wrapped(call["dim"].integer, out.shape);
    return std::vector<Outcome>{ForEachElement(out.shape, [&](Index& index) -> std::optional<Element> {
      const TensorValues& one = tensors[static_cast<size_t>(index[dim])];
      index.erase(index.begin() + static_cast<std::ptrdiff_t>(dim));
      return Through(one.dtype, At(one, index), call.promoted, out.dtype);
    })};
  };
  return op;
}

// ---- Split ----

std::vector<OperatorSpec> Splits() {
  const Listed list = On950(kAll + DtypeList{ACL_BF16}, kUnsigned);
  const auto length = [](const PlanCall& call) {
    return call["self"].shape[Wrapped(call["dim"].integer, call["self"].shape)];
  };
  const auto part_wrong = [](const PlanCall& call, size_t entry, int64_t size) {
    Shape part = call["self"].shape;
    part[Wrapped(call["dim"].integer, part)] = size;
    const Shape& out = call["out"].entries[entry].shape;
    return out != part && !(NumElements(out) == 1 && NumElements(part) == 1);
  };
  const auto oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors,
                         const std::vector<int64_t>& sizes) {
    std::vector<Outcome> outcomes;
    const TensorValues& self = tensors[0];
    const size_t dim = Wrapped(call["dim"].integer, self.shape);
    int64_t start = 0;
    for (size_t k = 1; k < tensors.size(); ++k) {
      if (k > sizes.size()) {
        outcomes.emplace_back();
        continue;
      }
      Shape part = self.shape;
      part[dim] = sizes[k - 1];
      outcomes.push_back(ForEachElement(part, [&](Index& index) -> std::optional<Element> {
        index[dim] += start;
        return ConvertedElement(self.dtype, At(self, index), tensors[k].dtype);
      }));
      start += sizes[k - 1];
    }
    return outcomes;
  };
  const Rule converts = Refuses(561103, "out", [](PlanCall& call) {
    const auto& entries = call["out"].entries;
    return std::any_of(entries.begin(), entries.end(), [&](auto& one) {
      return one.dtype != call["self"].dtype && !Converts(call["self"].dtype, one.dtype);
    });
  });
  const DtypeList dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT64, ACL_BOOL, ACL_COMPLEX128};

  OperatorSpec tensor;
  tensor.function = PORTACL_C_FUNCTION(aclnnSplitTensor);
  tensor.valid = {TensorArg("self", {4, 3}), IntegerArg("splitSections", 3), IntegerArg("dim", 0),
                  ListArg("out", {{3, 3}, {1, 3}}, true)};
  const auto chunk_sizes = [=](const PlanCall& call) {
    std::vector<int64_t> sizes;
    const int64_t size = call["splitSections"].integer;
    const bool is_whole = size < 0 || size > length(call);  // an uint64
    for (int64_t start = 0; start < length(call); start += is_whole ? length(call) : size)
      sizes.push_back(is_whole ? length(call) : std::min(size, length(call) - start));
    return sizes;
  };
  tensor.rules = {
      NoNulls("self out"),
      DtypeIn("self out", list),
      Refuses(161002, "out",
              [](PlanCall& call) {
                const auto& entries = call["out"].entries;
                return std::any_of(entries.begin(), entries.end(),
                                   [&](auto& one) { return one.dtype != entries[0].dtype; });
              }),
      Ranks("self", 1, 8),
      Ranks("out", 0, 8),
      Refuses(161002, "dim",
              [](PlanCall& call) { return !IsDimOf(call["dim"].integer, call["self"].shape); }),
      Refuses(161002, "splitSections",
              [=](PlanCall& call) { return (length(call) == 0) != (call["splitSections"].integer == 0); }),
      Refuses(161002, "out",
              [=](PlanCall& call) { return chunk_sizes(call).size() > call["out"].entries.size(); }),
      DoneIfEmpty("self"),
      [=](PlanCall& call) -> std::optional<Verdict> {
        const auto sizes = chunk_sizes(call);
        const bool inner = (sizes.size() == 1 && call["splitSections"].integer == length(call)) ||
                           sizes.size() > (call.product == Product::k950 ? 512u : 32u);
        for (size_t i = 0; i < sizes.size(); ++i) {
          if (part_wrong(call, i, sizes[i])) return Verdict{inner ? 561103 : 161002, {"out"}};
        }
        return std::nullopt;
      },
      converts};
  tensor.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 4);
    const auto dim = static_cast<size_t>(random.Below(std::ssize(shape)));
    if (random.Chance(30)) shape[dim] = random.Between(1, 50);
    call["self"] = TensorArg("self", shape, DrawDtype(random, dtypes));
    call["dim"].integer = static_cast<int64_t>(dim);
    call["splitSections"].integer = random.Between(1, shape[dim] + 1);
    std::vector<Shape> parts;
    for (const int64_t size : chunk_sizes(call)) {
      parts.push_back(shape);
      parts.back()[dim] = size;
    }
    if (random.Chance(20)) parts.push_back({3});
    call["out"] =
        ListArg("out", parts, true, random.Chance(70) ? call["self"].dtype : DrawDtype(random, dtypes));
  };
  tensor.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return oracle(call, tensors, chunk_sizes(call));
  };

  OperatorSpec sized;
  sized.function = PORTACL_C_FUNCTION(aclnnSplitWithSize);
  sized.valid = {TensorArg("self", {4, 3}), ArrayArg("splitSize", {1, 0, 3}), IntegerArg("dim", 0),
                 ListArg("out", {{1, 3}, {0, 3}, {3, 3}}, true)};
  sized.rules = {NoNulls("self splitSize out"),
                 DtypeIn("self out", list),
                 Ranks("self", 1, 8),
                 Refuses(161002, "dim",
                         [](PlanCall& call) { return !IsDimOf(call["dim"].integer, call["self"].shape); }),
                 Refuses(161002, "splitSize out",
                         [=](PlanCall& call) {
                           const auto& sizes = call["splitSize"].values;
                           return std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != length(call) ||
                                  sizes.size() != call["out"].entries.size() ||
                                  std::any_of(sizes.begin(), sizes.end(),
                                              [](int64_t size) { return size < 0; });
                         }),
                 DoneIfEmpty("self"),
                 [=](PlanCall& call) -> std::optional<Verdict> {
                   for (size_t i = 0; i < call["out"].entries.size(); ++i) {
                     if (part_wrong(call, i, call["splitSize"].values[i])) return Verdict{561103, {"out"}};
                   }
                   return std::nullopt;
                 },
                 converts};
  sized.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 4);
    const auto dim = static_cast<size_t>(random.Below(std::ssize(shape)));
    call["dim"].integer = static_cast<int64_t>(dim) - std::ssize(shape);
    std::vector<int64_t> sizes;
    for (int64_t left = shape[dim]; left > 0; left -= sizes.back())
      sizes.push_back(random.Chance(10) ? 0 : random.Between(1, left));
    call["self"] = TensorArg("self", shape, DrawDtype(random, dtypes));
    std::vector<Shape> parts;
    for (const int64_t size : sizes) {
      parts.push_back(shape);
      parts.back()[dim] = size;
    }
    call["splitSize"].values = sizes;
    call["out"] = ListArg("out", parts, true, call["self"].dtype);
    for (PlanArgument& one : call["out"].entries) {
      if (random.Chance(20)) one.dtype = DrawDtype(random, dtypes);
    }
  };
  sized.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return oracle(call, tensors, call["splitSize"].values);
  };
  return {tensor, sized};
}

// ---- Permute, Flip, Roll ----

bool AnyOutOfRange(const PlanCall& call, const std::string& array, const std::string& tensor) {
  const auto& values = call[array].values;
  return std::any_of(values.begin(), values.end(),
                     [&](int64_t dim) { return !IsDimOf(dim, call[tensor].shape); });
}
bool NamesTwice(const PlanCall& call, const std::string& array, const std::string& tensor) {
  std::vector<size_t> dims;
  for (const int64_t dim : call[array].values) dims.push_back(Wrapped(dim, call[tensor].shape));
  std::sort(dims.begin(), dims.end());
  return std::adjacent_find(dims.begin(), dims.end()) != dims.end();
}

std::vector<OperatorSpec> Orders() {
  const DtypeList drawn = {ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_INT64, ACL_BOOL};
  OperatorSpec permute;
  permute.function = PORTACL_C_FUNCTION(aclnnPermute);
  permute.valid = {TensorArg("self", {2, 3}), ArrayArg("dims", {1, 0}), OutputArg("out", {3, 2})};
  permute.rules = {
      NoNulls("self dims out"),
      DtypeIn("self out", OnNew(kAll + kUnsigned + kFloat8s, {ACL_BF16})),
      SameDtype("self", "out"),
      Refuses(161002, "out self dims",
              [](PlanCall& call) {
                const size_t rank = call["self"].shape.size();
                return call["out"].shape.size() != rank || call["dims"].values.size() != rank || rank > 8;
              }),
      Refuses(161002, "dims",
              [](PlanCall& call) {
                return AnyOutOfRange(call, "dims", "self") || NamesTwice(call, "dims", "self");
              }),
      SucceedsIf([](PlanCall& call) {
        for (const int64_t dim : call["dims"].values)
          call.result.push_back(call["self"].shape[Wrapped(dim, call["self"].shape)]);
        return NumElements(call["self"].shape) == 0 && NumElements(call["out"].shape) == 0;
      }),
      [](PlanCall& call) {
        return ResultIsOrOne("out", NumElements(call["self"].shape) == 0 ? 561103 : 161002)(call);
      }};
  permute.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawShape(random, 0, 6, 4);
    std::vector<int64_t> dims(shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    for (size_t i = dims.size(); i > 1; --i)
      std::swap(dims[i - 1], dims[static_cast<size_t>(random.Below(static_cast<int64_t>(i)))]);
    Shape result;
    for (int64_t& dim : dims) {
      result.push_back(shape[static_cast<size_t>(dim)]);
      if (random.Chance(30)) dim -= std::ssize(shape);
    }
    const DtypeNumber dtype =
        DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_COMPLEX64, ACL_COMPLEX128});
    call["self"] = TensorArg("self", shape, dtype);
    call["dims"].values = dims;
    call["out"] = OutputArg("out", result, dtype);
  };
  permute.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return std::vector<Outcome>{ForEachElement(call.result, [&](Index& index) -> std::optional<Element> {
      Index from(index.size());
      for (size_t i = 0; i < index.size(); ++i)
        from[Wrapped(call["dims"].values[i], tensors[0].shape)] = index[i];
      return At(tensors[0], from);
    })};
  };

  OperatorSpec flip;
  flip.function = PORTACL_C_FUNCTION(aclnnFlip);
  flip.valid = {TensorArg("self", {2, 3}), ArrayArg("dims", {1}), OutputArg("out", {2, 3})};
  flip.rules = {NoNulls("self dims out"),
                SameDtype("self", "out"),
                DtypeIn("self", On950(OnNew(kAll, {ACL_BF16}), kUnsigned)),
                SameShape("self", "out"),
                Ranks("self", 0, 8),
                Refuses(161002, "dims",
                        [](PlanCall& call) {
                          return AnyOutOfRange(call, "dims", "self") || NamesTwice(call, "dims", "self");
                        }),
                DoneIfEmpty("self")};
  flip.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawShape(random, 0, 5);
    const DtypeNumber dtype = DrawDtype(random, drawn);
    call["self"] = TensorArg("self", shape, dtype);
    call["out"] = OutputArg("out", shape, dtype);
    call["dims"].values.clear();
    for (int64_t dim = 0; dim < std::ssize(shape); ++dim) {
      if (random.Chance(50)) call["dims"].values.push_back(dim - (random.Chance(50) ? std::ssize(shape) : 0));
    }
  };
  flip.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return std::vector<Outcome>{ForEachElement(tensors[0].shape, [&](Index& index) -> std::optional<Element> {
      for (const int64_t dim : call["dims"].values) {
        const size_t d = Wrapped(dim, tensors[0].shape);
        if (d < index.size()) index[d] = tensors[0].shape[d] - 1 - index[d];
      }
      return At(tensors[0], index);
    })};
  };

  OperatorSpec roll;
  roll.function = PORTACL_C_FUNCTION(aclnnRoll);
  roll.valid = {TensorArg("x", {2, 3}), ArrayArg("shifts", {1, -2}), ArrayArg("dims", {0, 1}),
                OutputArg("out", {2, 3})};
  roll.rules = {
      NoNulls("x shifts dims out"),
      DtypeIn("x out", On950(OnNew({{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_UINT8, ACL_INT32, ACL_UINT32,
                                     ACL_BOOL, ACL_INT64}},
                                   {ACL_BF16, ACL_INT16}),
                             {ACL_COMPLEX64})),
      SameDtype("x", "out"),
      SameShape("x", "out"),
      Refuses(161002, "shifts",
              [](PlanCall& call) {
                const size_t dims = call["dims"].values.size();
                return call["shifts"].values.size() != (dims == 0 ? 1 : dims);
              }),
      Ranks("x", 0, 8),
      DoneIfEmpty("x"),
      Refuses(161002, "dims",
              [](PlanCall& call) { return call["x"].shape.empty() && !call["dims"].values.empty(); }),
      Refuses(161002, "dims", [](PlanCall& call) { return AnyOutOfRange(call, "dims", "x"); })};
  roll.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawShape(random, 0, 4);
    const DtypeNumber dtype = DrawDtype(random, drawn);
    call["x"] = TensorArg("x", shape, dtype);
    call["out"] = OutputArg("out", shape, dtype);
    call["dims"].values.clear();
    call["shifts"].values.clear();
    if (shape.empty() || random.Chance(40)) {
      call["shifts"].values = {random.Between(-400, 400)};
      return;
    }
    for (int64_t i = random.Between(1, 4); i > 0; --i) {
      call["dims"].values.push_back(random.Between(-std::ssize(shape), std::ssize(shape) - 1));
      call["shifts"].values.push_back(random.Chance(5) ? std::numeric_limits<int64_t>::min()
                                                       : random.Between(-20, 20));
    }
  };
  roll.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    const auto from = [](int64_t i, int64_t shift, int64_t n) { return ((i - shift % n) % n + n) % n; };
    const int64_t numel = NumElements(x.shape);
    return std::vector<Outcome>{ForEachElement(x.shape, [&](Index& index) -> std::optional<Element> {
      if (call["dims"].values.empty()) {
        const int64_t place = from(PositionOf(x.shape, index), call["shifts"].values[0], numel);
        return x.elements[static_cast<size_t>(place)];
      }
      for (size_t k = 0; k < call["dims"].values.size(); ++k) {
        const size_t d = Wrapped(call["dims"].values[k], x.shape);
        index[d] = from(index[d], call["shifts"].values[k], x.shape[d]);
      }
      return At(x, index);
    })};
  };
  return {permute, flip, roll};
}

// ---- Slice ----

std::vector<OperatorSpec> Slices() {
  const Listed list =
      OnNew({{ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_INT8, ACL_INT32, ACL_UINT8, ACL_BOOL}}, {ACL_BF16});
  // The indices that are taken, one by one.
  const auto taken = [](int64_t n, int64_t start, int64_t end, int64_t step) {
    start = std::clamp<int64_t>(start < 0 ? start + n : start, 0, n);
    end = std::clamp<int64_t>(end < 0 ? end + n : end, 0, n);
    std::vector<int64_t> indices;
    for (int64_t i = start; i < end; i += step) indices.push_back(i);
    return indices;
  };
  const auto one_dim = [=](const PlanCall& call) {
    return taken(call["self"].shape[Wrapped(call["dim"].integer, call["self"].shape)], call["start"].integer,
                 call["end"].integer, call["step"].integer);
  };
  OperatorSpec slice;
  slice.function = PORTACL_C_FUNCTION(aclnnSlice);
  slice.valid = {TensorArg("self", {2, 3}), IntegerArg("dim", 1),  IntegerArg("start", 0),
                 IntegerArg("end", 3),      IntegerArg("step", 2), OutputArg("out", {2, 2})};
  slice.rules = {NoNulls("self out"),
                 SameDtype("self", "out"),
                 DtypeIn("self", list),
                 Ranks("self", 1, 8),
                 Refuses(161002, "dim",
                         [](PlanCall& call) { return !IsDimOf(call["dim"].integer, call["self"].shape); }),
                 Refuses(161002, "step", [](PlanCall& call) { return call["step"].integer <= 0; }),
                 Refuses(161002, "out",
                         [=](PlanCall& call) {
                           call.result = call["self"].shape;
                           call.result[Wrapped(call["dim"].integer, call.result)] = std::ssize(one_dim(call));
                           return call["out"].shape != call.result;
                         }),
                 DoneIfEmpty("self out")};
  slice.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 4);
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT64, ACL_BOOL});
    call["self"] = TensorArg("self", shape, dtype);
    call["dim"].integer = random.Between(-std::ssize(shape), std::ssize(shape) - 1);
    const size_t dim = Wrapped(call["dim"].integer, shape);
    call["start"].integer = random.Between(-shape[dim] - 2, shape[dim] + 2);
    call["end"].integer =
        random.Chance(30) ? std::numeric_limits<int64_t>::max() : random.Between(-shape[dim], shape[dim] + 2);
    call["step"].integer = random.Between(1, 3);
    shape[dim] = std::ssize(one_dim(call));
    call["out"] = OutputArg("out", shape, dtype);
  };
  slice.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const auto indices = one_dim(call);
    const size_t dim = Wrapped(call["dim"].integer, tensors[0].shape);
    return std::vector<Outcome>{ForEachElement(call.result, [&](Index& index) -> std::optional<Element> {
      index[dim] = indices[static_cast<size_t>(index[dim])];
      return At(tensors[0], index);
    })};
  };

  const auto several = [=](const PlanCall& call) {
    std::vector<std::vector<int64_t>> all;
    for (const int64_t n : call["self"].shape) all.push_back(taken(n, 0, n, 1));
    for (size_t i = 0; i < call["axes"].values.size() && i < call["steps"].values.size(); ++i) {
      if (all.empty()) break;
      const size_t dim = Wrapped(call["axes"].values[i], call["self"].shape);
      all[dim] = taken(call["self"].shape[dim], call["starts"].values[i], call["ends"].values[i],
                       call["steps"].values[i]);
    }
    return all;
  };
  OperatorSpec v2;
  v2.function = PORTACL_C_FUNCTION(aclnnSliceV2);
  v2.valid = {TensorArg("self", {2, 3}), ArrayArg("starts", {1, 0}), ArrayArg("ends", {2, 3}),
              ArrayArg("axes", {0, 1}),  ArrayArg("steps", {1, 2}),  OutputArg("out", {1, 2})};
  v2.rules = {NoNulls("self out starts ends axes steps"),
              SameDtype("self", "out"),
              DtypeIn("self", list),
              Ranks("self", 0, 8),
              Refuses(161002, "axes",
                      [](PlanCall& call) {
                        return AnyOutOfRange(call, "axes", "self") || NamesTwice(call, "axes", "self");
                      }),
              Refuses(161002, "starts ends steps",
                      [](PlanCall& call) {
                        const auto& steps = call["steps"].values;
                        return call["starts"].values.size() != call["axes"].values.size() ||
                               call["ends"].values.size() != call["axes"].values.size() ||
                               std::any_of(steps.begin(), steps.end(),
                                           [](int64_t step) { return step <= 0; });
                      }),
              Refuses(161002, "out",
                      [=](PlanCall& call) {
                        for (const auto& indices : several(call)) call.result.push_back(std::ssize(indices));
                        return call["out"].shape != call.result;
                      }),
              DoneIfEmpty("self")};
  v2.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawShape(random, 1, 4);
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT64, ACL_BOOL});
    call["self"] = TensorArg("self", shape, dtype);
    for (const char* name : {"starts", "ends", "axes", "steps"}) call[name].values.clear();
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (random.Chance(40)) continue;
      call["axes"].values.push_back(static_cast<int64_t>(dim));
      call["starts"].values.push_back(random.Between(-shape[dim], shape[dim]));
      call["ends"].values.push_back(random.Between(-1, shape[dim] + 3));
      if (random.Chance(90)) call["steps"].values.push_back(random.Between(1, 3));
    }
    Shape result;
    for (const auto& indices : several(call)) result.push_back(std::ssize(indices));
    call["out"] = OutputArg("out", result, dtype);
  };
  v2.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const auto indices = several(call);
    return std::vector<Outcome>{ForEachElement(call.result, [&](Index& index) -> std::optional<Element> {
      for (size_t i = 0; i < index.size(); ++i) index[i] = indices[i][static_cast<size_t>(index[i])];
      return At(tensors[0], index);
    })};
  };
  return {slice, v2};
}

// ---- Repeat, Expand, RepeatInterleaveInt ----

std::vector<OperatorSpec> Repeats() {
  const Listed repeated = [] {
    Listed list = kAll + DtypeList{ACL_BF16, ACL_UINT32, ACL_UINT64};
    list.on_new = {ACL_UINT16};
    list.on_950 = kFloat8s;
    return list;
  }();
  OperatorSpec repeat;
  repeat.function = PORTACL_C_FUNCTION(aclnnRepeat);
  repeat.valid = {TensorArg("self", {2, 3}), ArrayArg("repeats", {3, 1, 2}), OutputArg("out", {3, 2, 6})};
  repeat.rules = {
      NoNulls("self repeats out"),
      Refuses(161002, "self",
              [=](PlanCall& call) {
                const bool u16 = call.product == Product::k310P && call["self"].dtype == ACL_UINT16;
                return !u16 && !repeated.Has(call.product, call["self"].dtype);
              }),
      SameDtype("self", "out"),
      Refuses(161002, "self repeats",
              [](PlanCall& call) {
                const auto& repeats = call["repeats"].values;
                return repeats.size() < call["self"].shape.size() || call["self"].shape.size() > 8 ||
                       repeats.size() > 8 ||
                       std::any_of(repeats.begin(), repeats.end(), [](int64_t times) { return times < 0; });
              }),
      DoneIfEmpty("self out"),
      SucceedsIf([](PlanCall& call) {
        const auto& repeats = call["repeats"].values;
        return std::find(repeats.begin(), repeats.end(), 0) != repeats.end();
      }),
      Refuses(161002, "out", [](PlanCall& call) {
        call.result = call["repeats"].values;
        const size_t missing = call.result.size() - call["self"].shape.size();
        for (size_t i = missing; i < call.result.size(); ++i)
          call.result[i] *= call["self"].shape[i - missing];
        return call["out"].shape != call.result;
      })};
  repeat.draw = [](PlanCall& call, RandomNumbers& random) {
    const bool many = random.Chance(10);
    const Shape shape = many ? Shape(7, 2) : DrawShape(random, 0, 4, 4);
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_INT64, ACL_COMPLEX128});
    call["self"] = TensorArg("self", shape, dtype);
    std::vector<int64_t> repeats(shape.size() + static_cast<size_t>(many ? 0 : random.Below(3)));
    for (int64_t& times : repeats) times = many ? 2 : random.Between(1, 3);
    call["repeats"].values = repeats;
    const size_t missing = repeats.size() - shape.size();
    for (size_t i = 0; i < shape.size(); ++i) repeats[missing + i] *= shape[i];
    call["out"] = OutputArg("out", repeats, dtype);
  };
  repeat.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& self = tensors[0].shape;
    return std::vector<Outcome>{ForEachElement(call.result, [&](Index& index) -> std::optional<Element> {
      Index from(self.size());
      for (size_t i = 0; i < self.size(); ++i) from[i] = index[index.size() - self.size() + i] % self[i];
      return At(tensors[0], from);
    })};
  };

  OperatorSpec expand;
  expand.function = PORTACL_C_FUNCTION(aclnnExpand);
  expand.valid = {TensorArg("self", {2, 1}), ArrayArg("size", {2, 2, 3}), OutputArg("out", {2, 2, 3})};
  expand.rules = {
      NoNulls("self size out"),
      SameDtype("self", "out"),
      DtypeIn("self", OnNew({{ACL_FLOAT16, ACL_FLOAT, ACL_UINT8, ACL_INT8, ACL_INT32, ACL_INT64, ACL_BOOL}},
                            {ACL_BF16})),
      Refuses(161002, "self size out",
              [](PlanCall& call) {
                const Shape& self = call["self"].shape;
                const auto& size = call["size"].values;
                if (size.size() < self.size()) return true;
                for (size_t i = 0; i < self.size(); ++i) {
                  if (self[i] != 1 && self[i] != size[size.size() - self.size() + i]) return true;
                }
                return call["out"].shape != size;
              }),
      Ranks("self out", 0, 8),
      DoneIfEmpty("self out")};
  expand.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape result = DrawShape(random, 0, 5);
    Shape shape(result.begin() + static_cast<std::ptrdiff_t>(random.Below(std::ssize(result) + 1)),
                result.end());
    for (int64_t& dim : shape) dim = random.Chance(50) ? 1 : dim;
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_INT64});
    call["self"] = TensorArg("self", shape, dtype);
    call["size"].values = result;
    call["out"] = OutputArg("out", result, dtype);
  };
  expand.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    const Shape& self = tensors[0].shape;
    return std::vector<Outcome>{ForEachElement(tensors[1].shape, [&](Index& index) -> std::optional<Element> {
      Index from(index.end() - std::ssize(self), index.end());
      for (size_t i = 0; i < self.size(); ++i) from[i] = self[i] == 1 ? 0 : from[i];
      return At(tensors[0], from);
    })};
  };

  const Listed interleaved =
      On950(OnNew({{ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL, ACL_FLOAT16, ACL_FLOAT}},
                  {ACL_BF16}),
            kUnsigned);
  std::vector<OperatorSpec> all = {repeat, expand};
  for (const bool has_dim : {false, true}) {
    OperatorSpec op;
    op.function = has_dim ? PORTACL_C_FUNCTION(aclnnRepeatInterleaveIntWithDim)
                          : PORTACL_C_FUNCTION(aclnnRepeatInterleaveInt);
    op.valid = {TensorArg("self", {2, 3}), IntegerArg("repeats", 2)};
    if (has_dim) op.valid.push_back(IntegerArg("dim", 0));
    op.valid.push_back(IntegerArg("outputSize", has_dim ? 4 : 12));
    op.valid.push_back(OutputArg("out", has_dim ? Shape{4, 3} : Shape{12}));
    const auto result = [=](const PlanCall& call) {
      Shape shape = call["self"].shape;
      if (!has_dim) return Shape{NumElements(shape) * call["repeats"].integer};
      shape[Wrapped(call["dim"].integer, shape)] *= call["repeats"].integer;
      return shape;
    };
    op.rules = {NoNulls("self out"), DtypeIn("self", interleaved), SameDtype("self", "out"),
                Refuses(161002, "repeats", [](PlanCall& call) { return call["repeats"].integer < 0; })};
    if (has_dim) {
      op.rules.push_back(Refuses(161002, "dim self", [](PlanCall& call) {
        return call["self"].shape.empty() || !IsDimOf(call["dim"].integer, call["self"].shape);
      }));
    }
    op.rules.push_back(Ranks("self", 0, 8));
    op.rules.push_back(SucceedsIf([=](PlanCall& call) {
      const bool done = has_dim ? call["outputSize"].integer == 0 : NumElements(call["out"].shape) == 0;
      return done || NumElements(call["self"].shape) == 0;
    }));
    op.rules.push_back(Refuses(161002, "outputSize", [=](PlanCall& call) {
      call.result = result(call);
      const int64_t size = has_dim ? call.result[Wrapped(call["dim"].integer, call.result)] : call.result[0];
      return call["outputSize"].integer != size;
    }));
    op.rules.push_back([](PlanCall& call) {
      return call["repeats"].integer == 1 ? ResultIsOrOne("out", 561103)(call) : ResultIs("out")(call);
    });
    op.draw = [=](PlanCall& call, RandomNumbers& random) {
      const Shape shape = DrawShape(random, has_dim ? 1 : 0, 4);
      const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_INT64});
      call["self"] = TensorArg("self", shape, dtype);
      call["repeats"].integer = random.Between(1, 4);
      if (has_dim) call["dim"].integer = random.Between(-std::ssize(shape), std::ssize(shape) - 1);
      const Shape out = result(call);
      call["outputSize"].integer = has_dim ? out[Wrapped(call["dim"].integer, out)] : out[0];
      call["out"] = OutputArg("out", out, dtype);
    };
    op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
      return std::vector<Outcome>{ForEachElement(call.result, [&](Index& index) -> std::optional<Element> {
        const int64_t times = call["repeats"].integer;
        if (!has_dim) return tensors[0].elements[static_cast<size_t>(index[0] / times)];
        index[Wrapped(call["dim"].integer, call.result)] /= times;
        return At(tensors[0], index);
      })};
    };
    all.push_back(op);
  }
  return all;
}

// ---- ConstantPadNd ----

OperatorSpec Pad() {
  const auto pads = [](const PlanCall& call, size_t dim) {
    const auto& pad = call["pad"].values;
    const size_t place = 2 * (call["self"].shape.size() - 1 - dim);
    return place < pad.size() ? std::pair{pad[place], pad[place + 1]} : std::pair<int64_t, int64_t>{0, 0};
  };
  const auto is_float8 = [](const PlanCall& call) { return IsOneOf(call["self"].dtype, kFloat8s); };
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnConstantPadNd);
  op.valid = {TensorArg("self", {2, 3}), ArrayArg("pad", {1, 2, 0, 3}),
              ScalarArg("value", {2.5L, 0}, ACL_DOUBLE), OutputArg("out", {5, 6})};
  op.rules = {
      NoNulls("self pad value out"),
      SameDtype("self", "out"),
      DtypeIn("self", On950(OnNew(kAll + kUnsigned, {ACL_BF16}), kFloat8s)),
      Refuses(161002, "pad value",
              [=](PlanCall& call) {
                const auto& pad = call["pad"].values;
                return is_float8(call) &&
                       (call["value"].number.real != 0 ||
                        std::any_of(pad.begin(), pad.end(), [](int64_t one) { return one < 0; }));
              }),
      Refuses(161002, "out self pad",
              [](PlanCall& call) {
                const size_t rank = call["self"].shape.size();
                const size_t count = call["pad"].values.size();
                return (call["self"].format != ACL_FORMAT_ND && call["self"].format != call["out"].format) ||
                       rank > 8 || call["out"].shape.size() != rank || count % 2 != 0 || count > 2 * rank;
              }),
      Refuses(161002, "pad",
              [=](PlanCall& call) {
                bool grows = false;
                bool empties = false;
                call.result = call["self"].shape;
                for (size_t dim = 0; dim < call.result.size(); ++dim) {
                  const auto [before, after] = pads(call, dim);
                  if (call.result[dim] + std::min({before, after, before + after}) < 0) return true;
                  call.result[dim] += before + after;
                  grows = grows || before > 0 || after > 0;
                  const bool covered = 2 * (call.result.size() - 1 - dim) < call["pad"].values.size();
                  empties = empties || (covered && call.result[dim] == 0);
                }
                return grows && empties;
              }),
      ResultIs("out"),
      DoneIfEmpty("out")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawShape(random, 0, 5, 4);
    const DtypeNumber dtype =
        DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_INT64, ACL_BOOL, ACL_COMPLEX128});
    call["self"] = TensorArg("self", shape, dtype);
    auto& pad = call["pad"].values;
    pad.clear();
    for (int64_t i = random.Below(std::ssize(shape) + 1); i > 0; --i) {
      pad.push_back(random.Between(random.Chance(30) ? -2 : 0, 3));
      pad.push_back(random.Between(random.Chance(30) ? -2 : 0, 3));
    }
    Shape out = shape;
    for (size_t dim = 0; dim < out.size(); ++dim)
      out[dim] = std::max<int64_t>(0, out[dim] + pads(call, dim).first + pads(call, dim).second);
    call["value"] =
        ScalarArg("value", {random.Chance(50) ? 1.0L : -3.0L, 0}, random.Chance(50) ? ACL_DOUBLE : ACL_INT64);
    call["out"] = OutputArg("out", out, dtype);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    const Element value =
        ElementOfNumber(self.dtype, self.dtype == ACL_BOOL ? Number{1, 0} : call["value"].number);
    return std::vector<Outcome>{ForEachElement(call.result, [&](Index& index) -> std::optional<Element> {
      for (size_t dim = 0; dim < index.size(); ++dim) {
        index[dim] -= pads(call, dim).first;
        if (index[dim] < 0 || index[dim] >= self.shape[dim]) return value;
      }
      return At(self, index);
    })};
  };
  return op;
}

// ---- Diag ----

std::vector<OperatorSpec> Diagonals() {
  const Listed list = OnNew(kAll - DtypeList{ACL_COMPLEX128}, {ACL_BF16});
  const auto side = [](const PlanCall& call) {
    const int64_t diagonal = call["diagonal"].integer;
    const int64_t n = NumElements(call["self"].shape) + (diagonal < 0 ? -diagonal : diagonal);
    return Shape{n, n};
  };
  const auto matrix = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t diagonal = call["diagonal"].integer;
    const TensorValues& self = tensors[0];
    const DtypeNumber out = tensors[1].dtype;
    return std::vector<Outcome>{ForEachElement(call.result, [&](Index& index) -> std::optional<Element> {
      const Element zero(static_cast<size_t>(ElementSize(out)));
      if (index[1] - index[0] != diagonal) return zero;
      const auto place = static_cast<size_t>(diagonal < 0 ? index[1] : index[0]);
      return ConvertedElement(self.dtype, self.elements[place], out);
    })};
  };
  OperatorSpec diag;
  diag.function = PORTACL_C_FUNCTION(aclnnDiag);
  diag.valid = {TensorArg("self", {3}), IntegerArg("diagonal", -1), OutputArg("out", {4, 4})};
  diag.rules = {NoNulls("self out"),
                DtypeIn("self", list),
                SameDtype("self", "out"),
                Ranks("self", 0, 2),
                SucceedsIf([](PlanCall& call) {
                  const Shape& self = call["self"].shape;
                  const int64_t diagonal = call["diagonal"].integer;
                  return (NumElements(self) == 0 && diagonal == 0) ||
                         (self.size() == 2 && (diagonal == self[1] || diagonal == -self[0]));
                }),
                Refuses(161002, "diagonal",
                        [=](PlanCall& call) {
                          const Shape& self = call["self"].shape;
                          const int64_t diagonal = call["diagonal"].integer;
                          call.result = side(call);
                          // Zeros, as many as out has.
                          if (NumElements(self) == 0) call.result = call["out"].shape;
                          if (self.size() < 2 || NumElements(self) == 0) return false;
                          call.result = {0};
                          for (int64_t i = 0; i < self[0]; ++i)
                            call.result[0] += i + diagonal >= 0 && i + diagonal < self[1];
                          return diagonal < -self[0] || diagonal > self[1];
                        }),
                Refuses(161002, "self",
                        [](PlanCall& call) {
                          return NumElements(call["self"].shape) == 0 && call["self"].dtype == ACL_COMPLEX64;
                        }),
                ResultIsOrOne("out")};
  diag.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 0, 2, 8);
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_COMPLEX64});
    if (random.Chance(10) && !shape.empty()) shape[static_cast<size_t>(random.Below(std::ssize(shape)))] = 0;
    call["self"] = TensorArg("self", shape, dtype);
    call["diagonal"].integer = random.Between(-4, 4);
    Shape out = side(call);
    if (shape.size() == 2) {
      out = {0};
      for (int64_t i = 0; i < shape[0]; ++i)
        out[0] += i + call["diagonal"].integer >= 0 && i + call["diagonal"].integer < shape[1];
    }
    if (NumElements(shape) == 0) out = DrawShape(random, 0, 4, 3);
    call["out"] = OutputArg("out", out, dtype);
  };
  diag.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& self = tensors[0].shape;
    const int64_t diagonal = call["diagonal"].integer;
    const bool is_outside = self.size() == 2 && (diagonal == self[1] || diagonal == -self[0]);
    if (is_outside || (NumElements(self) == 0 && diagonal == 0))
      return std::vector<Outcome>{Outcome(tensors[1].elements.size())};
    if (NumElements(self) == 0) {
      const Element zero(static_cast<size_t>(ElementSize(tensors[1].dtype)));
      return std::vector<Outcome>{Outcome(tensors[1].elements.size(), zero)};
    }
    if (self.size() < 2) return matrix(call, tensors);
    return std::vector<Outcome>{ForEachElement(call.result, [&](Index& index) -> std::optional<Element> {
      const int64_t row = diagonal < 0 ? index[0] - diagonal : index[0];
      return At(tensors[0], {row, row + diagonal});
    })};
  };
  OperatorSpec flat;
  flat.function = PORTACL_C_FUNCTION(aclnnDiagFlat);
  flat.valid = {TensorArg("self", {2, 2}), IntegerArg("diagonal", 1), OutputArg("out", {5, 5})};
  flat.rules = {NoNulls("self out", 561103), DtypeIn("self out", list), Ranks("self", 0, 8),
                DoneIfEmpty("self"), Refuses(561103, "out diagonal", [=](PlanCall& call) {
                  call.result = side(call);
                  const bool ones = NumElements(call["out"].shape) == 1 && NumElements(call.result) == 1;
                  return !ones && call["out"].shape != call.result;
                })};
  flat.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawShape(random, 0, 3, 3);
    call["self"] = TensorArg("self", shape, DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT8}));
    call["diagonal"].integer = random.Between(-4, 4);
    call["out"] = OutputArg("out", side(call), DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_INT8, ACL_INT64}));
  };
  flat.oracle = matrix;
  return {diag, flat};
}

const std::vector<OperatorSpec>& MoveOperators() {
  static const std::vector<OperatorSpec> operators = [] {
    std::vector<OperatorSpec> all = {Cat(), Stack(), Pad()};
    for (const auto& family : {Splits(), Orders(), Slices(), Repeats(), Diagonals()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return operators;
}

PORTACL_OPERATOR_TESTS(Moves, MoveOperators());

}  // namespace
}  // namespace portacl::testing
