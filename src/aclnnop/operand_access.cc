// Looks up in the schema how operators access their operands (see operand_access.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/operand_access.h"

#include <algorithm>
#include <iterator>

namespace portacl {
namespace {

struct Row {
  std::string_view api;
  Access access;
  std::string_view moved;  // a parameter whose elements are all read, only to be moved
  bool rewrites_anew;      // in place, it does not read the old values
  bool writes_inputs;
};

// An operator that is not listed reads all of its inputs. List an operator in doubt: its unwritten memory
// then goes unnoticed, but no correct program is reported.
constexpr Row kRows[] = {
#define ACCESS(name, access, moved, rewrites_anew, writes_inputs) \
  {#name, Access::access, moved, rewrites_anew, writes_inputs},
#include "aclnn/access.def"
#undef ACCESS
};

Row RowOf(std::string_view api) noexcept {
  const Row* const found =
      std::find_if(std::begin(kRows), std::end(kRows), [api](const Row& row) { return row.api == api; });
  return found == std::end(kRows) ? Row{api, Access::kReads, "", false, false} : *found;
}

}  // namespace

Access AccessOf(std::string_view api, std::string_view parameter, bool is_rewritten) noexcept {
  const Row row = RowOf(api);
  if (is_rewritten && row.rewrites_anew) return Access::kWritesOnly;
  return parameter == row.moved ? Access::kMoves : row.access;
}

bool WritesInputs(std::string_view api) noexcept { return RowOf(api).writes_inputs; }

}  // namespace portacl
