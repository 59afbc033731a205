// Sends rows to the ranks of their experts and back (see rank_routes.h). One thread computes a row, and sums follow the
// order of choices, so bits do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "engine/route/rank_routes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_environment.h"
#include "engine/bad_index.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kColumns = 512;  // of a row, loaded at a time
constexpr int64_t kWord = sizeof(int64_t);
constexpr int64_t kTriple = 3;

int64_t* WordsAt(BufferRef buffer, const JobContext& context) {
  return reinterpret_cast<int64_t*>(buffer.Address(context));
}
template <class T>
T At(BufferRef buffer, const JobContext& context, int64_t i) {
  return Load<T>(buffer.Address(context) + i * static_cast<int64_t>(sizeof(T)));
}
template <class T>
void Put(BufferRef buffer, const JobContext& context, int64_t i, T value) {
  Store<T>(buffer.Address(context) + i * static_cast<int64_t>(sizeof(T)), value);
}

// Numbers that are sent after the elements of a row.
struct Trailer {
  int32_t token;
  int32_t column;
  float row_scale;
  float factor;
};

void Copy(BufferRef numbers, const JobContext& context, int64_t first, int64_t n, float* to) {
  std::memcpy(to, numbers.Address(context) + first * int64_t{sizeof(float)},
              static_cast<size_t>(n) * sizeof(float));
}

// Calls body(first, n) for parts of a row.
template <class Body>
void ForEachPart(int64_t columns, const Body& body) {
  for (int64_t first = 0; first < columns; first += kColumns)
    body(first, std::min(kColumns, columns - first));
}

// Fails the job before it takes part in an exchange. The communicator is then given up.
void FailCounts(const JobContext& context, const char* what, int64_t value, int64_t most) {
  Text message(context.api, ": ", what, " ");
  message.Add(value).Add(" rows, accepted: at most ").Add(most).Add(".");
  context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, message);
}

}  // namespace

// ---- routes ----

int64_t RankRoutes::TokensSent(const JobContext& context) const {
  if (!active.is_there || is_by_choice) return tokens;
  const char* const flags = active.buffer.Address(context);
  return std::count_if(flags, flags + tokens, [](char flag) { return flag != 0; });
}

bool RankRoutes::HasActiveChoice(const JobContext& context, int64_t token) const {
  if (!active.is_there || !is_by_choice) return true;
  const char* const own_flags = active.buffer.Address(context) + token * choices;
  return std::any_of(own_flags, own_flags + choices, [](char flag) { return flag != 0; });
}

void RankRoutes::Plan(const JobContext& context) const {
  int64_t* const ordered = WordsAt(order, context);
  int64_t* const counts = WordsAt(count, context);
  int64_t* const begins = WordsAt(begin, context);
  const char* const flags = active.is_there ? active.buffer.Address(context) : nullptr;
  const int64_t tokens_sent = TokensSent(context);
  const int64_t ranks_of_shared = shared > 0 ? shared_ranks / shared : 0;
  BadIndex bad;
  // Calls f(entry, key) for every entry that is sent, in order.
  const auto for_each = [&](const auto& f) {
    for (int64_t token = 0; token < tokens_sent; ++token) {
      bool is_sent = !is_by_choice || flags == nullptr;
      for (int64_t choice = 0; choice < choices; ++choice) {
        const int64_t at = token * choices + choice;
        if (is_by_choice && flags != nullptr) {
          if (flags[at] == 0) continue;
          is_sent = true;
        }
        const int64_t chosen = At<int32_t>(expert, context, at);
        if (chosen < 0 || chosen >= experts + special) bad.Note(at);
        if (chosen < 0 || chosen >= experts) continue;
        f(token * Columns() + choice, shared_ranks * experts_of_rank + chosen);
      }
      for (int64_t one = 0; is_sent && ranks_of_shared > 0 && one < shared; ++one) {
        const int64_t rank = own % ranks_of_shared + one * ranks_of_shared;
        f(token * Columns() + choices + one, rank * experts_of_rank);
      }
    }
  };
  std::fill_n(counts, Keys(), int64_t{0});
  for_each([&](int64_t, int64_t key) { ++counts[key]; });
  begins[0] = 0;
  for (int64_t key = 0; key < Keys(); ++key) begins[key + 1] = begins[key] + counts[key];
  std::fill_n(counts, Keys(), int64_t{0});
  for_each([&](int64_t entry, int64_t key) { ordered[begins[key] + counts[key]++] = entry; });
  bad.Report(context, raises, name, 0, experts + special,
             [&](int64_t at) { return At<int32_t>(expert, context, at); });
}

