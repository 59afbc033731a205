// Deviations and common rows of contract descriptions: see contract_rows.h.
// SPDX-License-Identifier: Apache-2.0
#include "contract_rows.h"

#include <algorithm>
#include <utility>

namespace portacl::testing {

Deviation All(std::vector<Deviation> deviations) {
  return [deviations = std::move(deviations)](CallSpec& call) {
    for (const Deviation& deviate : deviations) {
      deviate(call);
    }
  };
}

Deviation Dtype(const std::string& tensor, DtypeNumber dtype) {
  return [=](CallSpec& call) { call[tensor].dtype = dtype; };
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

Deviation Strided(const std::string& tensor, const std::vector<int64_t>& strides, int64_t offset,
                  int64_t storage) {
  return [=](CallSpec& call) {
    call[tensor].strides = strides;
    call[tensor].offset = offset;
    call[tensor].storage_dims = Shape{storage};
  };
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

const std::vector<DtypeNumber>& UnknownDtypes() {
  static const std::vector<DtypeNumber> numbers = {5, 14, 15, 18, 26, 28, 31, 32, 42, 99, 1000, -1, -2};
  return numbers;
}

}  // namespace portacl::testing
