// aclnnQuantConvolution: every element against a sum by its definition, on each instruction set; what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "aclnnop/families/convolution.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "matmul/quantised_views.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

struct Call {
  HeldView input, weight, bias, scale, offset = Numbers({1}, ACL_FLOAT), output;
  std::vector<int64_t> stride = {1, 1, 1}, padding = {0, 0, 0}, dilation = {1, 1, 1};
  bool is_transposed = false;
  int64_t groups = 1;
  int32_t offset_x = 0;
  const char* round_mode = nullptr;

  Call(const Shape& image, const Shape& kernel, RandomNumbers& random) {
    for (int64_t axis = 0; axis < 3; ++axis) {
      const auto i = static_cast<size_t>(axis);
      stride[i] = random.Between(1, 2);
      dilation[i] = random.Between(1, 2);
      const int64_t reach = dilation[i] * (kernel[i + 2] - 1);
      padding[i] = random.Between(0, 2);
      if (image[i + 2] + 2 * padding[i] <= reach) padding[i] = reach;
    }
    input = Bytes(image, random);
    weight = Bytes(kernel, random);
    scale = Numbers({kernel[0]}, ACL_FLOAT);
    Fill(scale, random, 0.001);
    bias = Numbers({kernel[0]}, random.Chance(50) ? ACL_FLOAT : ACL_BF16);
    Fill(bias, random, 1);
    bias.null = random.Chance(40);
    offset.null = true;
    Shape shape = {image[0], kernel[0]};
    for (size_t i = 0; i < 3; ++i)
      shape.push_back((image[i + 2] + 2 * padding[i] - dilation[i] * (kernel[i + 2] - 1) - 1) / stride[i] +
                      1);
    output = Numbers(shape, random.Chance(50) ? ACL_FLOAT16 : ACL_BF16);
    for (HeldView* const view : {&input, &weight, &output}) view->format = ACL_FORMAT_NCDHW;
  }
  static HeldView Bytes(const Shape& shape, RandomNumbers& random) {
    HeldView view = Numbers(shape, ACL_INT8);
    for (unsigned char& byte : view.bytes) byte = static_cast<unsigned char>(random.Between(0, 255));
    return view;
  }

  CallResult Run(aclrtStream stream) {
    HeldView* const views[] = {&input, &weight, &bias, &scale, &offset, &output};
    std::vector<aclTensor*> t;
    for (HeldView* const view : views) t.push_back(view->Make());
    aclIntArray* const arrays[] = {aclCreateIntArray(stride.data(), stride.size()),
                                   aclCreateIntArray(padding.data(), padding.size()),
                                   aclCreateIntArray(dilation.data(), dilation.size())};
    CallResult result;
    aclOpExecutor* executor = nullptr;
    result.plan = aclnnQuantConvolutionGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], arrays[0], arrays[1],
                                                        arrays[2], is_transposed, nullptr, groups, offset_x,
                                                        round_mode, t[5], &result.workspace_size, &executor);
    if (result.plan == 0) {
      std::vector<std::byte> workspace(result.workspace_size);
      result.run = aclnnQuantConvolution(workspace.data(), result.workspace_size, executor, stream);
      result.synchronize = aclrtSynchronizeStream(stream);
    } else {
      result.message = TakeErrorMessage();
    }
    for (aclTensor* const tensor : t) aclDestroyTensor(tensor);
    for (aclIntArray* const array : arrays) aclDestroyIntArray(array);
    for (HeldView* const view : views) view->Fetch();
    return result;
  }
  static int At(const HeldView& view, const Index& index) {
    int64_t place = 0;
    for (size_t i = 0; i < index.size(); ++i) place += index[i] * view.strides[i];
    return static_cast<int8_t>(view.bytes[static_cast<size_t>(place)]);
  }
  Element Expected(const Index& at) const {
    int64_t sum = 0;
    const Shape& kernel = weight.shape;
    for (int64_t c = 0; c < kernel[1]; ++c) {
      for (int64_t k = 0; k < kernel[2] * kernel[3] * kernel[4]; ++k) {
        const int64_t places[] = {k / (kernel[3] * kernel[4]), k / kernel[4] % kernel[3], k % kernel[4]};
        Index from = {at[0], c};
        bool is_inside = true;
        for (size_t i = 0; i < 3; ++i) {
          from.push_back(at[i + 2] * stride[i] + places[i] * dilation[i] - padding[i]);
          is_inside = is_inside && from.back() >= 0 && from.back() < input.shape[i + 2];
        }
        if (is_inside) sum += At(weight, {at[1], c, places[0], places[1], places[2]}) * At(input, from);
      }
    }
    float number = static_cast<float>(sum) * NumberAt(scale, {at[1]});
    if (!bias.null) number = number + NumberAt(bias, {at[1]});
    Element element(2);
    EncodeElement(output.dtype, static_cast<double>(number), element.data());
    return element;
  }
};