// ---- dispatch ----

int64_t DispatchRows::RecordBytes() const {
  const int64_t row = columns * (quantises ? 1 : size);
  return (row + kWord - 1) / kWord * kWord + int64_t{sizeof(Trailer)};
}

void DispatchRows::Pack(const JobContext& context, int64_t entry, char* record) const {
  const int64_t token = entry / routes.Columns();
  const int64_t column = entry % routes.Columns();
  const bool is_shared = column >= routes.choices;
  const int64_t choice = token * routes.choices + column;
  Trailer trailer{static_cast<int32_t>(token), static_cast<int32_t>(column), 0, 0};
  if (factor.is_there && !is_shared) trailer.factor = At<float>(factor.buffer, context, choice);
  const char* const row = source.Address(context) + token * columns * size;
  if (!quantises) {
    std::memcpy(record, row, static_cast<size_t>(columns * size));
  } else {
    const int64_t scale_row =
        is_shared ? column - routes.choices : first_scale + At<int32_t>(routes.expert, context, choice);
    float values[kColumns];
    const auto bring = [&](int64_t first, int64_t n) {
      load(row + first * size, values, static_cast<size_t>(n));
      for (int64_t i = 0; scale.is_there && i < n; ++i)
        values[i] *= At<float>(scale.buffer, context, scale_row * columns + first + i);
    };
    float greatest = 0;
    ForEachPart(columns, [&](int64_t first, int64_t n) {
      bring(first, n);
      for (int64_t i = 0; i < n; ++i) greatest = std::max(greatest, std::fabs(values[i]));
    });
    constexpr float kMost = 127;
    const float steps = kMost / greatest;
    trailer.row_scale = greatest == 0 ? 0.0f : 1.0f / steps;
    ForEachPart(columns, [&](int64_t first, int64_t n) {
      bring(first, n);
      for (int64_t i = 0; i < n; ++i) {
        const float code = greatest == 0 ? 0.0f : std::nearbyint(values[i] * steps);
        record[first + i] =
            code >= -kMost - 1 && code <= kMost ? static_cast<char>(static_cast<int8_t>(code)) : '\0';
      }
    });
  }
  std::memcpy(record + RecordBytes() - int64_t{sizeof trailer}, &trailer, sizeof trailer);
}

// `words` holds the received counts, then where the rows of each (own expert, rank) go and come from, then ranges.
bool DispatchRows::ExchangeCounts(const JobContext& context) const {
  const int64_t each = routes.experts_of_rank * kWord;
  int64_t* const came_counts = WordsAt(words, context);
  auto* const ranges = reinterpret_cast<RankExchange::Range*>(came_counts + 3 * routes.Keys());
  for (int64_t rank = 0; rank < routes.ranks; ++rank)
    ranges[rank] = ranges[routes.ranks + rank] = {rank * each, each};
  RankExchange exchange;
  exchange.send = routes.count.Address(context);
  exchange.receive = came_counts;
  exchange.give = ranges;
  exchange.take = ranges + routes.ranks;
  return context.ranks->Perform(0, exchange);
}

bool DispatchRows::ExchangeRows(const JobContext& context) const {
  const int64_t* const came_counts = WordsAt(words, context);
  const int64_t* const begins = WordsAt(routes.begin, context);
  auto* const ranges = reinterpret_cast<RankExchange::Range*>(WordsAt(words, context) + 3 * routes.Keys());
  const int64_t bytes = RecordBytes();
  int64_t total = 0;
  for (int64_t rank = 0; rank < routes.ranks; ++rank) {
    const int64_t first = begins[rank * routes.experts_of_rank];
    ranges[rank] = {first * bytes, (begins[(rank + 1) * routes.experts_of_rank] - first) * bytes};
    int64_t rows = 0;
    for (int64_t expert = 0; expert < routes.experts_of_rank; ++expert)
      rows += came_counts[rank * routes.experts_of_rank + expert];
    ranges[routes.ranks + rank] = {total * bytes, rows * bytes};
    total += rows;
  }
  if (total > capacity) {
    FailCounts(context, "the ranks send", total, capacity);
    return false;
  }
  RankExchange exchange;
  exchange.send = send.Address(context);
  exchange.receive = came.Address(context);
  exchange.give = ranges;
  exchange.take = ranges + routes.ranks;
  return context.ranks->Perform(1, exchange);
}

