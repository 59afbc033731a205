// Operators that are called by the name of their type: descriptions, attributes, Identity, what is not there, and the
// options of the compiler. Also recorded graphs, faults of the device, reports to a profiler, settings of collectives.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl/operator/operator_attributes.h"
#include "gtest/gtest.h"
#include "hccl/hccl.h"
#include "profiling/aprof_pub.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

std::string Message() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

class Description {
 public:
  Description(aclDataType dtype, const std::vector<int64_t>& dims, aclFormat format = ACL_FORMAT_ND)
      : made_(aclCreateTensorDesc(dtype, static_cast<int>(dims.size()), dims.data(), format)) {
    EXPECT_NE(made_, nullptr);
  }
  ~Description() { aclDestroyTensorDesc(made_); }
  aclTensorDesc* get() const { return made_; }

 private:
  aclTensorDesc* made_;
};

class Buffer {
 public:
  Buffer(void* data, size_t size) : made_(aclCreateDataBuffer(data, size)) {}
  ~Buffer() { aclDestroyDataBuffer(made_); }
  aclDataBuffer* get() const { return made_; }

 private:
  aclDataBuffer* made_;
};

// ---- Descriptions ----

TEST(TensorDescriptions, GiveBackWhatTheyWereGiven) {
  Message();
  const int64_t dims[] = {2, 0, -1, int64_t{1} << 40};
  aclTensorDesc* made = aclCreateTensorDesc(ACL_BF16, 4, dims, ACL_FORMAT_NCHW);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(aclGetTensorDescType(made), ACL_BF16);
  EXPECT_EQ(aclGetTensorDescFormat(made), ACL_FORMAT_NCHW);
  ASSERT_EQ(aclGetTensorDescNumDims(made), 4u);
  for (size_t i = 0; i < 4; ++i) {
    int64_t dim = -7;
    EXPECT_EQ(aclGetTensorDescDimV2(made, i, &dim), 0);
    EXPECT_EQ(dim, dims[i]);
  }
  EXPECT_STREQ(aclGetTensorDescName(made), "");
  char name[] = "query";
  aclSetTensorDescName(made, name);
  name[0] = 'X';
  EXPECT_STREQ(aclGetTensorDescName(made), "query");
  aclSetTensorDescName(made, nullptr);
  EXPECT_STREQ(aclGetTensorDescName(made), "");
  // What is said about the storage leaves alone what the tensor is.
  const int64_t storage[] = {1, 1, 16, 16};
  EXPECT_EQ(aclSetTensorFormat(made, ACL_FORMAT_FRACTAL_NZ), 0);
  EXPECT_EQ(aclSetTensorShape(made, 4, storage), 0);
  EXPECT_EQ(aclSetTensorPlaceMent(made, ACL_MEMTYPE_HOST), 0);
  EXPECT_EQ(aclGetTensorDescFormat(made), ACL_FORMAT_NCHW);
  int64_t dim = 0;
  EXPECT_EQ(aclGetTensorDescDimV2(made, 3, &dim), 0);
  EXPECT_EQ(dim, dims[3]);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  aclDestroyTensorDesc(made);
}

TEST(TensorDescriptions, CountTheirElementsAndBytes) {
  struct Case {
    aclDataType dtype;
    std::vector<int64_t> dims;
    size_t elements, bytes;
  };
  for (const Case& c :
       {Case{ACL_FLOAT, {2, 3}, 6, 24}, Case{ACL_DOUBLE, {}, 1, 8}, Case{ACL_INT4, {3}, 3, 2},
        Case{ACL_UINT1, {9}, 9, 2}, Case{ACL_COMPLEX128, {5, 0, 7}, 0, 0}, Case{ACL_STRING, {2}, 2, 0},
        Case{ACL_FLOAT, {-1, 3}, 0, 0}, Case{ACL_FLOAT, {int64_t{1} << 40, int64_t{1} << 40}, 0, 0},
        Case{ACL_FLOAT, {int64_t{1} << 40, int64_t{1} << 40, 0}, 0, 0}}) {
    const Description made(c.dtype, c.dims);
    EXPECT_EQ(aclGetTensorDescElementCount(made.get()), c.elements);
    EXPECT_EQ(aclGetTensorDescSize(made.get()), c.bytes);
  }
  const Description unknown(ACL_FLOAT, {-2});
  EXPECT_EQ(aclGetTensorDescNumDims(unknown.get()), ACL_UNKNOWN_RANK);
}

