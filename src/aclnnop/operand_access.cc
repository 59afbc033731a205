// Looks up in the schema how operators access their operands (see operand_access.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/operand_access.h"

#include <algorithm>
#include <iterator>

#include "aclnn/executor.h"
#include "aclnn/operand_bytes.h"
#include "aclnnop/signatures.h"
#include "contract/checks.h"

namespace portacl {

using sanitizer::OperandInfo;
using sanitizer::OperandUse;

namespace {

struct Row {
  std::string_view api;
  OperandUse use;
  std::string_view moved;  // a parameter whose elements are all read, only to be moved
  bool rewrites_anew;      // in place, it does not read the old values
  bool writes_inputs;
};

// An operator that is not listed reads all of its inputs. List an operator in doubt: its unwritten memory
// then goes unnoticed, but no correct program is reported.
constexpr Row kRows[] = {
#define ACCESS(name, use, moved, rewrites_anew, writes_inputs) \
  {#name, OperandUse::use, moved, rewrites_anew, writes_inputs},
#include "aclnnop/access.def"
#undef ACCESS
};

Row RowOf(std::string_view api) noexcept {
  const Row* const found =
      std::find_if(std::begin(kRows), std::end(kRows), [api](const Row& row) { return row.api == api; });
  return found == std::end(kRows) ? Row{api, OperandUse::kReads, "", false, false} : *found;
}

// Tells whether an operator accesses only a part of an operand, chosen by indices, dims or windows. For attention that may be any operand,
// for the listed ones it is the first.
bool TouchesPart(std::string_view api, int operand) {
  constexpr std::string_view kOfFirst[] = {"Slice",   "Trace",    "Diag",        "Pad",   "Im2col",    "Pool",
                                           "Conv",    "Upsample", "Gather",      "Index", "Embedding", "Take",
                                           "Sampler", "Masked",   "Scatter",     "Put",   "Tril",      "Triu",
                                           "NLLLoss", "Unfold",   "Multinomial", "Search"};
  if (api.find("Attention") != std::string_view::npos) return true;
  return operand == 0 && std::any_of(std::begin(kOfFirst), std::end(kOfFirst), [api](std::string_view part) {
           return api.find(part) != std::string_view::npos;
         });
}

}  // namespace

OperandUse UseOf(std::string_view api, std::string_view parameter, bool is_rewritten) noexcept {
  const Row row = RowOf(api);
  if (is_rewritten && row.rewrites_anew) return OperandUse::kWritesOnly;
  return parameter == row.moved ? OperandUse::kMoves : row.use;
}

bool WritesInputs(std::string_view api) noexcept { return RowOf(api).writes_inputs; }

std::vector<OperandInfo> OperandsOf(const OperatorCall& call, const Executor& executor) {
  std::vector<OperandInfo> operands(static_cast<size_t>(executor.operand_count));
  for (int i = 0; i < executor.parameter_count; ++i) {
    const ExecutorParameter& parameter = executor.parameters[i];
    for (int entry = 0; entry < parameter.count; ++entry) {
      const int index = parameter.first + entry;
      const bool is_input = index < executor.input_count;
      const bool is_result =
          index >= executor.first_output && index < executor.first_output + executor.output_count;
      OperandInfo& operand = operands[static_cast<size_t>(index)];
      operand.name = parameter.name;
      operand.entry = parameter.is_list ? entry : -1;
      operand.tensor = call.Entry(i, entry);
      operand.use = UseOf(call.api, parameter.name, is_result && is_input);
      operand.is_read = is_input && operand.use != OperandUse::kWritesOnly;
      operand.writes = is_result || std::string_view(parameter.name).ends_with("Ref") ||
                       IsWritten(call.api, parameter.name);
      operand.is_written = is_result || !is_input || WritesInputs(call.api);
      operand.is_partial = TouchesPart(call.api, index) ||
                           (!operand.writes && UseOf(call.api, parameter.name, false) == OperandUse::kPartly);
      if (operand.tensor != nullptr) SetBytes(*operand.tensor, &operand);
    }
  }
  return operands;
}

}  // namespace portacl