void DispatchRows::Unpack(const JobContext& context) const {
  const int64_t of_rank = routes.experts_of_rank;
  const int64_t* const came_counts = WordsAt(words, context);
  int64_t* const positions = WordsAt(words, context) + routes.Keys();
  int64_t* const firsts = positions + routes.Keys();
  int64_t next = 0;
  for (int64_t rank = 0; rank < routes.ranks; ++rank) {
    for (int64_t expert = 0; expert < of_rank; ++expert) {
      firsts[rank * of_rank + expert] = next;
      next += came_counts[rank * of_rank + expert];
    }
  }
  const int64_t own_experts = routes.OwnExperts();
  next = 0;
  for (int64_t expert = 0; expert < own_experts; ++expert) {
    const int64_t begin = next;
    for (int64_t rank = 0; rank < routes.ranks; ++rank) {
      positions[rank * of_rank + expert] = next;
      next += came_counts[rank * of_rank + expert];
      Put<int32_t>(received, context, expert * routes.ranks + rank, static_cast<int32_t>(next));
    }
    Put<int64_t>(expert_count, context, expert, are_ends ? next : next - begin);
  }
  if (other.is_there) Put<int32_t>(other.buffer, context, 0, static_cast<int32_t>(next));
  const int64_t bytes = RecordBytes();
  const int64_t row_bytes = columns * (quantises ? 1 : size);
  ForEachBlock(routes.ranks * own_experts, threads, [&](int64_t block) {
    const int64_t rank = block / own_experts;
    const int64_t key = rank * of_rank + block % own_experts;
    for (int64_t i = 0; i < came_counts[key]; ++i) {
      const char* const record = came.Address(context) + (firsts[key] + i) * bytes;
      const int64_t row = positions[key] + i;
      Trailer trailer;
      std::memcpy(&trailer, record + bytes - int64_t{sizeof trailer}, sizeof trailer);
      std::memcpy(to.Address(context) + row * row_bytes, record, static_cast<size_t>(row_bytes));
      if (row_scale.is_there) Put(row_scale.buffer, context, row, trailer.row_scale);
      if (to_factor.is_there && factor.is_there) Put(to_factor.buffer, context, row, trailer.factor);
      if (!info.is_there) continue;
      const int32_t triple[kTriple] = {static_cast<int32_t>(rank), trailer.token, trailer.column};
      for (int64_t k = 0; k < kTriple; ++k) Put(info.buffer, context, kTriple * row + k, triple[k]);
    }
  });
}

void DispatchRows::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  routes.Plan(context);
  if (!ExchangeCounts(context)) return;
  const int64_t* const ordered = WordsAt(routes.order, context);
  const int64_t* const begins = WordsAt(routes.begin, context);
  const int64_t bytes = RecordBytes();
  ForEachBlock(begins[routes.Keys()], threads, [&](int64_t i) {
    const DefaultFloatEnvironment own_environment;
    Pack(context, ordered[i], send.Address(context) + i * bytes);
  });
  if (repeats.is_there) {
    for (int64_t key = 0; key < routes.Keys(); ++key) {
      for (int64_t i = begins[key]; i < begins[key + 1]; ++i) {
        const int64_t column = ordered[i] % routes.Columns();
        if (column >= routes.choices) continue;
        const int64_t choice = ordered[i] / routes.Columns() * routes.choices + column;
        Put<int32_t>(repeats.buffer, context, choice, static_cast<int32_t>(i - begins[key]));
      }
    }
  }
  if (ExchangeRows(context)) Unpack(context);
}

// ---- combine ----

