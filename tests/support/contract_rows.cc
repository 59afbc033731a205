// Deviations and common rows of contract descriptions: see contract_rows.h.
// SPDX-License-Identifier: Apache-2.0
#include "contract_rows.h"

#include <algorithm>
#include <utility>

namespace portacl::testing {

Deviation Nothing() {
  return [](CallSpec&) {};
}

Deviation All(std::vector<Deviation> deviations) {
  return [deviations = std::move(deviations)](CallSpec& call) {
    for (const Deviation& deviate : deviations) {
      deviate(call);
    }
  };
}

Deviation Null(const std::string& tensor) {
  return [=](CallSpec& call) { call[tensor].null = true; };
}

Deviation Reduction(int64_t reduction) {
  return [=](CallSpec& call) { call.attributes.reduction = reduction; };
}

Deviation Beta(float beta) {
  return [=](CallSpec& call) { call.attributes.beta = beta; };
}

Deviation Dtype(const std::string& tensor, DtypeNumber dtype) {
  return [=](CallSpec& call) { call[tensor].dtype = dtype; };
}

Deviation Format(const std::string& tensor, int32_t format) {
  return [=](CallSpec& call) { call[tensor].format = format; };
}

Deviation ShapeOf(const std::string& tensor, const Shape& shape) {
  return [=](CallSpec& call) { call[tensor].shape = shape; };
}

Deviation Dtypes(std::vector<DtypeNumber> dtypes) {
  return [dtypes = std::move(dtypes)](CallSpec& call) {
    for (size_t i = 0; i < dtypes.size(); ++i) {
      call.tensors().at(i).dtype = dtypes[i];
    }
  };
}

Deviation Shapes(std::vector<Shape> shapes) {
  return [shapes = std::move(shapes)](CallSpec& call) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      call.tensors().at(i).shape = shapes[i];
    }
  };
}

Deviation AllShapes(const Shape& shape) {
  return [=](CallSpec& call) {
    for (TensorSpec& tensor : call.tensors()) {
      tensor.shape = shape;
    }
  };
}

Deviation EveryDtype(DtypeNumber dtype) {
  return [=](CallSpec& call) {
    for (TensorSpec& tensor : call.tensors()) {
      tensor.dtype = dtype;
    }
  };
}

Deviation Rank(const std::string& tensor, size_t rank) {
  return [=](CallSpec& call) {
    Shape& shape = call[tensor].shape;
    shape.insert(shape.begin(), rank > shape.size() ? rank - shape.size() : 0, 1);
  };
}

Deviation LastDim(const std::string& tensor, int64_t dim) {
  return [=](CallSpec& call) { call[tensor].shape.back() = dim; };
}

Deviation Strided(const std::string& tensor, const std::vector<int64_t>& strides, int64_t offset,
                  int64_t storage) {
  return [=](CallSpec& call) {
    call[tensor].strides = strides;
    call[tensor].offset = offset;
    call[tensor].storage_dims = Shape{storage};
  };
}

Deviation OutsideItsStorage(const std::string& tensor) {
  return [=](CallSpec& call) {
    call[tensor].every_stride = 77;
    call[tensor].storage_dims = Shape{1};
  };
}

void AddNullRows(std::vector<Row>& rows, const std::vector<std::string>& tensors) {
  rows.push_back({"workspaceSize null",
                  [](CallSpec& c) { c.null_workspace_size = true; },
                  kNullptr,
                  {"workspaceSize"},
                  {}});
  rows.push_back({"executor null", [](CallSpec& c) { c.null_executor = true; }, kNullptr, {"executor"}, {}});
  rows.push_back({"workspaceSize and executor null",
                  [](CallSpec& c) { c.null_workspace_size = c.null_executor = true; },
                  kNullptr,
                  {},
                  {}});
  for (size_t first = 0; first < tensors.size(); ++first) {
    rows.push_back({tensors[first] + " null", Null(tensors[first]), kNullptr, {tensors[first]}, {}});
    std::vector<Deviation> from_here;
    for (size_t i = first; i < tensors.size(); ++i) {
      from_here.push_back(Null(tensors[i]));
    }
    rows.push_back(
        {tensors[first] + " and all after it null", All(from_here), kNullptr, {tensors[first]}, {}});
  }
}

