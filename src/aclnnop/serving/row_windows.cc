// aclnnFusedCausalConv1d and its in-place form: the causal convolution of requests that continue.
// aclnnNsaCompress, aclnnNsaCompressGrad and aclnnNsaCompressWithCache: windows of keys or values as one row each.
// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string_view>

#include "aclnnop/aclnn_nsa_compress_with_cache.h"
#include "aclnnop/serving/paged_rows.h"
#include "aclnnop/serving/row_windows_functions.h"
#include "engine/serve/consecutive_rows.h"

namespace portacl {
namespace {

using namespace dense;

// ---- FusedCausalConv1d ----

enum Tensors {
  kX,
  kWeight,
  kStates,
  kStart,
  kLines,
  kInitialMode,
  kBias,
  kAccepted,
  kComputed,
  kFirstBlock,
  kLastBlock,
  kInitialBlock,
  kY
};
enum Attributes { kActivation, kSkipped, kRunMode, kMostQueries, kResidual, kBlockSize, kMode };
constexpr int64_t kGroup = 128;  // columns are a multiple of it

// Returns the result's position: x where the function lacks one.
template <bool in_place>
constexpr int kResult = in_place ? kX : kY;

template <bool in_place>
aclnnStatus ConvolutionFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 3).Rank(kStates, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const bool is_packed = x.rank == 2;
  const int64_t columns = x[x.rank - 1];
  checks.Holds(columns % kGroup == 0, kX, "a last dim that is a multiple of 128");
  checks.Is(kWeight, Shape{engine::ConvolveFromStates::kTaps, columns});
  checks.Holds(call.Tensor(kStates).shape[2] == columns, kStates, "rows of x's length");
  checks.Holds(call.Tensor(kStates).shape[1] >= engine::ConvolveFromStates::kTaps - 1, kStates,
               "at least 2 rows of each line");
  if (is_packed) checks.Given(kStart, "of an x with 2 dims");
  if (!checks.Passed()) return checks.status();
  if (call.IsGiven(kStart)) {
    checks.Rank(kStart, 1, 1);
    if (checks.Passed()) checks.Holds(call.Tensor(kStart).shape[0] > 0, kStart, "[B + 1]");
  }
  if (!checks.Passed()) return checks.status();
  const int64_t sequences = is_packed ? call.Tensor(kStart).shape[0] - 1 : x[0];
  if (call.IsGiven(kStart)) checks.Is(kStart, Shape{sequences + 1});
  for (const int tensor : {kAccepted, kComputed}) checks.IsIfGiven(tensor, Shape{sequences});
  if (call.IsGiven(kLines) && call.Tensor(kLines).shape.rank != 2) checks.Is(kLines, Shape{sequences});
  checks.Integer(kResidual, 0, 1).Integer(kMode, 0, 1);
  if (Integer(call, kMode) == 1) checks.Given(kComputed, "in mode 1");
  if (!in_place && checks.Passed()) checks.Is(kY, x);
  return checks.status();
}
aclnnStatus IsComputed(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kInitialMode, kBias, kFirstBlock, kLastBlock, kInitialBlock}) {
    if (call.IsGiven(tensor) && call.Tensor(tensor).numel > 0)
      checks.Holds(false, tensor, "null: portacl does not compute with it");
  }
  if (call.IsGiven(kLines))
    checks.Holds(call.Tensor(kLines).shape.rank == 1, kLines,
                 "one dim: portacl does not compute with blocks of states");
  return checks.HoldsOf(Integer(call, kActivation) == 0, kActivation, "0: portacl computes with no other")
      .status();
}

