// aclnnKlDivBackward's contract: what phase 1 answers to every kind of wrong call, in which order, on every product,
// and the rules of its workspace. Two products accept no data type at all.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "operators/kl_div_backward.h"
#include "support/contract_rows.h"
#include "support/contract_suite.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

const std::vector<std::string> kTensors = {"gradOutput", "self", "target", "out"};
const std::vector<std::string> kInputs = {"gradOutput", "self", "target"};

const std::vector<Product> kWithoutBfloat16 = {Product::k310P, Product::k910};
const std::vector<Product> kWithoutAnyType = {Product::k310B, Product::kNoDevice};

void AddReductionRows(std::vector<Row>& rows) {
  for (const int64_t reduction : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{-1}, int64_t{4},
                                  int64_t{6}, int64_t{1} << 32, (int64_t{1} << 32) + 1, kMin, kMax}) {
    for (const bool log_target : {false, true}) {
      const auto deviate = [=](CallSpec& call) {
        call.attributes.reduction = reduction;
        call.attributes.log_target = log_target;
      };
      rows.push_back({"reduction " + std::to_string(reduction), deviate, kOk, {}, {}});
      rows.push_back({"reduction " + std::to_string(reduction) + " with a sum",
                      All({deviate, Shapes({{}, {2, 1}, {2, 3}, {2, 1}})}),
                      kOk,
                      {},
                      {}});
    }
  }
}

void AddShapeRows(std::vector<Row>& rows) {
  const auto accepted = [&](const std::string& name, std::vector<Shape> shapes) {
    rows.push_back({name, Shapes(std::move(shapes)), kOk, {}, {}});
  };
  const auto refused = [&](const std::string& name, std::vector<Shape> shapes,
                           std::vector<std::string> fragments) {
    rows.push_back({name, Shapes(std::move(shapes)), kInvalid, std::move(fragments), {}});
  };
  accepted("target broadcast onto self", {{2, 3}, {2, 3}, {3}, {2, 3}});
  accepted("scalar target", {{2, 3}, {2, 3}, {}, {2, 3}});
  accepted("self broadcast onto target, rows", {{2, 3}, {2, 1}, {2, 3}, {2, 1}});
  accepted("self broadcast onto target, columns", {{2, 3}, {1, 3}, {2, 3}, {1, 3}});
  accepted("self without a leading dim", {{2, 3}, {3}, {2, 3}, {3}});
  accepted("self broadcast in the middle", {{2, 3, 4}, {2, 1, 4}, {2, 3, 4}, {2, 1, 4}});
  accepted("self and target broadcast both", {{4, 2, 3}, {2, 1}, {4, 1, 3}, {2, 1}});
  accepted("scalar self", {{2, 3}, {}, {2, 3}, {}});
  accepted("scalar gradOutput", {{}, {2, 3}, {2, 3}, {2, 3}});
  accepted("gradOutput of one row", {{3}, {2, 3}, {2, 3}, {2, 3}});
  accepted("gradOutput of one column, self broadcast", {{2, 1}, {3}, {2, 3}, {3}});

  // gradOutput may not enlarge R, not even by a leading 1.
  refused("gradOutput larger", {{4, 2, 3}, {2, 3}, {2, 3}, {2, 3}}, {"gradOutput", "[4, 2, 3]", "[2, 3]"});
  refused("gradOutput of more rows", {{2, 3}, {1, 3}, {1, 3}, {1, 3}}, {"gradOutput", "[2, 3]", "[1, 3]"});
  refused("gradOutput with a leading 1", {{1, 2, 3}, {2, 3}, {2, 3}, {2, 3}},
          {"gradOutput", "[1, 2, 3]", "[2, 3]"});
  refused("gradOutput for scalars", {{1}, {}, {}, {}}, {"gradOutput", "[1]", "[]"});
  refused("gradOutput against R", {{2, 5}, {2, 3}, {2, 3}, {2, 3}}, {"gradOutput", "[2, 5]", "[2, 3]"});
  refused("gradOutput against R, not against self", {{2, 3}, {1, 3}, {4, 3}, {1, 3}},
          {"gradOutput", "[2, 3]"});
  refused("gradOutput empty, R not", {{0}, {1}, {1}, {1}}, {"gradOutput", "[0]", "[1]"});

  refused("self against target", {{2, 3}, {2, 3}, {2, 4}, {2, 3}}, {"self", "target", "[2, 3]", "[2, 4]"});
  refused("left-aligned", {{2, 3}, {2}, {2, 3}, {2}}, {"[2]", "[2, 3]"});
  refused("0 against 2", {{}, {0}, {2}, {0}}, {"[0]", "[2]"});

  // out must have exactly self's shape, whatever R is.
  for (const Shape& shape :
       {Shape{3}, Shape{3, 2}, Shape{1, 2, 3}, Shape{2, 3, 1}, Shape{6}, Shape{}, Shape{1, 3}, Shape{0, 3}}) {
    rows.push_back(
        {"out " + ToString(shape), ShapeOf("out", shape), kInvalid, {"out", ToString(shape), "[2, 3]"}, {}});
  }
  refused("out of R's shape", {{2, 3}, {1, 3}, {2, 3}, {2, 3}}, {"out", "[2, 3]", "[1, 3]"});
  refused("out [1] for a scalar", {{}, {}, {}, {1}}, {"out", "[1]", "[]"});
  refused("out without the leading 1", {{3}, {1, 3}, {3}, {3}}, {"out", "[3]", "[1, 3]"});

  // The other ranks are checked before empty tensors and shapes.
  for (const std::string& tensor : kTensors) {
    for (const size_t rank : {size_t{9}, size_t{25}}) {
      rows.push_back({tensor + " of rank " + std::to_string(rank) + ", all empty",
                      All({AllShapes({2, 0}), Rank(tensor, rank)}),
                      kInvalid,
                      {tensor, std::to_string(rank), "8"},
                      {}});
    }
  }
  rows.push_back({"rank 9 everywhere", AllShapes(Shape(9, 1)), kInvalid, {"gradOutput", "9", "8"}, {}});

  // Empty tensors: an empty self ends the call, an empty R by itself does not.
  accepted("all empty", {{2, 0, 3}, {2, 0, 3}, {2, 0, 3}, {2, 0, 3}});
  accepted("self empty, target broadcast", {{1}, {2, 0}, {}, {2, 0}});
  accepted("target empty, self not", {{0}, {1}, {0}, {1}});
  accepted("target empty, self a scalar", {{}, {}, {3, 0}, {}});
  accepted("target empty in one axis", {{1, 1}, {2, 1}, {2, 0}, {2, 1}});
  refused("empty, out not", {{0}, {0}, {0}, {1}}, {"out", "[1]", "[0]"});
  rows.push_back({"2^80 elements by broadcasting",
                  Shapes({{}, {int64_t{1} << 40, 1}, {1, int64_t{1} << 40}, {int64_t{1} << 40, 1}}),
                  kInvalid,
                  {},
                  {}});
  rows.push_back(
      {"a sum of 2^40 terms", Shapes({{}, {}, {int64_t{1} << 20, int64_t{1} << 20}, {}}), kOk, {}, {}});
}

