// The numeric tests of elementwise operators: see map_suite.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "guarded_buffer.h"
#include "map_suite.h"
#include "map_values.h"
#include "numeric_counts.h"
#include "plan_check.h"
#include "two_phase.h"

namespace portacl::testing {
namespace {

// Scalars as clients make them, and a few that differ.
constexpr DtypeNumber kScalarDtypes[] = {ACL_DOUBLE, ACL_INT64, ACL_FLOAT,   ACL_BOOL,
                                         ACL_INT32,  ACL_UINT8, ACL_FLOAT16, ACL_COMPLEX64};

template <class T>
const T& Pick(const std::vector<T>& values, RandomNumbers& random) {
  return values[static_cast<size_t>(random.Below(std::ssize(values)))];
}

bool IsTensor(const MapOperator& op, size_t i) { return op.valid[i].kind == ParameterKind::kTensor; }

bool HasFixedShape(const MapOperator& op, const PlanCall& call, size_t i) {
  return std::any_of(op.shapes.begin(), op.shapes.end(),
                     [&](const auto& entry) { return call.Index(entry.first) == i; });
}

// Copies some elements from another tensor: equal operands, and NaN beside NaN, would be rare otherwise.
void TakeSome(HostTensor& tensor, const HostTensor& other, RandomNumbers& random) {
  if (tensor.dtype() != other.dtype() || tensor.shape() != other.shape()) return;
  const auto bytes = static_cast<size_t>(ElementSize(tensor.dtype()));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (random.Chance(8)) std::memcpy(tensor.Element(i), other.Element(i), bytes);
  }
}

}  // namespace

OperatorBinding BindingOf(const MapOperator& op) {
  OperatorBinding binding;
  binding.name = op.function.name;
  for (const PlanArgument& one : op.valid) {
    if (one.kind != ParameterKind::kTensor) continue;
    if (one.is_output) binding.output = static_cast<int>(binding.tensors.size());
    binding.tensors.push_back(one.name);
  }
  binding.unread_inputs = op.ignored;
  // Converts numbers here rather than during a call, which may run in a floating-point environment that
  // traps.
  const auto call = std::make_shared<const PlanCall>(ValidCall(op, op.numbers_on));
  const auto constants = std::make_shared<CArguments>(*call, std::vector<aclTensor*>(binding.tensors.size()));
  // The arguments refer to the call's texts.
  binding.plan = [&op, call, constants](std::span<aclTensor* const> t, const Attributes&, uint64_t* size,
                                        aclOpExecutor** executor) {
    std::vector<Argument> arguments = constants->all();
    size_t next = 0;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (IsTensor(op, i)) arguments[i].tensor = t[next++];
    }
    return op.function.plan(arguments, size, executor);
  };
  binding.run = op.function.run;
  return binding;
}

std::vector<const MapOperator*> Pointers(const std::vector<MapOperator>& operators) {
  std::vector<const MapOperator*> pointers;
  for (const MapOperator& op : operators) pointers.push_back(&op);
  return pointers;
}

std::string MapTestName(const ::testing::TestParamInfo<const MapOperator*>& info) {
  return std::string(info.param->function.name).substr(5);  // without aclnn
}

