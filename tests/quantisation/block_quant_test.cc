// Quantisers of blocks: powers of two along axes (MX), rectangles, fake quantisers and QuantMax. Checks, codes and scales against their
// definitions in float64, and codes of 4 bits by hand.
// SPDX-License-Identifier: Apache-2.0
#include "mx_by_definition.h"
#include "quant_calls.h"

namespace portacl::testing {
namespace {

OperatorSpec Axis(const CFunction& function, int version) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 64}, ACL_FLOAT16), IntegerArg("axis", -1),
              TextArg("roundModeOptional", "rint"), IntegerArg("dstType", ACL_FLOAT8_E4M3FN),
              IntegerArg("blocksize", 32),          IntegerArg("scaleAlg", 0)};
  if (version >= 2) op.valid.push_back(RealArg("dstTypeMax", 0));
  if (version >= 3) op.valid.push_back(RealArg("maxLowBound", 0));
  op.valid.push_back(OutputArg("yOut", {2, 64}, ACL_FLOAT8_E4M3FN));
  op.valid.push_back(OutputArg("mxscaleOut", {2, 1, 2}, ACL_FLOAT8_E8M0));
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.rules = {NoNulls("x yOut mxscaleOut"),
              DtypeOn950("x", IsFloatOrHalf),
              DtypeOn950("yOut", IsMxCode),
              DtypeOn950("mxscaleOut", IsPower),
              Refuses(561002, "",
                      [=](PlanCall& call) {
                        const int64_t block = call["blocksize"].integer;
                        const bool is_one = call["x"].dtype == ACL_FLOAT || call["scaleAlg"].integer == 2;
                        if (block != 32 && (is_one || block <= 0 || block > 1024 || block % 32 != 0))
                          return true;
                        if (ModesWrong(call, "yOut", "roundModeOptional", true, version >= 2)) return true;
                        const double least = version >= 3 ? call["maxLowBound"].real : 0;
                        if (least != 0 && !(least > 0 && call["scaleAlg"].integer == 1)) return true;
                        const Shape& x = call["x"].shape;
                        if (x.empty() || x.size() > 7 || CodesWrong(x, call["yOut"])) return true;
                        const int64_t axis = call["axis"].integer;
                        const int64_t rank = std::ssize(x);
                        if (axis < -rank || axis >= rank) return true;
                        return call["mxscaleOut"].shape != PairsShape(x, Wrapped(axis, x), block);
                      }),
              DoneIfEmpty("x")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape x = {random.Between(1, 70), random.Between(1, 3), random.Between(1, 140)};
    if (random.Chance(50)) x.erase(x.begin() + 1);
    if (random.Chance(20)) x = {random.Between(1, 2), random.Between(1, 2100)};
    const DtypeNumber y = DrawDtype(random, kMxBytes);
    const int64_t axis = random.Between(0, std::ssize(x) - 1);
    call["x"] = TensorArg("x", x, DrawDtype(random, kRowDtypes));
    call["axis"].integer = random.Chance(50) ? axis : axis - std::ssize(x);
    call["roundModeOptional"].null = random.Chance(50);
    call["dstType"].integer = y;
    const int64_t block = call["x"].dtype == ACL_FLOAT || random.Chance(60) ? 32 : 32 * random.Between(1, 32);
    call["blocksize"].integer = block;
    call["scaleAlg"].integer = random.Between(0, 1);
    if (version >= 3 && call["scaleAlg"].integer == 1 && random.Chance(50)) call["maxLowBound"].real = 3;
    call["yOut"] = OutputArg("yOut", x, y);
    call["mxscaleOut"] =
        OutputArg("mxscaleOut", PairsShape(x, static_cast<size_t>(axis), block), ACL_FLOAT8_E8M0);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetMany(tensors[0], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const MxResult result =
        AlongAxis(x, call["yOut"].dtype, Wrapped(call["axis"].integer, x.shape()), call["blocksize"].integer,
                  call["scaleAlg"].integer, 0, version >= 3 ? call["maxLowBound"].real : 0);
    return std::vector<Outcome>{OutcomeOfCodes(call["yOut"].dtype, result.codes), result.scales};
  };
  return op;
}

OperatorSpec Dual(const CFunction& function, bool has_most) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 64}, ACL_FLOAT16), TextArg("roundModeOptional", "rint"),
              IntegerArg("dstType", ACL_FLOAT8_E4M3FN), IntegerArg("scaleAlg", 0)};
  if (has_most) op.valid.push_back(RealArg("dstTypeMax", 0));
  op.valid.push_back(OutputArg("y1Out", {2, 64}, ACL_FLOAT8_E4M3FN));
  op.valid.push_back(OutputArg("mxscale1Out", {2, 1, 2}, ACL_FLOAT8_E8M0));
  op.valid.push_back(OutputArg("y2Out", {2, 64}, ACL_FLOAT8_E4M3FN));
  op.valid.push_back(OutputArg("mxscale2Out", {1, 64, 2}, ACL_FLOAT8_E8M0));
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.rules = {NoNulls("x y1Out mxscale1Out y2Out mxscale2Out"),
              DtypeOn950("x", IsHalf),
              DtypeOn950("y1Out", IsMxCode),
              DtypeOn950("y2Out", IsMxCode),
              DtypeOn950("mxscale1Out", IsPower),
              DtypeOn950("mxscale2Out", IsPower),
              Refuses(561002, "",
                      [=](PlanCall& call) {
                        if (ModesWrong(call, "y1Out", "roundModeOptional", true, has_most)) return true;
                        if (call["y1Out"].dtype != call["y2Out"].dtype) return true;
                        const Shape& x = call["x"].shape;
                        if (x.size() < 2 || x.size() > 7) return true;
                        return CodesWrong(x, call["y1Out"]) || CodesWrong(x, call["y2Out"]) ||
                               call["mxscale1Out"].shape != PairsShape(x, x.size() - 1) ||
                               call["mxscale2Out"].shape != PairsShape(x, x.size() - 2);
                      }),
              DoneIfEmpty("x")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape x = {random.Between(1, 70), random.Between(1, 70)};
    if (random.Chance(40)) x.insert(x.begin(), random.Between(1, 3));
    const DtypeNumber y = DrawDtype(random, kMxBytes);
    call["x"] = TensorArg("x", x, DrawDtype(random, kHalfDtypes));
    call["dstType"].integer = y;
    call["scaleAlg"].integer = random.Between(0, 1);
    for (const char* const name : {"y1Out", "y2Out"}) call[name] = OutputArg(name, x, y);
    call["mxscale1Out"] = OutputArg("mxscale1Out", PairsShape(x, x.size() - 1), ACL_FLOAT8_E8M0);
    call["mxscale2Out"] = OutputArg("mxscale2Out", PairsShape(x, x.size() - 2), ACL_FLOAT8_E8M0);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetMany(tensors[0], random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const DtypeNumber y = call["y1Out"].dtype;
    std::vector<Outcome> outcomes;
    for (size_t back = 1; back <= 2; ++back) {
      const MxResult result = AlongAxis(x, y, x.shape().size() - back, 32, call["scaleAlg"].integer, 0, 0);
      outcomes.push_back(OutcomeOfCodes(y, result.codes));
      outcomes.push_back(result.scales);
    }
    return outcomes;
  };
  return op;
}

