// BroadcastTo by the name of its type: every rank and size of element, empty tensors, stream order, where the dims lie, refusals.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "gtest/gtest.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

using Dims = std::vector<int64_t>;
using Bytes = std::vector<unsigned char>;

std::string Message() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

size_t Product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), size_t{1},
                         [](size_t product, int64_t dim) { return product * static_cast<size_t>(dim); });
}

// What numpy.broadcast_to gives, element by element: the place of each in the output is counted up like an odometer, and the place in
// the input follows from it by the definition.
Bytes Broadcast(const Bytes& from, const Dims& from_dims, const Dims& to_dims, size_t size) {
  Bytes to;
  Dims place(to_dims.size(), 0);
  for (size_t n = Product(to_dims); n > 0; --n) {
    size_t element = 0;
    for (size_t i = 0; i < from_dims.size(); ++i) {
      const int64_t at = place[place.size() - from_dims.size() + i];
      element = element * static_cast<size_t>(from_dims[i]) + static_cast<size_t>(from_dims[i] == 1 ? 0 : at);
    }
    to.insert(to.end(), from.begin() + static_cast<ptrdiff_t>(element * size),
              from.begin() + static_cast<ptrdiff_t>((element + 1) * size));
    for (size_t i = place.size(); i-- > 0;) {
      if (++place[i] < to_dims[i]) break;
      place[i] = 0;
    }
  }
  return to;
}

// A tensor of a call: description and data buffer.
struct Operand {
  Operand(aclDataType dtype, const Dims& dims, void* data, size_t size)
      : description(aclCreateTensorDesc(dtype, static_cast<int>(dims.size()), dims.data(), ACL_FORMAT_ND)),
        buffer(aclCreateDataBuffer(data, size)) {}
  ~Operand() {
    aclDestroyTensorDesc(description);
    aclDestroyDataBuffer(buffer);
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  aclTensorDesc* const description;
  aclDataBuffer* const buffer;
};

class BroadcastTo : public ::testing::Test {
 protected:
  aclError Call(const Operand& from, const Operand& shape, const Operand& to, aclrtStream stream) {
    const aclTensorDesc* const inputs[] = {from.description, shape.description};
    const aclTensorDesc* const outputs[] = {to.description};
    const aclDataBuffer* const in_buffers[] = {from.buffer, shape.buffer};
    aclDataBuffer* const out_buffers[] = {to.buffer};
    return aclopCompileAndExecute("BroadcastTo", 2, inputs, in_buffers, 1, outputs, out_buffers, nullptr,
                                  ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream);
  }

  // Broadcasts and compares; the dims are given as int64 on the host, as PyTorch's NPU back end does.
  void Check(aclDataType dtype, size_t size, const Dims& from_dims, const Dims& to_dims) {
    SCOPED_TRACE(::testing::Message() << "dtype " << dtype << ", " << ::testing::PrintToString(from_dims)
                                      << " to " << ::testing::PrintToString(to_dims));
    Bytes from(Product(from_dims) * size);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7 + i / 251 + 1);
    const size_t bytes = Product(to_dims) * size;
    Bytes to(bytes + 8, 0xEE);
    Dims dims = to_dims;
    const Operand source(dtype, from_dims, from.data(), from.size());
    const Operand shape(ACL_INT64, {static_cast<int64_t>(dims.size())}, dims.data(), dims.size() * 8);
    ASSERT_EQ(aclSetTensorPlaceMent(shape.description, ACL_MEMTYPE_HOST), 0);
    const Operand target(dtype, to_dims, to.data(), to.size());
    ASSERT_EQ(Call(source, shape, target, stream_), 0) << Message();
    ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
    Bytes expected = Broadcast(from, from_dims, to_dims, size);
    expected.resize(bytes + 8, 0xEE);  // nothing behind the tensor is touched
    EXPECT_TRUE(to == expected);
  }