constexpr DtypeRule kDtypes = ByGeneration({}, {}, serving::kHalfAndBf16);
template <int tensor>
constexpr auto Index() {
  return List(IfGiven<tensor>(DtypesIn(kInt32Or64, {tensor})));
}
template <int tensor>
constexpr auto Inside() {
  return List(IfGiven<tensor>(InsideStorage({tensor})));
}
template <bool in_place>
constexpr auto ConvolutionChecks() {
  constexpr auto kNulls = List(NotNull(kX), NotNull(kWeight), NotNull(kStates), NotNull(kResult<in_place>),
                               DtypesIn(kDtypes, {kX}), SameDtype(kX, kWeight), SameDtype(kX, kStates));
  constexpr auto kIndices =
      Join(Join(Index<kStart>(), Index<kLines>()), Join(Index<kAccepted>(), Index<kComputed>()));
  constexpr auto kRest =
      List(SameDtype(kX, kResult<in_place>), Custom(ConvolutionFits<in_place>, kTiling),
           Custom(IsComputed, ACLNN_ERR_INNER_NULLPTR), SizesRepresentable({kResult<in_place>, kStates}),
           DoneIfEmpty({kX}), InsideStorage({kX, kWeight, kStates}));
  constexpr auto kStorages =
      Join(Join(Inside<kStart>(), Inside<kLines>()), Join(Inside<kAccepted>(), Inside<kComputed>()));
  return Join(Join(kNulls, kIndices), Join(kRest, kStorages));
}
constexpr auto kConvolutionChecks = ConvolutionChecks<false>();
constexpr auto kConvolutionChecksInPlace = ConvolutionChecks<true>();

template <bool in_place>
void SetConvolution(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX).shape;
  const Shape& states = call.Tensor(kStates).shape;
  const auto kept = [&](int tensor) {
    return engine::NumberRowsOf(call.isa, ops.Out(tensor, ACL_DT_UNDEFINED, /*keeps=*/true),
                                call.Tensor(tensor).dtype);
  };
  engine::ConvolveFromStates convolve{};
  convolve.to = kept(kResult<in_place>);
  convolve.x = in_place ? convolve.to : ops.Rows(kX);
  convolve.weight = ops.Rows(kWeight);
  convolve.state = kept(kStates);
  convolve.begin = ops.InIfGiven(kStart, ACL_INT64);
  convolve.line = ops.InIfGiven(kLines, ACL_INT64);
  convolve.accepted = ops.InIfGiven(kAccepted, ACL_INT64);
  convolve.computed = ops.InIfGiven(kComputed, ACL_INT64);
  const bool is_packed = x.rank == 2;
  convolve.sequences = is_packed ? call.Tensor(kStart).shape[0] - 1 : x[0];
  convolve.steps = is_packed ? 0 : x[1];
  convolve.rows = is_packed ? x[0] : x[0] * x[1];
  if (!is_packed) convolve.begin = {};
  convolve.columns = x[x.rank - 1];
  convolve.lines = states[0];
  convolve.slots = states[1];
  convolve.skipped = Integer(call, kSkipped);
  convolve.clears_first = Integer(call, kMode) == 1;
  convolve.adds_x = Integer(call, kResidual) == 1;
  convolve.work = ops.Floats(convolve.Blocks() * convolve.WorkOfBlock());
  convolve.threads = call.threads;
  ops.Compute(
      convolve,
      {convolve.x.buffer, convolve.to.buffer, convolve.weight.buffer, convolve.state.buffer,
       convolve.begin.buffer, convolve.line.buffer, convolve.accepted.buffer, convolve.computed.buffer},
      call.Tensor(kX).numel);
  ops.SetJob();
}

// ---- NsaCompress ----

enum Compressed { kInput, kWindowWeight, kOut };
enum CompressedAttributes { kEnds, kLayout, kWindow, kStride, kEndsType };

// Positions of the attributes, which differ in the gradient's order.
struct WindowAttributes {
  int ends, layout, window, stride, ends_type;
};
constexpr WindowAttributes kOfCompression{kEnds, kLayout, kWindow, kStride, kEndsType};
constexpr WindowAttributes kOfGradient{0, 4, 1, 2, 3};

std::span<const int64_t> EndsIn(const OperatorCall& call) noexcept {
  const aclIntArray* const array = call.attributes[kEnds].array;
  return array == nullptr ? std::span<const int64_t>() : array->values;
}

