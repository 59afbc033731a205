// The table from the types of operators, with their inputs and attributes, to native calls (see native_call.h).
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "aclnnop/aclnn_abs.h"
#include "aclnnop/aclnn_acos.h"
#include "aclnnop/aclnn_acosh.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_addmm.h"
#include "aclnnop/aclnn_amax.h"
#include "aclnnop/aclnn_amin.h"
#include "aclnnop/aclnn_apply_adam_w.h"
#include "aclnnop/aclnn_asin.h"
#include "aclnnop/aclnn_asinh.h"
#include "aclnnop/aclnn_atan.h"
#include "aclnnop/aclnn_atanh.h"
#include "aclnnop/aclnn_baddbmm.h"
#include "aclnnop/aclnn_batch_norm.h"
#include "aclnnop/aclnn_bernoulli.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_cat.h"
#include "aclnnop/aclnn_cdist_backward.h"
#include "aclnnop/aclnn_ceil.h"
#include "aclnnop/aclnn_channel_shuffle.h"
#include "aclnnop/aclnn_constant_pad_nd.h"
#include "aclnnop/aclnn_convolution.h"
#include "aclnnop/aclnn_convolution_backward.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_cos.h"
#include "aclnnop/aclnn_cosh.h"
#include "aclnnop/aclnn_div.h"
#include "aclnnop/aclnn_dropout_do_mask.h"
#include "aclnnop/aclnn_eq_tensor.h"
#include "aclnnop/aclnn_erf.h"
#include "aclnnop/aclnn_erfc.h"
#include "aclnnop/aclnn_erfinv.h"
#include "aclnnop/aclnn_exp.h"
#include "aclnnop/aclnn_expm1.h"
#include "aclnnop/aclnn_fill_diagonal.h"
#include "aclnnop/aclnn_fill_scalar.h"
#include "aclnnop/aclnn_flip.h"
#include "aclnnop/aclnn_floor.h"
#include "aclnnop/aclnn_ge_tensor.h"
#include "aclnnop/aclnn_grid_sampler2d.h"
#include "aclnnop/aclnn_grid_sampler2d_backward.h"
#include "aclnnop/aclnn_grid_sampler3d.h"
#include "aclnnop/aclnn_grid_sampler3d_backward.h"
#include "aclnnop/aclnn_gt_tensor.h"
#include "aclnnop/aclnn_hardswish.h"
#include "aclnnop/aclnn_layer_norm.h"
#include "aclnnop/aclnn_le_tensor.h"
#include "aclnnop/aclnn_log.h"
#include "aclnnop/aclnn_log1p.h"
#include "aclnnop/aclnn_logical_and.h"
#include "aclnnop/aclnn_logical_not.h"
#include "aclnnop/aclnn_logical_or.h"
#include "aclnnop/aclnn_logsoftmax.h"
#include "aclnnop/aclnn_lt_tensor.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_max_dim.h"
#include "aclnnop/aclnn_maximum.h"
#include "aclnnop/aclnn_mean.h"
#include "aclnnop/aclnn_min_dim.h"
#include "aclnnop/aclnn_minimum.h"
#include "aclnnop/aclnn_mish.h"
#include "aclnnop/aclnn_mish_backward.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_ne_tensor.h"
#include "aclnnop/aclnn_neg.h"
#include "aclnnop/aclnn_one_hot.h"
#include "aclnnop/aclnn_permute.h"
#include "aclnnop/aclnn_pow_tensor_tensor.h"
#include "aclnnop/aclnn_reciprocal.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_relu.h"
#include "aclnnop/aclnn_round.h"
#include "aclnnop/aclnn_rsqrt.h"
#include "aclnnop/aclnn_scaled_masked_softmax.h"
#include "aclnnop/aclnn_scaled_masked_softmax_backward.h"
#include "aclnnop/aclnn_scatter.h"
#include "aclnnop/aclnn_sigmoid.h"
#include "aclnnop/aclnn_sign.h"
#include "aclnnop/aclnn_sign_bits_pack.h"
#include "aclnnop/aclnn_sign_bits_unpack.h"
#include "aclnnop/aclnn_sin.h"
#include "aclnnop/aclnn_sinh.h"
#include "aclnnop/aclnn_softmax.h"
#include "aclnnop/aclnn_softmax_backward.h"
#include "aclnnop/aclnn_softmax_cross_entropy_with_logits.h"
#include "aclnnop/aclnn_sort.h"
#include "aclnnop/aclnn_sqrt.h"
#include "aclnnop/aclnn_sub.h"
#include "aclnnop/aclnn_swish.h"
#include "aclnnop/aclnn_swish_backward.h"
#include "aclnnop/aclnn_tan.h"
#include "aclnnop/aclnn_tanh.h"
#include "aclnnop/aclnn_trunc.h"
#include "aclnnop/aclnn_upsample_bilinear_2d.h"
#include "aclnnop/aclnn_upsample_nearest_2d.h"
#include "aclnnop/aclnn_upsample_nearest_3d.h"
#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"
#include "aclnnop/aclnn_upsample_trilinear_3d.h"
#include "aclnnop/aclnn_upsample_trilinear_3d_backward.h"
#include "aclop/native_call.h"