bool MapNumerics::Check(PlanCall& call, const Options& options, RandomNumbers& random) {
  const MapOperator& op = *GetParam();
  const Verdict verdict = Expected(call);
  if (verdict.code != 0) return true;  // tested by MapContract
  const size_t out = op.Output();
  std::vector<std::unique_ptr<HostTensor>> tensors(call.arguments.size());
  std::vector<aclTensor*> handles;
  size_t next_layout = 0;
  const HostTensor* first = nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!IsTensor(op, i)) continue;
    if (call.arguments[i].null) {
      handles.push_back(nullptr);
      continue;
    }
    Layout layout =
        options.layouts.empty() ? Layout::kDense : options.layouts[next_layout++ % options.layouts.size()];
    const PlanArgument& operand = call.arguments[i];
    const bool alias = options.aliased && i == out && first != nullptr && first->dtype() == operand.dtype &&
                       first->shape() == operand.shape;
    if (alias) {
      tensors[i] = std::make_unique<HostTensor>(HostTensor::SharingStorageOf(*first, first->view()));
    } else {
      const bool expands = layout == Layout::kExpanded || layout == Layout::kMixedExpanded;
      if (expands && (i == out || options.aliased)) layout = Layout::kMixed;
      Placement placement;
      if (options.misaligned) {
        const auto size = ElementSize(operand.dtype);
        placement.misalignment_bytes = static_cast<int>(random.Below(64 / size) * size);
      }
      tensors[i] =
          std::make_unique<HostTensor>(operand.dtype, MakeView(operand.shape, layout, random), placement);
      FillWithNumbers(*tensors[i], op.unary_domain, random);
      if (first != nullptr && i != out) TakeSome(*tensors[i], *first, random);
    }
    if (i != out && first == nullptr) first = tensors[i].get();
    handles.push_back(tensors[i]->Handle());
  }
  std::vector<std::vector<std::byte>> inputs(tensors.size());
  std::vector<std::vector<int64_t>> positions(tensors.size());
  const Shape shape = call.arguments[out].shape;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] == nullptr || !op.IsInput(i)) continue;
    inputs[i] = ElementsOf(*tensors[i]);
    positions[i] = BroadcastPositions(call.arguments[i].shape, shape);
  }
  for (const auto& tensor : tensors) {
    if (tensor != nullptr) tensor->Remember();
  }

  const CArguments arguments(call, handles);
  OperatorBinding binding;
  binding.name = op.function.name;
  binding.plan = [&](std::span<aclTensor* const>, const Attributes&, uint64_t* size,
                     aclOpExecutor** executor) { return op.function.plan(arguments.all(), size, executor); };
  binding.run = op.function.run;
  const CallResult result = CallTwoPhase(binding, handles, {}, stream_);
  ++CountsOfThisProcess().cases;
  const std::string what = std::string(isa_) + ": " + Describe(call) + (options.aliased ? ", in place" : "");
  EXPECT_TRUE(result.Succeeded()) << what << ": " << result.message;
  if (!result.Succeeded()) return false;
  EXPECT_EQ(result.workspace_size, 0u);
  if (NumElements(shape) > 0 && call.promoted != kUndefinedDtype) {
    const std::string difference = FirstDifference(op, call, inputs, positions, ElementsOf(*tensors[out]));
    EXPECT_EQ(difference, "") << what;
    if (!difference.empty()) return false;
  }
  bool kept = tensors[out]->UnchangedOutsideView();
  EXPECT_TRUE(kept) << what << ": bytes outside the view changed";
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] == nullptr || i == out || options.aliased) continue;
    const bool same = tensors[i]->Unchanged();
    EXPECT_TRUE(same) << what << ": " << op.valid[i].name << " changed";
    kept = kept && same;
  }
  return kept;
}

bool MapNumerics::DrawDtypes(PlanCall& call, RandomNumbers& random) const {
  const MapOperator& op = *GetParam();
  for (int attempt = 0; attempt < 400; ++attempt) {
    const DtypeNumber shared = Pick(ConvertibleDtypes(), random);
    const bool same = random.Chance(50);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (IsTensor(op, i)) call.arguments[i].dtype = same ? shared : Pick(ConvertibleDtypes(), random);
      if (op.valid[i].kind == ParameterKind::kScalar)
        call.arguments[i].dtype = kScalarDtypes[random.Below(std::ssize(kScalarDtypes))];
      if (!IsTensor(op, i)) {
        const bool attribute = op.valid[i].kind != ParameterKind::kScalar && !op.integers.empty();
        SetValue(call.arguments[i], Pick(attribute ? op.integers : op.values, random));
      }
    }
    for (const auto& [name, dtype] : op.dtypes) call[name].dtype = dtype;
    if (Expected(call).code == 0) return true;
  }
  return false;
}

bool MapNumerics::DrawShapes(PlanCall& call, int max_rank, RandomNumbers& random) const {
  const MapOperator& op = *GetParam();
  std::vector<size_t> inputs;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (IsTensor(op, i) && op.IsInput(i) && !HasFixedShape(op, call, i)) inputs.push_back(i);
  }
  for (int attempt = 0; attempt < 20; ++attempt) {
    const std::vector<Shape> shapes =
        RandomBroadcastShapes(static_cast<int>(inputs.size()), max_rank, random);
    const Shape whole = *Broadcast(shapes);
    for (size_t k = 0; k < inputs.size(); ++k) {
      const bool full = attempt > 8 || inputs[k] == op.Output();
      call.arguments[inputs[k]].shape = full ? whole : shapes[k];
    }
    call.arguments[op.Output()].shape = whole;
    if (NumElements(whole) < 6000 && Expected(call).code == 0) return true;
  }
  return false;
}