// `words` holds the position of each entry among the received rows, then ranges.
bool CombineRanks::Exchange(const JobContext& context) const {
  const int64_t* const ordered = WordsAt(routes.order, context);
  const int64_t* const begins = WordsAt(routes.begin, context);
  int64_t* const positions = WordsAt(words, context);
  std::fill_n(positions, routes.Entries(), int64_t{-1});
  for (int64_t i = 0; i < begins[routes.Keys()]; ++i) positions[ordered[i]] = i;
  auto* const ranges = reinterpret_cast<RankExchange::Range*>(positions + routes.Entries());
  const int64_t own_experts = routes.OwnExperts();
  const int64_t bytes = columns * source.size;
  const auto end_of = [&](int64_t i) {
    return i < 0 ? int64_t{0} : int64_t{At<int32_t>(received, context, i)};
  };
  int64_t last = 0;
  for (int64_t i = 0; i < own_experts * routes.ranks; ++i) {
    const int64_t end = end_of(i);
    if (end < last || end > source_rows) {
      FailCounts(context, "the counts of received rows reach, or go down to,", end, source_rows);
      return false;
    }
    last = end;
  }
  int64_t sent = 0;
  for (int64_t rank = 0; rank < routes.ranks; ++rank) {
    const int64_t first = sent;
    for (int64_t expert = 0; expert < own_experts; ++expert) {
      const int64_t at = expert * routes.ranks + rank;
      const int64_t rows = end_of(at) - end_of(at - 1);
      std::memcpy(send.Address(context) + sent * bytes,
                  source.buffer.Address(context) + end_of(at - 1) * bytes, static_cast<size_t>(rows * bytes));
      sent += rows;
    }
    ranges[rank] = {first * bytes, (sent - first) * bytes};
    const int64_t begin = begins[rank * routes.experts_of_rank];
    ranges[routes.ranks + rank] = {begin * bytes,
                                   (begins[(rank + 1) * routes.experts_of_rank] - begin) * bytes};
  }
  RankExchange exchange;
  exchange.send = send.Address(context);
  exchange.receive = came.Address(context);
  exchange.give = ranges;
  exchange.take = ranges + routes.ranks;
  return context.ranks->Perform(0, exchange);
}

void CombineRanks::Sum(const JobContext& context, int64_t row) const {
  const int64_t* const positions = WordsAt(words, context) + row * routes.Columns();
  const char* const flags = routes.is_by_choice && routes.active.is_there
                                ? routes.active.buffer.Address(context) + row * routes.choices
                                : nullptr;
  ForEachPart(columns, [&](int64_t first, int64_t n) {
    float sum[kColumns] = {};
    float term[kColumns];
    float fixed[kColumns];
    const auto came_row = [&](int64_t position) {
      source.load(came.Address(context) + (position * columns + first) * source.size, term,
                  static_cast<size_t>(n));
    };
    for (int64_t choice = 0; choice < routes.choices; ++choice) {
      const float weight = At<float>(factor, context, row * routes.choices + choice);
      const int64_t special =
          At<int32_t>(routes.expert, context, row * routes.choices + choice) - routes.experts;
      if (positions[choice] >= 0) {
        came_row(positions[choice]);
      } else if (special >= zeros && special < zeros + copies + constants &&
                 (flags == nullptr || flags[choice] != 0)) {
        Copy(token, context, row * columns + first, n, term);
        if (const int64_t c = special - zeros - copies; c >= 0) {
          const auto one = At<float>(alpha1, context, c);
          const auto two = At<float>(alpha2, context, c);
          Copy(constant_row, context, c * columns + first, n, fixed);
          for (int64_t i = 0; i < n; ++i) term[i] = one * term[i] + two * fixed[i];
        }
      } else {
        continue;
      }
      for (int64_t i = 0; i < n; ++i) sum[i] += weight * term[i];
    }
    for (int64_t one = routes.choices; one < routes.Columns(); ++one) {
      if (positions[one] < 0) continue;
      came_row(positions[one]);
      for (int64_t i = 0; i < n; ++i) sum[i] += term[i];
    }
    if (added.is_there) {
      Copy(added.buffer, context, row * columns + first, n, term);
      for (int64_t i = 0; i < n; ++i) sum[i] += term[i];
    }
    to.store(sum, to.buffer.Address(context) + (row * columns + first) * to.size, static_cast<size_t>(n),
             false);
  });
}

void CombineRanks::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  routes.Plan(context);
  if (!Exchange(context)) return;
  const int64_t tokens_sent = routes.TokensSent(context);
  ForEachBlock(routes.tokens, threads, [&](int64_t row) {
    const DefaultFloatEnvironment own_environment;
    if (row < tokens_sent && routes.HasActiveChoice(context, row)) {
      Sum(context, row);
    } else if (clears) {
      std::memset(to.buffer.Address(context) + row * columns * to.size, 0,
                  static_cast<size_t>(columns * to.size));
    }
  });
}

}  // namespace portacl::engine
