// Grouped matrix products (see grouped.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/grouped.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "base/float_environment.h"
#include "base/text.h"
#include "engine/gemm/gemm.h"
#include "engine/gemm/integer_result.h"
#include "engine/gemm/quantised.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

double WorkOfGroup(int64_t rows, int64_t columns, int64_t depth) {
  return static_cast<double>(rows) * static_cast<double>(columns) *
         static_cast<double>(std::max<int64_t>(depth, 1));
}

// Tiles of all groups for each thread: as many as let threads end at about the same time.
constexpr double kTilesOfThread = 16;

// Cuts columns until there are `wanted` tiles, or until these are narrow. Cuts of rows would read the right operand
// from memory once more.
void CutColumns(GemmJob& job, int64_t wanted) {
  const int64_t least = int64_t{2} * job.kernels->columns;
  const int64_t width = (job.gemm.columns * job.row_tiles + wanted - 1) / wanted;
  const int64_t columns = std::max(least, (width + least - 1) / least * least);
  if (columns >= job.tile_columns) return;
  job.tile_columns = columns;
  job.column_tiles = (job.gemm.columns + columns - 1) / columns;
}

// The product of a group and its data, for a thread that takes a tile of it.
class GroupProduct {
 public:
  GroupProduct(const GroupedProducts& products, const JobContext& context)
      : products_(products), context_(context) {}

  // Makes the product of a group whose rows or terms start at `begin`. `all_work` is the work of all groups.
  const GemmJob& Make(int64_t group, int64_t begin, int64_t size, double all_work) {
    const GroupedPart& part = PartOf(group);
    using Cut = GroupedProducts::Cut;
    const bool cuts_rows = products_.cut == Cut::kRows;
    const bool cuts_terms = products_.cut == Cut::kTerms;
    const int64_t row = cuts_rows ? begin : 0;
    const int64_t term = cuts_terms ? begin : 0;
    const auto at = [&](const GroupedOperand& operand, int64_t rows, int64_t columns) {
      return operand.buffer.Address(context_) + group * Step(operand) + rows * operand.row +
             columns * operand.column;
    };
    Gemm gemm{};
    std::fill(std::begin(gemm.batch), std::end(gemm.batch), int64_t{1});
    gemm.rows = cuts_rows ? size : part.rows;
    gemm.columns = part.columns;
    gemm.depth = cuts_terms ? size : part.depth;
    gemm.groups = 1;
    gemm.alpha = gemm.beta = 1;
    const auto operand = [&](int8_t argument, const GroupedOperand& of, char* address) {
      addresses_[argument] = address;
      GemmOperand made{};
      made.argument = argument;
      made.dtype = of.dtype;
      made.row = of.row;
      made.column = of.column;
      return made;
    };
    gemm.left = operand(0, part.left, at(part.left, row, term));
    gemm.out = operand(2, part.out, at(part.out, row, 0));
    gemm.adds = part.added.is_there;
    if (gemm.adds) gemm.added = operand(3, part.added, at(part.added, row, 0));
    if (part.kind == GroupedPart::Kind::kWeights) {
      gemm.right.argument = 1;
      gemm.right.dtype = ACL_FLOAT;
      gemm.right.quantised = &source_;
      SetWeights(part, group);
    } else {
      gemm.right = operand(1, part.right, at(part.right, term, 0));
    }
    if (part.kind == GroupedPart::Kind::kIntegers) {
      const auto numbers = [&](const GroupedOperand& of) {
        return IntegerNumbers{of.is_there ? at(of, row, 0) : nullptr, of.row, of.column, of.dtype};
      };
      result_ = {numbers(part.scale),
                 numbers(part.factor),
                 {},
                 /*has_words=*/false,
                 part.out.dtype,
                 FindLoad(products_.isa, ACL_FLOAT16, ACL_FLOAT),
                 FindLoad(products_.isa, ACL_BF16, ACL_FLOAT),
                 FindGather(products_.isa, GatherSource::kCache)};
      gemm.integers = &result_;
    }
    const double share = WorkOfGroup(gemm.rows, gemm.columns, gemm.depth) / all_work;
    if (products_.threads == 1 || 2 * products_.threads * share > 1) {
      job_ = MakeGemmJob(gemm, products_.isa, products_.threads);
    } else {
      // The tiles of other groups keep threads busy, too.
      job_ = MakeGemmJob(gemm, products_.isa, 1);
      CutColumns(job_, static_cast<int64_t>(std::ceil(kTilesOfThread * products_.threads * share)));
    }
    return job_;
  }
  void* const* addresses() const { return addresses_; }