OperatorSpec Squares() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDynamicBlockMxQuant);
  op.valid = {TensorArg("x", {2, 64}, ACL_FLOAT16),
              TextArg("roundModeOptional", "rint"),
              IntegerArg("dstType", ACL_FLOAT8_E4M3FN),
              IntegerArg("scaleAlg", 0),
              RealArg("dstTypeMax", 0),
              OutputArg("yOut", {2, 64}, ACL_FLOAT8_E4M3FN),
              OutputArg("scale1Out", {2, 1, 2}, ACL_FLOAT8_E8M0),
              OutputArg("scale2Out", {1, 64, 2}, ACL_FLOAT8_E8M0)};
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.rules = {NoNulls("x yOut scale1Out scale2Out"),
              DtypeOn950("x", IsHalf),
              DtypeOn950("yOut", IsMxCode),
              DtypeOn950("scale1Out", IsPower),
              DtypeOn950("scale2Out", IsPower),
              Refuses(561002, "",
                      [](PlanCall& call) {
                        if (ModesWrong(call, "yOut", "roundModeOptional", true, true)) return true;
                        if (call["scaleAlg"].integer == 1) return true;
                        const Shape& x = call["x"].shape;
                        if (x.size() < 2 || x.size() > 3) return true;
                        return CodesWrong(x, call["yOut"]) ||
                               call["scale1Out"].shape != PairsShape(x, x.size() - 1) ||
                               call["scale2Out"].shape != PairsShape(x, x.size() - 2);
                      }),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape x = {random.Between(1, 100), random.Between(1, 100)};
    if (random.Chance(40)) x.insert(x.begin(), random.Between(1, 3));
    const DtypeNumber y = DrawDtype(random, kMxBytes);
    call["x"] = TensorArg("x", x, DrawDtype(random, kHalfDtypes));
    call["dstType"].integer = y;
    call["yOut"] = OutputArg("yOut", x, y);
    call["scale1Out"] = OutputArg("scale1Out", PairsShape(x, x.size() - 1), ACL_FLOAT8_E8M0);
    call["scale2Out"] = OutputArg("scale2Out", PairsShape(x, x.size() - 2), ACL_FLOAT8_E8M0);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetMany(tensors[0], random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const DtypeNumber y = call["yOut"].dtype;
    const Shape& shape = x.shape();
    const int64_t columns = shape.back();
    const int64_t rows = shape[shape.size() - 2];
    const int64_t batches = x.size() / (rows * columns);
    const auto half = [](int64_t length) { return (length + 63) / 64; };
    std::vector<std::optional<uint32_t>> codes(static_cast<size_t>(x.size()));
    Outcome by_row(static_cast<size_t>(batches * rows * half(columns) * 2), Element{std::byte{0}});
    Outcome by_column(static_cast<size_t>(batches * half(rows) * columns * 2), Element{std::byte{0}});
    for (int64_t batch = 0; batch < batches; ++batch) {
      for (int64_t down = 0; down * 32 < rows; ++down) {
        for (int64_t across = 0; across * 32 < columns; ++across) {
          std::vector<int64_t> members;
          std::vector<double> numbers;
          const int64_t last_row = std::min(rows, down * 32 + 32);
          const int64_t last_column = std::min(columns, across * 32 + 32);
          for (int64_t m = down * 32; m < last_row; ++m) {
            for (int64_t n = across * 32; n < last_column; ++n)
              members.push_back((batch * rows + m) * columns + n);
          }
          for (const int64_t i : members) numbers.push_back(x[i]);
          const Power power = PowerOf(numbers, y, 0, 0, 0);
          const Element code{static_cast<std::byte>(power.code())};
          for (const int64_t i : members) codes[static_cast<size_t>(i)] = MxCode(y, x[i], power);
          for (int64_t m = down * 32; m < last_row; ++m)
            by_row[static_cast<size_t>((batch * rows + m) * half(columns) * 2 + across)] = code;
          for (int64_t n = across * 32; n < last_column; ++n)
            by_column[static_cast<size_t>(((batch * half(rows) + down / 2) * columns + n) * 2 + down % 2)] =
                code;
        }
      }
    }
    return std::vector<Outcome>{OutcomeOfCodes(y, codes), by_row, by_column};
  };
  return op;
}

// The rows of each group, of ends that may decrease or be too large.
std::vector<std::pair<int64_t, int64_t>> RowsOfGroups(const Numbers& ends, int64_t rows) {
  std::vector<std::pair<int64_t, int64_t>> groups;
  int64_t begin = 0;
  for (int64_t g = 0; g < ends.size(); ++g) {
    const int64_t end = std::clamp(ends.Integer(g), begin, rows);
    groups.emplace_back(begin, end);
    begin = end;
  }
  return groups;
}
void SetEnds(HostTensor& tensor, int64_t rows, RandomNumbers& random) {
  int64_t end = 0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    end = std::min(rows, end + random.Between(0, 2 * rows / tensor.size()));
    EncodeIntegerElement(tensor.dtype(), end, tensor.Element(i));
  }
}

OperatorSpec GroupedMx(const CFunction& function, bool is_second) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {64, 4}, ACL_FLOAT16), TensorArg("groupIndex", {2}, ACL_INT32),
              TextArg("roundMode", "rint"), IntegerArg("dstType", ACL_FLOAT8_E4M3FN),
              IntegerArg("blocksize", 32)};
  if (is_second) op.valid.push_back(IntegerArg("scaleAlg", 0));
  if (is_second) op.valid.push_back(RealArg("dstTypeMax", 0));
  op.valid.push_back(OutputArg("y", {64, 4}, ACL_FLOAT8_E4M3FN));
  op.valid.push_back(OutputArg("mxscale", {3, 4, 2}, ACL_FLOAT8_E8M0));
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.rules = {
      NoNulls("x groupIndex y mxscale"),
      [](PlanCall& call) -> std::optional<Verdict> {
        if (!call["roundMode"].null) return std::nullopt;
        return Verdict{161001, {"parameter roundMode is null, accepted: rint."}};
      },
      DtypeOn950("x", IsHalf),
      DtypeIn("groupIndex", kInt32Alone),
      DtypeOn950("y", [=](DtypeNumber dtype) { return IsMxCode(dtype) && (is_second || !IsFloat4(dtype)); }),
      DtypeOn950("mxscale", IsPower),
      Refuses(161002, "",
              [=](PlanCall& call) {
                if (ModesWrong(call, "y", "roundMode", is_second, is_second)) return true;
                if (call["blocksize"].integer != 32) return true;
                const Shape& x = call["x"].shape;
                const Shape& groups = call["groupIndex"].shape;
                if (x.size() != 2 || groups.size() != 1 || CodesWrong(x, call["y"])) return true;
                return call["mxscale"].shape != Shape{x[0] / 64 + groups[0], x[1], 2} || groups[0] == 0;
              }),
      DoneIfEmpty("x")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape x = {random.Between(1, 200),
                     random.Chance(2) ? random.Between(1000, 1100) : random.Between(1, 9)};
    const int64_t groups = random.Between(1, 4);
    const DtypeNumber y = DrawDtype(random, kMxBytes);
    call["x"] = TensorArg("x", x, DrawDtype(random, kHalfDtypes));
    call["groupIndex"] = TensorArg("groupIndex", {groups}, ACL_INT32);
    call["dstType"].integer = y;
    if (is_second) call["scaleAlg"].integer = random.Between(0, 1);
    call["y"] = OutputArg("y", x, y);
    call["mxscale"] = OutputArg("mxscale", {x[0] / 64 + groups, x[1], 2}, ACL_FLOAT8_E8M0);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetMany(tensors[0], random);
    SetEnds(tensors[1], call["x"].shape.empty() ? 1 : call["x"].shape[0], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const DtypeNumber y = call["y"].dtype;
    const int64_t columns = x.shape()[1];
    std::vector<std::optional<uint32_t>> codes(static_cast<size_t>(x.size()));
    Outcome scales(static_cast<size_t>(NumElements(call["mxscale"].shape)));
    int64_t g = 0;
    for (const auto& [begin, end] : RowsOfGroups(Numbers(call, tensors, "groupIndex"), x.shape()[0])) {
      for (int64_t block = 0; begin + block * 32 < end || block % 2 != 0; ++block) {
        for (int64_t n = 0; n < columns; ++n) {
          const int64_t place = ((begin / 64 + g + block / 2) * columns + n) * 2 + block % 2;
          std::vector<double> numbers;
          for (int64_t m = begin + block * 32; m < std::min(end, begin + block * 32 + 32); ++m)
            numbers.push_back(x.At(m, n));
          const Power power = PowerOf(numbers, y, is_second ? call["scaleAlg"].integer : 0, 0, 0);
          scales[static_cast<size_t>(place)] =
              Element{static_cast<std::byte>(numbers.empty() ? 0 : power.code())};
          for (size_t k = 0; k < numbers.size(); ++k)
            codes[static_cast<size_t>((begin + block * 32 + static_cast<int64_t>(k)) * columns + n)] =
                MxCode(y, numbers[k], power);
        }
      }
      ++g;
    }
    return std::vector<Outcome>{OutcomeOfCodes(y, codes), scales};
  };
  return op;
}