void AddRankRows(std::vector<Row>& rows, const std::vector<std::string>& tensors) {
  for (size_t rank = 0; rank <= 8; ++rank) {
    rows.push_back({"rank " + std::to_string(rank), AllShapes(Shape(rank, 2)), kOk, {}, {}});
  }
  for (const std::string& tensor : tensors) {
    for (const size_t rank : {size_t{9}, size_t{10}, size_t{25}}) {
      rows.push_back({tensor + " of rank " + std::to_string(rank),
                      Rank(tensor, rank),
                      kInvalid,
                      {tensor, std::to_string(rank), "8"},
                      {}});
    }
  }
}

void AddGradientShapeRows(std::vector<Row>& rows, const std::vector<std::string>& tensors) {
  const std::string& gradient = tensors[0];
  const std::string& output = tensors[3];
  const auto accepted = [&](const std::string& what, const Deviation& deviation) {
    rows.push_back({what, deviation, kOk, {}, {}});
  };
  const auto refused = [&](const std::string& what, const Deviation& deviation,
                           const std::vector<std::string>& says) {
    rows.push_back({what, deviation, kInvalid, says, {}});
  };

  // Scalars, and broadcasting in each direction.
  accepted("scalar " + gradient, ShapeOf(gradient, {}));
  accepted("scalar self", ShapeOf("self", {}));
  accepted("all broadcast", Shapes({{2, 1, 1}, {3, 1}, {4}, {2, 3, 4}}));
  accepted(gradient + " larger than self and target", Shapes({{4, 2, 3}, {2, 3}, {1, 3}, {4, 2, 3}}));
  for (size_t i = 0; i < 3; ++i) {
    refused(tensors[i] + " of rank 8", Rank(tensors[i], 8), {output, "[1, 1, 1, 1, 1, 1, 2, 3]", "[2, 3]"});
  }

  // Shapes that do not broadcast.
  refused(gradient + " against self", ShapeOf(gradient, {2, 5}), {"[2, 5]", "[2, 3]"});
  refused("self against " + gradient, ShapeOf("self", {4, 3}), {"[4, 3]", "[2, 3]"});
  refused("target against both", ShapeOf("target", {7}), {"target", "[7]", "[2, 3]"});
  refused("target against the broadcast of both", Shapes({{2, 1}, {1, 3}, {2, 4}, {2, 3}}),
          {"target", "[2, 4]"});
  refused("left-aligned", Shapes({{2, 3}, {2}, {2, 3}, {2, 3}}), {"[2]", "[2, 3]"});
  refused("0 against 2", Shapes({{0}, {2}, {2}, {2}}), {"[0]", "[2]"});

  // The output must have exactly the broadcast shape, even if the loss was one number.
  for (const Shape& shape : {Shape{3}, Shape{3, 2}, Shape{1, 2, 3}, Shape{2, 3, 1}, Shape{6}, Shape{},
                             Shape{1}, Shape{1, 3}, Shape{0, 3}, Shape{2, 4}}) {
    for (const int64_t reduction : {0, 1, 2}) {
      refused(output + " " + ToString(shape) + ", reduction " + std::to_string(reduction),
              All({ShapeOf(output, shape), Reduction(reduction)}), {output, ToString(shape), "[2, 3]"});
    }
  }
  refused(output + " [1] for a scalar", Shapes({{}, {}, {}, {1}}), {output, "[1]", "[]"});
  refused(output + " of self's shape below " + gradient + "'s", Shapes({{4, 2, 3}, {2, 3}, {2, 3}, {2, 3}}),
          {output, "[2, 3]", "[4, 2, 3]"});

  accepted("all empty", AllShapes({2, 0, 3}));
  accepted("0 with 0", AllShapes({0, 0}));
  accepted("1 with 0", Shapes({{1, 3}, {0, 3}, {1, 1}, {0, 3}}));
  accepted("empty and scalar", Shapes({{}, {0}, {}, {0}}));
  accepted("only " + gradient + " empty", Shapes({{0}, {1}, {1}, {0}}));
  accepted("only target empty", Shapes({{1}, {1}, {0}, {0}}));
  refused("empty, " + output + " not", Shapes({{0}, {0}, {0}, {1}}), {output, "[1]", "[0]"});

  const int64_t large = int64_t{1} << 40;
  refused("2^80 elements by broadcasting", Shapes({{}, {large, 1}, {1, large}, {large, large}}), {});
}