void AddOwnViewRows(std::vector<Row>& rows) {
  for (const std::string& tensor : kInputs) {
    rows.push_back({tensor + " outside its storage, self empty",
                    All({Shapes({{2, 0}, {2, 0}, {2, 0}, {2, 0}}), Strided(tensor, {100, 7}, -5, 1)}),
                    kOk,
                    {},
                    {}});
  }
  rows.push_back({"target outside its storage, self broadcast",
                  All({Shapes({{2, 3}, {1, 3}, {2, 3}, {1, 3}}), Strided("target", {4, 1}, 0, 6)}),
                  kInnerNullptr,
                  {"target"},
                  {}});
  rows.push_back({"gradOutput outside its storage, self broadcast",
                  All({Shapes({{2, 3}, {2, 1}, {2, 3}, {2, 1}}), Strided("gradOutput", {1, 2}, 1, 6)}),
                  kInnerNullptr,
                  {"gradOutput"},
                  {}});
}

void AddFormatRuleRows(std::vector<Row>& rows) {
  // Without a sum, out must carry the format of a self that is not ND.
  const std::vector<int32_t> formats = {0, 1, 3, 4, 16, 27, 29, 30, 32, 33, 35, 47, 50, 54};
  for (const int32_t format : formats) {
    const std::string name = std::to_string(format);
    rows.push_back({"self of format " + name + ", out ND",
                    Format("self", format),
                    kInnerNullptr,
                    {"out", "format"},
                    {}});
    rows.push_back({"self ND, out of format " + name, Format("out", format), kOk, {}, {}});
    rows.push_back({"self and out of format " + name,
                    All({Format("self", format), Format("out", format)}),
                    kOk,
                    {},
                    {}});
    rows.push_back({"self of format " + name + ", out of another",
                    All({Format("self", format), Format("out", format == 0 ? 1 : 0)}),
                    kInnerNullptr,
                    {"out", "format"},
                    {}});
    rows.push_back({"target and gradOutput of format " + name,
                    All({Format("target", format), Format("gradOutput", format)}),
                    kOk,
                    {},
                    {}});
    rows.push_back({"self of format " + name + ", target broadcast",
                    All({Shapes({{2, 3}, {2, 3}, {3}, {2, 3}}), Format("self", format)}),
                    kInnerNullptr,
                    {"out", "format"},
                    {}});
    // Sums and empty calls end before this check.
    for (const Shape& self : {Shape{1, 3}, Shape{2, 1}, Shape{3}, Shape{}}) {
      rows.push_back({"self of format " + name + ", summed to " + ToString(self),
                      All({Shapes({{2, 3}, self, {2, 3}, self}), Format("self", format)}),
                      kOk,
                      {},
                      {}});
    }
    rows.push_back({"self of format " + name + ", missing an axis of length 1",
                    All({Shapes({{1, 3}, {3}, {1, 3}, {3}}), Format("self", format)}),
                    kOk,
                    {},
                    {}});
    rows.push_back({"self of format " + name + ", empty",
                    All({AllShapes({2, 0}), Format("self", format)}),
                    kOk,
                    {},
                    {}});
  }
}

