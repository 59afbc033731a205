// The operators that do not read every element of every input (see operand_access.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/operand_access.h"

#include <algorithm>
#include <iterator>

namespace portacl {
namespace {

// Beginnings of names without aclnn and Inplace; an operator that is not listed reads all of its inputs. In doubt one is listed:
// then memory that nobody wrote is not found in it, and nothing is reported that is right.
constexpr std::string_view kPartly[] = {"AdaptiveMaxPool",
                                        "Addbmm",
                                        "Addmm",
                                        "Addmv",
                                        "AvgPool",
                                        "AdaptiveAvgPool",
                                        "Baddbmm",
                                        "BatchNorm",
                                        "CircularPad",
                                        "ConstantPad",
                                        "Convolution",
                                        "CrossEntropyLoss",
                                        "Diag",
                                        "Dropout",
                                        "Embedding",
                                        "FlashAttention",
                                        "FusedInfer",
                                        "FusedSgd",
                                        "Gather",
                                        "GridSampler",
                                        "Im2col",
                                        "Index",
                                        "Masked",
                                        "MaxPool",
                                        "MaxPool2d",
                                        "Moe",
                                        "Multinomial",
                                        "NLLLoss",
                                        "Pad2d",
                                        "Put",
                                        "ReflectionPad",
                                        "RepeatInterleave",
                                        "ReplicationPad",
                                        "RopeWithSinCosCache",
                                        "SWhere",
                                        "ScaledMaskedSoftmax",
                                        "Scatter",
                                        "Slice",
                                        "Take",
                                        "Trace",
                                        "Tril",
                                        "Triu",
                                        "UnfoldGrad",
                                        "Upsample"};
constexpr std::string_view kMoves[] = {
    "Cast",   "Cat",  "Copy",        "Expand",        "Flip",  "ForeachCopy",      "Permute",
    "Repeat", "Roll", "SplitTensor", "SplitWithSize", "Stack", "TransMatmulWeight"};
// In place they rewrite what was there, whatever it was.
constexpr std::string_view kWritesOnly[] = {"Bernoulli", "Copy", "Fill",   "ForeachZero",
                                            "Normal",    "One",  "Random", "SimThreadExponential",
                                            "Uniform",   "Zero"};
constexpr std::string_view kWritesInputs[] = {"AmpUpdateScale", "ApplyAdam", "BatchNorm",
                                              "Foreach",        "FusedSgd",  "ScatterPa"};

template <size_t kCount>
bool BeginsWithOneOf(const std::string_view (&beginnings)[kCount], std::string_view name) noexcept {
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [name](std::string_view one) { return name.starts_with(one); });
}

std::string_view Stem(std::string_view api) noexcept {
  if (api.starts_with("aclnn")) api.remove_prefix(5);
  if (api.starts_with("Inplace")) api.remove_prefix(7);
  return api;
}

}  // namespace

Access AccessOf(std::string_view api, std::string_view parameter, bool is_rewritten) noexcept {
  const std::string_view stem = Stem(api);
  if (is_rewritten && BeginsWithOneOf(kWritesOnly, stem)) return Access::kWritesOnly;
  // The probabilities of Bernoulli, the numbers of NormalTensorFloat and the like are read.
  if (BeginsWithOneOf(kPartly, stem) && !(stem.starts_with("RepeatInterleave") && parameter == "repeats")) {
    return Access::kPartly;
  }
  if (BeginsWithOneOf(kMoves, stem)) return Access::kMoves;
  return Access::kReads;
}

bool WritesInputs(std::string_view api) noexcept { return BeginsWithOneOf(kWritesInputs, Stem(api)); }

}  // namespace portacl