TEST(TensorDescriptions, RefuseWhatIsNone) {
  const int64_t dims[] = {2};
  Message();
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, -1, dims, ACL_FORMAT_ND), nullptr);
  EXPECT_NE(Message().find("aclCreateTensorDesc: parameter numDims has the value -1"), std::string::npos);
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 1, nullptr, ACL_FORMAT_ND), nullptr);
  EXPECT_NE(Message().find("dims"), std::string::npos);
  aclDestroyTensorDesc(nullptr);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  const Description made(ACL_FLOAT, {2});
  int64_t dim = 77;
  EXPECT_EQ(aclGetTensorDescDimV2(made.get(), 1, &dim), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(Message().find("index has the value 1, accepted: less than the number of dims, which is 1"),
            std::string::npos);
  EXPECT_EQ(aclGetTensorDescDimV2(made.get(), 0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetTensorDescDimV2(nullptr, 0, &dim), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(dim, 77);
  EXPECT_EQ(aclSetTensorFormat(nullptr, ACL_FORMAT_ND), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorShape(nullptr, 1, dims), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorShape(made.get(), -1, dims), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorShape(made.get(), 1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorPlaceMent(nullptr, ACL_MEMTYPE_HOST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorPlaceMent(made.get(), static_cast<aclMemType>(3)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetTensorDescType(nullptr), ACL_DT_UNDEFINED);
  EXPECT_EQ(aclGetTensorDescFormat(nullptr), ACL_FORMAT_UNDEFINED);
  EXPECT_EQ(aclGetTensorDescNumDims(nullptr), 0u);
  EXPECT_EQ(aclGetTensorDescElementCount(nullptr), 0u);
  EXPECT_EQ(aclGetTensorDescSize(nullptr), 0u);
  EXPECT_STREQ(aclGetTensorDescName(nullptr), "");
  aclSetTensorDescName(nullptr, "name");
  Message();
}

// ---- Attributes ----

TEST(OperatorAttributes, KeepWhatTheyWereGiven) {
  aclopAttr* const made = aclopCreateAttr();
  ASSERT_NE(made, nullptr);
  const uint8_t bools[] = {0, 1, 2};
  const int64_t ints[] = {-3, int64_t{1} << 50};
  const float floats[] = {0.5f, -1.25f};
  const char* strings[] = {"a", "", "c d"};
  const aclDataType dtypes[] = {ACL_BF16, ACL_INT8};
  const int lengths[] = {2, 0, 1};
  const int64_t* const lists[] = {ints, nullptr, ints + 1};
  EXPECT_EQ(aclopSetAttrBool(made, "bool", 4), 0);
  EXPECT_EQ(aclopSetAttrInt(made, "int", -9), 0);
  EXPECT_EQ(aclopSetAttrFloat(made, "float", 1.5f), 0);
  EXPECT_EQ(aclopSetAttrString(made, "string", "LSTM"), 0);
  EXPECT_EQ(aclopSetAttrDataType(made, "dtype", ACL_FLOAT16), 0);
  EXPECT_EQ(aclopSetAttrListBool(made, "bools", 3, bools), 0);
  EXPECT_EQ(aclopSetAttrListInt(made, "ints", 2, ints), 0);
  EXPECT_EQ(aclopSetAttrListFloat(made, "floats", 2, floats), 0);
  EXPECT_EQ(aclopSetAttrListString(made, "strings", 3, strings), 0);
  EXPECT_EQ(aclopSetAttrListDataType(made, "dtypes", 2, dtypes), 0);
  EXPECT_EQ(aclopSetAttrListListInt(made, "lists", 3, lengths, lists), 0);
  EXPECT_EQ(aclopSetAttrListInt(made, "none", 0, nullptr), 0);
  const auto& kept = made->values;
  EXPECT_EQ(kept.size(), 12u);
  EXPECT_EQ(kept.at("bool"), AttributeValue(true));
  EXPECT_EQ(kept.at("int"), AttributeValue(int64_t{-9}));
  EXPECT_EQ(kept.at("float"), AttributeValue(1.5f));
  EXPECT_EQ(kept.at("string"), AttributeValue(std::string("LSTM")));
  EXPECT_EQ(kept.at("dtype"), AttributeValue(ACL_FLOAT16));
  EXPECT_EQ(kept.at("bools"), AttributeValue(std::vector<bool>{false, true, true}));
  EXPECT_EQ(kept.at("ints"), AttributeValue(std::vector<int64_t>{-3, int64_t{1} << 50}));
  EXPECT_EQ(kept.at("floats"), AttributeValue(std::vector<float>{0.5f, -1.25f}));
  EXPECT_EQ(kept.at("strings"), AttributeValue(std::vector<std::string>{"a", "", "c d"}));
  EXPECT_EQ(kept.at("dtypes"), AttributeValue(std::vector<aclDataType>{ACL_BF16, ACL_INT8}));
  EXPECT_EQ(kept.at("lists"), AttributeValue(std::vector<std::vector<int64_t>>{
                                  {-3, int64_t{1} << 50}, {}, {int64_t{1} << 50}}));
  EXPECT_EQ(kept.at("none"), AttributeValue(std::vector<int64_t>{}));
  EXPECT_EQ(aclopSetAttrString(made, "int", "another kind"), 0);
  EXPECT_EQ(kept.at("int"), AttributeValue(std::string("another kind"))) << "the latest counts";
  aclopDestroyAttr(made);
}

TEST(OperatorAttributes, RefuseWhatIsNone) {
  aclopAttr* const made = aclopCreateAttr();
  const char* strings[] = {"a", nullptr};
  const int lengths[] = {1, -1};
  const int64_t ints[] = {1};
  const int64_t* const lists[] = {ints, ints};
  const int64_t* const holes[] = {nullptr};
  EXPECT_EQ(aclopSetAttrBool(nullptr, "name", 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrBool(made, nullptr, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrInt(nullptr, "name", 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrFloat(nullptr, "name", 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrDataType(nullptr, "name", ACL_FLOAT), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrString(made, "name", nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrListInt(made, "name", -1, ints), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrListInt(made, "name", 1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrListString(made, "name", 2, strings), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrListListInt(made, "name", 2, lengths, lists), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclopSetAttrListListInt(made, "name", 1, lengths, holes), ACL_ERROR_INVALID_PARAM);
  EXPECT_TRUE(made->values.empty());
  aclopDestroyAttr(made);
  aclopDestroyAttr(nullptr);
  Message();
}

// ---- Identity ----

class NamedOperators : public ::testing::Test {
 protected:
  // Calls an operator with an input and an output.
  aclError Call(const char* type, const Description& from, const Buffer& in, const Description& to,
                const Buffer& out, aclrtStream stream, const aclopAttr* attributes = nullptr) {
    const aclTensorDesc* const inputs[] = {from.get()};
    const aclTensorDesc* const outputs[] = {to.get()};
    const aclDataBuffer* const in_buffers[] = {in.get()};
    aclDataBuffer* const out_buffers[] = {out.get()};
    return aclopCompileAndExecute(type, 1, inputs, in_buffers, 1, outputs, out_buffers, attributes,
                                  ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream);
  }

  ScopedEnvironment environment_{Variables{}};
  aclrtStream stream_ = environment_.stream();
};

TEST_F(NamedOperators, IdentityCopiesEveryType) {
  struct Case {
    aclDataType dtype;
    std::vector<int64_t> dims;
    size_t bytes;
  };
  const std::vector<Case> cases = {
      {ACL_FLOAT, {3, 5}, 60},     {ACL_BF16, {7}, 14},
      {ACL_BOOL, {}, 1},           {ACL_COMPLEX128, {2, 2}, 64},
      {ACL_INT4, {5}, 3},          {ACL_INT64, {int64_t{1} << 40, int64_t{1} << 40, 0}, 0},
      {ACL_FLOAT8_E8M0, {11}, 11}, {ACL_UINT8, {70000}, 70000}};
  for (const Case& c : cases) {
    std::vector<unsigned char> from(c.bytes + 8), to(c.bytes + 8, 0xEE);
    std::iota(from.begin(), from.end(), 1);
    const Description description(c.dtype, c.dims);
    ASSERT_EQ(Call("Identity", description, Buffer(from.data(), from.size()), description,
                   Buffer(to.data(), to.size()), stream_),
              0)
        << c.dtype;
    ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
    std::vector<unsigned char> expected(c.bytes + 8, 0xEE);
    std::copy_n(from.begin(), c.bytes, expected.begin());
    EXPECT_EQ(to, expected) << c.dtype << ": nothing behind the tensor is touched";
  }
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

// A change of the format: the shapes of the storage differ, the elements are the same.
TEST_F(NamedOperators, IdentityToAPrivateFormat) {
  std::vector<float> from(15), to(256, -1.0f);
  std::iota(from.begin(), from.end(), 1.0f);
  const Description dense(ACL_FLOAT, {3, 5});
  const Description blocks(ACL_FLOAT, {3, 5});
  const int64_t storage[] = {1, 1, 16, 16};
  ASSERT_EQ(aclSetTensorFormat(blocks.get(), ACL_FORMAT_FRACTAL_NZ), 0);
  ASSERT_EQ(aclSetTensorShape(blocks.get(), 4, storage), 0);
  aclTensorDesc* inputs[] = {dense.get()};
  aclTensorDesc* outputs[] = {blocks.get()};
  const Buffer in(from.data(), 60);
  const Buffer out(to.data(), 1024);
  aclDataBuffer* in_buffers[] = {in.get()};
  aclDataBuffer* out_buffers[] = {out.get()};
  ASSERT_EQ(aclopCompileAndExecuteV2("Identity", 1, inputs, in_buffers, 1, outputs, out_buffers, nullptr,
                                     ACL_ENGINE_AICORE, ACL_COMPILE_UNREGISTERED, "/nowhere", stream_),
            0);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin()));
  EXPECT_EQ(to[15], -1.0f);
}

// In its turn, and not before: what the stream does earlier is seen, and the caller is not held up.
TEST_F(NamedOperators, IdentityIsInStreamOrder) {
  struct Gate {
    std::atomic<bool> open{false};
    float* value;
  } gate;
  void* from = nullptr;
  void* to = nullptr;
  ASSERT_EQ(aclrtMalloc(&from, 4, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  ASSERT_EQ(aclrtMalloc(&to, 4, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  *static_cast<float*>(from) = 1.0f;
  *static_cast<float*>(to) = 0.0f;
  gate.value = static_cast<float*>(from);
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_,
                [](void* opaque) {
                  auto* const it = static_cast<Gate*>(opaque);
                  while (!it->open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                  *it->value = 2.0f;
                },
                &gate),
            0);
  {
    const Description description(ACL_FLOAT, {1});
    ASSERT_EQ(Call("Identity", description, Buffer(from, 4), description, Buffer(to, 4), stream_), 0);
  }  // descriptions and buffers may go
  EXPECT_EQ(*static_cast<float*>(to), 0.0f);
  gate.open = true;
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(*static_cast<float*>(to), 2.0f);
  EXPECT_EQ(aclrtFree(from), 0);
  EXPECT_EQ(aclrtFree(to), 0);
}

TEST_F(NamedOperators, IdentityRefusesWhatDoesNotMatch) {
  std::vector<float> from(6, 1.0f), to(6, -1.0f);
  const Description six(ACL_FLOAT, {2, 3});
  const Buffer in(from.data(), 24);
  const Buffer out(to.data(), 24);
  const auto refused = [&](const Description& a, const Buffer& b, const Description& c, const Buffer& d,
                           const std::string& part) {
    Message();
    EXPECT_EQ(Call("Identity", a, b, c, d, stream_), ACL_ERROR_INVALID_PARAM) << part;
    const std::string message = Message();
    EXPECT_NE(message.find("aclopCompileAndExecute: operator Identity "), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refused(six, in, Description(ACL_INT32, {2, 3}), out, "which is DT_FLOAT [2, 3], not DT_INT32 [2, 3]");
  refused(six, in, Description(ACL_FLOAT, {7}), out, "not DT_FLOAT [7]");
  refused(Description(ACL_FLOAT, {-1}), in, Description(ACL_FLOAT, {-1}), out, "[-1]");
  refused(Description(ACL_STRING, {2}), in, Description(ACL_STRING, {2}), out, "type DT_STRING");
  refused(six, Buffer(from.data(), 23), six, out, "24 bytes in inputs[0], whose data buffer has the size 23");
  refused(six, in, six, Buffer(to.data(), 8), "24 bytes in outputs[0], whose data buffer has the size 8");
  refused(six, in, six, Buffer(nullptr, 24), "outputs[0], whose data buffer has no address");
  EXPECT_EQ(to, std::vector<float>(6, -1.0f));

  const aclTensorDesc* const descriptions[] = {six.get(), six.get()};
  const aclTensorDesc* const hole[] = {nullptr};
  const aclDataBuffer* const inputs[] = {in.get(), in.get()};
  aclDataBuffer* const outputs[] = {out.get()};
  const auto call = [&](const char* type, int count, const aclTensorDesc* const* of,
                        const aclDataBuffer* const* at, aclrtStream stream) {
    return aclopCompileAndExecute(type, count, of, at, 1, descriptions, outputs, nullptr, ACL_ENGINE_SYS,
                                  ACL_COMPILE_SYS, nullptr, stream);
  };
  Message();
  EXPECT_EQ(call("Identity", 2, descriptions, inputs, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(Message().find("has 1 input and 1 output, not 2 and 1"), std::string::npos);
  EXPECT_EQ(call(nullptr, 1, descriptions, inputs, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(call("Identity", -1, descriptions, inputs, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(call("Identity", 1, nullptr, inputs, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(call("Identity", 1, descriptions, nullptr, stream_), ACL_ERROR_INVALID_PARAM);
  Message();
  EXPECT_EQ(call("Identity", 1, hole, inputs, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(Message().find("inputDesc[0]"), std::string::npos);
  int no_stream = 0;
  EXPECT_EQ(call("Identity", 1, descriptions, inputs, &no_stream), ACL_ERROR_RT_STREAM_CONTEXT);
  const Description empty(ACL_FLOAT, {0});
  EXPECT_EQ(Call("Identity", empty, in, empty, out, &no_stream), ACL_ERROR_RT_STREAM_CONTEXT);
  std::thread([&] {
    EXPECT_EQ(call("Identity", 1, descriptions, inputs, nullptr), ACL_ERROR_RT_CONTEXT_NULL);
  }).join();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(to, std::vector<float>(6, -1.0f));
  Message();
}

TEST_F(NamedOperators, WhatIsMissingIsNamed) {
  const Description from(ACL_FLOAT16, {4, 8});
  const Description to(ACL_FLOAT, {8});
  aclopAttr* const attributes = aclopCreateAttr();
  ASSERT_EQ(aclopSetAttrString(attributes, "cell_type", "LSTM"), 0);
  ASSERT_EQ(aclopSetAttrBool(attributes, "use_peephole", 0), 0);
  const int64_t axes[] = {0, -1};
  ASSERT_EQ(aclopSetAttrListInt(attributes, "axes", 2, axes), 0);
  int8_t memory[64] = {};
  Message();
  EXPECT_EQ(Call("DynamicRNN", from, Buffer(memory, 64), to, Buffer(memory, 32), stream_, attributes),
            ACL_ERROR_OP_NOT_FOUND);
  const std::string message = Message();
  for (const char* part :
       {"aclopCompileAndExecute: operator DynamicRNN is not implemented", "DT_FLOAT16 [4, 8]", "DT_FLOAT [8]",
        "axes=[0, -1]", "cell_type=\"LSTM\"", "use_peephole=false"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
  }
  EXPECT_EQ(aclopCompileAndExecuteV2("identity", 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                     ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream_),
            ACL_ERROR_OP_NOT_FOUND)
      << "names are told apart by case";
  EXPECT_NE(Message().find("aclopCompileAndExecuteV2: operator identity"), std::string::npos);
  aclopDestroyAttr(attributes);
}

// torch_npu's threads would not survive the code, and its streams stop on failure.
TEST_F(NamedOperators, WhatIsNotImplementedFailsInAStreamThatStopsOnFailure) {
  const auto run = [&] {
    return aclopCompileAndExecute("RotatedNMS", 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                  ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream_);
  };
  alignas(64) int32_t before[4] = {1, 2, 3, 4};
  alignas(64) int32_t behind[4] = {5, 6, 7, 8};
  alignas(64) int32_t to[4] = {};
  const Description of(ACL_INT32, {4});
  const auto copy = [&](int32_t* from) {
    return Call("Identity", of, Buffer(from, sizeof before), of, Buffer(to, sizeof to), stream_, nullptr);
  };
  EXPECT_EQ(run(), ACL_ERROR_OP_NOT_FOUND);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), 0);
  EXPECT_EQ(copy(before), 0);
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(copy(behind), 0);
  Message();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_OP_NOT_FOUND);
    EXPECT_NE(Message().find("aclopCompileAndExecute: operator RotatedNMS is not implemented"),
              std::string::npos);
  }
  EXPECT_EQ(to[0], 1) << "what came before is done, and what came behind is not";
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), 0);
  aclrtSynchronizeStream(stream_);
  EXPECT_EQ(copy(behind), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(to[0], 5);
}

// So do those that are here, for operands that they do not take; the whole text arrives.
TEST_F(NamedOperators, OperandsThatAreRefusedFailInAStreamThatStopsOnFailure) {
  alignas(64) int32_t from[4] = {1, 2, 3, 4};
  alignas(64) int32_t to[5] = {};
  const Description of(ACL_INT32, {4});
  const Description wrong(ACL_INT32, {5});
  const Description many(ACL_INT32,
                         {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                          1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7});
  for (const Description* const output : {&wrong, &many}) {
    const auto run = [&] {
      return Call("Identity", of, Buffer(from, sizeof from), *output, Buffer(to, sizeof to), stream_,
                  nullptr);
    };
    Message();
    EXPECT_EQ(run(), ACL_ERROR_INVALID_PARAM);
    const std::string told = Message();
    const size_t begin =
        told.find("aclopCompileAndExecute: operator Identity wants an output like its input");
    ASSERT_NE(begin, std::string::npos) << told;
    ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
    ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), 0);
    EXPECT_EQ(run(), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(Message().find(told.substr(begin, told.find('.', begin) + 1 - begin)), std::string::npos);
    ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), 0);
    aclrtSynchronizeStream(stream_);
  }
  EXPECT_EQ(to[0], 0);
}

// A refusal ends the call there, too: nothing behind the operands that are given is looked at.
TEST_F(NamedOperators, MissingOperandsFailInAStreamThatStopsOnFailure) {
  int32_t memory = 1;
  const Description of(ACL_INT32, {1});
  const Buffer buffer(&memory, sizeof memory);
  const aclTensorDesc* const one[] = {of.get()};
  const aclDataBuffer* const from[] = {buffer.get()};
  for (const auto& [type, wanted] : {std::pair("BroadcastTo", "has 2 inputs and 1 output, not 1 and 0"),
                                     std::pair("Identity", "has 1 input and 1 output, not 1 and 0")}) {
    ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), 0);
    Message();
    EXPECT_EQ(aclopCompileAndExecute(type, 1, one, from, 0, nullptr, nullptr, nullptr, ACL_ENGINE_SYS,
                                     ACL_COMPILE_SYS, nullptr, stream_),
              0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(Message().find(wanted), std::string::npos);
    ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), 0);
    aclrtSynchronizeStream(stream_);
  }
}

// ---- Options of the compiler ----

TEST(CompileOptions, GiveBackWhatWasSet) {
  char value[16] = {};
  ASSERT_EQ(aclGetCompileoptSize(ACL_OP_JIT_COMPILE), 8u);
  EXPECT_EQ(aclGetCompileopt(ACL_OP_JIT_COMPILE, value, 8), 0);
  EXPECT_STREQ(value, "disable");
  EXPECT_EQ(aclGetCompileoptSize(ACL_PRECISION_MODE), 1u);
  EXPECT_EQ(aclSetCompileopt(ACL_PRECISION_MODE, "must_keep"), 0);
  EXPECT_EQ(aclGetCompileoptSize(ACL_PRECISION_MODE), 10u);
  Message();
  std::memset(value, '?', sizeof value);
  EXPECT_EQ(aclGetCompileopt(ACL_PRECISION_MODE, value, 9), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(value[0], '?');
  EXPECT_NE(Message().find("length has the value 9, accepted: 10 or more"), std::string::npos);
  EXPECT_EQ(aclGetCompileopt(ACL_PRECISION_MODE, value, sizeof value), 0);
  EXPECT_STREQ(value, "must_keep");
  EXPECT_EQ(aclSetCompileopt(ACL_PRECISION_MODE, ""), 0);
  EXPECT_EQ(aclSetCompileopt(ACL_PRECISION_MODE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetCompileopt(ACL_PRECISION_MODE, nullptr, 5), ACL_ERROR_INVALID_PARAM);
  for (const int number : {-1, 17}) {
    const auto none = static_cast<aclCompileOpt>(number);
    Message();
    EXPECT_EQ(aclSetCompileopt(none, "x"), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(Message().find("opt has the value " + std::to_string(number) + ", accepted: 0 to 16"),
              std::string::npos);
    EXPECT_EQ(aclGetCompileoptSize(none), 0u);
    EXPECT_EQ(aclGetCompileopt(none, value, sizeof value), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(aclSetCompileopt(ACL_OP_DEBUG_OPTION, "oom"), 0) << "the last one";
  EXPECT_EQ(aclSetCompileopt(ACL_OP_DEBUG_OPTION, ""), 0);
  Message();
}

// What PyTorch's back end passes null for, besides the flags of a primary context: a buffer without bytes, dims of no tensor, an address
// that it does not mind.
TEST(NullArguments, OfPyTorchAreTaken) {
  const ScopedEnvironment environment(Variables{});
  aclDataBuffer* const buffer = aclCreateDataBuffer(nullptr, 0);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 0u);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), 0);
  aclTensorDesc* const description = aclCreateTensorDesc(ACL_DT_UNDEFINED, 0, nullptr, ACL_FORMAT_UNDEFINED);
  ASSERT_NE(description, nullptr);
  EXPECT_EQ(aclGetTensorDescNumDims(description), 0u);
  aclDestroyTensorDesc(description);
  aclDestroyTensorDesc(nullptr);
  void* address = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&address, size_t{2} << 20, 0, nullptr, 0), 0);
  EXPECT_NE(address, nullptr);
  EXPECT_EQ(aclrtReleaseMemAddress(address), 0);
  int32_t active = 9;
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, &active), 0);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

// ---- Recorded graphs, faults, reports ----

TEST(RecordedGraphs, NothingIsBeingRecorded) {
  const ScopedEnvironment environment(Variables{});
  auto status = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
  int something = 0;
  aclmdlRI graph = &something;
  EXPECT_EQ(aclmdlRICaptureGetInfo(environment.stream(), &status, &graph), 0);
  EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(aclmdlRICaptureGetInfo(nullptr, &status, nullptr), 0);
  EXPECT_EQ(aclmdlRICaptureGetInfo(nullptr, nullptr, &graph), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlRICaptureGetInfo(&something, &status, &graph), ACL_ERROR_RT_STREAM_CONTEXT);
}

TEST(OfflineModels, DirectoriesOfModelsAreRefusedByName) {
  const ScopedEnvironment environment(Variables{});
  for (const char* directory : {"models", static_cast<const char*>(nullptr)}) {
    Message();
    EXPECT_EQ(aclopSetModelDir(directory), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_NE(Message().find("aclopSetModelDir is not supported: "), std::string::npos);
  }
}

TEST(RecordedGraphs, EachThreadHasAMode) {
  const auto exchange = [](aclmdlRICaptureMode mode) {
    EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), 0);
    return mode;
  };
  EXPECT_EQ(exchange(ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  std::thread([&] {
    EXPECT_EQ(exchange(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  }).join();
  EXPECT_EQ(exchange(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  auto none = static_cast<aclmdlRICaptureMode>(3);
  EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&none), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(static_cast<int>(none), 3);
  EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(nullptr), ACL_ERROR_INVALID_PARAM);
  Message();
}

TEST(DeviceFaults, ThereAreNone) {
  const ScopedEnvironment environment(Variables{});
  aclrtErrorInfo info;
  std::memset(&info, 0x55, sizeof info);
  EXPECT_EQ(aclrtGetErrorVerbose(1, &info), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(info.tryRepair, 0x55) << "untouched";
  EXPECT_EQ(aclrtGetErrorVerbose(0, &info), 0);
  EXPECT_EQ(info.errorType, ACL_RT_NO_ERROR);
  EXPECT_EQ(info.tryRepair, 0);
  EXPECT_EQ(info.hasDetail, 0);
  EXPECT_EQ(aclrtRepairError(0, &info), 0);
  info.errorType = ACL_RT_ERROR_L2;
  EXPECT_EQ(aclrtRepairError(0, &info), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtRepairError(0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetErrorVerbose(0, nullptr), ACL_ERROR_INVALID_PARAM);
  aclrtMemUceInfo lost[2];
  size_t count = 5;
  EXPECT_EQ(aclrtGetMemUceInfo(0, lost, 2, &count), 0);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(aclrtGetMemUceInfo(0, nullptr, 2, &count), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemUceInfo(0, lost, 2, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemUceInfo(7, lost, 2, &count), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtMemUceRepair(0, lost, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  Message();
}

TEST(ProfilerReports, AreDropped) {
  Message();
  const auto never = [](uint32_t, void*, uint32_t) -> int32_t {
    ADD_FAILURE() << "no profiler starts";
    return 0;
  };
  EXPECT_EQ(MsprofRegisterCallback(5, never), MSPROF_ERROR_NONE);
  MsprofApi api = {};
  EXPECT_EQ(MsprofReportApi(1, &api), MSPROF_ERROR_NONE);
  EXPECT_EQ(MsprofReportCompactInfo(1, &api, sizeof api), MSPROF_ERROR_NONE);
  EXPECT_EQ(MsprofReportAdditionalInfo(1, &api, sizeof api), MSPROF_ERROR_NONE);
  // The published test vectors of FNV-1a with 64 bits.
  EXPECT_EQ(MsprofGetHashId("", 0), 0xcbf29ce484222325u);
  EXPECT_EQ(MsprofGetHashId("a", 1), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(MsprofGetHashId("foobar", 6), 0x85944171f73967e8u);
  EXPECT_EQ(MsprofGetHashId("foobarbaz", 6), 0x85944171f73967e8u) << "as many bytes as it is told";
  EXPECT_EQ(MsprofGetHashId(nullptr, 6), 0u);
  EXPECT_EQ(aclprofMarkEx("step", 4, nullptr), 0);
  const uint64_t before = MsprofSysCycleTime();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GE(MsprofSysCycleTime() - before, 2'000'000u);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(aclprofMarkEx(nullptr, 4, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(MsprofRegisterCallback(5, nullptr), ACL_ERROR_INVALID_PARAM);
  Message();
}

TEST(CollectiveSettings, GiveBackWhatWasSet) {
  HcclConfigValue value = {-1};
  EXPECT_EQ(HcclGetConfig(HCCL_DETERMINISTIC, &value), HCCL_SUCCESS);
  EXPECT_EQ(value.value, 0);
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, {2}), HCCL_SUCCESS);
  EXPECT_EQ(HcclGetConfig(HCCL_ACCELERATOR, &value), HCCL_SUCCESS);
  EXPECT_EQ(value.value, 0) << "another setting";
  EXPECT_EQ(HcclGetConfig(HCCL_DETERMINISTIC, &value), HCCL_SUCCESS);
  EXPECT_EQ(value.value, 2);
  EXPECT_EQ(HcclSetConfig(HCCL_DETERMINISTIC, {0}), HCCL_SUCCESS);
  Message();
  EXPECT_EQ(HcclSetConfig(HCCL_CONFIG_RESERVED, {1}), HCCL_E_PARA);
  EXPECT_NE(Message().find("HcclSetConfig: parameter config has the value 2"), std::string::npos);
  EXPECT_EQ(HcclGetConfig(static_cast<HcclConfig>(-1), &value), HCCL_E_PARA);
  EXPECT_EQ(HcclGetConfig(HCCL_ACCELERATOR, nullptr), HCCL_E_PTR);
  EXPECT_NE(Message().find("HcclGetConfig: parameter configValue is a null pointer"), std::string::npos);
}

}  // namespace
}  // namespace portacl::testing