void AddDimRows(std::vector<Row>& rows, const std::vector<std::string>& tensors) {
  for (const std::string& tensor : tensors) {
    rows.push_back({tensor + " with a negative dim", ShapeOf(tensor, {-2, 3}), kInvalid, {"[-2, 3]"}, {}});
    rows.push_back({tensor + " with a huge negative dim",
                    ShapeOf(tensor, {kMin, 3}),
                    kInvalid,
                    {std::to_string(kMin)},
                    {}});
  }
  rows.push_back({"negative dims everywhere", AllShapes({-2, 3}), kInvalid, {"[-2, 3]"}, {}});
  rows.push_back({"two negative dims everywhere", AllShapes({-2, -3}), kInvalid, {"[-2, -3]"}, {}});
  const int64_t large = int64_t{1} << 32;
  rows.push_back({"2^64 elements", AllShapes({large, large}), kInvalid, {"[4294967296, 4294967296]"}, {}});
  rows.push_back(
      {"2^63 elements", AllShapes({large, large / 2}), kInvalid, {"[4294967296, 2147483648]"}, {}});
  rows.push_back({"2^65 elements", AllShapes({kMax, 4}), kInvalid, {"[9223372036854775807, 4]"}, {}});
  rows.push_back({"2^72 elements", AllShapes(Shape(8, 512)), kInvalid, {}, {}});
  rows.push_back({"2^40 elements", AllShapes({int64_t{1} << 20, int64_t{1} << 20}), kOk, {}, {}});
  rows.push_back({"empty of large dims", AllShapes({int64_t{1} << 40, int64_t{1} << 40, 0}), kOk, {}, {}});
}

void AddViewRows(std::vector<Row>& rows, const std::vector<std::string>& inputs, const std::string& output) {
  for (const std::string& tensor : inputs) {
    const std::vector<std::string> says = {tensor};
    const auto inside = [&](const std::string& what, const Deviation& deviation) {
      rows.push_back({tensor + " " + what, deviation, kOk, {}, {}});
    };
    const auto outside = [&](const std::string& what, const Deviation& deviation) {
      rows.push_back({tensor + " " + what, deviation, kInnerNullptr, says, {}});
    };
    inside("transposed", Strided(tensor, {1, 2}, 0, 6));
    outside("transposed, offset past the end", Strided(tensor, {1, 2}, 1, 6));
    inside("transposed, offset within", Strided(tensor, {1, 2}, 1, 7));
    inside("backwards", Strided(tensor, {-3, -1}, 5, 6));
    outside("backwards before the start", Strided(tensor, {-3, -1}, 4, 6));
    outside("backwards past the end", Strided(tensor, {-3, -1}, 6, 6));
    inside("expanded", Strided(tensor, {0, 1}, 0, 3));
    inside("expanded to one element", Strided(tensor, {0, 0}, 0, 1));
    outside("expanded past the end", Strided(tensor, {0, 1}, 0, 2));
    outside("expanded, negative offset", Strided(tensor, {0, 1}, -1, 3));
    inside("with padded rows", Strided(tensor, {4, 1}, 0, 7));
    outside("with padded rows past the end", Strided(tensor, {4, 1}, 0, 6));
    outside("with overflowing strides", Strided(tensor, {kMax, 1}, 0, 6));
    outside("with overflowing reach", Strided(tensor, {kMax, kMax}, kMax, 6));
    outside("with strides of the most negative number", Strided(tensor, {kMin, kMin}, 0, 6));
    outside("with the most negative offset", Strided(tensor, {4, 1}, kMin, 7));
    outside("strided over a storage without dims", [tensor](CallSpec& call) {
      call[tensor].strides = std::vector<int64_t>{1, 2};
      call[tensor].storage_dims = Shape{};
    });
    // Dense views are trusted, and the strides of dims of length 1 do not matter.
    inside("dense over a smaller storage", Strided(tensor, {3, 1}, 0, 1));
    inside("dense, offset far outside", Strided(tensor, {3, 1}, 1000, 6));
  }
  rows.push_back({output + " transposed", Strided(output, {1, 2}, 0, 6), kOk, {}, {}});
  rows.push_back({output + " outside its storage", Strided(output, {4, 1}, 0, 6), kOk, {}, {}});
  rows.push_back({output + " overlapping itself", Strided(output, {0, 1}, 0, 3), kOk, {}, {}});
  // With four bytes for each element, the negative of this stride overflows.
  const int64_t lowest_step = kMin / 4;
  rows.push_back({output + " with rows 2^63 bytes apart, backwards",
                  Strided(output, {lowest_step, 1}, 0, 6),
                  kInvalid,
                  {output},
                  {}});
}

