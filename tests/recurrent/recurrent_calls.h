// Recurrent networks as their tests see them: sizes, values of a call, and what every such operator's rules, calls and oracle have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "support/map_values.h"
#include "support/operator_spec.h"

namespace portacl::testing::recurrent {

inline const DtypeList kDtypes = {ACL_FLOAT, ACL_FLOAT16};

// The sizes of a call, from its input, the second parameter and the attributes.
struct Sizes {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, layers = 1, directions = 1;
  int64_t gates = 4;  // of a cell
  bool has_bias = true, is_packed = false, batch_first = false;

  int64_t cells() const { return layers * directions; }
  int64_t each() const { return has_bias ? 4 : 2; }
  int64_t width(int64_t layer) const { return layer == 0 ? inputs : directions * hidden; }
  Shape Parameter(int64_t index) const {
    const int64_t which = index % each();
    if (which == 0) return {gates * hidden, width(index / each() / directions)};
    return which == 1 ? Shape{gates * hidden, hidden} : Shape{gates * hidden};
  }
  Shape Sequence(int64_t numbers) const {
    return batch_first && !is_packed ? Shape{batch, steps, numbers} : Shape{steps, batch, numbers};
  }
  Shape Input() const { return is_packed ? Shape{steps * batch, inputs} : Sequence(inputs); }
  Shape State() const { return {cells(), batch, hidden}; }
  Shape Saved() const { return {steps, batch, hidden}; }
};

// False where there are none.
inline bool SizesOf(const PlanCall& call, const std::string& lengths, Sizes& sizes,
                    const std::string& bidirectional = "bidirectional") {
  sizes.layers = call["numLayers"].integer;
  sizes.directions = call[bidirectional].integer != 0 ? 2 : 1;
  sizes.has_bias = call["hasBias"].integer != 0;
  sizes.batch_first = call["batchFirst"].integer != 0;
  sizes.is_packed = !call[lengths].null;
  const auto& params = call["params"].entries;
  if (sizes.layers < 1 || std::ssize(params) != sizes.cells() * sizes.each()) return false;
  const Shape& input = call["input"].shape;
  if (input.size() != (sizes.is_packed ? 2 : 3) || params[1].shape.size() != 2) return false;
  sizes.hidden = params[1].shape[1];
  if (sizes.is_packed) {
    const Shape& steps = call[lengths].shape;
    if (steps.size() != 1 || steps[0] < 1 || input[0] % steps[0] != 0) return false;
    sizes.steps = steps[0];
    sizes.batch = input[0] / steps[0];
    sizes.inputs = input[1];
  } else {
    sizes.steps = input[sizes.batch_first ? 1 : 0];
    sizes.batch = input[sizes.batch_first ? 0 : 1];
    sizes.inputs = input[2];
  }
  return true;
}

inline bool IsNullOrHasNull(const PlanArgument& one) {
  return one.null ||
         std::any_of(one.entries.begin(), one.entries.end(), [](const auto& entry) { return entry.null; });
}

// Whether an argument that is there has another dtype than input, or another shape than given.
inline bool Differs(const PlanArgument& one, const PlanCall& call,
                    const std::function<Shape(int64_t)>& shape) {
  if (one.null) return false;
  if (one.kind == ParameterKind::kTensor) return one.dtype != call["input"].dtype || one.shape != shape(0);
  for (int64_t i = 0; i < std::ssize(one.entries); ++i) {
    const PlanArgument& entry = one.entries[static_cast<size_t>(i)];
    if (entry.dtype != call["input"].dtype || entry.shape != shape(i)) return true;
  }
  return false;
}

using Numbers = std::vector<double>;

// The tensors of a call by argument.
class Values {
 public:
  Values(const PlanCall& call, const std::vector<TensorValues>& tensors) : call_(call), tensors_(tensors) {}