  ScopedEnvironment environment_{Variables{}};
  aclrtStream stream_ = environment_.stream();
};

TEST_F(BroadcastTo, EveryRank) {
  for (int rank = 0; rank <= 8; ++rank) {
    Dims to;
    for (int i = 0; i < rank; ++i) to.push_back(1 + (i * 2 + 1) % 4);
    // Each subset of the dims is 1 in the input; leading ones are left out, too.
    for (unsigned ones = 0; ones < 1u << rank; ++ones) {
      Dims from = to;
      for (int i = 0; i < rank; ++i) {
        if (ones >> i & 1) from[static_cast<size_t>(i)] = 1;
      }
      Check(ACL_FLOAT, 4, from, to);
      while (!from.empty() && from.front() == 1) from.erase(from.begin());
      Check(ACL_FLOAT, 4, from, to);
    }
  }
}

TEST_F(BroadcastTo, EveryType) {
  struct Case {
    aclDataType dtype;
    size_t size;
  };
  for (const Case& c :
       {Case{ACL_FLOAT, 4}, Case{ACL_FLOAT16, 2}, Case{ACL_INT8, 1}, Case{ACL_INT32, 4}, Case{ACL_UINT8, 1},
        Case{ACL_INT16, 2}, Case{ACL_UINT16, 2}, Case{ACL_UINT32, 4}, Case{ACL_INT64, 8}, Case{ACL_UINT64, 8},
        Case{ACL_DOUBLE, 8}, Case{ACL_BOOL, 1}, Case{ACL_COMPLEX64, 8}, Case{ACL_COMPLEX128, 16},
        Case{ACL_BF16, 2}, Case{ACL_COMPLEX32, 4}, Case{ACL_FLOAT8_E5M2, 1}, Case{ACL_FLOAT8_E8M0, 1}}) {
    for (const Dims& from :
         {Dims{}, Dims{1}, Dims{37}, Dims{5, 1}, Dims{5, 37}, Dims{3, 1, 37}, Dims{3, 5, 1}})
      Check(c.dtype, c.size, from, {3, 5, 37});
  }
}

TEST_F(BroadcastTo, LargeOnesThatAWorkerComputes) {
  Check(ACL_FLOAT, 4, {1, 1023}, {1025, 1023});
  Check(ACL_FLOAT, 4, {1025, 1}, {1025, 1023});
  Check(ACL_FLOAT16, 2, {1}, {300001});
  Check(ACL_COMPLEX128, 16, {64, 1, 65}, {64, 67, 65});
}

