// What attention and its gradients share: operands' rows as the kernels of products read them, and scores from products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/attention/attention.h"
#include "engine/gemm/pack.h"

namespace portacl::engine::attention {

inline constexpr int64_t kNumber = sizeof(float);

inline int64_t DividedUp(int64_t n, int64_t by) { return n / by + (n % by != 0 ? 1 : 0); }
inline int64_t RoundedUp(int64_t n, int64_t to) { return DividedUp(n, to) * to; }
inline int64_t InLanes(int64_t n) { return RoundedUp(n, kAttentionLanes); }

// Of an element of a dtype: its size, and which of a kernel's functions takes it.
int32_t SizeOf(aclDataType dtype) noexcept;
size_t ElementOf(aclDataType dtype) noexcept;

// Whether products of two operands are those of 16 bits, which is another order of terms.
inline bool IsEvenOdd(const AttentionOperand& left, const AttentionOperand& right) {
  return left.dtype == right.dtype && SizeOf(left.dtype) == 2;
}
inline auto MultiplyOf(const GemmKernels& kernels, bool is_even_odd) {
  return is_even_odd ? kernels.even_odd.multiply : kernels.multiply;
}

// Numbers of rows that are packed, and of panels.
inline int64_t PackedRows(int64_t rows, int64_t depth) {
  return rows * kPackedRow * DividedUp(depth, kGemmDepth);
}
inline int64_t PackedPanels(const Attention& attention, int64_t lines, int64_t depth) {
  return RoundedUp(lines, attention.gemm->columns) * depth;
}

// What a call works on.
struct Work {
  Work(const Attention& of, const std::byte* memory, void* const* at)
      : attention(of),
        parts(of.has_parts ? reinterpret_cast<const AttentionParts*>(memory) : nullptr),
        batches(
            reinterpret_cast<const AttentionBatch*>(memory + (of.has_parts ? sizeof(AttentionParts) : 0))),
        addresses(at) {}

  const Attention& attention;
  const AttentionParts* parts;  // nullptr: none
  const AttentionBatch* batches;
  void* const* addresses;

  char* Base(const AttentionOperand& operand) const {
    return static_cast<char*>(addresses[operand.argument]) + operand.offset;
  }
  // Row r of a batch and a head: a query of queries' operands.
  char* RowOfQuery(const AttentionOperand& operand, int64_t batch, int64_t head, int64_t row) const {
    return Base(operand) + batch * operand.batch + head * operand.head +
           (First(batch).first_query + row) * operand.row;
  }
  // What of a batch does not depend on the batches before it.
  const AttentionBatch& First(int64_t batch) const { return batches[attention.are_alike ? 0 : batch]; }
  AttentionBatch Of(int64_t batch) const {
    AttentionBatch one = First(batch);
    if (attention.are_alike) {
      one.first_score =
          static_cast<uint64_t>(batch) * static_cast<uint64_t>(one.queries) * static_cast<uint64_t>(one.keys);
    }
    return one;
  }
  const AttentionOperand& KeyOf(int64_t batch) const {
    return attention.has_lists ? Lists()[batch] : attention.key;
  }
  const AttentionOperand& ValueOf(int64_t batch) const {
    return attention.has_lists ? Lists()[attention.batches + batch] : attention.value;
  }
  const AttentionOperand* Lists() const {
    return reinterpret_cast<const AttentionOperand*>(batches + attention.batches);
  }
  // The same of statistics.
  char* Statistic(const AttentionOperand& operand, int64_t batch, int64_t head, int64_t row) const {
    if (!attention.packs_heads) return RowOfQuery(operand, batch, head, row);
    const AttentionBatch& one = First(batch);
    const int64_t place = one.first_query * attention.heads + head * one.queries + row;
    return Base(operand) + place / attention.heads * operand.row + place % attention.heads * operand.head;
  }
};

// Some parts of the thread's share of the workspace.
class Slot {
 public:
  explicit Slot(char* memory) : memory_(memory) {}
  float* Numbers(int64_t count) {
    float* const numbers = reinterpret_cast<float*>(memory_);
    memory_ += RoundedUp(count * kNumber, 64);
    return numbers;
  }

 private:
  char* memory_;
};

PackSource SourceOf(const Attention& attention, const AttentionOperand& operand, bool lines_are_rows);

// Rows of queries as the left operand of products, blocks of terms one behind the other.
void PackQueryRows(const Work& work, const AttentionOperand& operand, const char* first, int64_t rows,
                   int64_t depth, char* memory, float* to);

// Rows of keys or values, which may lie in pages, behind a prefix, in pieces or as INT8. `memory` is of Memory bytes.
class Rows {
 public:
  // A member of the parts that there may be.
  template <class T>
  using Part = T AttentionParts::*;

  Rows(const Work& work, const AttentionOperand& operand, int64_t batch, int64_t head, int64_t depth,
       Part<AttentionPieces> pieces = nullptr, Part<AttentionOperand> prefix = nullptr,
       Part<AttentionScales> scales = nullptr)
      : work_(work), operand_(operand), batch_(batch), head_(head), depth_(depth) {
    const AttentionParts* const parts = work.parts;
    if (parts == nullptr) return;
    if (pieces != nullptr) pieces_ = parts->*pieces;
    if (prefix != nullptr && (parts->*prefix).IsThere()) prefix_ = &(parts->*prefix);
    if (scales != nullptr && (parts->*scales).scale.IsThere()) scales_ = &(parts->*scales);
  }