// Checks the attributes, and counts the windows of input's rows.
int64_t CountWindows(const OperatorCall& call, const WindowAttributes& at, const Shape& input,
                     ShapeChecks& checks) {
  checks.HoldsOf(std::string_view(serving::TextOr(call, at.layout, "TND")) == "TND", at.layout,
                 "TND or a null pointer");
  checks.Integer(at.ends_type, 0, 0);
  checks.Integer(at.window, 1, int64_t{1} << 40).Integer(at.stride, 1, int64_t{1} << 40);
  if (!checks.Passed()) return 0;
  const int64_t window = Integer(call, at.window);
  const int64_t stride = Integer(call, at.stride);
  checks.HoldsOf(window >= stride, at.window, "at least compressStride");
  int64_t windows = 0;
  int64_t before = 0;
  bool fits = !EndsIn(call).empty();
  for (const int64_t end : EndsIn(call)) {
    fits = fits && end >= before && end <= input[0];
    if (fits && end - before >= window) windows += (end - before - window) / stride + 1;
    before = end;
  }
  checks.HoldsOf(fits, at.ends, "where each sequence ends, at most at input's last row");
  return windows;
}

aclnnStatus WindowsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kInput, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& input = call.Tensor(kInput).shape;
  const int64_t windows = CountWindows(call, kOfCompression, input, checks);
  if (!checks.Passed()) return checks.status();
  checks.Is(kWindowWeight, Shape{Integer(call, kWindow), input[1]});
  return checks.Is(kOut, Shape{windows, input[1], input[2]}).status();
}

constexpr DtypeRule kCompressedDtypes = SinceAtlasA2(serving::kHalfAndBf16);
constexpr auto kWindowChecks =
    List(NotNull(kInput), NotNull(kWindowWeight), NotNull(kOut), DtypesIn(kCompressedDtypes, {kInput}),
         SameDtype(kInput, kWindowWeight), SameDtype(kInput, kOut), Custom(WindowsFit, kTiling),
         SizesRepresentable({kOut}), DoneIfEmpty({kOut}), InsideStorage({kInput, kWindowWeight}));

void SetWindows(const OperatorCall& call, Executor& executor) {
  const aclIntArray* const ends = call.attributes[kEnds].array;
  DenseOpList ops(call, executor, &ends->values);
  const Shape& input = call.Tensor(kInput).shape;
  engine::CompressWindows compress{};
  compress.x = ops.Rows(kInput);
  compress.weight = ops.Rows(kWindowWeight);
  compress.to = ops.RowsOut(kOut);
  compress.end = ops.Array();
  compress.sequences = std::ssize(ends->values);
  compress.rows = input[0];
  compress.windows = call.Tensor(kOut).shape[0];
  compress.heads = input[1];
  compress.width = input[2];
  compress.window = Integer(call, kWindow);
  compress.stride = Integer(call, kStride);
  compress.threads = call.threads;
  ops.Compute(compress, {compress.x.buffer, compress.weight.buffer, compress.to.buffer},
              call.Tensor(kOut).numel);
  ops.SetJob();
}

// ---- NsaCompressWithCache ----

enum Cached { kPages, kCachedWeight, kCacheSlot, kPageTable, kCache };
enum CachedAttributes {
  kCachedLengths,
  kCachedLayout,
  kCachedWindow,
  kCachedStride,
  kCachedLengthType,
  kPageRows
};