// Products without any dtype check pointers first, then nothing but the dtypes.
void RefuseEveryType(std::vector<Row>& rows) {
  for (Row& row : rows) {
    if (row.code != kNullptr) {
      for (const auto& [product, answer] :
           On(kWithoutAnyType, Answer{kInvalid, std::vector<std::string>{}})) {
        row.elsewhere[product] = answer;
      }
    }
  }
}

const ContractDescription& KlDivBackward() {
  static const ContractDescription description = [] {
    ContractDescription op;
    op.binding = DescribeKlDivBackward().binding;

    op.rows.push_back({"the valid call", Nothing(), kOk, {}, {}});
    AddNullRows(op.rows, kTensors);
    AddSingleDtypeRows(op.rows, kTensors, kWithoutBfloat16);
    AddDtypeMixRows(op.rows, kTensors.size(), kWithoutBfloat16);
    AddRankRows(op.rows, kTensors);
    AddReductionRows(op.rows);
    AddShapeRows(op.rows);
    AddDimRows(op.rows, kTensors);
    AddViewRows(op.rows, kInputs, "out");
    AddOwnViewRows(op.rows);
    AddFormatRuleRows(op.rows);
    RefuseEveryType(op.rows);

    // Faults in the order of the checks. Any of the deviations can be combined, except that out has only one
    // dtype.
    op.faults = {
        {"workspaceSize null", [](CallSpec& c) { c.null_workspace_size = true; }, kNullptr, "workspaceSize"},
        {"gradOutput null", Null("gradOutput"), kNullptr, "gradOutput"},
        {"self null", Null("self"), kNullptr, "self"},
        {"target null", Null("target"), kNullptr, "target"},
        {"out null", Null("out"), kNullptr, "out"},
        {"self does not cast to out", Dtype("out", ACL_INT16), kInvalid, "DT_INT16"},
        {"gradOutput's type", Dtype("gradOutput", ACL_INT32), kInvalid, "DT_INT32"},
        {"self's type", Dtype("self", ACL_DOUBLE), kInvalid, "DT_DOUBLE"},
        {"target's type", Dtype("target", ACL_UINT64), kInvalid, "DT_UINT64"},
        {"out's type", Dtype("out", ACL_COMPLEX64), kInvalid, "DT_COMPLEX64"},
        {"gradOutput's rank", Rank("gradOutput", 9), kInvalid, "9"},
        {"self's rank", Rank("self", 10), kInvalid, "10"},
        {"target's rank", Rank("target", 11), kInvalid, "11"},
        {"out's rank", Rank("out", 12), kInvalid, "12"},
        {"self and target do not broadcast", LastDim("target", 70001), kInvalid, "70001"},
        {"gradOutput does not broadcast", LastDim("gradOutput", 50001), kInvalid, "50001"},
        {"out's shape", LastDim("out", 90001), kInvalid, "90001"},
        {"target's view leaves its storage", OutsideItsStorage("target"), kInnerNullptr, "target"},
    };
    return op;
  }();
  return description;
}

PORTACL_CONTRACT_TESTS(KlDivBackwardContract, KlDivBackward());

