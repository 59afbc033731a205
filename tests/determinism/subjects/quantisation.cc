// Quantisers for the determinism test: codes of rows whose scale their greatest number says, of norms and of activations, and numbers of codes.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/logic.h"
#include "aclnnop/families/quantisation.h"
#include "determinism/subject.h"

namespace portacl::testing {
namespace {

using Tensors = std::span<aclTensor* const>;

// A tensor for what is not looked at, as long as phase 1 runs.
class Unseen {
 public:
  explicit Unseen(const Shape& shape, aclDataType dtype = ACL_FLOAT) {
    static std::vector<double> memory(1 << 17);
    tensor_ = aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), memory.data());
  }
  ~Unseen() { aclDestroyTensor(tensor_); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
  operator aclTensor*() const { return tensor_; }

 private:
  aclTensor* tensor_;
};

constexpr int64_t kRows = 97;
constexpr int64_t kColumns = 1531;

SubjectRegistration Register(const OperatorBinding& binding, const std::vector<GivenCase>& given,
                             size_t settings, bool is_plain_code = false) {
  Subject subject;
  subject.is_plain_code = is_plain_code;
  subject.description.binding = binding;
  subject.description.binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(i);
  }
  subject.given = given;
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.sums_everything = true;
  for (const char c : binding.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return SubjectRegistration(std::move(subject));
}

std::vector<GivenCase> Cases(const std::vector<DtypeNumber>& dtypes, const std::vector<Shape>& inputs,
                             const Shape& output, DtypeNumber output_dtype, size_t settings = 1) {
  std::vector<GivenCase> cases;
  for (const DtypeNumber dtype : dtypes) {
    for (size_t setting = 0; setting < settings; ++setting)
      cases.push_back(
          {std::vector<DtypeNumber>(inputs.size(), dtype), inputs, output_dtype, output, setting, {}});
  }
  return cases;
}

aclDataType DtypeOf(const aclTensor* tensor) {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclGetDataType(tensor, &dtype);
  return dtype;
}

const auto kDynamic = Register(
    {"aclnnDynamicQuantV2",
     {"x", "smooth", "out"},
     [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
       const Unseen scale({kRows});
       const Unseen offset({kRows});
       return aclnnDynamicQuantV2GetWorkspaceSize(
           t[0], t[1], nullptr, 2, t[2], scale, a.reduction == 0 ? nullptr : static_cast<aclTensor*>(offset),
           size, executor);
     },
     aclnnDynamicQuantV2},
    Cases({ACL_FLOAT16, ACL_BF16}, {{kRows, kColumns}, {kColumns}}, {kRows, kColumns}, ACL_INT8, 2), 2);

const auto kScaled =
    Register({"aclnnAscendQuant",
              {"x", "scale", "offset", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                return aclnnAscendQuantGetWorkspaceSize(t[0], t[1], t[2], a.reduction == 1, "round", ACL_INT8,
                                                        t[3], size, executor);
              },
              aclnnAscendQuant},
             Cases({ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{kRows, kColumns}, {kColumns}, {kColumns}},
                   {kRows, kColumns}, ACL_INT8, 2),
             2);

const auto kSigns = Register({"aclnnSignBitsPack",
                              {"self", "out"},
                              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                                return aclnnSignBitsPackGetWorkspaceSize(t[0], 4, t[1], size, executor);
                              },
                              aclnnSignBitsPack},
                             Cases({ACL_FLOAT, ACL_FLOAT16}, {{160000}}, {4, 5000}, ACL_UINT8), 1,
                             /*is_plain_code=*/true);
const auto kOfSigns =
    Register({"aclnnSignBitsUnpack",
              {"self", "out"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                return aclnnSignBitsUnpackGetWorkspaceSize(t[0], 5, DtypeOf(t[1]), t[1], size, executor);
              },
              aclnnSignBitsUnpack},
             Cases({ACL_UINT8}, {{20000}}, {5, 32000}, ACL_FLOAT16), 1, /*is_plain_code=*/true);

// Compares a tensor with itself, and with another one.
const auto kSameBits =
    Register({"aclnnPrecisionCompare",
              {"golden", "realdata", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                return aclnnPrecisionCompareGetWorkspaceSize(t[0], a.reduction == 0 ? t[0] : t[1], t[2], size,
                                                             executor);
              },
              aclnnPrecisionCompare},
             Cases({ACL_FLOAT, ACL_BF16}, {{kRows, kColumns}, {kRows, kColumns}}, {1}, ACL_UINT32, 2), 2,
             /*is_plain_code=*/true);