aclnnStatus CacheFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(std::string_view(serving::TextOr(call, kCachedLayout, "TND")) == "TND", kCachedLayout,
                 "TND or a null pointer");
  checks.Integer(kCachedLengthType, 1, 1);
  checks.Integer(kCachedWindow, 1, int64_t{1} << 40).Integer(kCachedStride, 1, int64_t{1} << 40);
  checks.Rank(kPages, 4, 4).Rank(kCacheSlot, 1, 1).Rank(kCache, 3, 3);
  checks.Given(kPageTable, "of the pages");
  if (checks.Passed()) checks.Rank(kPageTable, 2, 2);
  if (!checks.Passed()) return checks.status();
  checks.HoldsOf(Integer(call, kCachedWindow) >= Integer(call, kCachedStride), kCachedWindow,
                 "at least compressStride");
  const Shape& pages = call.Tensor(kPages).shape;
  const Shape& table = call.Tensor(kPageTable).shape;
  const int64_t sequences = call.Tensor(kCacheSlot).shape[0];
  checks.Is(kCachedWeight, Shape{Integer(call, kCachedWindow), pages[2]});
  checks.Is(kCache, Shape{call.Tensor(kCache).shape[0], pages[2], pages[3]});
  checks.HoldsOf(Integer(call, kPageRows) == pages[1] && pages[1] > 0, kPageRows, "the rows of a page");
  checks.Is(kPageTable, Shape{sequences, table[1]});
  checks.Holds(table[1] <= (int64_t{1} << 40) / std::max<int64_t>(pages[1], 1), kPageTable,
               "pages of at most 2^40 rows of each sequence");
  if (!checks.Passed()) return checks.status();
  const aclIntArray* const array = call.attributes[kCachedLengths].array;
  bool fits = array != nullptr && std::ssize(array->values) == sequences;
  for (int64_t b = 0; fits && b < sequences; ++b) {
    const int64_t length = array->values[static_cast<size_t>(b)];
    fits = length >= 0 && length <= table[1] * pages[1];
  }
  return checks.HoldsOf(fits, kCachedLengths, "the rows of each sequence, at most those of its pages")
      .status();
}

constexpr auto kCacheChecks =
    Join(List(NotNull(kPages), NotNull(kCachedWeight), NotNull(kCacheSlot), NotNull(kCache),
              DtypesIn(kCompressedDtypes, {kPages}), SameDtype(kPages, kCachedWeight),
              DtypesIn(kInt32, {kCacheSlot}), IfGiven<kPageTable>(DtypesIn(kInt32, {kPageTable}))),
         List(SameDtype(kPages, kCache), SizesRepresentable({kPages, kCache}), Custom(CacheFits, kTiling),
              DoneIfEmpty({kPages}), DoneIfEmpty({kCache}),
              InsideStorage({kPages, kCachedWeight, kCacheSlot, kPageTable})));

void SetCache(const OperatorCall& call, Executor& executor) {
  const aclIntArray* const lengths = call.attributes[kCachedLengths].array;
  DenseOpList ops(call, executor, &lengths->values);
  const Shape& pages = call.Tensor(kPages).shape;
  engine::CompressLastWindow compress{};
  compress.x = ops.Rows(kPages);
  compress.weight = ops.Rows(kCachedWeight);
  compress.to = engine::NumberRowsOf(call.isa, ops.Out(kCache, ACL_DT_UNDEFINED, /*keeps=*/true),
                                     call.Tensor(kCache).dtype);
  compress.length = ops.Array();
  compress.table = ops.In(kPageTable, ACL_INT64);
  compress.slot = ops.In(kCacheSlot, ACL_INT64);
  compress.sequences = std::ssize(lengths->values);
  compress.columns = call.Tensor(kPageTable).shape[1];
  compress.pages = pages[0];
  compress.slots = pages[1];
  compress.targets = call.Tensor(kCache).shape[0];
  compress.heads = pages[2];
  compress.width = pages[3];
  compress.window = Integer(call, kCachedWindow);
  compress.stride = Integer(call, kCachedStride);
  compress.threads = call.threads;
  ops.Compute(compress,
              {compress.x.buffer, compress.weight.buffer, compress.to.buffer, compress.table, compress.slot},
              call.Tensor(kPages).numel);
  ops.SetJob();
}

// ---- NsaCompressGrad ----

enum Gradients { kOutputGradient, kGradientInput, kGradientWeight, kOfInput, kOfWeight };

aclnnStatus GradientsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kGradientInput, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& input = call.Tensor(kGradientInput).shape;
  const int64_t windows = CountWindows(call, kOfGradient, input, checks);
  if (!checks.Passed()) return checks.status();
  const Shape weight{Integer(call, kOfGradient.window), input[1]};
  checks.Is(kOutputGradient, Shape{windows, input[1], input[2]}).Is(kGradientWeight, weight);
  return checks.Is(kOfInput, input).Is(kOfWeight, weight).status();
}

