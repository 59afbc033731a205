// The common part of attention and its gradients: operands' rows in the form that the product kernels read,
// and scores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/attention/attention.h"
#include "engine/gemm/pack.h"
#include "engine/gemm/pair_product.h"
#include "engine/gemm/word_pack.h"

namespace portacl::engine::attention {

inline constexpr int64_t kNumber = sizeof(float);

inline int64_t DividedUp(int64_t n, int64_t by) { return n / by + (n % by != 0 ? 1 : 0); }
inline int64_t RoundedUp(int64_t n, int64_t to) { return DividedUp(n, to) * to; }
inline int64_t InLanes(int64_t n) { return RoundedUp(n, kAttentionLanes); }

// Return the size of a dtype's elements and the index of its kernel functions.
int32_t SizeOf(aclDataType dtype) noexcept;
size_t ElementOf(aclDataType dtype) noexcept;

// Tells whether both operands have 16 bits, which changes the order of terms.
inline bool IsEvenOdd(const AttentionOperand& left, const AttentionOperand& right) {
  return left.dtype == right.dtype && SizeOf(left.dtype) == 2;
}
inline auto MultiplyOf(const GemmKernels& kernels, bool is_even_odd) {
  return is_even_odd ? kernels.even_odd.multiply : kernels.multiply;
}

// The size of packed rows and of panels, in numbers.
inline int64_t PackedRows(int64_t rows, int64_t depth) {
  return rows * kPackedRow * DividedUp(depth, kGemmDepth);
}
inline int64_t PackedPanels(const Attention& attention, int64_t lines, int64_t depth) {
  return RoundedUp(lines, attention.gemm->columns) * depth;
}

// The operands and batches of a call.
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
  // Returns the address of row r of a batch and a head, in an operand that has a row for each query.
  char* RowOfQuery(const AttentionOperand& operand, int64_t batch, int64_t head, int64_t row) const {
    return Base(operand) + batch * operand.batch + head * operand.head +
           (First(batch).first_query + row) * operand.row;
  }
  // The parameters of a batch that do not depend on the batches before it.
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
  // Returns the address of a row's statistic.
  char* Statistic(const AttentionOperand& operand, int64_t batch, int64_t head, int64_t row) const {
    if (!attention.packs_heads) return RowOfQuery(operand, batch, head, row);
    const AttentionBatch& one = First(batch);
    const int64_t position = one.first_query * attention.heads + head * one.queries + row;
    return Base(operand) + position / attention.heads * operand.row +
           position % attention.heads * operand.head;
  }
};

// Hands out memory from a thread's slot of the workspace.
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

// Packs rows of queries as left operands, one block of terms after the other.
void PackQueryRows(const Work& work, const AttentionOperand& operand, const char* first, int64_t rows,
                   int64_t depth, char* memory, float* to);

// Rows of keys or values, which may lie in pages, behind a prefix, in parts or as INT8. `memory` has Memory
// bytes.
class Rows {
 public:
  // A member of the optional parts.
  template <class T>
  using Part = T AttentionParts::*;

  Rows(const Work& work, const AttentionOperand& operand, int64_t batch, int64_t head, int64_t depth,
       Part<AttentionFractals> fractals = nullptr, Part<AttentionOperand> prefix = nullptr,
       Part<AttentionScales> scales = nullptr)
      : work_(work), operand_(operand), batch_(batch), head_(head), depth_(depth) {
    const AttentionParts* const parts = work.parts;
    if (parts == nullptr) return;
    if (fractals != nullptr) fractals_ = parts->*fractals;
    if (prefix != nullptr && (parts->*prefix).IsThere()) prefix_ = &(parts->*prefix);
    if (scales != nullptr && (parts->*scales).scale.IsThere()) scales_ = &(parts->*scales);
  }

  // Sets the first row with a weight. It is read in place of the rows before it.
  void StartAt(int64_t row) { start_ = row; }
  const AttentionOperand& Operand() const { return operand_; }
  // Tells whether elements must be copied before they are packed.
  bool IsCopied() const { return fractals_.elements > 0 || prefix_ != nullptr || scales_ != nullptr; }
  // Tells whether the elements of a row are contiguous in the type that is multiplied.
  bool IsPlain() const { return !IsCopied() && operand_.column == SizeOf(operand_.dtype); }

  // Packs rows as lines and elements as terms, one block of terms after the other.
  void PackLines(int64_t first, int64_t count, char* memory, float* to) const;
  // Packs elements as lines and rows as terms, at most kGemmDepth.
  void PackTerms(int64_t first, int64_t count, char* memory, float* to) const;
  static int64_t Memory(const Attention& attention) {
    int64_t most = kGemmDepth;
    for (const int64_t one : {attention.depth, attention.value_depth, attention.rope_depth})
      most = one > most ? one : most;
    return kPackMemory + kMostPanelColumns * most * kNumber;
  }

