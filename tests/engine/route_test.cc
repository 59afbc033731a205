// The steps that route rows to experts, run alone: sizes that are work for several threads, places at the edges, and what must stay.
// SPDX-License-Identifier: Apache-2.0
#include "engine/route/route.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "support/random_numbers.h"

namespace portacl::engine {
namespace {

// Memory that steps reach by places.
struct Memory {
  std::vector<int64_t> words;
  JobContext context{};

  explicit Memory(size_t count) : words(count) {
    context.api = "aclnnRoute";
    context.workspace = words.data();
  }
  static BufferRef At(int64_t word) { return {BufferRef::kWorkspace, word * int64_t{sizeof(int64_t)}}; }
};

TEST(Route, EntriesAreRankedByExpertAndCountedBeforeAnyIsDropped) {
  constexpr int64_t kEntries = 6;
  Memory memory(64);
  const int64_t experts[] = {3, 1, 9, 1, 2, 1};
  const int64_t order[] = {1, 3, 5, 4, 0, 2};
  std::memcpy(memory.words.data(), experts, sizeof experts);
  std::memcpy(memory.words.data() + 8, order, sizeof order);
  for (const int64_t capacity : {0, 2}) {
    RankEntries rank{};
    rank.expert = Memory::At(0);
    rank.is_wide = true;
    rank.order = Memory::At(8);
    rank.entries = kEntries;
    rank.low = 1;
    rank.high = 5;
    rank.capacity = capacity;
    rank.rows = 8;
    rank.rank = {Memory::At(16), true};
    rank.entry = {Memory::At(24), true};
    rank.count = {Memory::At(32), true};
    rank.total = {Memory::At(40), true};
    rank.Run(memory.context);
    const auto at = [&](size_t word, size_t count) {
      return std::vector<int64_t>(memory.words.begin() + static_cast<std::ptrdiff_t>(word),
                                  memory.words.begin() + static_cast<std::ptrdiff_t>(word + count));
    };
    EXPECT_EQ(at(32, 4), (std::vector<int64_t>{3, 1, 1, 0}));
    EXPECT_EQ(at(40, 4), (std::vector<int64_t>{3, 4, 5, 5}));
    if (capacity == 0) {
      EXPECT_EQ(at(16, 6), (std::vector<int64_t>{4, 0, -1, 1, 3, 2}));
      EXPECT_EQ(at(24, 8), (std::vector<int64_t>{1, 3, 5, 4, 0, -1, -1, -1}));
    } else {
      EXPECT_EQ(at(16, 6), (std::vector<int64_t>{4, 0, -1, 1, 2, -1}));
      EXPECT_EQ(at(24, 8), (std::vector<int64_t>{1, 3, 4, -1, 0, -1, -1, -1}));
    }
  }
}

TEST(Route, SumsHaveTheSameBitsForAnyNumberOfThreads) {
  constexpr int64_t kRows = 211;
  constexpr int64_t kColumns = 1031;  // more than a step brings at a time
  constexpr int64_t kEntries = 3;
  Memory memory(static_cast<size_t>(kRows * kColumns * 2 + kRows * kEntries * 2 + 256));
  auto* const source = reinterpret_cast<float*>(memory.words.data());
  testing::RandomNumbers random(7);
  for (int64_t i = 0; i < kRows * kColumns; ++i) source[i] = static_cast<float>(random.Unit()) - 0.5f;
  const int64_t index = kRows * kColumns + 64;
  for (int64_t p = 0; p < kRows * kEntries; ++p)
    memory.words[static_cast<size_t>(index + p)] = random.Below(kRows + 5);
  CombineRows combine{};
  combine.source = NumberRowsOf(Isa::kPortable, Memory::At(0), ACL_FLOAT);
  combine.to = NumberRowsOf(Isa::kPortable, Memory::At(kRows * kColumns / 2 + 1), ACL_FLOAT);
  combine.index = {Memory::At(index), true};
  combine.rows = kRows;
  combine.columns = kColumns;
  combine.entries_of_row = kEntries;
  combine.source_rows = kRows;
  combine.may_exceed = true;
  std::vector<float> first;
  for (const int threads : {1, 2, 3, 7}) {
    combine.threads = threads;
    combine.Run(memory.context);
    const auto* const to = reinterpret_cast<const float*>(memory.words.data() + kRows * kColumns / 2 + 1);
    const std::vector<float> result(to, to + kRows * kColumns);
    if (first.empty()) first = result;
    EXPECT_EQ(std::memcmp(first.data(), result.data(), result.size() * sizeof(float)), 0) << threads;
  }
  for (int64_t row = 0; row < kRows; row += 17) {
    float sum = 0;
    for (int64_t j = 0; j < kEntries; ++j) {
      const int64_t from = memory.words[static_cast<size_t>(index + row * kEntries + j)];
      if (from < kRows) sum += source[from * kColumns + kColumns - 1];
    }
    EXPECT_EQ(first[static_cast<size_t>(row * kColumns + kColumns - 1)], sum) << row;
  }
}

TEST(Route, RowsWithoutAnEntryStayOrAreCleared) {
  for (const bool clears : {false, true}) {
    Memory memory(16);
    memory.words = {11, 22, 0, 0, 7, 7, 7, 0, 1, -1, 0, 0, 0, 0, 0, 0};
    TakeRows take{};
    take.source = Memory::At(0);
    take.to = Memory::At(4);
    take.entry = {Memory::At(8), true};
    take.rows = 3;
    take.bytes = sizeof(int64_t);
    take.source_rows = 2;
    take.clears = clears;
    take.threads = 1;
    take.Run(memory.context);
    EXPECT_EQ(memory.words[4], 22);
    EXPECT_EQ(memory.words[5], clears ? 0 : 7);
    EXPECT_EQ(memory.words[6], 11);
    EXPECT_EQ(memory.words[7], 0);
  }
}

}  // namespace
}  // namespace portacl::engine