  const TensorValues* Tensor(const std::string& name, size_t entry = 0) const {
    size_t at = 0;
    for (const PlanArgument& one : call_.arguments) {
      const bool is_list = one.kind == ParameterKind::kList;
      if (one.name == name) return is_list || !one.null ? &tensors_[at + entry] : nullptr;
      if (is_list && !one.null) at += one.entries.size();
      if (one.kind == ParameterKind::kTensor) ++at;
    }
    return nullptr;
  }
  Numbers All(const std::string& name, size_t entry = 0) const {
    const TensorValues* const tensor = Tensor(name, entry);
    Numbers numbers;
    for (const Element& element : tensor->elements)
      numbers.push_back(static_cast<double>(NumberOf(tensor->dtype, element.data()).real));
    return numbers;
  }
  // The same, or so many zeros where there is no such tensor.
  Numbers AllOrZeros(const std::string& name, size_t entry, int64_t count) const {
    const PlanArgument& one = call_[name];
    const bool is_there = !one.null && (one.kind != ParameterKind::kList || entry < one.entries.size());
    return is_there ? All(name, entry) : Numbers(static_cast<size_t>(count), 0.0);
  }

 private:
  const PlanCall& call_;
  const std::vector<TensorValues>& tensors_;
};

inline Outcome Rounded(DtypeNumber dtype, const Numbers& numbers) {
  Outcome outcome;
  for (const double x : numbers) outcome.push_back(ElementOfNumber(dtype, {static_cast<long double>(x), 0}));
  return outcome;
}

inline std::vector<int64_t> LengthsOf(const Values& values, const std::string& name, const Sizes& sizes) {
  std::vector<int64_t> lengths(static_cast<size_t>(sizes.steps), sizes.batch);
  if (!sizes.is_packed) return lengths;
  for (size_t t = 0; t < lengths.size(); ++t)
    lengths[t] = std::clamp<int64_t>(values.Tensor(name)->Integer(static_cast<int64_t>(t)), 0,
                                     t == 0 ? sizes.batch : lengths[t - 1]);
  return lengths;
}

inline double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

// Where step t of b lies in a sequence of rows of `width`, as the call has it.
inline size_t RowAt(const Sizes& sizes, int64_t t, int64_t b, int64_t width) {
  const bool batch_first = sizes.batch_first && !sizes.is_packed;
  return static_cast<size_t>((batch_first ? b * sizes.steps + t : t * sizes.batch + b) * width);
}

// The input's rows, [t][b], and what has such rows as the call lays it out.
using Rows = std::vector<std::vector<Numbers>>;
inline Rows RowsOf(const Sizes& sizes, const Numbers& sequence, int64_t width) {
  Rows rows(static_cast<size_t>(sizes.steps));
  for (int64_t t = 0; t < sizes.steps; ++t) {
    for (int64_t b = 0; b < sizes.batch; ++b) {
      const auto first = sequence.begin() + static_cast<std::ptrdiff_t>(RowAt(sizes, t, b, width));
      rows[static_cast<size_t>(t)].emplace_back(first, first + width);
    }
  }
  return rows;
}
inline Numbers SequenceOf(const Sizes& sizes, const Rows& rows, int64_t width) {
  Numbers sequence(static_cast<size_t>(sizes.steps * sizes.batch * width));
  for (int64_t t = 0; t < sizes.steps; ++t) {
    for (int64_t b = 0; b < sizes.batch; ++b) {
      const Numbers& row = rows[static_cast<size_t>(t)][static_cast<size_t>(b)];
      std::copy(row.begin(), row.end(),
                sequence.begin() + static_cast<std::ptrdiff_t>(RowAt(sizes, t, b, width)));
    }
  }
  return sequence;
}

// ---- calls ----

inline PlanArgument OfShapes(const std::string& name, int64_t count,
                             const std::function<Shape(int64_t)>& shape, DtypeNumber dtype,
                             bool is_output = false) {
  std::vector<Shape> shapes;
  for (int64_t i = 0; i < count; ++i) shapes.push_back(shape(i));
  return ListArg(name, shapes, is_output, dtype);
}
inline PlanArgument Null(PlanArgument argument) {
  argument.null = true;
  return argument;
}

// Numbers around 0, and lengths that do not grow.
inline void Fill(const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  int64_t length = 100;
  for (HostTensor& tensor : tensors) {
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (tensor.dtype() == ACL_INT64) {
        length = std::min(length, i == 0 ? random.Between(1, 4) : random.Between(0, 4));
        std::memcpy(tensor.Element(i), &length, sizeof length);
        continue;
      }
      const auto value = static_cast<long double>(random.Between(-500, 500)) / 1000;
      const Element element = ElementOfNumber(tensor.dtype(), {value, 0});
      std::copy(element.begin(), element.end(), tensor.Element(i));
    }
  }
}

}  // namespace portacl::testing::recurrent