  // Rows before this one have no weight: it is read in place of them.
  void StartAt(int64_t row) { start_ = row; }
  const AttentionOperand& Operand() const { return operand_; }
  // Whether elements must be copied before they are packed.
  bool IsCopied() const { return pieces_.elements > 0 || prefix_ != nullptr || scales_ != nullptr; }
  // Whether elements of a row lie side by side, as they are multiplied.
  bool IsPlain() const { return !IsCopied() && operand_.column == SizeOf(operand_.dtype); }

  // Lines are rows: terms are elements, blocks of terms one behind the other.
  void PackLines(int64_t first, int64_t count, char* memory, float* to) const;
  // Lines are elements: terms are rows, at most kGemmDepth.
  void PackTerms(int64_t first, int64_t count, char* memory, float* to) const;
  static int64_t Memory(const Attention& attention) {
    int64_t most = kGemmDepth;
    for (const int64_t one : {attention.depth, attention.value_depth, attention.rope_depth})
      most = one > most ? one : most;
    return kPackMemory + kMostPanelColumns * most * kNumber;
  }

  // The address of a row, of which `run` of those behind it follow in memory.
  const char* At(int64_t row, int64_t* run) const;
  // Asks for rows of `bytes` bytes, which will be read soon.
  void Prefetch(int64_t first, int64_t count, int64_t bytes) const;
  // `count` rows as they are, one behind the other. They are plain.
  void CopyRows(int64_t first, int64_t count, char* to) const;

 private:
  // Elements of a row as numbers of `CopiedDtype`, side by side.
  void Copy(int64_t row, int64_t column, int64_t count, char* to) const;
  aclDataType CopiedDtype() const { return scales_ != nullptr ? ACL_FLOAT : operand_.dtype; }
  void MakeNumbers(int64_t row, int64_t column, int64_t count, const char* elements, float* numbers) const;
  int64_t PageOf(int64_t row) const;
  void PackCopiedLines(int64_t first, int64_t count, char* memory, float* to) const;
  void PackCopiedTerms(int64_t first, int64_t count, char* memory, float* to) const;

  const Work& work_;
  const AttentionOperand& operand_;
  AttentionPieces pieces_;
  const AttentionOperand* prefix_ = nullptr;
  const AttentionScales* scales_ = nullptr;
  int64_t batch_;
  int64_t head_;
  int64_t depth_;
  int64_t start_ = 0;
};

// Scores of one query with some keys.
class Scores {
 public:
  Scores(const Work& work, int64_t batch, int64_t head);

  // Keys that query i may see by its place: from..to.
  void Range(int64_t i, int64_t* from, int64_t* to) const;
  // The products s of query i with `count` keys from `first` on become scores, hidden ones -infinity, and so what fills up the lanes. False
  // where all are hidden; else `greatest` is that of them, at least the lowest number.
  bool Make(float* s, int64_t i, int64_t first, int64_t count, float* greatest) const;
  // Multiplies by `factor` what is kept, and drops the rest.
  void Drop(float* values, int64_t i, int64_t first, int64_t count, float factor) const;
  bool Drops() const { return work_.attention.Drops(); }

 private:
  void MakeShifts(int64_t i, int64_t first, int64_t count, float* shifts) const;

  const Work& work_;
  const AttentionBatch lengths_;
  int64_t batch_;
  int64_t head_;
};

// With kernels, and what else does not depend on the kind of job.
Attention Completed(const Attention& attention, Isa isa, int threads) noexcept;

// Rounds the numbers once and writes them to a row of an operand.
void StoreRow(const Attention& attention, const AttentionOperand& operand, const float* numbers,
              int64_t count, char* to);

void StoreZeros(const Attention& attention, const AttentionOperand& operand, int64_t count, char* to);

void LoadRow(const Attention& attention, const AttentionOperand& operand, const char* from, int64_t count,
             float* numbers);

// Rounds at most kAttentionKeys numbers to a type of 16 bits, in place.
void RoundRow(const Attention& attention, aclDataType dtype, float* numbers, int64_t count);

// Threads' shares of the workspace.
class Slots {
 public:
  Slots(const Attention& attention, char* memory) : attention_(attention), memory_(memory) {}
  static int64_t Bytes(const Attention& attention) {
    return RoundedUp(attention.threads, 64) + attention.threads * attention.slot_bytes +
           attention.heads * attention.shift_rows * InLanes(attention.keys) * kNumber;
  }
  void Clear() const;
  int Take() const;
  void Give(int slot) const;
  char* Memory(int slot) const {
    return memory_ + RoundedUp(attention_.threads, 64) + slot * attention_.slot_bytes;
  }
  // Sums of a shift's gradient for a head.
  float* ShiftSums(int64_t head) const {
    return reinterpret_cast<float*>(Memory(attention_.threads)) +
           head * attention_.shift_rows * InLanes(attention_.keys);
  }

 private:
  const Attention& attention_;
  char* memory_;
};

// Elements of other kinds that take as long as the job's multiplications.
int64_t ElementsOf(const Attention& attention, int products);

}  // namespace portacl::engine::attention