void AddFormatRows(std::vector<Row>& rows, const std::vector<std::string>& tensors) {
  for (const std::string& tensor : tensors) {
    for (const int32_t format : {-1, 0, 1, 2, 3, 4, 12, 16, 27, 29, 30, 32, 33, 35, 47, 50, 54}) {
      rows.push_back({tensor + " in format " + std::to_string(format), Format(tensor, format), kOk, {}, {}});
    }
    for (const int32_t format : {5, 55, 1000, -77, std::numeric_limits<int32_t>::max()}) {
      rows.push_back(
          {tensor + " in unknown format " + std::to_string(format), Format(tensor, format), kOk, {}, {}});
    }
  }
}

void AddSingleDtypeRows(std::vector<Row>& rows, const std::vector<std::string>& tensors,
                        const std::vector<Product>& without_bfloat16) {
  for (const std::string& tensor : tensors) {
    for (const DtypeNumber dtype : AllDtypes()) {
      const std::string name = tensor + " " + DtypeName(dtype);
      if (dtype == ACL_BF16) {
        rows.push_back({name,
                        Dtype(tensor, dtype),
                        kOk,
                        {tensor, "DT_BF16", "DT_FLOAT", "DT_FLOAT16"},
                        On(without_bfloat16, kInvalid)});
      } else if (dtype == ACL_FLOAT || dtype == ACL_FLOAT16) {
        rows.push_back({name, Dtype(tensor, dtype), kOk, {}, {}});
      } else {
        rows.push_back({name, Dtype(tensor, dtype), kInvalid, {tensor, DtypeName(dtype)}, {}});
        rows.push_back({name + ", empty",
                        All({AllShapes({0, 3}), Dtype(tensor, dtype)}),
                        kInvalid,
                        {tensor, DtypeName(dtype)},
                        {}});
      }
    }
    for (const DtypeNumber unknown : {5, 14, 15, 18, 26, 28, 31, 32, 42, 99, 1000, -1, -2}) {
      rows.push_back(
          {tensor + " dtype " + std::to_string(unknown), Dtype(tensor, unknown), kInvalid, {tensor}, {}});
    }
  }
}

DtypeLists ListedWith(const std::vector<DtypeNumber>& listed, const std::vector<Product>& products,
                      const std::vector<DtypeNumber>& more) {
  DtypeLists lists;
  for (const Product product : kAllProducts) lists[product] = listed;
  for (const Product product : products) {
    std::vector<DtypeNumber>& list = lists[product];
    list.insert(list.end(), more.begin(), more.end());
  }
  return lists;
}

Row ListedRow(const std::string& name, const Deviation& deviation, const DtypeLists& accepted,
              DtypeNumber dtype, const Answer& answer, const std::vector<std::string>& refused) {
  std::map<Product, Answer> answers;
  for (const auto& [product, list] : accepted) {
    const bool is_listed = std::find(list.begin(), list.end(), dtype) != list.end();
    answers[product] = is_listed ? answer : Answer{kInvalid, refused};
  }
  const Answer usual = answers.at(Product::kA2);
  return {name, deviation, usual.code, usual.fragments.value_or(std::vector<std::string>{}), answers};
}

const std::vector<DtypeNumber>& UnknownDtypes() {
  static const std::vector<DtypeNumber> numbers = {5, 14, 15, 18, 26, 28, 31, 32, 42, 99, 1000, -1, -2};
  return numbers;
}

void AddDtypeMixRows(std::vector<Row>& rows, size_t tensors, const std::vector<Product>& without_bfloat16) {
  const std::vector<DtypeNumber> types = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  std::vector<size_t> choice(tensors, 0);
  for (;;) {
    std::vector<DtypeNumber> dtypes;
    std::string name = "mix";
    for (const size_t i : choice) {
      dtypes.push_back(types[i]);
      name.append(" ").append(DtypeName(types[i]));
    }
    const bool bfloat16 = std::find(dtypes.begin(), dtypes.end(), ACL_BF16) != dtypes.end();
    rows.push_back({name,
                    Dtypes(dtypes),
                    kOk,
                    {"DT_BF16"},
                    bfloat16 ? On(without_bfloat16, kInvalid) : std::map<Product, Answer>{}});
    size_t at = 0;
    while (at < tensors && ++choice[at] == types.size()) {
      choice[at++] = 0;
    }
    if (at == tensors) {
      return;
    }
  }
}

}  // namespace portacl::testing