OperatorSpec Anti() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAntiMxQuant);
  op.valid = {TensorArg("x", {2, 64}, ACL_FLOAT8_E4M3FN), TensorArg("mxscale", {2, 1, 2}, ACL_FLOAT8_E8M0),
              IntegerArg("axis", -1), IntegerArg("dstType", ACL_FLOAT), OutputArg("y", {2, 64})};
  op.takes_workspace = true;
  op.is_inexact = true;
  op.numbers_on = Product::k950;
  op.rules = {NoNulls("x mxscale y"),
              DtypeOn950("x", IsMxCode),
              DtypeOn950("mxscale", IsPower),
              DtypeOn950("y", IsFloatOrHalf),
              Refuses(161002, "",
                      [](PlanCall& call) {
                        const Shape& x = call["x"].shape;
                        const int64_t rank = std::ssize(x);
                        const int64_t axis = call["axis"].integer;
                        return call["dstType"].integer != call["y"].dtype || x.empty() || rank > 7 ||
                               (IsFloat4(call["x"].dtype) && x.back() % 2 != 0) || call["y"].shape != x ||
                               call["mxscale"].shape.size() != x.size() + 1 || axis < -rank || axis >= rank;
                      }),
              DoneIfEmpty("x"),
              Refuses(561002, "mxscale", [](PlanCall& call) {
                const Shape& x = call["x"].shape;
                return call["mxscale"].shape != PairsShape(x, Wrapped(call["axis"].integer, x));
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape x = {random.Between(1, 70), random.Between(1, 3), random.Between(1, 140)};
    if (random.Chance(50)) x.erase(x.begin() + 1);
    const int64_t axis = random.Between(0, std::ssize(x) - 1);
    call["x"] = TensorArg("x", x, DrawDtype(random, kMxBytes));
    call["mxscale"] = TensorArg("mxscale", PairsShape(x, static_cast<size_t>(axis)), ACL_FLOAT8_E8M0);
    call["axis"].integer = axis;
    const DtypeNumber y = DrawDtype(random, kRowDtypes);
    call["dstType"].integer = y;
    call["y"] = OutputArg("y", x, y);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (int64_t i = 0; i < tensors[0].size(); ++i)
      *tensors[0].Element(i) = static_cast<std::byte>(random.Below(256));
    for (int64_t i = 0; i < tensors[1].size(); ++i)
      *tensors[1].Element(i) = static_cast<std::byte>(random.Chance(3) ? 0xFF : random.Between(117, 137));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers scales(call, tensors, "mxscale");
    const Shape& shape = x.shape();
    const size_t axis = Wrapped(call["axis"].integer, shape);
    std::vector<double> numbers;
    for (int64_t i = 0; i < x.size(); ++i) {
      std::vector<int64_t> index = IndexAt(shape, i);
      const int64_t number = index[axis] / 32;
      index[axis] = number / 2;
      index.push_back(number % 2);
      const auto code = std::to_integer<uint32_t>(x.Bytes(i)[0]);
      const auto power = std::to_integer<uint32_t>(scales.Bytes(PositionOf(scales.shape(), index))[0]);
      numbers.push_back(NumberOfCode(x.dtype(), code) * NumberOfCode(ACL_FLOAT8_E8M0, power));
    }
    return std::vector<Outcome>{EncodedAll(call["y"].dtype, numbers)};
  };
  return op;
}

// ---- rectangles ----

OperatorSpec Rectangles(const CFunction& function, bool is_grouped, bool is_second) {
  OperatorSpec op;
  op.function = function;
  const DtypeNumber valid_y = is_grouped ? ACL_FLOAT8_E4M3FN : ACL_INT8;
  op.valid = {TensorArg("x", {2, 130}, ACL_FLOAT16)};
  if (is_grouped) op.valid.push_back(TensorArg("groupList", {2}, ACL_INT32));
  op.valid.push_back(RealArg("minScale", 0));
  op.valid.push_back(TextArg("roundModeOptional", "rint"));
  op.valid.push_back(IntegerArg("dstType", valid_y));
  op.valid.push_back(IntegerArg("rowBlockSize", 1));
  op.valid.push_back(IntegerArg("colBlockSize", 128));
  if (is_grouped) op.valid.push_back(IntegerArg("groupListType", 0));
  if (is_second) op.valid.push_back(RealArg("dstTypeMax", 0));
  op.valid.push_back(OutputArg("yOut", {2, 130}, valid_y));
  op.valid.push_back(OutputArg("scaleOut", {is_grouped ? 4 : 2, 2}));
  op.takes_workspace = true;
  op.numbers_on = is_grouped || is_second ? Product::k950 : Product::kA2;
  op.rules = {NoNulls("x yOut scaleOut")};
  if (is_grouped) op.rules = {NoNulls("x groupList yOut scaleOut")};
  op.rules.push_back(RefusedDtype("x", [=](const PlanCall& call, DtypeNumber dtype) {
    if (is_grouped) return IsOn950(call) && IsHalf(dtype);
    return IsSinceA2(call) && (IsHalf(dtype) || (IsOn950(call) && dtype == ACL_FLOAT));
  }));
  if (is_grouped) op.rules.push_back(DtypeIn("groupList", kInt32Alone));
  op.rules.push_back(RefusedDtype("yOut", [=](const PlanCall& call, DtypeNumber dtype) {
    return (!is_grouped && dtype == ACL_INT8) || (IsOn950(call) && IsFloat8(dtype));
  }));
  op.rules.push_back(DtypeIn("scaleOut", kFloatAlone));
  const auto scale_shape = [=](const PlanCall& call) {
    Shape shape = call["x"].shape;
    const int64_t down = call["rowBlockSize"].integer;
    const int64_t across = call["colBlockSize"].integer;
    int64_t& rows = shape[shape.size() - 2];
    rows = is_grouped ? rows / down + call["groupList"].shape[0] : (rows + down - 1) / down;
    shape.back() = (shape.back() + across - 1) / across;
    return shape;
  };
  op.rules.push_back(Refuses(561002, "", [=](PlanCall& call) {
    const bool is_hifloat = call["yOut"].dtype == ACL_HIFLOAT8;
    if (call["minScale"].real < 0 || call["dstType"].integer != call["yOut"].dtype) return true;
    const PlanArgument& round = call["roundModeOptional"];
    if (!round.null && round.text != (is_hifloat ? "round" : "rint")) return true;
    const int64_t down = call["rowBlockSize"].integer;
    const int64_t across = call["colBlockSize"].integer;
    if (down != 1 && !(IsOn950(call) && (down == 128 || down == 256 || down == 512))) return true;
    if (across != 128 && !(IsOn950(call) && (across == 64 || across == 192 || across == 256))) return true;
    const double most = is_second ? call["dstTypeMax"].real : 0;
    if (most != 0 && !(is_hifloat && (most == 15 || most == 56 || most == 224 || most == 32768))) return true;
    const Shape& x = call["x"].shape;
    if (is_grouped) {
      if (call["groupListType"].integer != 0 || x.size() != 2 || call["groupList"].shape.size() != 1)
        return true;
    } else if (x.size() < 2 || x.size() > (IsOn950(call) ? 3u : 2u)) {
      return true;
    }
    return call["yOut"].shape != x || call["scaleOut"].shape != scale_shape(call);
  }));
  op.rules.push_back(DoneIfEmpty("x"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape x = {random.Between(1, 9), random.Between(1, 400)};
    if (IsOn950(call) && random.Chance(8)) x[0] = random.Between(120, 270);
    if (!is_grouped && IsOn950(call) && random.Chance(30)) x.insert(x.begin(), random.Between(1, 3));
    DtypeNumber y = ACL_INT8;
    if (is_grouped || (IsOn950(call) && random.Chance(60)))
      y = DrawDtype(random, {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN});
    call["x"] = TensorArg("x", x, DrawDtype(random, kHalfDtypes));
    if (is_grouped) call["groupList"] = TensorArg("groupList", {random.Between(1, 4)}, ACL_INT32);
    // FLOAT has no number as great as the last: its reciprocal is 0.
    call["minScale"].real = !random.Chance(30) ? 0 : random.Chance(80) ? 32 : 1e39;
    call["roundModeOptional"].text = y == ACL_HIFLOAT8 ? "round" : "rint";
    call["dstType"].integer = y;
    if (IsOn950(call) && random.Chance(50)) {
      call["rowBlockSize"].integer = random.Chance(50) ? 128 : 1;
      call["colBlockSize"].integer = 64 * random.Between(1, 4);
    }
    if (is_second && y == ACL_HIFLOAT8 && random.Chance(50)) call["dstTypeMax"].real = 56;
    call["yOut"] = OutputArg("yOut", x, y);
    call["scaleOut"] = OutputArg("scaleOut", scale_shape(call));
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetMany(tensors[0], random);
    if (is_grouped) SetEnds(tensors[1], call["x"].shape.empty() ? 1 : call["x"].shape[0], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const DtypeNumber y = call["yOut"].dtype;
    const Shape& shape = x.shape();
    const int64_t columns = shape.back();
    const int64_t rows = shape[shape.size() - 2];
    const int64_t down = call["rowBlockSize"].integer;
    const int64_t across = call["colBlockSize"].integer;
    const int64_t blocks = (columns + across - 1) / across;
    float most = GreatestCode(y);
    if (is_second && call["dstTypeMax"].real != 0) most = static_cast<float>(call["dstTypeMax"].real);
    std::vector<std::optional<uint32_t>> codes(static_cast<size_t>(x.size()));
    Outcome scales(static_cast<size_t>(NumElements(call["scaleOut"].shape)));
    const auto quantise = [&](int64_t first, int64_t last, int64_t row_of_scales) {
      for (int64_t block = 0; block < blocks; ++block) {
        float greatest = 0;
        std::vector<int64_t> members;
        for (int64_t m = first; m < last; ++m) {
          for (int64_t n = block * across; n < std::min(columns, (block + 1) * across); ++n)
            members.push_back(m * columns + n);
        }
        for (const int64_t i : members) {
          if (std::isfinite(x[i])) greatest = std::max(greatest, std::fabs(FloatAt(x, i)));
        }
        float scale = greatest / most;
        if (call["minScale"].real > 0)
          scale = std::min(scale, 1.0f / static_cast<float>(call["minScale"].real));
        scales[static_cast<size_t>(row_of_scales * blocks + block)] =
            Encoded(ACL_FLOAT, static_cast<double>(scale));
        for (const int64_t i : members)
          codes[static_cast<size_t>(i)] = QuantisedCode(y, FloatAt(x, i) / scale);
      }
    };
    if (is_grouped) {
      int64_t g = 0;
      for (const auto& [begin, end] : RowsOfGroups(Numbers(call, tensors, "groupList"), rows)) {
        for (int64_t m = begin; m < end; m += down)
          quantise(m, std::min(end, m + down), begin / down + g + (m - begin) / down);
        ++g;
      }
    } else {
      const int64_t each = (rows + down - 1) / down;
      for (int64_t batch = 0; batch < x.size() / (rows * columns); ++batch) {
        for (int64_t k = 0; k < each; ++k)
          quantise(batch * rows + k * down, std::min((batch + 1) * rows, batch * rows + (k + 1) * down),
                   batch * each + k);
      }
    }
    return std::vector<Outcome>{OutcomeOfCodes(y, codes), scales};
  };
  return op;
}

// ---- fake quantisers and QuantMax ----

OperatorSpec Fake(bool by_channel) {
  OperatorSpec op;
  op.function = by_channel ? PORTACL_C_FUNCTION(aclnnFakeQuantPerChannelAffineCachemask)
                           : PORTACL_C_FUNCTION(aclnnFakeQuantPerTensorAffineCachemask);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("scale", {by_channel ? 3 : 1}),
              TensorArg("zeroPoint", {by_channel ? 3 : 1}, ACL_INT32)};
  op.valid.push_back(by_channel ? IntegerArg("axis", 1) : RealArg("fakeQuantEnabled", 1));
  op.valid.push_back(IntegerArg("quantMin", -8));
  op.valid.push_back(IntegerArg("quantMax", 7));
  op.valid.push_back(OutputArg("out", {2, 3}));
  op.valid.push_back(OutputArg("mask", {2, 3}, ACL_BOOL));
  op.takes_workspace = true;
  const Listed floats = {{ACL_FLOAT, ACL_FLOAT16}};
  op.rules = {NoNulls("self scale zeroPoint out mask", 561103),
              DtypeIn("self scale", floats),
              RefusedDtype("zeroPoint",
                           [=](const PlanCall&, DtypeNumber dtype) {
                             return dtype == ACL_INT32 ||
                                    (by_channel && (dtype == ACL_FLOAT || dtype == ACL_FLOAT16));
                           }),
              RefusedDtype("out",
                           [](const PlanCall& call, DtypeNumber dtype) {
                             return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 ||
                                    (dtype == ACL_BF16 && IsSinceA2(call));
                           }),
              DtypeIn("mask", Listed{{ACL_BOOL}}),
              Refuses(161002, "",
                      [=](PlanCall& call) {
                        const Shape& x = call["self"].shape;
                        if (x.size() > 8 || (by_channel && x.empty())) return true;
                        if (by_channel) {
                          const int64_t axis = call["axis"].integer;
                          const int64_t rank = std::ssize(x);
                          if (axis < -rank || axis >= rank) return true;
                          const Shape channels = {x[Wrapped(axis, x)]};
                          if (call["scale"].shape != channels || call["zeroPoint"].shape != channels)
                            return true;
                        } else if (NumElements(call["scale"].shape) != 1 ||
                                   NumElements(call["zeroPoint"].shape) != 1) {
                          return true;
                        }
                        return call["out"].shape != x || call["mask"].shape != x ||
                               call["quantMin"].integer > call["quantMax"].integer;
                      }),
              DoneIfEmpty("self")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape x = DrawShape(random, 1, 4);
    for (int64_t& dim : x) dim = std::max<int64_t>(dim, 1);
    if (random.Chance(10)) x = {random.Between(1, 3), random.Between(1000, 2100)};
    call["self"] = TensorArg("self", x, DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16}));
    const int64_t axis = random.Between(0, std::ssize(x) - 1);
    const int64_t channels = by_channel ? x[static_cast<size_t>(axis)] : 1;
    call["scale"] = TensorArg("scale", {channels}, DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16}));
    call["zeroPoint"] = TensorArg("zeroPoint", {channels}, ACL_INT32);
    if (by_channel) call["axis"].integer = random.Chance(50) ? axis : axis - std::ssize(x);
    if (!by_channel) call["fakeQuantEnabled"].real = random.Chance(20) ? 0 : 1;
    call["out"] = OutputArg("out", x, DrawDtype(random, kRowDtypes));
    call["mask"] = OutputArg("mask", x, ACL_BOOL);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, 4);
    for (int64_t i = 0; i < tensors[1].size(); ++i)
      tensors[1].Set(i, static_cast<double>(random.Between(1, 40)) / 64.0);
    SetIntegers(tensors[2], -4, 4, random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "self");
    const Numbers scale(call, tensors, "scale");
    const Numbers zero(call, tensors, "zeroPoint");
    const bool is_off = !by_channel && call["fakeQuantEnabled"].real < 1;
    std::vector<double> numbers;
    std::vector<int64_t> within;
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t own = by_channel ? IndexAt(x.shape(), i)[Wrapped(call["axis"].integer, x.shape())] : 0;
      const auto low = static_cast<double>(call["quantMin"].integer);
      const auto high = static_cast<double>(call["quantMax"].integer);
      const auto point = static_cast<double>(zero.Integer(own));
      const double q = std::nearbyint(static_cast<double>(FloatAt(x, i) / FloatAt(scale, own))) + point;
      const double kept = std::isnan(q) ? low : std::clamp(q, low, high);
      const float number = static_cast<float>(kept - point) * FloatAt(scale, own);
      numbers.push_back(is_off ? x[i] : static_cast<double>(number));
      within.push_back(is_off || (q >= low && q <= high) ? 1 : 0);
    }
    return std::vector<Outcome>{EncodedAll(call["out"].dtype, numbers), EncodedIntegers(ACL_BOOL, within)};
  };
  op.is_inexact = true;
  return op;
}