TEST(QuantConvolution, EveryElement) {
  for (const Isa isa : SupportedIsas()) {
    const ScopedEnvironment environment(
        Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}, {"PORTACL_ISA", engine::IsaName(isa)}});
    RandomNumbers random(21);
    for (int i = 0; i < 8; ++i) {
      const auto length = [&](int64_t most) { return random.Between(1, most); };
      Call call({length(2), length(9), length(5), length(6), length(9)},
                {length(20), 1, length(3), length(3), length(3)}, random);
      call.weight = Call::Bytes({call.weight.shape[0], call.input.shape[1], call.weight.shape[2],
                                 call.weight.shape[3], call.weight.shape[4]},
                                random);
      call.weight.format = ACL_FORMAT_NCDHW;
      const CallResult result = call.Run(environment.stream());
      ASSERT_TRUE(result.Succeeded()) << result.plan << " " << result.message;
      const Shape& shape = call.output.shape;
      for (int64_t at = 0; at < NumElements(shape); ++at) {
        Index index(5);
        int64_t rest = at;
        for (size_t dim = 5; dim-- > 0;) {
          index[dim] = rest % shape[dim];
          rest /= shape[dim];
        }
        const Element expected = call.Expected(index);
        ASSERT_EQ(std::memcmp(expected.data(), call.output.bytes.data() + 2 * at, 2), 0)
            << engine::IsaName(isa) << " call " << i << ": " << at;
      }
    }
  }
}

TEST(QuantConvolution, Refuses) {
  RandomNumbers random(22);
  const auto expect = [&](Product product, const std::function<void(Call&)>& change, aclnnStatus status,
                          const char* words) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    Call call({1, 2, 4, 4, 4}, {3, 2, 2, 2, 2}, random);
    call.bias.null = false;
    change(call);
    const std::vector<unsigned char> before = call.output.bytes;
    const CallResult result = call.Run(environment.stream());
    EXPECT_EQ(result.plan, status) << words;
    EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
    EXPECT_EQ(call.output.bytes, before);
  };
  expect(
      Product::k310P, [](Call&) {}, 361001, "not supported");
  expect(
      Product::k950, [](Call&) {}, 361001, "not supported");
  expect(
      Product::kA2, [](Call& call) { call.scale.null = true; }, 161001, "scale");
  expect(
      Product::kA2, [](Call& call) { call.input.dtype = ACL_UINT8; }, 161002, "input");
  expect(
      Product::kA2, [](Call& call) { call.output.dtype = ACL_INT16; }, 161002, "output");
  expect(
      Product::kA2, [](Call& call) { call.offset.null = false; }, 161002, "offset");
  expect(
      Product::kA2, [](Call& call) { call.groups = 2; }, 161002, "groups");
  expect(
      Product::kA2, [](Call& call) { call.offset_x = 1; }, 161002, "offsetx");
  expect(
      Product::kA2, [](Call& call) { call.is_transposed = true; }, 161002, "transposed");
  expect(
      Product::kA2, [](Call& call) { call.round_mode = "rint"; }, 161002, "roundMode");
  expect(
      Product::kA2, [](Call& call) { call.input.format = ACL_FORMAT_ND; }, 161002, "input");
  expect(
      Product::kA2,
      [](Call& call) {
        call.stride = {1, 1};
      },
      161002, "stride");
  expect(
      Product::kA2,
      [](Call& call) {
        call.dilation = {9, 9, 9};
      },
      161002, "weight");
  expect(
      Product::kA2,
      [](Call& call) {
        call.output = Numbers({1, 3, 9, 9, 9}, ACL_BF16);
        call.output.format = ACL_FORMAT_NCDHW;
      },
      161002, "output");
}

}  // namespace
}  // namespace portacl::testing