namespace portacl {
namespace {

// A cubeMathType that every product accepts for every dtype. It changes nothing.
constexpr int8_t kAnyPrecision = 1;
constexpr int kAnyNumber = std::numeric_limits<int>::max();
// The scale with which a resampling computes its scale from the lengths.
constexpr double kByLengths = 0;

// A row: type, least and most inputs, outputs, the native function and its arguments, which `a` reads from the call.
// The functions of `a` check the arguments that they read, so an operator needs nothing but its row.
#define NATIVE(type, least, most, outputs, function, ...)                                \
  {                                                                                      \
    type, least, most, outputs, #function,                                               \
        [](NamedArguments& a, uint64_t* size, aclOpExecutor** executor) -> aclnnStatus { \
          return function##GetWorkspaceSize(__VA_ARGS__, size, executor);                \
        },                                                                               \
        function                                                                         \
  }
#define UNARY(type, function) NATIVE(type, 1, 1, 1, function, a.In(0), a.Out(0))
#define BINARY(type, function) NATIVE(type, 2, 2, 1, function, a.In(0), a.In(1), a.Out(0))
// The attributes of convolutions, for images with as many dims as the view has.
#define STRIDES(view) a.Array(a.Spatial("strides", 1, (view).rank()))
#define PADS(view) a.Array(a.Pads((view).rank()))
#define DILATIONS(view) a.Array(a.Spatial("dilations", 1, (view).rank()))
#define NO_OUTPUT_PADDING(view) a.Array(Dims(a.SpatialDims((view).rank()), 0))
#define OUTPUT_PADDING(view) a.Array(a.Spatial("output_padding", 0, (view).rank()))

constexpr NativeCall kCalls[] = {
    // ---- element by element ----
    UNARY("Abs", aclnnAbs),
    UNARY("Acos", aclnnAcos),
    UNARY("Acosh", aclnnAcosh),
    UNARY("Asin", aclnnAsin),
    UNARY("Asinh", aclnnAsinh),
    UNARY("Atan", aclnnAtan),
    UNARY("Atanh", aclnnAtanh),
    UNARY("Ceil", aclnnCeil),
    UNARY("Cos", aclnnCos),
    UNARY("Cosh", aclnnCosh),
    UNARY("Erf", aclnnErf),
    UNARY("Erfc", aclnnErfc),
    UNARY("Erfinv", aclnnErfinv),
    // base, scale, shift: of the exponential function and the natural logarithm.
    NATIVE("Exp", 1, 1, 1, aclnnExp,
           a.OnlyNumber("base", -1).OnlyNumber("scale", 1).OnlyNumber("shift", 0).In(0), a.Out(0)),
    NATIVE("Log", 1, 1, 1, aclnnLog,
           a.OnlyNumber("base", -1).OnlyNumber("scale", 1).OnlyNumber("shift", 0).In(0), a.Out(0)),
    UNARY("Expm1", aclnnExpm1),
    UNARY("Floor", aclnnFloor),
    UNARY("HardSwish", aclnnHardswish),
    UNARY("Log1p", aclnnLog1p),
    UNARY("LogicalNot", aclnnLogicalNot),
    UNARY("Mish", aclnnMish),
    UNARY("Neg", aclnnNeg),
    UNARY("Reciprocal", aclnnReciprocal),
    UNARY("Relu", aclnnRelu),
    UNARY("Rint", aclnnRound),
    NATIVE("Round", 1, 1, 1, aclnnRound, a.Only("decimals", int64_t{0}).In(0), a.Out(0)),
    UNARY("Rsqrt", aclnnRsqrt),
    UNARY("Sigmoid", aclnnSigmoid),
    UNARY("Sign", aclnnSign),
    UNARY("Sin", aclnnSin),
    UNARY("Sinh", aclnnSinh),
    UNARY("Sqrt", aclnnSqrt),
    // aclnnSquare is Ascend 950's alone.
    NATIVE("Square", 1, 1, 1, aclnnMul, a.In(0), a.In(0), a.Out(0)),
    UNARY("Tan", aclnnTan),
    UNARY("Tanh", aclnnTanh),
    UNARY("Trunc", aclnnTrunc),
    NATIVE("Swish", 1, 1, 1, aclnnSwish, a.In(0), a.Real(a.Number("scale", 1)), a.Out(0)),
    // The result of Swish, the third input, is not needed.
    NATIVE("SwishGrad", 3, 3, 1, aclnnSwishBackward, a.In(0), a.In(1), a.Real(a.Number("scale", 1)),
           a.Out(0)),
    BINARY("MishGrad", aclnnMishBackward),
    NATIVE("Add", 2, 2, 1, aclnnAdd, a.In(0), a.In(1), a.Whole(1), a.Out(0)),
    NATIVE("Sub", 2, 2, 1, aclnnSub, a.In(0), a.In(1), a.Whole(1), a.Out(0)),
    BINARY("Mul", aclnnMul),
    BINARY("Div", aclnnDiv),
    BINARY("RealDiv", aclnnDiv),
    BINARY("Maximum", aclnnMaximum),
    BINARY("Minimum", aclnnMinimum),
    BINARY("Pow", aclnnPowTensorTensor),
    BINARY("Equal", aclnnEqTensor),
    BINARY("NotEqual", aclnnNeTensor),
    BINARY("Greater", aclnnGtTensor),
    BINARY("GreaterEqual", aclnnGeTensor),
    BINARY("Less", aclnnLtTensor),
    BINARY("LessEqual", aclnnLeTensor),
    BINARY("LogicalAnd", aclnnLogicalAnd),
    BINARY("LogicalOr", aclnnLogicalOr),
    NATIVE("Cast", 1, 1, 1, aclnnCast, a.In(0),
           static_cast<aclDataType>(a.ShortInt(a.Int("dst_type"), "dst_type")), a.Out(0)),
    NATIVE("SignBitsPack", 1, 1, 1, aclnnSignBitsPack, a.In(0), a.Int("size"), a.Out(0)),
    NATIVE("SignBitsUnpack", 1, 1, 1, aclnnSignBitsUnpack, a.In(0), a.Int("size"),
           static_cast<aclDataType>(a.ShortInt(a.Int("dtype"), "dtype")), a.Out(0)),

    // ---- constants, masks ----
    NATIVE("Fill", 2, 2, 1, aclnnInplaceFillScalar, a.Out(0).As(a.Ints(0)), a.Scalar(1)),
    NATIVE("FillDiagonal", 1, 1, 1, aclnnInplaceCopy, a.Out(0), a.In(0).Like(a.Out(0))),
    NATIVE("FillDiagonal", 1, 1, 1, aclnnInplaceFillDiagonal, a.Out(0), a.Real(a.Number("fill_value", 0)),
           a.Flag("wrap", false)),
    NATIVE("OneHot", 4, 4, 1, aclnnOneHot, a.In(0), a.ShortInt(a.Int(1), "depth"), a.In(2), a.In(3),
           a.Int("axis", -1), a.Out(0)),
    NATIVE("OneHotD", 3, 3, 1, aclnnOneHot, a.In(0), a.ShortInt(a.Int("depth"), "depth"), a.In(1), a.In(2),
           a.Int("axis", -1), a.Out(0)),
    // A byte for each element: 1 keeps it.
    NATIVE("DropOutGenMaskV3", 2, 2, 1, aclnnInplaceBernoulli, a.Out(0).As(a.Ints(0)), a.Scalar(1),
           a.Int("seed", 0), a.Int("seed2", 0)),
    NATIVE("DropOutDoMaskV3", 3, 3, 1, aclnnMul, a.In(0), a.In(1).As(a.In(0).dims()), a.Out(0)),
    NATIVE("DropOutDoMaskV3", 3, 3, 1, aclnnInplaceDivs, a.Out(0), a.Real(a.Number(2))),
    // A bit for each element.
    NATIVE("DropOutDoMask", 3, 3, 1, aclnnDropoutDoMask, a.In(0), a.In(1), 1 - a.Number(2), a.Out(0)),

    // ---- dims and indices ----
    NATIVE("Transpose", 2, 2, 1, aclnnPermute, a.In(0), a.Array(a.Ints(1)), a.Out(0)),
    NATIVE("TransposeD", 1, 1, 1, aclnnPermute, a.In(0), a.Array(a.Ints("perm")), a.Out(0)),
    NATIVE("ConfusionTransposeD", 1, 1, 1, aclnnInplaceCopy, a.Out(0).As(a.Confused().dims()),
           a.Confused().Like(a.Out(0).As(a.Confused().dims()))),
    NATIVE("Slice", 3, 3, 1, aclnnInplaceCopy, a.Out(0), a.In(0).Part(a.Ints(1), a.Ints(2)).Like(a.Out(0))),
    NATIVE("StridedSlice", 4, 4, 1, aclnnInplaceCopy, a.Out(0),
           a.In(0).Sliced(a.Ints(1), a.Ints(2), a.Ints(3)).Like(a.Out(0))),
    NATIVE("AsStrided", 4, 4, 1, aclnnInplaceCopy, a.Out(0),
           a.In(0).Strided(a.Ints(1), a.Ints(2), a.Int(3)).Like(a.Out(0))),
    NATIVE(
        "ViewCopy", 8, 8, 1, aclnnInplaceCopy, a.InPlace().Strided(a.Ints(1), a.Ints(2), a.Int(3)),
        a.In(4)
            .Strided(a.Ints(5), a.Ints(6), a.Int(7))
            .Like(a.Out(0).Strided(a.Ints(1), a.Ints(2), a.Int(3)))),
    NATIVE("Pad", 2, 2, 1, aclnnConstantPadNd, a.In(0), a.Array(a.Borders(1, a.In(0).rank())), a.Whole(0),
           a.Out(0)),
    NATIVE("PadV3", 2, 2, 1, aclnnConstantPadNd,
           a.Only("mode", "constant").Only("paddings_contiguous", true).In(0),
           a.Array(a.Borders(1, a.In(0).rank())), a.Whole(0), a.Out(0)),
    NATIVE("PadV3", 3, 3, 1, aclnnConstantPadNd,
           a.Only("mode", "constant").Only("paddings_contiguous", true).In(0),
           a.Array(a.Borders(1, a.In(0).rank())), a.Scalar(2), a.Out(0)),
    NATIVE("ReverseV2", 2, 2, 1, aclnnFlip, a.In(0), a.Array(a.Ints(1)), a.Out(0)),
    NATIVE("ConcatD", 1, kAnyNumber, 1, aclnnCat, a.Only("N", a.Inputs()).AllInputs(), a.Int("concat_dim"),
           a.Out(0)),
    NATIVE("ShuffleChannel", 1, 1, 1, aclnnChannelShuffle, a.In(0), a.Int("group", 1), a.Out(0)),
    // Writes the updates to the positions along a dim that the indices name.
    NATIVE("ArgMaxGrad", 3, 3, 1, aclnnScatter, a.In(0), a.Int("dimension"),
           a.In(1).Widened(a.Int("dimension"), a.In(0)), a.In(2).Widened(a.Int("dimension"), a.In(0)), 0,
           a.Out(0)),
    NATIVE("SortV2", 1, 1, 1, aclnnSort, a.In(0), true, a.Int("axis", -1), a.Flag("descending", false),
           a.Out(0), a.Unread(a.Out(0), ACL_INT64)),

    // ---- reductions, rows ----
    NATIVE("ReduceSum", 2, 2, 1, aclnnReduceSum, a.In(0), a.Array(a.Axes(1)), a.Flag("keep_dims", false),
           a.Out(0).dtype(), a.Out(0)),
    NATIVE("ReduceMean", 2, 2, 1, aclnnMean, a.In(0), a.Array(a.Axes(1)), a.Flag("keep_dims", false),
           a.Out(0).dtype(), a.Out(0)),
    NATIVE("ReduceMax", 2, 2, 1, aclnnAmax, a.In(0), a.Array(a.Axes(1)), a.Flag("keep_dims", false),
           a.Out(0)),
    NATIVE("ReduceMin", 2, 2, 1, aclnnAmin, a.In(0), a.Array(a.Axes(1)), a.Flag("keep_dims", false),
           a.Out(0)),
    NATIVE("ArgMaxWithValue", 1, 1, 2, aclnnMaxDim, a.In(0), a.Int("dimension"), a.Flag("keep_dims", false),
           a.Out(1), a.Out(0)),
    NATIVE("ArgMinWithValue", 1, 1, 2, aclnnMinDim, a.In(0), a.Int("dimension"), a.Flag("keep_dims", false),
           a.Out(1), a.Out(0)),
    NATIVE("SoftmaxV2", 1, 1, 1, aclnnSoftmax, a.In(0), a.OnlyAxis("axes"), a.Out(0)),
    NATIVE("LogSoftmaxV2", 1, 1, 1, aclnnLogSoftmax, a.In(0), a.OnlyAxis("axes"), a.Out(0)),
    NATIVE("SoftmaxCrossEntropyWithLogits", 2, 2, 2, aclnnSoftmaxCrossEntropyWithLogits, a.In(0), a.In(1),
           a.Out(0), a.Out(1)),
    NATIVE("ScaledMaskedSoftmax", 2, 2, 1, aclnnScaledMaskedSoftmax, a.In(0), a.In(1), a.Number("scale", 1),
           a.Flag("fixed_triu_mask", false), a.Out(0)),
    NATIVE("ScaledMaskedSoftmaxGrad", 3, 3, 1, aclnnScaledMaskedSoftmaxBackward, a.In(0), a.In(1), a.In(2),
           a.Number("scale", 1), a.Flag("fixed_triu_mask", false), a.Out(0)),
    // The softmax of x1 + alpha x2, the first output, and that with a mask, which has a byte for each element.
    NATIVE("AxpyWithSoftmaxAndDropOutDoMask", 3, 3, 2, aclnnAdd, a.In(0), a.In(1),
           a.Real(a.Number("alpha", 1)), a.Out(1)),
    NATIVE("AxpyWithSoftmaxAndDropOutDoMask", 3, 3, 2, aclnnSoftmax, a.Out(1), a.OnlyAxis("axis"), a.Out(0)),
    NATIVE("AxpyWithSoftmaxAndDropOutDoMask", 3, 3, 2, aclnnMul, a.Out(0), a.In(2).As(a.Out(0).dims()),
           a.Out(1)),
    NATIVE("AxpyWithSoftmaxAndDropOutDoMask", 3, 3, 2, aclnnInplaceDivs, a.Out(1),
           a.Real(a.Number("input_keep_prob", 1))),
    // The gradient of x2 there: alpha times the softmax's.
    NATIVE("DropoutWithMulsAndSoftmaxGrad", 3, 3, 1, aclnnMul, a.In(0), a.In(1).As(a.In(0).dims()), a.Out(0)),
    NATIVE("DropoutWithMulsAndSoftmaxGrad", 3, 3, 1, aclnnInplaceDivs, a.Out(0),
           a.Real(a.Number("input_keep_prob", 1))),
    NATIVE("DropoutWithMulsAndSoftmaxGrad", 3, 3, 1, aclnnSoftmaxBackward, a.Out(0), a.In(2),
           a.OnlyAxis("axes"), a.Out(0)),
    NATIVE("DropoutWithMulsAndSoftmaxGrad", 3, 3, 1, aclnnInplaceMuls, a.Out(0),
           a.Real(a.Number("alpha", 1))),
    NATIVE("LayerNormV3", 3, 3, 3, aclnnLayerNorm,
           a.Only("begin_params_axis", a.Int("begin_norm_axis", 0)).In(0),
           a.Array(a.In(0).From(a.Int("begin_norm_axis", 0))), a.In(1), a.In(2), a.Number("epsilon"),
           a.Out(0), a.Out(1), a.Out(2)),
    NATIVE("BNInfer", 5, 5, 1, aclnnBatchNorm, a.In(0).Images(), a.In(1), a.In(2), a.In(3), a.In(4), false, 0,
           a.Number("epsilon"), a.Out(0).Images(), nullptr, nullptr),

    // Operands of the dims [..., P, R, M]: x1 [..., P, M] and x2 [..., R, M] repeated, and what belongs to a
    // distance, [..., P, R], repeated along the last dim.
    NATIVE("CdistGrad", 4, 4, 1, aclnnCdistBackward, a.In(0).First(-1), a.In(1).First(-2).Once(a.Out(0)),
           a.In(2).First(-3), a.In(3).First(-1), static_cast<float>(a.Number("p", 2)),
           a.Out(0).As(a.In(1).First(-2).Once(a.Out(0)).dims())),

    // ---- optimizers ----
    NATIVE("ApplyAdamW", 11, 12, 3, aclnnApplyAdamW, a.InPlace(0).Like(a.In(0)), a.InPlace(1).Like(a.In(1)),
           a.InPlace(2).Like(a.In(2)), a.In(3), a.In(4), a.In(5), a.In(6), a.In(7), a.In(8), a.In(9),
           a.In(10), a.MaybeIn(11), a.Flag("amsgrad", false), a.Flag("maximize", false)),

    // ---- products ----
    NATIVE("MatMul", 2, 2, 1, aclnnMm, a.In(0).Transposed(a.Flag("transpose_x1", false)),
           a.In(1).Transposed(a.Flag("transpose_x2", false)), a.Out(0), kAnyPrecision),
    NATIVE("MatMul", 3, 3, 1, aclnnAddmm, a.In(2), a.In(0).Transposed(a.Flag("transpose_x1", false)),
           a.In(1).Transposed(a.Flag("transpose_x2", false)), a.Whole(1), a.Whole(1), a.Out(0),
           kAnyPrecision),
    NATIVE("MatMulV2", 2, 2, 1, aclnnMm,
           a.Only("offset_x", int64_t{0}).In(0).Transposed(a.Flag("transpose_x1", false)),
           a.In(1).Transposed(a.Flag("transpose_x2", false)), a.Out(0), kAnyPrecision),
    NATIVE("MatMulV2", 3, 3, 1, aclnnAddmm, a.In(2),
           a.Only("offset_x", int64_t{0}).In(0).Transposed(a.Flag("transpose_x1", false)),
           a.In(1).Transposed(a.Flag("transpose_x2", false)), a.Whole(1), a.Whole(1), a.Out(0),
           kAnyPrecision),
    NATIVE("BatchMatMul", 2, 2, 1, aclnnMatmul, a.In(0).Transposed(a.Flag("adj_x1", false)),
           a.In(1).Transposed(a.Flag("adj_x2", false)), a.Out(0), kAnyPrecision),
    NATIVE("BatchMatMul", 3, 3, 1, aclnnBaddbmm, a.In(2), a.In(0).Transposed(a.Flag("adj_x1", false)),
           a.In(1).Transposed(a.Flag("adj_x2", false)), a.Whole(1), a.Whole(1), a.Out(0), kAnyPrecision),
    NATIVE("BatchMatMulV2", 2, 2, 1, aclnnMatmul,
           a.Only("offset_x", int64_t{0}).In(0).Transposed(a.Flag("adj_x1", false)),
           a.In(1).Transposed(a.Flag("adj_x2", false)), a.Out(0), kAnyPrecision),
    NATIVE("Conv2D", 2, 3, 1, aclnnConvolution, a.In(0).Images(), a.In(1).Images(), a.MaybeIn(2),
           STRIDES(a.In(0)), PADS(a.In(0)), DILATIONS(a.In(0)), false, NO_OUTPUT_PADDING(a.In(0)),
           a.Int("groups", 1), a.Out(0).Images(), kAnyPrecision),
    NATIVE("Conv2DTranspose", 3, 4, 1, aclnnConvolution, a.In(1).Images(), a.In(2).Images(), a.MaybeIn(3),
           STRIDES(a.In(1)), PADS(a.In(1)), DILATIONS(a.In(1)), true, OUTPUT_PADDING(a.In(1)),
           a.Int("groups", 1), a.Out(0).Of(a.Ints(0)).Images(), kAnyPrecision),
    // Only the shape of what stands for the input and, below, for the filter counts.
    NATIVE("Conv2DBackpropInput", 3, 3, 1, aclnnConvolutionBackward, a.In(2).Images(),
           a.Out(0).Of(a.Ints(0)).Images(), a.In(1).Images(), nullptr, STRIDES(a.In(2)), PADS(a.In(2)),
           DILATIONS(a.In(2)), false, NO_OUTPUT_PADDING(a.In(2)), a.ShortInt(a.Int("groups", 1), "groups"),
           a.Flags({true, false, false}), kAnyPrecision, a.Out(0).Images(), nullptr, nullptr),
    NATIVE("Conv2DBackpropFilter", 3, 3, 1, aclnnConvolutionBackward, a.In(2).Images(), a.In(0).Images(),
           a.Out(0).Of(a.Ints(1)).Images(), nullptr, STRIDES(a.In(2)), PADS(a.In(2)), DILATIONS(a.In(2)),
           false, NO_OUTPUT_PADDING(a.In(2)), a.ShortInt(a.Int("groups", 1), "groups"),
           a.Flags({false, true, false}), kAnyPrecision, nullptr, a.Out(0).Images(), nullptr),
    NATIVE("Conv3D", 2, 3, 1, aclnnConvolution, a.In(0).Images(), a.In(1).Images(), a.MaybeIn(2),
           STRIDES(a.In(0)), PADS(a.In(0)), DILATIONS(a.In(0)), false, NO_OUTPUT_PADDING(a.In(0)),
           a.Int("groups", 1), a.Out(0).Images(), kAnyPrecision),
    NATIVE("Conv3DTranspose", 3, 4, 1, aclnnConvolution, a.In(1).Images(), a.In(2).Images(), a.MaybeIn(3),
           STRIDES(a.In(1)), PADS(a.In(1)), DILATIONS(a.In(1)), true, OUTPUT_PADDING(a.In(1)),
           a.Int("groups", 1), a.Out(0).Of(a.Ints(0)).Images(), kAnyPrecision),
    // Only the shape of what stands for the input and, below, for the filter counts.
    NATIVE("Conv3DBackpropInput", 3, 3, 1, aclnnConvolutionBackward, a.In(2).Images(),
           a.Out(0).Of(a.Ints(0)).Images(), a.In(1).Images(), nullptr, STRIDES(a.In(2)), PADS(a.In(2)),
           DILATIONS(a.In(2)), false, NO_OUTPUT_PADDING(a.In(2)), a.ShortInt(a.Int("groups", 1), "groups"),
           a.Flags({true, false, false}), kAnyPrecision, a.Out(0).Images(), nullptr, nullptr),
    NATIVE("Conv3DBackpropFilter", 3, 3, 1, aclnnConvolutionBackward, a.In(2).Images(), a.In(0).Images(),
           a.Out(0).Of(a.Ints(1)).Images(), nullptr, STRIDES(a.In(2)), PADS(a.In(2)), DILATIONS(a.In(2)),
           false, NO_OUTPUT_PADDING(a.In(2)), a.ShortInt(a.Int("groups", 1), "groups"),
           a.Flags({false, true, false}), kAnyPrecision, nullptr, a.Out(0).Images(), nullptr),
    // A filter [1, channels, h, w]: each channel is a group.
    NATIVE("DepthwiseConv2DBackpropInput", 3, 3, 1, aclnnConvolutionBackward, a.In(2).Images(),
           a.Out(0).Of(a.Ints(0)).Images(), a.In(1).OfGroups(), nullptr, STRIDES(a.In(2)), PADS(a.In(2)),
           DILATIONS(a.In(2)), false, NO_OUTPUT_PADDING(a.In(2)), a.Out(0).Channels(),
           a.Flags({true, false, false}), kAnyPrecision, a.Out(0).Images(), nullptr, nullptr),
    NATIVE("DepthwiseConv2DBackpropFilter", 3, 3, 1, aclnnConvolutionBackward, a.In(2).Images(),
           a.In(0).Images(), a.Out(0).As(a.Ints(1)).OfGroups(), nullptr, STRIDES(a.In(2)), PADS(a.In(2)),
           DILATIONS(a.In(2)), false, NO_OUTPUT_PADDING(a.In(2)), a.In(0).Channels(),
           a.Flags({false, true, false}), kAnyPrecision, nullptr, a.Out(0).As(a.Ints(1)).OfGroups(), nullptr),

    // ---- resampling ----
    NATIVE("ResizeBilinearV2", 2, 2, 1, aclnnUpsampleBilinear2d, a.In(0).Images(), a.Array(a.Ints(1)),
           a.CornersAligned(), kByLengths, kByLengths, a.Out(0).Images()),
    NATIVE("ResizeNearestNeighborV2", 2, 2, 1, aclnnUpsampleNearest2d,
           a.Only("align_corners", false).Only("half_pixel_centers", false).In(0).Images(),
           a.Array(a.Ints(1)), a.Out(0).Images()),
    NATIVE("UpsampleNearest3d", 1, 1, 1, aclnnUpsampleNearest3d, a.In(0).Images(),
           a.Array(a.Ints("output_size")), kByLengths, kByLengths, kByLengths, a.Out(0).Images()),
    NATIVE("UpsampleNearest3dGrad", 1, 1, 1, aclnnUpsampleNearest3dBackward, a.In(0).Images(),
           a.Array(a.Ints("output_size")), a.Array(a.Ints("input_size")), kByLengths, kByLengths, kByLengths,
           a.Out(0).Images()),
    NATIVE("UpsampleTrilinear3d", 1, 1, 1, aclnnUpsampleTrilinear3d, a.In(0).Images(),
           a.Array(a.Ints("output_size")), a.Flag("align_corners", false), kByLengths, kByLengths, kByLengths,
           a.Out(0).Images()),
    NATIVE("UpsampleTrilinear3dGrad", 1, 1, 1, aclnnUpsampleTrilinear3dBackward, a.In(0).Images(),
           a.Array(a.Ints("output_size")), a.Array(a.Ints("input_size")), a.Flag("align_corners", false),
           kByLengths, kByLengths, kByLengths, a.Out(0).Images()),
    NATIVE("GridSampler2D", 2, 2, 1, aclnnGridSampler2D, a.In(0), a.In(1),
           a.Choice("interpolation_mode", {"bilinear", "nearest", "bicubic"}),
           a.Choice("padding_mode", {"zeros", "border", "reflection"}), a.Flag("align_corners", false),
           a.Out(0)),
    NATIVE("GridSampler2DGrad", 3, 3, 2, aclnnGridSampler2DBackward, a.In(0), a.In(1), a.In(2),
           a.Choice("interpolation_mode", {"bilinear", "nearest", "bicubic"}),
           a.Choice("padding_mode", {"zeros", "border", "reflection"}), a.Flag("align_corners", false),
           a.Flags({true, true}), a.Out(0), a.Out(1)),
    NATIVE("GridSampler3D", 2, 2, 1, aclnnGridSampler3D, a.In(0), a.In(1),
           a.Choice("interpolation_mode", {"bilinear", "nearest"}),
           a.Choice("padding_mode", {"zeros", "border", "reflection"}), a.Flag("align_corners", false),
           a.Out(0)),
    NATIVE("GridSampler3DGrad", 3, 3, 2, aclnnGridSampler3DBackward, a.In(0), a.In(1), a.In(2),
           a.Choice("interpolation_mode", {"bilinear", "nearest"}),
           a.Choice("padding_mode", {"zeros", "border", "reflection"}), a.Flag("align_corners", false),
           a.Flags({true, true}), a.Out(0), a.Out(1)),
};

}  // namespace

std::span<const NativeCall> NativeCalls() noexcept { return kCalls; }

}  // namespace portacl