TEST_F(BroadcastTo, EmptyTensors) {
  Check(ACL_FLOAT, 4, {0}, {0});
  Check(ACL_FLOAT, 4, {1}, {0});
  Check(ACL_FLOAT, 4, {}, {3, 0});
  Check(ACL_FLOAT, 4, {0, 1}, {2, 0, 5});
  Dims dims = {3, 0};
  const Operand none(ACL_FLOAT, {1, 0}, nullptr, 0);
  const Operand shape(ACL_INT64, {2}, dims.data(), 16);
  const Operand target(ACL_FLOAT, {3, 0}, nullptr, 0);
  EXPECT_EQ(Call(none, shape, target, stream_), 0) << "no address is needed";
  int no_stream = 0;
  EXPECT_EQ(Call(none, shape, target, &no_stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  Message();
}

TEST_F(BroadcastTo, DimsOf32Bits) {
  float from[] = {1.0f, 2.0f};
  float to[6] = {};
  int32_t dims[] = {3, 2};
  const Operand source(ACL_FLOAT, {2}, from, sizeof from);
  const Operand shape(ACL_INT32, {2}, dims, sizeof dims);
  const Operand target(ACL_FLOAT, {3, 2}, to, sizeof to);
  ASSERT_EQ(Call(source, shape, target, stream_), 0) << Message();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(to[i], from[i % 2]);
}

// In its turn: input and dims are what earlier work made of them, and the caller is not held up.
TEST_F(BroadcastTo, IsInStreamOrder) {
  struct Gate {
    std::atomic<bool> open{false};
    float value = 1.0f;
    int64_t dim = 7;
  } gate;
  float to[4] = {};
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_,
                [](void* opaque) {
                  auto* const it = static_cast<Gate*>(opaque);
                  while (!it->open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                  it->value = 2.0f;
                  it->dim = 4;
                },
                &gate),
            0);
  {
    const Operand source(ACL_FLOAT, {}, &gate.value, 4);
    const Operand shape(ACL_INT64, {1}, &gate.dim,
                        8);  // in device memory, as its description has it by default
    const Operand target(ACL_FLOAT, {4}, to, sizeof to);
    ASSERT_EQ(Call(source, shape, target, stream_), 0) << Message();
  }  // descriptions and buffers may go
  EXPECT_EQ(to[0], 0.0f);
  gate.open = true;
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  for (const float value : to) EXPECT_EQ(value, 2.0f);
}

TEST_F(BroadcastTo, DimsInHostMemoryAreReadAtOnce) {
  float from = 3.0f;
  float to[4] = {};
  const auto dims = std::make_unique<int64_t>(4);
  std::atomic<bool> open{false};
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_,
                [](void* opaque) {
                  while (!*static_cast<std::atomic<bool>*>(opaque))
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                },
                &open),
            0);
  const Operand source(ACL_FLOAT, {1}, &from, 4);
  const Operand shape(ACL_INT64, {1}, dims.get(), 8);
  ASSERT_EQ(aclSetTensorPlaceMent(shape.description, ACL_MEMTYPE_HOST), 0);
  const Operand target(ACL_FLOAT, {4}, to, sizeof to);
  ASSERT_EQ(Call(source, shape, target, stream_), 0) << Message();
  *dims = -1;
  open = true;
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  for (const float value : to) EXPECT_EQ(value, 3.0f);
}

// What is known only when the stream comes to it fails there, with the output as it was.
TEST_F(BroadcastTo, DimsInDeviceMemoryThatAreOthersFailInTheStream) {
  float from = 3.0f;
  float to[4] = {5.0f, 5.0f, 5.0f, 5.0f};
  int64_t dims[] = {2, 3};
  const Operand source(ACL_FLOAT, {1}, &from, 4);
  const Operand shape(ACL_INT64, {2}, dims, 16);
  const Operand target(ACL_FLOAT, {2, 2}, to, sizeof to);
  ASSERT_EQ(Call(source, shape, target, stream_), 0) << Message();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_NE(Message().find("BroadcastTo: the dims in its second input are not those of its output"),
            std::string::npos);
  for (const float value : to) EXPECT_EQ(value, 5.0f);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
}