  // Returns the address of a row. `run` counts the rows, from this one on, that are contiguous in memory.
  const char* At(int64_t row, int64_t* run) const;
  // Returns the address of rows that are all at equal distances in memory and need not be copied; else nullptr.
  const char* WithoutGap(int64_t first, int64_t count) const;
  // Returns their elements as a source of words, for a type of 16 bits.
  WordSource Words(bool lines_are_rows) const;
  // Prefetches rows of `bytes` bytes.
  void Prefetch(int64_t first, int64_t count, int64_t bytes) const;
  // Copies `count` rows, which are plain, one behind the other.
  void CopyRows(int64_t first, int64_t count, char* to) const;

 private:
  // Copies elements of a row as `CopiedDtype`, side by side.
  void Copy(int64_t row, int64_t column, int64_t count, char* to) const;
  aclDataType CopiedDtype() const { return scales_ != nullptr ? ACL_FLOAT : operand_.dtype; }
  void MakeNumbers(int64_t row, int64_t column, int64_t count, const char* elements, float* numbers) const;
  int64_t PageOf(int64_t row) const;
  void PackCopiedLines(int64_t first, int64_t count, char* memory, float* to) const;
  void PackCopiedTerms(int64_t first, int64_t count, char* memory, float* to) const;

  const Work& work_;
  const AttentionOperand& operand_;
  AttentionFractals fractals_;
  const AttentionOperand* prefix_ = nullptr;
  const AttentionScales* scales_ = nullptr;
  int64_t batch_;
  int64_t head_;
  int64_t depth_;
  int64_t start_ = 0;
};

// The scores of one query with some keys.
class Scores {
 public:
  Scores(const Work& work, int64_t batch, int64_t head);

  // Sets the range of keys that query i may see by its position.
  void Range(int64_t i, int64_t* from, int64_t* to) const;
  // Turns the products s of query i with `count` keys from `first` on into scores. Hidden keys and padding
  // lanes become -infinity. Returns false if all are hidden; else `greatest` is their maximum, at least the
  // lowest float.
  bool Make(float* s, int64_t i, int64_t first, int64_t count, float* greatest) const;
  // Multiplies kept values by `factor` and sets the others to 0.
  void Drop(float* values, int64_t i, int64_t first, int64_t count, float factor) const;
  bool Drops() const { return work_.attention.Drops(); }

 private:
  void MakeShifts(int64_t i, int64_t first, int64_t count, float* shifts) const;
  // Returns what query i's products are multiplied by.
  float ScaleOf(int64_t i) const;

  const Work& work_;
  const AttentionBatch lengths_;
  int64_t batch_;
  int64_t head_;
  // The rows and keys before the batch's own ones, which a mask and a shift have, too.
  int64_t rows_before_;
  int64_t keys_before_;
};

// Sets the kernels and everything else that both kinds of job need.
Attention Completed(const Attention& attention, Isa isa, int threads) noexcept;

// Rounds the numbers once and writes them to a row of an operand.
void StoreRow(const Attention& attention, const AttentionOperand& operand, const float* numbers,
              int64_t count, char* to);

// Stores a head's row of a result as INT8: number * scale + offset, rounded to FLOAT16 and then to the nearest,
// halfway cases away from 0; NaN is 0.
void StoreCodes(const Work& work, int64_t head, const float* row, char* to);

// Computes the first row of each batch from the number of padding rows after it, into memory of PaddedBytes bytes. A
// batch whose rows would begin before row 0 has none.
int64_t PaddedBytes(const Attention& attention) noexcept;
void SetPadded(Work& work, char* memory) noexcept;

void StoreZeros(const Attention& attention, const AttentionOperand& operand, int64_t count, char* to);

void LoadRow(const Attention& attention, const AttentionOperand& operand, const char* from, int64_t count,
             float* numbers);

// Rounds at most kAttentionKeys numbers to a type of 16 bits, in place.
void RoundRow(const Attention& attention, aclDataType dtype, float* numbers, int64_t count);

// The threads' slots of the workspace.
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
  // Returns the sums of a shift's gradient for a head.
  float* ShiftSums(int64_t head) const {
    return reinterpret_cast<float*>(Memory(attention_.threads)) +
           head * attention_.shift_rows * InLanes(attention_.keys);
  }

 private:
  const Attention& attention_;
  char* memory_;
};

// Returns the cost of the job's multiplications: the elements of an elementwise job that takes as long.
int64_t ElementsOf(const Attention& attention, int products);

}  // namespace portacl::engine::attention