OperatorSpec Most(bool is_grouped) {
  OperatorSpec op;
  op.function = is_grouped ? PORTACL_C_FUNCTION(aclnnGroupedQuantMax) : PORTACL_C_FUNCTION(aclnnQuantMax);
  const int64_t groups = is_grouped ? 2 : 1;
  op.valid = {TensorArg("x", {4, 3}, ACL_FLOAT16), TensorArg("scale", {groups})};
  if (is_grouped) op.valid.push_back(TensorArg("groupList", {groups}, ACL_INT64));
  op.valid.push_back(TextArg("roundMode", "rint"));
  op.valid.push_back(IntegerArg("dstType", ACL_FLOAT8_E4M3FN));
  op.valid.push_back(OutputArg("y", {4, 3}, ACL_FLOAT8_E4M3FN));
  op.valid.push_back(OutputArg("amax", {groups}, ACL_FLOAT16));
  op.takes_workspace = true;
  op.is_inexact = true;
  op.numbers_on = Product::k950;
  op.rules = {NoNulls(is_grouped ? "x scale groupList y amax" : "x scale y amax"),
              DtypeOn950("x", IsFloatOrHalf), DtypeIn("scale", kFloatAlone)};
  if (is_grouped) op.rules.push_back(DtypeIn("groupList", kInt64Alone));
  op.rules.push_back(Refuses(161002, "", [=](PlanCall& call) {
    const Shape& x = call["x"].shape;
    if (x.size() < (is_grouped ? 2u : 1u) || x.size() > 8) return true;
    if (is_grouped && call["groupList"].shape.size() != 1) return true;
    const Shape own = {is_grouped ? call["groupList"].shape[0] : 1};
    const auto y = static_cast<DtypeNumber>(call["dstType"].integer);
    if (call["scale"].shape != own || !IsFloat8(y) || call["roundMode"].null) return true;
    const std::string& round = call["roundMode"].text;
    if (y == ACL_HIFLOAT8 ? round != "round" && round != "hybrid" : round != "rint") return true;
    return call["y"].dtype != y || call["y"].shape != x || call["amax"].dtype != call["x"].dtype ||
           call["amax"].shape != own;
  }));
  op.rules.push_back(DoneIfEmpty("x"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape x = {random.Between(1, 9), DrawColumns(random)};
    if (random.Chance(2)) x = {3, random.Between(6000, 9000)};
    const DtypeNumber y = DrawDtype(random, {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN});
    const int64_t own = is_grouped ? random.Between(1, 4) : 1;
    call["x"] = TensorArg("x", x, DrawDtype(random, kRowDtypes));
    call["scale"] = TensorArg("scale", {own});
    if (is_grouped) call["groupList"] = TensorArg("groupList", {own}, ACL_INT64);
    call["roundMode"].text = y == ACL_HIFLOAT8 ? "round" : "rint";
    call["dstType"].integer = y;
    call["y"] = OutputArg("y", x, y);
    call["amax"] = OutputArg("amax", {own}, call["x"].dtype);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetNumbers(tensors[0], random, random.Chance(20) ? 10 : 0);
    SetNumbers(tensors[1], random);
    if (is_grouped) SetEnds(tensors[2], call["x"].shape.empty() ? 1 : call["x"].shape[0], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers x(call, tensors, "x");
    const Numbers scale(call, tensors, "scale");
    const int64_t rows = x.shape()[0];
    const int64_t columns = x.size() / rows;
    std::vector<std::pair<int64_t, int64_t>> parts = {{0, rows}};
    if (is_grouped) parts = RowsOfGroups(Numbers(call, tensors, "groupList"), rows);
    std::vector<std::optional<uint32_t>> codes(static_cast<size_t>(x.size()));
    std::vector<double> greatest;
    for (size_t g = 0; g < parts.size(); ++g) {
      double most = 0;
      for (int64_t i = parts[g].first * columns; i < parts[g].second * columns; ++i) {
        most = std::isnan(x[i]) || std::isnan(most) ? std::nan("") : std::max(most, std::fabs(x[i]));
        codes[static_cast<size_t>(i)] =
            QuantisedCode(call["y"].dtype, FloatAt(x, i) * FloatAt(scale, static_cast<int64_t>(g)));
      }
      greatest.push_back(most);
    }
    return std::vector<Outcome>{OutcomeOfCodes(call["y"].dtype, codes), EncodedAll(x.dtype(), greatest)};
  };
  return op;
}

// ---- norms in front ----

// The reciprocal of the root of the mean of squares: sixteen sums by the column modulo 16, as docs/numerics.md says.
float Root(const std::vector<float>& row, double eps) {
  double sums[16] = {};
  for (size_t i = 0; i < row.size(); ++i)
    sums[i % 16] += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  for (size_t width = 8; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return static_cast<float>(1.0 / std::sqrt(sums[0] / static_cast<double>(row.size()) + eps));
}

OperatorSpec Normed(bool is_added) {
  OperatorSpec op;
  op.function = is_added ? PORTACL_C_FUNCTION(aclnnAddRmsNormDynamicMxQuant)
                         : PORTACL_C_FUNCTION(aclnnRmsNormDynamicMxQuant);
  const std::string x = is_added ? "x1" : "x";
  op.valid = {TensorArg(x, {2, 64}, ACL_FLOAT16)};
  if (is_added) op.valid.push_back(TensorArg("x2", {2, 64}, ACL_FLOAT16));
  op.valid.push_back(TensorArg("gamma", {64}, ACL_FLOAT16));
  op.valid.push_back(TensorArg("beta", {64}, ACL_FLOAT16));
  op.valid.push_back(RealArg("epsilon", 1e-6));
  op.valid.push_back(IntegerArg("scaleAlg", 0));
  op.valid.push_back(TextArg("roundMode", "rint"));
  op.valid.push_back(IntegerArg("dstType", ACL_FLOAT8_E4M3FN));
  op.valid.push_back(IntegerArg("outputRstd", 1));
  op.valid.push_back(OutputArg("yOut", {2, 64}, ACL_FLOAT8_E4M3FN));
  if (is_added) op.valid.push_back(OutputArg("xOut", {2, 64}, ACL_FLOAT16));
  op.valid.push_back(OutputArg("mxscaleOut", {2, 1, 2}, ACL_FLOAT8_E8M0));
  op.valid.push_back(OutputArg("rstdOut", {2, 1}));
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.rules = {NoNulls(is_added ? "x1 x2 xOut gamma yOut mxscaleOut" : "x gamma yOut mxscaleOut"),
              Refuses(161001, "rstdOut",
                      [](PlanCall& call) { return call["outputRstd"].integer != 0 && call["rstdOut"].null; }),
              Refuses(561103, "",
                      [=](PlanCall& call) {
                        if (!IsOn950(call)) return true;
                        const DtypeNumber dtype = call[x].dtype;
                        if (!IsHalf(dtype)) return true;
                        if (is_added && (call["x2"].dtype != dtype || call["xOut"].dtype != dtype))
                          return true;
                        for (const char* const name : {"gamma", "beta"}) {
                          if (!call[name].null && call[name].dtype != dtype && call[name].dtype != ACL_FLOAT)
                            return true;
                        }
                        if (!IsMxCode(call["yOut"].dtype) || !IsPower(call["mxscaleOut"].dtype)) return true;
                        if (ModesWrong(call, "yOut", "roundMode", true, false)) return true;
                        const Shape& shape = call[x].shape;
                        if (!(call["epsilon"].real >= 0) || shape.empty() || shape.size() > 7) return true;
                        if (is_added && (call["x2"].shape != shape || call["xOut"].shape != shape))
                          return true;
                        const Shape row = {shape.back()};
                        if (call["gamma"].shape != row || (!call["beta"].null && call["beta"].shape != row))
                          return true;
                        if (CodesWrong(shape, call["yOut"])) return true;
                        if (call["mxscaleOut"].shape != PairsShape(shape, shape.size() - 1)) return true;
                        if (call["outputRstd"].integer == 0) return false;
                        Shape rows = shape;
                        rows.back() = 1;
                        return call["rstdOut"].dtype != ACL_FLOAT || call["rstdOut"].shape != rows;
                      }),
              DoneIfEmpty(x)};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = {random.Between(1, 4), random.Between(1, 140)};
    const DtypeNumber dtype = DrawDtype(random, kHalfDtypes);
    const DtypeNumber y = DrawDtype(random, kMxBytes);
    call[x] = TensorArg(x, shape, dtype);
    if (is_added) call["x2"] = TensorArg("x2", shape, dtype);
    if (is_added) call["xOut"] = OutputArg("xOut", shape, dtype);
    call["gamma"] = TensorArg("gamma", {shape[1]}, random.Chance(50) ? dtype : DtypeNumber{ACL_FLOAT});
    call["beta"] = TensorArg("beta", {shape[1]}, random.Chance(50) ? dtype : DtypeNumber{ACL_FLOAT});
    call["beta"].null = random.Chance(40);
    call["scaleAlg"].integer = random.Between(0, 1);
    call["dstType"].integer = y;
    call["outputRstd"].integer = random.Chance(50);
    call["yOut"] = OutputArg("yOut", shape, y);
    call["mxscaleOut"] = OutputArg("mxscaleOut", PairsShape(shape, 1), ACL_FLOAT8_E8M0);
    call["rstdOut"] = OutputArg("rstdOut", {shape[0], 1});
  };
  op.fill = [=](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t i = 0; i < (is_added ? 4u : 3u); ++i) SetNumbers(tensors[i], random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers first(call, tensors, x);
    const Numbers gamma(call, tensors, "gamma");
    const Numbers beta(call, tensors, "beta");
    const DtypeNumber y = call["yOut"].dtype;
    const int64_t columns = first.shape()[1];
    std::vector<std::optional<uint32_t>> codes;
    Outcome scales(static_cast<size_t>(NumElements(call["mxscaleOut"].shape)), Element{std::byte{0}});
    std::vector<double> sums;
    std::vector<double> roots;
    for (int64_t row = 0; row < first.shape()[0]; ++row) {
      std::vector<float> numbers;
      for (int64_t h = 0; h < columns; ++h) {
        float number = FloatAt(first, row * columns + h);
        if (is_added) number = number + FloatAt(Numbers(call, tensors, "x2"), row * columns + h);
        sums.push_back(static_cast<double>(number));
        numbers.push_back(number);
      }
      const float root = Root(numbers, call["epsilon"].real);
      roots.push_back(static_cast<double>(root));
      for (int64_t h = 0; h < columns; ++h) {
        float& number = numbers[static_cast<size_t>(h)];
        number = number * root * FloatAt(gamma, h);
        if (beta.is_given()) number = number + FloatAt(beta, h);
      }
      const int64_t places = (columns + 63) / 64 * 2;
      for (int64_t block = 0; block * 32 < columns; ++block) {
        const auto begin = numbers.begin() + block * 32;
        const auto end = numbers.begin() + std::min(columns, block * 32 + 32);
        const std::vector<double> members(begin, end);
        const Power power = PowerOf(members, y, call["scaleAlg"].integer, 0, 0);
        scales[static_cast<size_t>(row * places + block)] = Element{static_cast<std::byte>(power.code())};
        for (const double member : members) codes.emplace_back(MxCode(y, member, power));
      }
    }
    std::vector<Outcome> outcomes = {OutcomeOfCodes(y, codes)};
    if (is_added) outcomes.push_back(EncodedAll(first.dtype(), sums));
    outcomes.push_back(scales);
    outcomes.push_back(call["outputRstd"].integer != 0 ? EncodedAll(ACL_FLOAT, roots)
                                                       : Outcome(roots.size(), std::nullopt));
    return outcomes;
  };
  return op;
}

const std::vector<OperatorSpec>& All() {
  static const std::vector<OperatorSpec> all = {
      Axis(PORTACL_C_FUNCTION(aclnnDynamicMxQuant), 1),
      Axis(PORTACL_C_FUNCTION(aclnnDynamicMxQuantV2), 2),
      Axis(PORTACL_C_FUNCTION(aclnnDynamicMxQuantV3), 3),
      Dual(PORTACL_C_FUNCTION(aclnnDynamicMxQuantWithDualAxis), false),
      Dual(PORTACL_C_FUNCTION(aclnnDynamicMxQuantWithDualAxisV2), true),
      Squares(),
      GroupedMx(PORTACL_C_FUNCTION(aclnnGroupedDynamicMxQuant), false),
      GroupedMx(PORTACL_C_FUNCTION(aclnnGroupedDynamicMxQuantV2), true),
      Anti(),
      Rectangles(PORTACL_C_FUNCTION(aclnnDynamicBlockQuant), false, false),
      Rectangles(PORTACL_C_FUNCTION(aclnnDynamicBlockQuantV2), false, true),
      Rectangles(PORTACL_C_FUNCTION(aclnnGroupedDynamicBlockQuant), true, false),
      Rectangles(PORTACL_C_FUNCTION(aclnnGroupedDynamicBlockQuantV2), true, true),
      Fake(false),
      Fake(true),
      Most(false),
      Most(true),
      Normed(false),
      Normed(true)};
  return all;
}
PORTACL_OPERATOR_TESTS(BlockQuantTest, All());

// ---- more groups than there are units, each of which takes some ----

// Draws calls of hundreds of groups, of which many are empty. `place` is that of their ends.
OperatorSpec OfManyGroups(OperatorSpec op, const std::string& ends, const std::string& scales, size_t place) {
  const auto draw = op.draw;
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    draw(call, random);
    const int64_t groups = random.Between(257, 800);
    call[scales].shape[0] += groups - call[ends].shape[0];
    call[ends].shape[0] = groups;
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetMany(tensors[0], random);
    const int64_t rows = call["x"].shape.empty() ? 1 : call["x"].shape[0];
    int64_t end = 0;
    for (int64_t i = 0; i < tensors[place].size(); ++i) {
      if (random.Chance(50)) end = std::min(rows, end + 1);
      EncodeIntegerElement(tensors[place].dtype(), end, tensors[place].Element(i));
    }
  };
  return op;
}
TEST(ManyGroups, EveryElement) {
  for (const bool is_second : {false, true}) {
    const OperatorSpec powers =
        OfManyGroups(GroupedMx(is_second ? PORTACL_C_FUNCTION(aclnnGroupedDynamicMxQuantV2)
                                         : PORTACL_C_FUNCTION(aclnnGroupedDynamicMxQuant),
                               is_second),
                     "groupIndex", "mxscale", 1);
    CheckNumbers(powers, 12);
    const OperatorSpec rectangles =
        OfManyGroups(Rectangles(is_second ? PORTACL_C_FUNCTION(aclnnGroupedDynamicBlockQuantV2)
                                          : PORTACL_C_FUNCTION(aclnnGroupedDynamicBlockQuant),
                                true, is_second),
                     "groupList", "scaleOut", 1);
    CheckNumbers(rectangles, 12);
  }
}

// ---- codes of 4 bits by hand: rows of two blocks and a half ----

struct Float4Case {
  aclDataType dtype;
  int64_t algorithm;
  double most;
  const char* round;
  char rounding;
};
TEST(MxByHand, Float4) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend950PR_9599"}});
  for (const Float4Case& one :
       {Float4Case{ACL_FLOAT4_E2M1, 0, 0, "rint", 'n'}, Float4Case{ACL_FLOAT4_E2M1, 0, 0, "round", 'a'},
        Float4Case{ACL_FLOAT4_E2M1, 0, 0, "floor", 'f'}, Float4Case{ACL_FLOAT4_E1M2, 0, 0, "rint", 'n'},
        Float4Case{ACL_FLOAT4_E1M2, 0, 0, "round", 'a'}, Float4Case{ACL_FLOAT4_E1M2, 0, 0, "floor", 'f'},
        Float4Case{ACL_FLOAT4_E2M1, 2, 0, "rint", 'n'}, Float4Case{ACL_FLOAT4_E2M1, 2, 6, "round", 'a'},
        Float4Case{ACL_FLOAT4_E2M1, 2, 7, "rint", 'n'}, Float4Case{ACL_FLOAT4_E2M1, 2, 10, "rint", 'n'},
        Float4Case{ACL_FLOAT4_E2M1, 2, 12, "floor", 'f'}}) {
    Made made;
    constexpr int64_t kRows = 3;
    constexpr int64_t kColumns = 80;
    RandomNumbers random(7);
    std::vector<float> x(kRows * kColumns);
    for (float& number : x)
      number =
          std::ldexp(static_cast<float>(random.Between(-255, 255)), static_cast<int>(random.Between(-6, 0)));
    GuardedBuffer device_x(x.size() * sizeof(float));
    GuardedBuffer device_y(x.size() / 2);
    GuardedBuffer device_scale(kRows * 4);
    std::memcpy(device_x.device(), x.data(), x.size() * sizeof(float));
    aclTensor* const from = made.Dense({kRows, kColumns}, ACL_FLOAT, device_x.device());
    aclTensor* const to = made.Dense({kRows, kColumns}, one.dtype, device_y.device());
    aclTensor* const scale = made.Dense({kRows, 2, 2}, ACL_FLOAT8_E8M0, device_scale.device());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    std::string round = one.round;
    ASSERT_EQ(aclnnDynamicMxQuantV2GetWorkspaceSize(from, -1, round.data(), one.dtype, 32, one.algorithm,
                                                    one.most, to, scale, &size, &executor),
              0)
        << TakeErrorMessage();
    ASSERT_EQ(RunAndWait(environment, aclnnDynamicMxQuantV2, size, executor), 0);
    std::vector<uint8_t> codes(x.size() / 2);
    std::vector<uint8_t> powers(kRows * 4);
    std::memcpy(codes.data(), device_y.device(), codes.size());
    std::memcpy(powers.data(), device_scale.device(), powers.size());
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t block = 0; block < 4; ++block) {
        std::vector<double> numbers;
        for (int64_t n = block * 32; n < std::min(kColumns, block * 32 + 32); ++n)
          numbers.push_back(static_cast<double>(x[static_cast<size_t>(row * kColumns + n)]));
        const Power power = PowerOf(numbers, one.dtype, one.algorithm, one.most, 0);
        EXPECT_EQ(powers[static_cast<size_t>(row * 4 + block)], numbers.empty() ? 0 : power.code())
            << one.round;
        for (size_t k = 0; k < numbers.size(); ++k) {
          const size_t i = static_cast<size_t>(row * kColumns + block * 32) + k;
          const uint32_t code = i % 2 == 0 ? codes[i / 2] & 0xF : codes[i / 2] >> 4;
          EXPECT_EQ(code, MxCode(one.dtype, numbers[k], power, one.rounding))
              << one.round << " " << numbers[k];
        }
      }
    }
  }
}

