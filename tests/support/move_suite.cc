// The numeric tests of copies, casts and fills: see move_suite.h.
// SPDX-License-Identifier: Apache-2.0
#include "move_suite.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fp_environment.h"
#include "numeric_counts.h"
#include "operators/moves.h"
#include "products.h"
#include "two_phase.h"

namespace portacl::testing {
namespace {

// One dtype of each size, and pairs of dtypes that need one pass, two and three.
constexpr std::pair<DtypeNumber, DtypeNumber> kSamePairs[] = {{ACL_UINT8, ACL_UINT8},
                                                              {ACL_INT16, ACL_INT16},
                                                              {ACL_INT32, ACL_INT32},
                                                              {ACL_INT64, ACL_INT64},
                                                              {ACL_COMPLEX128, ACL_COMPLEX128}};
constexpr std::pair<DtypeNumber, DtypeNumber> kMixedPairs[] = {
    {ACL_FLOAT, ACL_BF16},      {ACL_FLOAT16, ACL_FLOAT},   {ACL_INT64, ACL_INT32},
    {ACL_DOUBLE, ACL_FLOAT16},  {ACL_BF16, ACL_UINT64},     {ACL_COMPLEX64, ACL_FLOAT},
    {ACL_BOOL, ACL_COMPLEX128}, {ACL_COMPLEX128, ACL_INT8}, {ACL_UINT32, ACL_COMPLEX64}};

std::vector<std::pair<DtypeNumber, DtypeNumber>> Pairs() {
  std::vector<std::pair<DtypeNumber, DtypeNumber>> pairs(std::begin(kSamePairs), std::end(kSamePairs));
  pairs.insert(pairs.end(), std::begin(kMixedPairs), std::end(kMixedPairs));
  return pairs;
}

std::string Named(DtypeNumber from, DtypeNumber to) { return DtypeName(from) + " to " + DtypeName(to); }

std::string Hex(const std::byte* bytes, size_t count) {
  std::string text;
  for (size_t i = count; i-- > 0;) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[static_cast<int>(bytes[i]) >> 4];
    text += kDigits[static_cast<int>(bytes[i]) & 15];
  }
  return text;
}

Element BytesOf(const HostTensor& tensor, int64_t position) {
  const std::byte* at = tensor.Element(position);
  return {at, at + ElementSize(tensor.dtype())};
}

}  // namespace

void FillWithTestElements(HostTensor& tensor, RandomNumbers& random) {
  const std::vector<Element> elements = TestElements(tensor.dtype(), 64, random);
  const auto start = static_cast<size_t>(random.Below(static_cast<int64_t>(elements.size())));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const Element& element = elements[(start + static_cast<size_t>(i)) % elements.size()];
    std::memcpy(tensor.Element(i), element.data(), element.size());
  }
}

namespace {

// Tells whether the product in use has a move between these dtypes, by the rules of its description.
bool IsTaken(const std::string& name, DtypeNumber from, DtypeNumber to) {
  PlanCall call = ValidCall(MoveOperatorNamed(name), ProductInUse());
  for (PlanArgument& one : call.arguments) {
    one.dtype = one.is_output || one.kind == ParameterKind::kScalar ? to : from;
    if (one.name == "dtype") one.integer = to;
  }
  return Expected(call).code == 0;
}

}  // namespace

bool CheckMove(const MoveDescription& op, HostTensor& source, HostTensor& destination, aclrtStream stream,
               const std::string& what, const FpMode* fp_mode) {
  const std::vector<int64_t> positions = BroadcastPositions(source.shape(), destination.shape());
  std::vector<Element> expected;
  for (int64_t i = 0; i < destination.size(); ++i) {
    expected.push_back(ConvertedElement(source.dtype(), BytesOf(source, positions[static_cast<size_t>(i)]),
                                        destination.dtype()));
  }
  destination.Remember();
  std::vector<aclTensor*> handles(2);
  handles[op.source] = source.Handle();
  handles[op.destination] = destination.Handle();
  const CallResult result = CallTwoPhase(op.binding, handles, {}, stream, fp_mode);
  if (!IsTaken(op.binding.name, source.dtype(), destination.dtype())) {
    EXPECT_EQ(result.plan, 161002) << what;
    EXPECT_TRUE(destination.Unchanged()) << what;
    ++CountsOfThisProcess().refused;
    return result.plan == 161002;
  }
  ++CountsOfThisProcess().cases;
  EXPECT_TRUE(result.Succeeded()) << what << ": " << result.message;
  EXPECT_EQ(result.workspace_size, 0u);
  EXPECT_TRUE(result.fp_state_kept) << what;
  if (!result.Succeeded()) return false;
  for (int64_t i = 0; i < destination.size(); ++i) {
    const Element& wanted = expected[static_cast<size_t>(i)];
    if (IsSameElement(destination.dtype(), destination.Element(i), wanted)) continue;
    const Element from = BytesOf(source, positions[static_cast<size_t>(i)]);
    ADD_FAILURE() << what << " " << ToString(destination.shape()) << ", element " << i << ": 0x"
                  << Hex(from.data(), from.size()) << " became 0x"
                  << Hex(destination.Element(i), wanted.size()) << ", expected 0x"
                  << Hex(wanted.data(), wanted.size());
    return false;
  }
  const bool kept = destination.UnchangedOutsideView();
  EXPECT_TRUE(kept) << what << " " << ToString(destination.shape()) << ": bytes outside the view changed";
  return kept;
}