void MapNumerics::OnEveryIsa(const std::function<void(engine::Isa)>& body) {
  for (const engine::Isa isa : IsasToTest()) {
    isa_ = engine::IsaName(isa);
    const ScopedEnvironment environment(Variables{{"PORTACL_ISA", isa_},
                                                  {"PORTACL_NUM_THREADS", "2"},
                                                  {"PORTACL_SOC", SocNameOf(GetParam()->numbers_on)}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    stream_ = environment.stream();
    body(isa);
  }
  RecordNumericCounts();
}

// Tries all pairs of dtypes of the input tensors, with every kind of scalar, and every output dtype or a few.
void MapNumerics::EveryDtype() {
  const MapOperator& op = *GetParam();
  OnEveryIsa([&](engine::Isa isa) {
    RandomNumbers random(0xD7 + static_cast<uint64_t>(isa));
    std::vector<size_t> inputs;
    for (size_t i = 0; i < op.valid.size(); ++i) {
      if (IsTensor(op, i) && op.IsInput(i)) inputs.push_back(i);
    }
    const bool is_unary = inputs.size() == 1;
    int failures = 0;
    for (const DtypeNumber first : ConvertibleDtypes()) {
      for (const DtypeNumber second : ConvertibleDtypes()) {
        PlanCall call = ValidCall(op, op.numbers_on);
        for (size_t k = 0; k < inputs.size(); ++k) {
          call.arguments[inputs[k]].dtype = k == 0 ? first : k == 1 || random.Chance(70) ? second : first;
        }
        for (const auto& [name, dtype] : op.dtypes) call[name].dtype = dtype;
        for (size_t i = 0; i < op.valid.size(); ++i) {
          if (IsTensor(op, i)) {
            if (!HasFixedShape(op, call, i)) call.arguments[i].shape = {random.Between(150, 420)};
            continue;
          }
          if (op.valid[i].kind == ParameterKind::kScalar)
            call.arguments[i].dtype = is_unary && random.Chance(60)
                                          ? first
                                          : kScalarDtypes[random.Below(std::ssize(kScalarDtypes))];
          const bool attribute = op.valid[i].kind != ParameterKind::kScalar && !op.integers.empty();
          SetValue(call.arguments[i], Pick(attribute ? op.integers : op.values, random));
        }
        const Shape shape = call.arguments[inputs.front()].shape;
        for (size_t i = 0; i < op.valid.size(); ++i) {
          if (IsTensor(op, i) && !HasFixedShape(op, call, i)) call.arguments[i].shape = shape;
        }
        if (op.in_place) {
          if (!Check(call, {}, random) && ++failures > 3) return;
          continue;
        }
        // The output's dtype is the second dtype of a unary operator, else the promoted one and a few more.
        std::vector<DtypeNumber> outs = {second};
        if (!is_unary) outs = {first, Pick(ConvertibleDtypes(), random), ACL_BOOL};
        for (const DtypeNumber out : outs) {
          call.arguments[op.Output()].dtype = out;
          if (!Check(call, {}, random) && ++failures > 3) return;
        }
      }
    }
  });
}

void MapNumerics::EveryShapeAndLayout() {
  const MapOperator& op = *GetParam();
  OnEveryIsa([&](engine::Isa isa) {
    RandomNumbers random(0x5A + static_cast<uint64_t>(isa));
    int failures = 0;
    for (int i = 0; i < 90; ++i) {
      PlanCall call = ValidCall(op, op.numbers_on);
      if (!DrawDtypes(call, random)) continue;
      if (!DrawShapes(call, i % 3 == 0 ? 8 : 4, random)) continue;
      Options options;
      for (int k = 0; k < 4; ++k)
        options.layouts.push_back(kInputLayouts[random.Below(std::ssize(kInputLayouts))]);
      options.aliased = random.Chance(30);
      options.misaligned = random.Chance(30);
      if (!Check(call, options, random) && ++failures > 3) return;
    }
  });
}

void MapNumerics::EveryLength() {
  const MapOperator& op = *GetParam();
  OnEveryIsa([&](engine::Isa isa) {
    RandomNumbers random(0x1E + static_cast<uint64_t>(isa));
    int failures = 0;
    PlanCall call = ValidCall(op, op.numbers_on);
    for (int64_t length = 1; length <= 5000; length += length < 70 ? 1 : length < 300 ? 31 : 523) {
      if (!DrawDtypes(call, random)) return;
      for (size_t i = 0; i < call.arguments.size(); ++i) {
        if (!HasFixedShape(op, call, i)) call.arguments[i].shape = {length};
      }
      Options options;
      options.misaligned = length % 2 == 0;
      options.aliased = length % 3 == 0;
      if (!Check(call, options, random) && ++failures > 3) return;
    }
  });
}

// Tries rows that kernels process in groups: with gaps between them, repeated, and of one value each.
void MapNumerics::LongRows() {
  const MapOperator& op = *GetParam();
  const Shape whole = {21, 133};
  const Shape one_row = {133};
  const Shape one_column = {21, 1};
  OnEveryIsa([&](engine::Isa isa) {
    RandomNumbers random(0x10 + static_cast<uint64_t>(isa));
    int failures = 0;
    for (const DtypeNumber dtype : ConvertibleDtypes()) {
      for (const DtypeNumber result : {dtype, DtypeNumber{ACL_BOOL}}) {
        for (size_t other = 0; other <= op.valid.size(); ++other) {
          PlanCall call = ValidCall(op, op.numbers_on);
          for (size_t i = 0; i < call.arguments.size(); ++i) {
            if (!IsTensor(op, i)) {
              const bool attribute = op.valid[i].kind != ParameterKind::kScalar && !op.integers.empty();
              SetValue(call.arguments[i], Pick(attribute ? op.integers : op.values, random));
              if (op.valid[i].kind == ParameterKind::kScalar && random.Chance(60))
                call.arguments[i].dtype = dtype;
              continue;
            }
            call.arguments[i].dtype = i == op.Output() ? result : dtype;
            if (!HasFixedShape(op, call, i)) call.arguments[i].shape = whole;
          }
          for (const auto& [name, fixed] : op.dtypes) call[name].dtype = fixed;
          if (other < op.valid.size()) {
            if (!IsTensor(op, other) || other == op.Output() || HasFixedShape(op, call, other)) continue;
            call.arguments[other].shape = random.Chance(50) ? one_row : one_column;
          }
          Options options;
          options.layouts = {Layout::kPaddedRows};
          if (!Check(call, options, random) && ++failures > 3) return;
        }
        if (op.in_place) break;
      }
    }
  });
}

void MapNumerics::LargeSizes() {
  const MapOperator& op = *GetParam();
  OnEveryIsa([&](engine::Isa isa) {
    RandomNumbers random(0x1A + static_cast<uint64_t>(isa));
    for (const Shape& shape : {Shape{(1 << 17) + 13}, Shape{3, 211, 67}}) {
      PlanCall call = ValidCall(op, op.numbers_on);
      if (shape.size() > 1 && !DrawDtypes(call, random)) continue;
      for (size_t i = 0; i < call.arguments.size(); ++i) {
        if (!HasFixedShape(op, call, i)) call.arguments[i].shape = shape;
      }
      Options options;
      if (shape.size() > 1) options.layouts = {Layout::kPermuted, Layout::kDense, Layout::kStepped};
      Check(call, options, random);
    }
  });
}

void MapNumerics::EmptyTensors() {
  const MapOperator& op = *GetParam();
  OnEveryIsa([&](engine::Isa) {
    RandomNumbers random(0xE);
    for (const Shape& shape : {Shape{0}, Shape{3, 0, 2}}) {
      PlanCall call = ValidCall(op, op.numbers_on);
      for (size_t i = 0; i < call.arguments.size(); ++i) {
        if (!HasFixedShape(op, call, i)) call.arguments[i].shape = shape;
      }
      Check(call, {}, random);
    }
  });
}

}  // namespace portacl::testing