// Two rows of a block of 512 and one of 88, the second row with a first block of zeros.
TEST(MxByHand, TwoLevels) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend950PR_9599"}});
  for (const bool is_smoothed : {false, true}) {
    Made made;
    constexpr int64_t kRows = 2;
    constexpr int64_t kColumns = 600;
    constexpr int64_t kPlaces = 20;  // powers of two of a row: 19 and the padding
    RandomNumbers random(4);
    std::vector<double> x(kRows * kColumns);
    std::vector<double> smooth(kColumns);
    GuardedBuffer device_x(x.size() * 2);
    GuardedBuffer device_smooth(smooth.size() * 2);
    GuardedBuffer device_y(x.size() / 2);
    GuardedBuffer device_0(kRows * 2 * sizeof(float));
    GuardedBuffer device_1(kRows * kPlaces);
    const auto set = [&](std::vector<double>& numbers, const GuardedBuffer& buffer, size_t zeros) {
      for (size_t i = 0; i < numbers.size(); ++i) {
        const double drawn = static_cast<double>(random.Between(-255, 255)) / 64.0;
        numbers[i] = i >= static_cast<size_t>(kColumns) && i < zeros ? 0 : drawn;
        const Element element = Encoded(ACL_BF16, numbers[i]);
        std::memcpy(buffer.device() + 2 * i, element.data(), 2);
      }
    };
    set(x, device_x, kColumns + 512);
    set(smooth, device_smooth, 0);
    aclTensor* const from = made.Dense({kRows, kColumns}, ACL_BF16, device_x.device());
    aclTensor* const factors = made.Dense({kColumns}, ACL_BF16, device_smooth.device());
    aclTensor* const to = made.Dense({kRows, kColumns}, ACL_FLOAT4_E2M1, device_y.device());
    aclTensor* const level0 = made.Dense({kRows, 2}, ACL_FLOAT, device_0.device());
    aclTensor* const level1 = made.Dense({kRows, 10, 2}, ACL_FLOAT8_E8M0, device_1.device());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const auto plan = [&](int64_t block) {
      return aclnnDynamicDualLevelMxQuantGetWorkspaceSize(from, is_smoothed ? factors : nullptr, nullptr,
                                                          block, 32, to, level0, level1, &size, &executor);
    };
    EXPECT_EQ(plan(256), 561002);
    ExpectMessage("level0BlockSize");
    ASSERT_EQ(plan(512), 0) << TakeErrorMessage();
    ASSERT_EQ(RunAndWait(environment, aclnnDynamicDualLevelMxQuant, size, executor), 0);
    for (int64_t row = 0; row < kRows; ++row) {
      std::vector<double> quotients;
      for (int64_t block = 0; block < 2; ++block) {
        std::vector<float> t;
        float greatest = 0;
        for (int64_t n = block * 512; n < std::min(kColumns, block * 512 + 512); ++n) {
          auto number = static_cast<float>(x[static_cast<size_t>(row * kColumns + n)]);
          if (is_smoothed) number = number * static_cast<float>(smooth[static_cast<size_t>(n)]);
          t.push_back(number);
          greatest = std::max(greatest, std::fabs(number));
        }
        const float scale = greatest / 6.0f;
        float found = -1;
        std::memcpy(&found, device_0.device() + (row * 2 + block) * 4, 4);
        EXPECT_EQ(found, scale);
        for (const float number : t) {
          const Element rounded =
              Encoded(ACL_BF16, static_cast<double>(scale == 0 ? number : number / scale));
          quotients.push_back(DecodeReal(ACL_BF16, rounded.data()));
        }
      }
      for (int64_t block = 0; block < kPlaces; ++block) {
        const auto begin = std::min(kColumns, block * 32);
        const std::vector<double> members(quotients.begin() + begin,
                                          quotients.begin() + std::min(kColumns, block * 32 + 32));
        const Power power = members.empty() ? Power{} : PowerOf(members, ACL_FLOAT4_E2M1, 0, 0, 0);
        EXPECT_EQ(std::to_integer<uint8_t>(device_1.device()[row * kPlaces + block]), power.code());
        for (size_t k = 0; k < members.size(); ++k) {
          const size_t i = static_cast<size_t>(row * kColumns + begin) + k;
          const auto byte = std::to_integer<uint8_t>(device_y.device()[i / 2]);
          EXPECT_EQ(i % 2 == 0 ? byte & 0xF : byte >> 4, MxCode(ACL_FLOAT4_E2M1, members[k], power)) << i;
        }
      }
    }
  }
}