TEST_F(BroadcastTo, RefusesWhatDoesNotFit) {
  std::vector<float> memory(64, 1.0f);
  std::vector<float> to(64, -1.0f);
  Dims numbers = {2, 3, 1, 1, 1, 1, 1, 1, 1};
  const auto refused = [&](const Operand& from, const Operand& shape, const Operand& target,
                           const std::string& part) {
    aclSetTensorPlaceMent(shape.description, ACL_MEMTYPE_HOST);
    Message();
    EXPECT_EQ(Call(from, shape, target, stream_), ACL_ERROR_INVALID_PARAM) << part;
    const std::string message = Message();
    EXPECT_NE(message.find("aclopCompileAndExecute: operator BroadcastTo "), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const Operand three(ACL_FLOAT, {3}, memory.data(), 12);
  const Operand six(ACL_FLOAT, {2, 3}, to.data(), 24);
  const Operand two_dims(ACL_INT64, {2}, numbers.data(), 16);
  const std::string accepted =
      "; accepted: the same type, at most 8 dims, and input dims that are 1 or, counted from the last, the "
      "output's";
  refused(Operand(ACL_FLOAT, {2}, memory.data(), 8), two_dims, six,
          "cannot make the output DT_FLOAT [2, 3] of the input DT_FLOAT [2]" + accepted);
  refused(Operand(ACL_INT32, {3}, memory.data(), 12), two_dims, six, "of the input DT_INT32 [3]" + accepted);
  refused(Operand(ACL_FLOAT, {1, 1, 3}, memory.data(), 12), two_dims, six,
          "of the input DT_FLOAT [1, 1, 3]" + accepted);
  refused(Operand(ACL_FLOAT, {0}, memory.data(), 0), two_dims, six, "of the input DT_FLOAT [0]" + accepted);
  refused(Operand(ACL_FLOAT, {-1}, memory.data(), 12), two_dims, six,
          "of the input DT_FLOAT [-1]" + accepted);
  refused(three, two_dims, Operand(ACL_FLOAT, {-2}, to.data(), 24),
          "the output DT_FLOAT [-2] of the input DT_FLOAT [3]" + accepted);
  refused(three, Operand(ACL_INT64, {9}, numbers.data(), 72),
          Operand(ACL_FLOAT, {1, 1, 1, 1, 1, 1, 1, 1, 3}, to.data(), 12), "[1, 1, 1, 1, 1, 1, 1, 1, 3]");
  refused(Operand(ACL_INT4, {1}, memory.data(), 1), two_dims, Operand(ACL_INT4, {2, 3}, to.data(), 3),
          "cannot repeat elements of type DT_INT4, of which several share a byte");
  refused(Operand(ACL_STRING, {1}, memory.data(), 1), two_dims, Operand(ACL_STRING, {2, 3}, to.data(), 3),
          "cannot copy elements of type DT_STRING");
  const std::string of_dims =
      "has as its second input the dims of its output, DT_INT64 or DT_INT32 [2], not ";
  refused(three, Operand(ACL_FLOAT, {2}, numbers.data(), 8), six, of_dims + "DT_FLOAT [2]");
  refused(three, Operand(ACL_INT64, {3}, numbers.data(), 24), six, of_dims + "DT_INT64 [3]");
  refused(three, Operand(ACL_INT64, {1, 2}, numbers.data(), 16), six, of_dims + "DT_INT64 [1, 2]");
  refused(three, Operand(ACL_INT64, {2}, numbers.data() + 1, 16), six,
          "has in its second input the dims [3, 1], accepted: those of its output, [2, 3]");
  refused(three, Operand(ACL_INT64, {2}, numbers.data(), 15), six,
          "16 bytes in inputs[1], whose data buffer has the size 15");
  refused(three, Operand(ACL_INT64, {2}, nullptr, 16), six, "inputs[1], whose data buffer has no address");
  refused(Operand(ACL_FLOAT, {3}, memory.data(), 11), two_dims, six,
          "12 bytes in inputs[0], whose data buffer has the size 11");
  refused(Operand(ACL_FLOAT, {3}, nullptr, 12), two_dims, six, "inputs[0], whose data buffer has no address");
  refused(three, two_dims, Operand(ACL_FLOAT, {2, 3}, to.data(), 23),
          "24 bytes in outputs[0], whose data buffer has the size 23");

  const aclTensorDesc* const inputs[] = {three.description};
  const aclDataBuffer* const in_buffers[] = {three.buffer};
  const aclTensorDesc* const outputs[] = {six.description};
  aclDataBuffer* const out_buffers[] = {six.buffer};
  EXPECT_EQ(aclopCompileAndExecute("BroadcastTo", 1, inputs, in_buffers, 1, outputs, out_buffers, nullptr,
                                   ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(Message().find("has 2 inputs and 1 output, not 1 and 1"), std::string::npos);
  int no_stream = 0;
  EXPECT_EQ(Call(three, two_dims, six, &no_stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(to, std::vector<float>(64, -1.0f));
  Message();
}

}  // namespace
}  // namespace portacl::testing
