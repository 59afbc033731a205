// Contract rows of forward losses: see loss_rows.h.
// SPDX-License-Identifier: Apache-2.0
#include "loss_rows.h"

namespace portacl::testing {

Deviation Reduced(int64_t reduction, const std::string& output) {
  return All({Reduction(reduction), ShapeOf(output, {})});
}

void AddLossReductionRows(std::vector<Row>& rows, int64_t last, const std::string& output) {
  rows.push_back({"reduction 0", Reduction(0), kOk, {}, {}});
  for (int64_t reduction = 1; reduction <= last; ++reduction) {
    rows.push_back({"reduction " + std::to_string(reduction), Reduced(reduction, output), kOk, {}, {}});
  }
  for (const int64_t reduction :
       {int64_t{-1}, last + 1, last + 2, int64_t{1} << 32, (int64_t{1} << 32) + 1, kMin, kMax}) {
    const std::vector<std::string> says = {"reduction", std::to_string(reduction), "0", std::to_string(last)};
    rows.push_back({"reduction " + std::to_string(reduction), Reduction(reduction), kInvalid, says, {}});
    rows.push_back({"reduction " + std::to_string(reduction) + ", tensors empty",
                    All({AllShapes({0}), Reduction(reduction)}),
                    kInvalid,
                    says,
                    {}});
  }
}

void AddLossShapeRows(std::vector<Row>& rows, const std::string& output) {
  const auto accepted = [&](const std::string& name, std::vector<Shape> shapes) {
    rows.push_back({name, Shapes(std::move(shapes)), kOk, {}, {}});
  };
  const auto refused = [&](const std::string& name, std::vector<Shape> shapes,
                           std::vector<std::string> says) {
    rows.push_back({name, Shapes(std::move(shapes)), kInvalid, std::move(says), {}});
  };
  accepted("scalars", {{}, {}, {}});
  accepted("scalar self", {{}, {2, 3}, {2, 3}});
  accepted("scalar target", {{2, 3}, {}, {2, 3}});
  accepted("both broadcast", {{2, 1, 4}, {3, 1}, {2, 3, 4}});
  accepted("missing leading dims", {{3}, {2, 3}, {2, 3}});
  accepted("scalar against one element", {{}, {1}, {1}});

  refused("the last dims differ", {{2, 3}, {2, 5}, {2, 3}}, {"self", "target", "[2, 3]", "[2, 5]"});
  refused("the first dims differ", {{4, 3}, {2, 3}, {2, 3}}, {"[4, 3]", "[2, 3]"});
  refused("left-aligned", {{2, 3}, {2}, {2, 3}}, {"[2]", "[2, 3]"});

  for (const Shape& shape : {Shape{3}, Shape{3, 2}, Shape{1, 2, 3}, Shape{2, 3, 1}, Shape{6}, Shape{},
                             Shape{1}, Shape{1, 3}, Shape{0, 3}, Shape{2, 4}, Shape(9, 1), Shape(25, 1)}) {
    rows.push_back({output + " " + ToString(shape),
                    ShapeOf(output, shape),
                    kInvalid,
                    {output, ToString(shape), "[2, 3]"},
                    {}});
  }
  refused(output + " of self's shape", {{1, 3}, {2, 3}, {1, 3}}, {output, "[1, 3]", "[2, 3]"});

  const int64_t large = int64_t{1} << 40;
  refused("2^80 elements by broadcasting", {{large, 1}, {1, large}, {large, large}}, {});
  rows.push_back(
      {"rank 9 of both, empty", AllShapes({1, 1, 1, 1, 1, 1, 1, 1, 0}), kInvalid, {"self", "9", "8"}, {}});
}

void AddScalarShapeRow(std::vector<Row>& rows, const std::string& output) {
  rows.push_back({output + " [1] for scalars", Shapes({{}, {}, {1}}), kInvalid, {output, "[1]", "[]"}, {}});
}

void AddReducedShapeRows(std::vector<Row>& rows, int64_t last, const std::string& output,
                         const std::vector<Shape>& accepted, const std::vector<Shape>& refused,
                         aclnnStatus code) {
  for (int64_t reduction = 1; reduction <= last; ++reduction) {
    const std::string name = "reduction " + std::to_string(reduction) + ", " + output + " ";
    for (const Shape& shape : accepted) {
      rows.push_back(
          {name + ToString(shape), All({Reduction(reduction), ShapeOf(output, shape)}), kOk, {}, {}});
      rows.push_back({name + ToString(shape) + ", broadcast inputs",
                      All({Reduction(reduction), Shapes({{2, 1}, {1, 3}, shape})}),
                      kOk,
                      {},
                      {}});
    }
    for (const Shape& shape : refused) {
      rows.push_back({name + ToString(shape),
                      All({Reduction(reduction), ShapeOf(output, shape)}),
                      code,
                      {output, ToString(shape)},
                      {}});
    }
  }
}

void AddEmptyRows(std::vector<Row>& rows, int64_t last, const std::string& output, const Shape& self,
                  const Shape& target, const Shape& unreduced, const Shape& reduced) {
  for (int64_t reduction = 0; reduction <= last; ++reduction) {
    const Deviation shapes = Shapes({self, target, reduction == 0 ? unreduced : reduced});
    const std::string name =
        "empty " + ToString(self) + ToString(target) + ", reduction " + std::to_string(reduction);
    rows.push_back({name, All({Reduction(reduction), shapes}), kOk, {}, {}});
    // The call ends before it checks views.
    for (const std::string& tensor : kLossInputs) {
      rows.push_back({name + ", " + tensor + " outside its storage",
                      All({Reduction(reduction), shapes, OutsideItsStorage(tensor)}),
                      kOk,
                      {},
                      {}});
    }
    rows.push_back(
        {name + ", " + output + " without room",
         All({Reduction(reduction), shapes, [=](CallSpec& call) { call[output].storage_dims = Shape{0}; }}),
         kOk,
         {},
         {}});
  }
}

void AddReducedViewRows(std::vector<Row>& rows, int64_t last, const std::string& output) {
  for (int64_t reduction = 1; reduction <= last; ++reduction) {
    for (const std::string& tensor : kLossInputs) {
      const std::string name = "reduction " + std::to_string(reduction) + ", " + tensor;
      rows.push_back({name + " transposed",
                      All({Reduced(reduction, output), Strided(tensor, {1, 2}, 0, 6)}),
                      kOk,
                      {},
                      {}});
      rows.push_back({name + " outside its storage",
                      All({Reduced(reduction, output), Strided(tensor, {4, 1}, 0, 6)}),
                      kInnerNullptr,
                      {tensor},
                      {}});
    }
  }
}

}  // namespace portacl::testing