bool CheckFill(const OperatorBinding& binding, std::vector<aclTensor*> tensors, HostTensor& destination,
               const Element& expected, aclrtStream stream, const std::string& what) {
  destination.Remember();
  const CallResult result = CallTwoPhase(binding, tensors, {}, stream);
  if (!IsTaken(binding.name, destination.dtype(), destination.dtype())) {
    EXPECT_EQ(result.plan, 161002) << what;
    EXPECT_TRUE(destination.Unchanged()) << what;
    ++CountsOfThisProcess().refused;
    return result.plan == 161002;
  }
  ++CountsOfThisProcess().cases;
  EXPECT_TRUE(result.Succeeded()) << what << ": " << result.message;
  if (!result.Succeeded()) return false;
  for (int64_t i = 0; i < destination.size(); ++i) {
    if (IsSameElement(destination.dtype(), destination.Element(i), expected)) continue;
    ADD_FAILURE() << what << " " << ToString(destination.shape()) << ", element " << i << " is 0x"
                  << Hex(destination.Element(i), expected.size()) << ", expected 0x"
                  << Hex(expected.data(), expected.size());
    return false;
  }
  const bool kept = destination.UnchangedOutsideView();
  EXPECT_TRUE(kept) << what << ": bytes outside the view changed";
  return kept;
}

void MoveSuite::SetUp() {
  Variables variables = {{"PORTACL_ISA", engine::IsaName(GetParam())}, {"PORTACL_NUM_THREADS", "2"}};
  if (const char* product = std::getenv("PORTACL_TEST_SOC")) variables.push_back({"PORTACL_SOC", product});
  environment_ = std::make_unique<ScopedEnvironment>(variables);
  ASSERT_EQ(environment_->init_status(), ACL_SUCCESS);
}

void MoveSuite::TearDown() {
  environment_.reset();
  RecordNumericCounts();
}

void MoveSuite::EveryPair(const MoveDescription& op) {
  RandomNumbers random(0x5EED);
  for (const DtypeNumber from : ConvertibleDtypes()) {
    const std::vector<Element> elements = TestElements(from, 1500, random);
    for (const DtypeNumber to : ConvertibleDtypes()) {
      HostTensor source(from, MakeView({static_cast<int64_t>(elements.size())}, Layout::kDense, random));
      HostTensor destination(to, MakeView(source.shape(), Layout::kDense, random));
      for (size_t i = 0; i < elements.size(); ++i)
        std::memcpy(source.Element(static_cast<int64_t>(i)), elements[i].data(), elements[i].size());
      CheckMove(op, source, destination, stream(), Named(from, to));
    }
  }
}

void MoveSuite::EverySizeInEveryLayout(const MoveDescription& op) {
  RandomNumbers random(0x1A70);
  const std::vector<Shape> shapes = {{},
                                     {1},
                                     {3},
                                     {17},
                                     {5, 7},
                                     {40, 3},
                                     {3, 40},
                                     {33, 70},
                                     {2, 3, 4, 5},
                                     {9, 1, 8, 2, 2},
                                     {2, 2, 1, 2, 3, 2, 2, 2}};
  for (const auto& [from, to] : Pairs()) {
    for (const Shape& shape : shapes) {
      for (const Layout in : kInputLayouts) {
        for (const Layout out : kOutputLayouts) {
          HostTensor source(from, MakeView(shape, in, random));
          HostTensor destination(to, MakeView(shape, out, random));
          FillWithTestElements(source, random);
          if (!CheckMove(op, source, destination, stream(),
                         Named(from, to) + " " + LayoutName(in) + " into " + LayoutName(out)))
            return;
        }
      }
    }
  }
}