const auto kInverse =
    Register({"aclnnAscendAntiQuant",
              {"scale", "offset", "out"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                static std::vector<int8_t> codes = [] {
                  std::vector<int8_t> made(kRows * kColumns);
                  for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<int8_t>(i * 7);
                  return made;
                }();
                const Shape shape = {kRows, kColumns};
                aclTensor* const x = aclCreateTensor(shape.data(), 2, ACL_INT8, nullptr, 0, ACL_FORMAT_ND,
                                                     shape.data(), 2, codes.data());
                const aclnnStatus status = aclnnAscendAntiQuantGetWorkspaceSize(x, t[0], t[1], DtypeOf(t[2]),
                                                                                false, t[2], size, executor);
                aclDestroyTensor(x);
                return status;
              },
              aclnnAscendAntiQuant},
             Cases({ACL_FLOAT, ACL_BF16}, {{kColumns}, {kColumns}}, {kRows, kColumns}, ACL_FLOAT16), 1);

const auto kNormed =
    Register({"aclnnAddRmsNormDynamicQuantV2",
              {"x1", "x2", "gamma", "beta", "out"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                const Unseen sum({kRows, kColumns}, DtypeOf(t[0]));
                const Unseen scale({kRows});
                const Unseen second({kRows, kColumns}, ACL_INT8);
                return aclnnAddRmsNormDynamicQuantV2GetWorkspaceSize(t[0], t[1], t[2], nullptr, nullptr, t[3],
                                                                     1e-6, nullptr, t[4], second, sum, scale,
                                                                     scale, size, executor);
              },
              aclnnAddRmsNormDynamicQuantV2},
             Cases({ACL_FLOAT16, ACL_BF16}, {{kRows, kColumns}, {kRows, kColumns}, {kColumns}, {kColumns}},
                   {kRows, kColumns}, ACL_INT8),
             1);

const auto kGated =
    Register({"aclnnSwiGluQuantV2",
              {"x", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                static char dynamic[] = "dynamic";
                const Unseen codes({kRows, kColumns}, ACL_INT8);
                return aclnnSwiGluQuantV2GetWorkspaceSize(t[0], nullptr, nullptr, nullptr, a.reduction == 1,
                                                          dynamic, 0, ACL_INT8, codes, t[1], size, executor);
              },
              aclnnSwiGluQuantV2},
             Cases({ACL_FLOAT, ACL_FLOAT16, ACL_BF16}, {{kRows, 2 * kColumns}}, {kRows}, ACL_FLOAT, 2), 2);

const auto kBlocks =
    Register({"aclnnDynamicBlockQuant",
              {"x", "out"},
              [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
                const Unseen scale({kRows, (kColumns + 127) / 128});
                return aclnnDynamicBlockQuantGetWorkspaceSize(t[0], 0.0, nullptr, ACL_INT8, 1, 128, t[1],
                                                              scale, size, executor);
              },
              aclnnDynamicBlockQuant},
             Cases({ACL_FLOAT16, ACL_BF16}, {{kRows, kColumns}}, {kRows, kColumns}, ACL_INT8), 1);

const auto kFake = Register(
    {"aclnnFakeQuantPerChannelAffineCachemask",
     {"self", "scale", "out"},
     [](Tensors t, const Attributes&, uint64_t* size, aclOpExecutor** executor) {
       static std::vector<int32_t> zeros(kColumns, 3);
       const Shape shape = {kColumns};
       aclTensor* const zero = aclCreateTensor(shape.data(), 1, ACL_INT32, nullptr, 0, ACL_FORMAT_ND,
                                               shape.data(), 1, zeros.data());
       const Unseen mask({kRows, kColumns}, ACL_BOOL);
       const aclnnStatus status = aclnnFakeQuantPerChannelAffineCachemaskGetWorkspaceSize(
           t[0], t[1], zero, -1, -128, 127, t[2], mask, size, executor);
       aclDestroyTensor(zero);
       return status;
     },
     aclnnFakeQuantPerChannelAffineCachemask},
    Cases({ACL_FLOAT, ACL_FLOAT16}, {{kRows, kColumns}, {kColumns}}, {kRows, kColumns}, ACL_FLOAT), 1);

const auto kRotated =
    Register({"aclnnRotateQuant",
              {"x", "rotation", "out"},
              [](Tensors t, const Attributes& a, uint64_t* size, aclOpExecutor** executor) {
                const Unseen scale({kRows});
                return aclnnRotateQuantGetWorkspaceSize(t[0], t[1], nullptr, -1, nullptr, 0, 0.0,
                                                        a.reduction == 1, t[2], scale, size, executor);
              },
              aclnnRotateQuant},
             Cases({ACL_FLOAT16, ACL_BF16}, {{kRows, 1536}, {48, 48}}, {kRows, 1536}, ACL_INT8), 1);

}  // namespace
}  // namespace portacl::testing
