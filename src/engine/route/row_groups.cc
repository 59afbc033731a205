// Sums of groups of rows (see row_groups.h). One thread sums a column of a group, in the order of the rows, so bits do
// not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "engine/route/row_groups.h"

#include <algorithm>

#include "base/float_environment.h"
#include "engine/bad_index.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kColumns = 512;  // of a row, summed at a time
constexpr auto kWord = static_cast<int64_t>(sizeof(int64_t));

int64_t WordAt(const BufferRef& buffer, const JobContext& context, int64_t i) {
  return Load<int64_t>(buffer.Address(context) + i * kWord);
}

// Writes where groups begin. A bad number leaves its group without rows.
void PutBegins(const SumRowGroups& sums, const JobContext& context, BadIndex& bad) {
  char* const begin = sums.begin.Address(context);
  int64_t end = 0;
  for (int64_t group = 0; group < sums.groups; ++group) {
    Store(begin + group * kWord, end);
    if (!sums.group.is_there) {
      end += sums.rows / sums.groups;
      continue;
    }
    const int64_t given = WordAt(sums.group.buffer, context, group);
    const int64_t least = sums.are_counts ? 0 : end;
    const int64_t most = sums.are_counts ? sums.rows - end : sums.rows;
    if (given < least || given > most) {
      bad.Note(group);
    } else {
      end = sums.are_counts ? end + given : given;
    }
  }
  Store(begin + sums.groups * kWord, end);
}

void SumGroup(const SumRowGroups& sums, const JobContext& context, int64_t group, int64_t column, int64_t n) {
  float sum[kColumns];
  float row[kColumns];
  std::fill_n(sum, n, 0.0f);
  const int64_t end = WordAt(sums.begin, context, group + 1);
  for (int64_t i = WordAt(sums.begin, context, group); i < end; ++i) {
    const int64_t at = (i * sums.columns + column) * sums.from.size;
    sums.from.load(sums.from.buffer.Address(context) + at, row, static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) sum[k] += row[k];
  }
  const int64_t to = (group * sums.columns + column) * sums.to.size;
  sums.to.store(sum, sums.to.buffer.Address(context) + to, static_cast<size_t>(n), false);
}

}  // namespace

void SumRowGroups::Run(const JobContext& context) const noexcept {
  BadIndex bad;
  PutBegins(*this, context, bad);
  const int64_t parts = (columns + kColumns - 1) / kColumns;
  ForEachBlock(groups * parts, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const int64_t column = block % parts * kColumns;
    SumGroup(*this, context, block / parts, column, std::min(kColumns, columns - column));
  });
  bad.Report(context, raises, name, 0, rows + 1,
             [&](int64_t at) { return WordAt(group.buffer, context, at); });
}

}  // namespace portacl::engine