void MoveSuite::BroadcastSources(const MoveDescription& op) {
  if (!op.broadcasts) return;
  RandomNumbers random(0xB0CA);
  for (const auto& [from, to] : Pairs()) {
    for (int i = 0; i < 60; ++i) {
      const std::vector<Shape> shapes = RandomBroadcastShapes(2, 5, random);
      const Shape shape = *Broadcast(shapes);
      if (shapes[0].size() > shape.size() || NumElements(shape) == 0) continue;
      HostTensor source(from, MakeView(shapes[0], Layout::kMixedExpanded, random));
      HostTensor destination(to, MakeView(shape, Layout::kMixed, random));
      FillWithTestElements(source, random);
      CheckMove(op, source, destination, stream(), Named(from, to) + " from " + ToString(shapes[0]));
    }
  }
}

void MoveSuite::LengthsAndMisalignments(const MoveDescription& op) {
  RandomNumbers random(0x1E46);
  for (const auto& [from, to] : Pairs()) {
    for (int64_t length = 1; length < 150; length += length < 70 ? 1 : 9) {
      Placement in;
      Placement out;
      in.misalignment_bytes = static_cast<int>(random.Below(64));
      out.misalignment_bytes = static_cast<int>(random.Below(64));
      HostTensor source(from, MakeView({length}, Layout::kDense, random), in);
      HostTensor destination(to, MakeView({length}, Layout::kDense, random), out);
      FillWithTestElements(source, random);
      CheckMove(op, source, destination, stream(), Named(from, to));
    }
  }
}

// Rows of every length that are dense on both sides, and transposed ones in both directions.
void MoveSuite::RowsAndColumns(const MoveDescription& op) {
  RandomNumbers random(0xC013);
  for (const auto& [from, to] : Pairs()) {
    for (int i = 0; i < 12; ++i) {
      const Shape shape = {random.Between(2, 150), random.Between(1, 140)};
      for (const Layout in : {Layout::kPermuted, Layout::kStepped, Layout::kDense}) {
        for (const Layout out : {Layout::kPermuted, Layout::kStepped}) {
          HostTensor source(from, MakeView(shape, in, random));
          HostTensor destination(to, MakeView(shape, out, random));
          FillWithTestElements(source, random);
          if (!CheckMove(op, source, destination, stream(),
                         Named(from, to) + " " + LayoutName(in) + " into " + LayoutName(out)))
            return;
        }
      }
    }
  }
}

// Sizes for several threads, and transposed tiles of every kind.
void MoveSuite::LargeSizes(const MoveDescription& op) {
  RandomNumbers random(0x1A46E);
  for (const auto& [from, to] : Pairs()) {
    for (const Shape& shape : {Shape{70001}, Shape{301, 257}, Shape{7, 64, 129}, Shape{5000, 3},
                               Shape{4, 3, 2500}, Shape{900, 3, 2}, Shape{2, 700, 2, 5}}) {
      for (const Layout in : {Layout::kDense, Layout::kPermuted, Layout::kMixedExpanded}) {
        HostTensor source(from, MakeView(shape, in, random));
        HostTensor destination(to,
                               MakeView(shape, random.Chance(50) ? Layout::kDense : Layout::kMixed, random));
        FillWithTestElements(source, random);
        CheckMove(op, source, destination, stream(), Named(from, to) + " " + LayoutName(in));
      }
    }
  }
}

void MoveSuite::EmptyTensors(const MoveDescription& op) {
  RandomNumbers random(0xE);
  for (const Shape& shape : {Shape{0}, Shape{3, 0, 2}, Shape{0, 0}}) {
    HostTensor source(ACL_FLOAT, MakeView(shape, Layout::kDense, random));
    HostTensor destination(ACL_INT8, MakeView(shape, Layout::kDense, random));
    CheckMove(op, source, destination, stream(), "empty");
  }
}

void MoveSuite::CallersFloatingPointEnvironment(const MoveDescription& op) {
  RandomNumbers random(0xF9);
  for (const FpMode& mode : UnusualFpModes()) {
    for (const DtypeNumber from : ConvertibleDtypes()) {
      for (const DtypeNumber to : ConvertibleDtypes()) {
        const std::vector<Element> elements = TestElements(from, 20, random);
        for (const int64_t count : {int64_t{1}, static_cast<int64_t>(elements.size())}) {
          HostTensor source(from, MakeView({count}, Layout::kDense, random));
          HostTensor destination(to, MakeView({count == 1 ? 20 : count}, Layout::kDense, random));
          if (!op.broadcasts && count == 1) continue;
          FillWithTestElements(source, random);
          CheckMove(op, source, destination, stream(), Named(from, to) + " with " + mode.name, &mode);
        }
      }
    }
  }
}

}  // namespace portacl::testing