 private:
  const GroupedPart& PartOf(int64_t group) const {
    if (!products_.has_part_each) return products_.part;
    return reinterpret_cast<const GroupedPart*>(products_.parts.Address(context_))[group];
  }
  int64_t Step(const GroupedOperand& operand) const { return products_.has_part_each ? 0 : operand.step; }

  void SetWeights(const GroupedPart& part, int64_t group) {
    // A group's start is counted in elements, since a byte holds two of them.
    const int64_t elements = part.first_weight + group * Step(part.right);
    weights_ = {.argument = 1,
                .is_int4 = part.is_int4,
                .has_offset = part.offset.is_there,
                .first = elements,
                .term = part.right.row,
                .column = part.right.column,
                .group_terms = part.group_terms,
                .dtype = part.scale.dtype,
                .scale = {1, 0, part.scale.column, part.scale.row},
                .offset = {1, 0, part.offset.column, part.offset.row}};
    addresses_[1] = part.right.buffer.Address(context_);
    source_ = {
        &weights_,
        static_cast<const char*>(addresses_[1]),
        part.scale.buffer.Address(context_) + group * Step(part.scale),
        part.offset.is_there ? part.offset.buffer.Address(context_) + group * Step(part.offset) : nullptr,
        FindLoad(products_.isa, part.is_int4 ? ACL_INT8 : part.right.dtype, ACL_FLOAT),
        FindLoad(products_.isa, part.scale.dtype, ACL_FLOAT),
        part.scale.dtype == ACL_FLOAT ? 4 : 2,
        part.rounds_weights ? FindStore(products_.isa, part.scale.dtype) : nullptr};
  }

  const GroupedProducts& products_;
  const JobContext& context_;
  IntegerResult result_{};
  QuantisedWeights weights_{};
  QuantisedSource source_{};
  void* addresses_[4] = {};
  GemmJob job_;
};

// The groups' sizes, in the order of the list.
struct Schedule {
  int64_t* covered;
  int64_t* count;  // of the following entries
  int64_t* begin;
  int64_t* size;
  int64_t* group;
  int64_t* tiles;  // that come before each
};

Schedule ScheduleAt(char* memory, int64_t entries) {
  auto* const words = reinterpret_cast<int64_t*>(memory);
  int64_t* const begin = words + 2;
  return {words, words + 1, begin, begin + entries, begin + 2 * entries, begin + 3 * entries};
}

void Fail(const GroupedProducts& products, const JobContext& context, int64_t value, int64_t at,
          const char* accepted, int64_t most) {
  if (!products.raises) return;
  Text message(context.api, ": ", products.name);
  message.Add(" has the value ").Add(value).Add(" at element ").Add(at).Add(", accepted: ").Add(accepted);
  context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, message.Add(most).Add("."));
}

// Reads the list. Each group starts at the end of the previous one. A group without rows, or with a negative
// number of them, is skipped; a group without terms is kept. A group that would reach beyond the end is cut
// there.
void ReadList(const GroupedProducts& products, const JobContext& context, const Schedule& schedule) {
  using List = GroupedProducts::List;
  const bool cuts_terms = products.cut == GroupedProducts::Cut::kTerms;
  const GroupedPart& part = products.has_part_each
                                ? *reinterpret_cast<const GroupedPart*>(products.parts.Address(context))
                                : products.part;
  const int64_t most = cuts_terms ? part.depth : part.rows;
  const char* const list = products.list.buffer.Address(context);
  const auto at = [&](int64_t row, int64_t column) {
    return Load<int64_t>(list + row * products.list.row + column * products.list.column);
  };
  int64_t begin = 0;
  int64_t count = 0;
  bool has_failed = false;
  for (int64_t i = 0; i < products.entries; ++i) {
    int64_t group = i;
    int64_t size;
    int64_t element = i;
    if (products.list_kind == List::kPairs) {
      group = at(i, 0);
      size = at(i, 1);
      element = 2 * i + 1;
      if (size <= 0) break;
      if (group < 0 || group >= products.groups) {
        Fail(products, context, group, 2 * i, "groups from 0 to ", products.groups - 1);
        break;
      }
    } else if (products.list_kind == List::kSizes) {
      size = at(i, 0);
    } else {
      const int64_t end = at(i, 0);
      size = end <= begin ? 0 : end - begin;
    }
    size = std::max<int64_t>(size, 0);
    if (size > most - begin) {
      if (!has_failed) {
        const int64_t value = at(i, products.list_kind == List::kPairs ? 1 : 0);
        Fail(products, context, value, element,
             cuts_terms ? "groups of so many terms together at most: "
                        : "groups of so many rows together at most: ",
             most);
      }
      has_failed = true;
      size = most - begin;
    }
    const bool continues =
        count > 0 && products.list_kind == List::kPairs && schedule.group[count - 1] == group;
    if (continues) {
      // Joins both entries, so that the same right operand is packed once.
      schedule.size[count - 1] += size;
    } else if (size > 0 || cuts_terms) {
      schedule.begin[count] = begin;
      schedule.size[count] = size;
      schedule.group[count] = group;
      ++count;
    }
    begin += size;
  }
  *schedule.covered = begin;
  *schedule.count = count;
}