constexpr auto kGradientChecks =
    List(NotNull(kOutputGradient), NotNull(kGradientInput), NotNull(kGradientWeight), NotNull(kOfInput),
         NotNull(kOfWeight), DtypesIn(kCompressedDtypes, {kOutputGradient}),
         SameDtype(kOutputGradient, kGradientInput), SameDtype(kOutputGradient, kGradientWeight),
         SameDtype(kOutputGradient, kOfInput), SameDtype(kOutputGradient, kOfWeight),
         Custom(GradientsFit, kTiling), SizesRepresentable({kOfInput, kOfWeight}), DoneIfEmpty({kOfWeight}),
         InsideStorage({kOutputGradient, kGradientInput, kGradientWeight}));

void SetGradients(const OperatorCall& call, Executor& executor) {
  const aclIntArray* const ends = call.attributes[kOfGradient.ends].array;
  DenseOpList ops(call, executor, &ends->values);
  const Shape& input = call.Tensor(kGradientInput).shape;
  engine::CompressGradients gradients{};
  gradients.gradient = ops.Rows(kOutputGradient);
  gradients.x = ops.Rows(kGradientInput);
  gradients.weight = ops.Rows(kGradientWeight);
  gradients.of_x = ops.RowsOut(kOfInput);
  gradients.of_weight = ops.RowsOut(kOfWeight);
  gradients.end = ops.Array();
  gradients.sequences = std::ssize(ends->values);
  gradients.rows = input[0];
  gradients.windows = call.Tensor(kOutputGradient).shape[0];
  gradients.heads = input[1];
  gradients.width = input[2];
  gradients.window = Integer(call, kOfGradient.window);
  gradients.stride = Integer(call, kOfGradient.stride);
  gradients.threads = call.threads;
  ops.Compute(gradients,
              {gradients.gradient.buffer, gradients.x.buffer, gradients.weight.buffer, gradients.of_x.buffer,
               gradients.of_weight.buffer},
              call.Tensor(kGradientInput).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFusedCausalConv1d) {
  return dense::RunOpList(call, kConvolutionChecks, workspaceSize, executor, SetConvolution<false>);
}
PORTACL_PHASE_1(aclnnInplaceFusedCausalConv1d) {
  return dense::RunOpList(call, kConvolutionChecksInPlace, workspaceSize, executor, SetConvolution<true>);
}
PORTACL_PHASE_1(aclnnNsaCompress) {
  return dense::RunOpList(call, kWindowChecks, workspaceSize, executor, SetWindows);
}
PORTACL_PHASE_1(aclnnNsaCompressGrad) {
  return dense::RunOpList(call, kGradientChecks, workspaceSize, executor, SetGradients);
}

aclnnStatus aclnnNsaCompressWithCacheGetWorkspaceSize(
    const aclTensor* input, const aclTensor* weight, const aclTensor* slotMapping,
    const aclIntArray* actSeqLenOptional, const aclTensor* blockTableOptional, char* layoutOptional,
    int64_t compressBlockSize, int64_t compressStride, int64_t actSeqLenType, int64_t pageBlockSize,
    aclTensor* outputCacheRef, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const TensorArgument tensors[] = {{"input", input},
                                    {"weight", weight},
                                    {"slotMapping", slotMapping},
                                    {"blockTableOptional", blockTableOptional},
                                    {"outputCacheRef", outputCacheRef}};
  const Attribute attributes[] = {
      {"actSeqLenOptional", actSeqLenOptional}, {"layoutOptional", layoutOptional},
      {"compressBlockSize", compressBlockSize}, {"compressStride", compressStride},
      {"actSeqLenType", actSeqLenType},         {"pageBlockSize", pageBlockSize}};
  OperatorCall call{"aclnnNsaCompressWithCache", tensors, attributes, /*in_place=*/false, /*output_count=*/1};
  return dense::RunOpList(call, kCacheChecks, workspaceSize, executor, SetCache);
}
PORTACL_PHASE_2(aclnnNsaCompressWithCache)