TEST(MxByHand, RefusesOddRowsOfFloat4) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend950PR_9599"}});
  Made made;
  const GuardedBuffer codes(3);
  const GuardedBuffer powers(4);
  const GuardedBuffer numbers(6 * sizeof(float));
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  for (const aclDataType dtype : {ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2}) {
    EXPECT_EQ(aclnnAntiMxQuantGetWorkspaceSize(made.Dense({2, 3}, dtype, codes.device()),
                                               made.Dense({2, 1, 2}, ACL_FLOAT8_E8M0, powers.device()), -1,
                                               ACL_FLOAT, made.Dense({2, 3}, ACL_FLOAT, numbers.device()),
                                               &size, &executor),
              161002);
    ExpectMessage("an even last dim");
  }
}

// Strided tensors of more dims than tensors have here.
TEST(FakeQuantByHand, RefusesNineDims) {
  const ScopedEnvironment environment(Variables{});
  Made made;
  const Shape shape(9, 2);
  Shape strides(9, 1);
  for (size_t dim = 8; dim-- > 0;) strides[dim] = 3 * strides[dim + 1];
  const int64_t storage = 9841 + 1;
  const GuardedBuffer memory(static_cast<size_t>(storage) * sizeof(float));
  const auto strided = [&](aclDataType dtype) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, strides.data(), 0, ACL_FORMAT_ND, &storage, 1,
                           memory.device());
  };
  for (const bool by_channel : {false, true}) {
    const Shape channels = {by_channel ? 2 : 1};
    aclTensor* const scale = made.Dense(channels, ACL_FLOAT, memory.device());
    aclTensor* const zero = made.Dense(channels, ACL_INT32, memory.device());
    aclTensor* const self = strided(ACL_FLOAT);
    aclTensor* const out = strided(ACL_FLOAT);
    aclTensor* const mask = strided(ACL_BOOL);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(by_channel ? aclnnFakeQuantPerChannelAffineCachemaskGetWorkspaceSize(
                               self, scale, zero, 0, -8, 7, out, mask, &size, &executor)
                         : aclnnFakeQuantPerTensorAffineCachemaskGetWorkspaceSize(
                               self, scale, zero, 1, -8, 7, out, mask, &size, &executor),
              161002);
    ExpectMessage("9 dims");
    for (aclTensor* const one : {self, out, mask}) aclDestroyTensor(one);
  }
}

}  // namespace
}  // namespace portacl::testing