// A full name without a digit is the older product, which lacks bfloat16 although its name resembles the
// newer one.
TEST(KlDivBackwardTypes, ProductsByTheirNames) {
  struct Example {
    const char* name;
    aclnnStatus float32, bfloat16;
  };
  for (const Example& e :
       {Example{"Ascend910B", kOk, kInvalid}, Example{"Ascend910ProB", kOk, kInvalid},
        Example{"Ascend910B4-1", kOk, kOk}, Example{"Ascend910B2C", kOk, kOk},
        Example{"Ascend910_9391", kOk, kOk}, Example{"Ascend950DT_9571", kOk, kOk},
        Example{"Ascend310P3", kOk, kInvalid}, Example{"Ascend310B1", kInvalid, kInvalid}}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", e.name}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS) << e.name;
    CallSpec spec(kTensors);
    CheckPlan(KlDivBackward().binding, spec, e.float32, {"DT_FLOAT"}, e.name);
    EveryDtype(ACL_BF16)(spec);
    CheckPlan(KlDivBackward().binding, spec, e.bfloat16, {"DT_BF16"}, e.name);
  }
}

// A call whose sum needs a workspace. The library decides which do; a long sum into one element must.
class KlDivBackwardWorkspace : public PhaseTwoSuite {
 protected:
  void SetUp() override {
    PhaseTwoSuite::SetUp();
    CallSpec spec(kTensors);
    Shapes({{}, {1}, {1 << 20}, {1}})(spec);
    call_.emplace(spec, BuiltCall::Data::kReal);
    before_ = call_->OutputBytes();
  }
  void TearDown() override {
    call_.reset();
    PhaseTwoSuite::TearDown();
  }

  aclOpExecutor* Plan(uint64_t& size) {
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(KlDivBackward().binding.plan(call_->handles(), {}, &size, &executor), 0) << TakeErrorMessage();
    EXPECT_GT(size, 0u);
    return executor;
  }

  void ExpectRefused(void* workspace, uint64_t given, uint64_t size, aclnnStatus code) {
    SCOPED_TRACE(::testing::Message() << given << " of " << size);
    uint64_t needed = 0;
    aclOpExecutor* executor = Plan(needed);
    EXPECT_EQ(needed, size);
    const auto& run = KlDivBackward().binding.run;
    EXPECT_EQ(run(workspace, given, executor, stream()), code);
    std::vector<std::string> fragments = {"aclnnKlDivBackward", "workspace"};
    if (code == kInvalid) {
      fragments = {"aclnnKlDivBackward", "workspaceSize", std::to_string(given), std::to_string(size)};
    }
    EXPECT_TRUE(MessageSays(TakeErrorMessage(), code, fragments));
    // A failing phase 2 consumes the executor too.
    EXPECT_EQ(run(workspace, given, executor, stream()), kInner);
    TakeErrorMessage();
    EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
    EXPECT_EQ(call_->OutputBytes(), before_);
  }

  std::optional<BuiltCall> call_;
  std::vector<std::byte> before_;
};

TEST_F(KlDivBackwardWorkspace, Rules) {
  uint64_t size = 0;
  EXPECT_EQ(aclDestroyAclOpExecutor(Plan(size)), 0);
  const GuardedBuffer workspace(size + 64);
  std::memset(workspace.data(), 0x5A, workspace.size());
  const std::vector<std::byte> untouched(workspace.data(), workspace.data() + workspace.size());

  ExpectRefused(nullptr, size, size, kNullptr);
  ExpectRefused(nullptr, 0, size, kNullptr);
  ExpectRefused(nullptr, size - 1, size, kNullptr);
  ExpectRefused(workspace.data(), 0, size, kInvalid);
  ExpectRefused(workspace.data(), 1, size, kInvalid);
  ExpectRefused(workspace.data(), size - 1, size, kInvalid);
  EXPECT_EQ(std::memcmp(workspace.data(), untouched.data(), untouched.size()), 0);

  // Workspaces as large as requested, and larger, with any contents.
  for (const uint64_t given : {size, size + 64}) {
    for (const int content : {0x00, 0xFF, 0x7F}) {
      std::memset(workspace.data(), content, workspace.size());
      uint64_t needed = 0;
      aclOpExecutor* executor = Plan(needed);
      EXPECT_EQ(KlDivBackward().binding.run(workspace.data(), given, executor, stream()), 0)
          << TakeErrorMessage();
      EXPECT_EQ(aclrtSynchronizeStream(stream()), 0);
      const std::vector<std::byte> found = call_->OutputBytes();
      ASSERT_EQ(found.size(), sizeof(float));
      EXPECT_NE(found, before_);
      float value = 0;
      std::memcpy(&value, found.data(), sizeof value);
      // gradOutput is 1 * -0.25, target counts -0.25 * (1 + ... + 2^20).
      EXPECT_EQ(value, static_cast<float>(-0.0625 * (524288.0 * 1048577.0)));
      for (size_t i = size; i < workspace.size(); ++i) {
        EXPECT_EQ(workspace.data()[i], static_cast<std::byte>(content)) << "past the workspace";
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