// Groups cover rows without gaps.
int64_t GroupIn(const Schedule& schedule, int64_t row) {
  return schedule
      .group[std::upper_bound(schedule.begin, schedule.begin + *schedule.count, row) - schedule.begin - 1];
}

}  // namespace

int64_t GroupOfRow(const char* schedule, int64_t scheduled, int64_t row) noexcept {
  return GroupIn(ScheduleAt(const_cast<char*>(schedule), scheduled), row);
}

int64_t GroupedProducts::Elements() const noexcept {
  Gemm gemm{};
  std::fill(std::begin(gemm.batch), std::end(gemm.batch), int64_t{1});
  gemm.rows = part.rows;
  gemm.columns = part.columns;
  gemm.depth = part.depth;
  gemm.groups = cut == Cut::kNone ? groups : 1;
  return MultiplicationsOf(gemm);
}

void GroupedProducts::Run(const JobContext& context) const noexcept {
  // Covers the division of products among threads, too, which computes in floating point.
  const DefaultFloatEnvironment environment;
  const Schedule all = ScheduleAt(schedule.Address(context), MostScheduled());
  *all.count = *all.covered = 0;
  if (cut != Cut::kNone && (part.columns == 0 || (cut == Cut::kTerms && part.rows == 0))) return;
  if (cut == Cut::kNone) {
    for (int64_t i = 0; i < groups; ++i) {
      const GroupedPart& each =
          has_part_each ? reinterpret_cast<const GroupedPart*>(parts.Address(context))[i] : part;
      *all.covered += each.rows;
      if (each.rows == 0 || each.columns == 0) continue;
      all.begin[*all.count] = all.size[*all.count] = 0;
      all.group[(*all.count)++] = i;
    }
  } else {
    ReadList(*this, context, all);
  }
  double all_work = 0;
  for (int64_t i = 0; i < *all.count; ++i) {
    const GroupedPart& each =
        has_part_each ? reinterpret_cast<const GroupedPart*>(parts.Address(context))[all.group[i]] : part;
    all_work += WorkOfGroup(cut == Cut::kRows ? all.size[i] : each.rows, each.columns,
                            cut == Cut::kTerms ? all.size[i] : each.depth);
  }
  int64_t tiles = 0;
  bool is_long = false;
  GroupProduct one(*this, context);
  for (int64_t i = 0; i < *all.count; ++i) {
    const GemmJob& job = one.Make(all.group[i], all.begin[i], all.size[i], all_work);
    all.tiles[i] = tiles;
    tiles += job.Tiles();
    is_long = is_long || job.is_long;
  }
  if (tiles == 0) return;
  ForEachBlock(
      tiles, threads,
      [&](int64_t tile) {
        const int64_t* const after = std::upper_bound(all.tiles, all.tiles + *all.count, tile);
        const int64_t i = after - all.tiles - 1;
        const DefaultFloatEnvironment own;
        GroupProduct product(*this, context);
        const GemmJob& job = product.Make(all.group[i], all.begin[i], all.size[i], all_work);
        job.RunTile(product.addresses(), nullptr, tile - all.tiles[i]);
      },
      is_long ? BlockLength::kLong : BlockLength::kShort);
  ReportIsaThatRan(FindGemmKernels(isa).isa);
}

void GroupedOffsets::Run(const JobContext& context) const noexcept {
  constexpr int64_t kRowsOfBlock = 16;
  const Schedule all = ScheduleAt(schedule.Address(context), scheduled);
  const int64_t there = std::min(*all.covered, rows);
  ForEachBlock((there + kRowsOfBlock - 1) / kRowsOfBlock, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const int64_t end = std::min(there, (block + 1) * kRowsOfBlock);
    for (int64_t row = block * kRowsOfBlock; row < end; ++row) {
      const char* const numbers = offset.buffer.Address(context) + GroupIn(all, row) * offset.step;
      const auto by = Load<float>(of_rows.Address(context) + row * int64_t{sizeof(float)});
      auto* const sum = reinterpret_cast<float*>(sums.Address(context)) + row * columns;
      for (int64_t column = 0; column < columns; ++column)
        sum[column] += by * Load<float>(numbers + column * offset.column);
    }
  });
}

}  // namespace portacl::engine
