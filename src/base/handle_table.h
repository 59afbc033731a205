// Checked handles: a table of slots with generations, which recognises stale or invented handles instead of
// following them. Used for executors, streams, events and contexts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <new>

namespace portacl {

// A handle packs kind (8 bits), generation (32 bits) and slot index (24 bits); it is never dereferenced and
// never null. Slots are recycled. Their objects are constructed once and live as long as the table, so that
// looking at a stale one is safe. All functions are thread-safe and lock-free. Memory is only allocated when
// every existing slot is in use.
template <class T, uint8_t kKind>
class HandleTable {
 public:
  constexpr HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  static constexpr uint32_t Capacity() { return kFirstChunk * ((1u << kChunks) - 1); }

  // Takes a free slot, which Find does not return yet. Returns nullptr if memory or the table is exhausted.
  T* Acquire() noexcept {
    Slot* slot = Pop();
    if (slot == nullptr) slot = Grow();
    return slot == nullptr ? nullptr : &slot->object;
  }

  // Returns the handle that Publish will give an acquired slot. Objects store it, so that they can verify
  // under their lock that a caller still means them.
  void* NextHandle(T* object) noexcept {
    Slot* slot = SlotOf(object);
    return Pack(slot->generation.load(std::memory_order_relaxed) + 1, slot->index);  // odd: live
  }

  // Makes an acquired slot findable and returns its handle.
  void* Publish(T* object) noexcept {
    void* const handle = NextHandle(object);
    SlotOf(object)->generation.store(GenerationOf(handle), std::memory_order_release);
    return handle;
  }

  // Returns the live object of a handle, nullptr for any other value. Another thread may end its life at any
  // later moment, and the slot may begin a new one. A caller that does more than look must therefore ask the
  // object, under its lock, whether it still belongs to the handle.
  T* Find(const void* handle) noexcept {
    Slot* slot = Decode(handle);
    return slot != nullptr && slot->generation.load(std::memory_order_acquire) == GenerationOf(handle)
               ? &slot->object
               : nullptr;
  }

  // Like Find, and ends the handle's life: of several concurrent calls exactly one gets the object.
  T* Take(const void* handle) noexcept {
    Slot* slot = Decode(handle);
    if (slot == nullptr) return nullptr;
    uint32_t expected = GenerationOf(handle);
    return slot->generation.compare_exchange_strong(expected, expected + 1, std::memory_order_acq_rel)
               ? &slot->object
               : nullptr;
  }

  // Returns a slot that was acquired and is not findable (never published, or taken).
  void Recycle(T* object) noexcept {
    Slot* slot = SlotOf(object);
    uint64_t head = free_.load(std::memory_order_relaxed);
    do {
      slot->next.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
    } while (!free_.compare_exchange_weak(head, Tagged(head, slot->index + 1), std::memory_order_release,
                                          std::memory_order_relaxed));
  }

  // Tells whether a handle finds the object.
  bool IsLive(T* object) noexcept {
    return SlotOf(object)->generation.load(std::memory_order_acquire) % 2 == 1;
  }

  // The number of slots that were ever used; each handle's index is below it.
  uint32_t Size() const noexcept { return size_.load(std::memory_order_acquire); }

  // Calls f(object) for every slot that was ever used, live or not.
  template <class F>
  void ForEachSlot(F&& f) noexcept {
    const uint32_t count = size_.load(std::memory_order_acquire);
    for (uint32_t index = 0; index < count; ++index) {
      if (Slot* slot = At(index)) f(slot->object);
    }
  }

  // Calls f(handle, object) for every live slot; a snapshot without order.
  template <class F>
  void ForEachLive(F&& f) noexcept {
    const uint32_t count = size_.load(std::memory_order_acquire);
    for (uint32_t index = 0; index < count; ++index) {
      Slot* slot = At(index);
      if (slot == nullptr) continue;
      const uint32_t generation = slot->generation.load(std::memory_order_acquire);
      if (generation % 2 == 1) f(Pack(generation, index), slot->object);
    }
  }

 private:
  struct Slot {
    T object;                             // first, so that an object's address is its slot's
    std::atomic<uint32_t> generation{0};  // odd while live
    std::atomic<uint32_t> next{0};        // free list: index + 1 of the next free slot, 0 at the end
    uint32_t index = 0;
  };

  static constexpr uint32_t kFirstChunk = 32;
  static constexpr int kChunks = 16;  // 32 * (2^16 - 1) slots, about two million
  static_assert(uint64_t{kFirstChunk} << kChunks <= uint64_t{1} << 24);
  static_assert(kKind > 0 && kKind < 128);

  static void* Pack(uint32_t generation, uint32_t index) {
    return reinterpret_cast<void*>(uint64_t{kKind} << 56 | uint64_t{generation} << 24 | index);
  }
  static uint32_t GenerationOf(const void* handle) {
    return static_cast<uint32_t>(reinterpret_cast<uint64_t>(handle) >> 24);
  }
  // The tag in the upper half makes every head different from the one it replaces (no ABA).
  static uint64_t Tagged(uint64_t old_head, uint32_t index_plus_one) {
    return ((old_head >> 32) + 1) << 32 | index_plus_one;
  }

  static Slot* SlotOf(T* object) { return reinterpret_cast<Slot*>(object); }

  Slot* At(uint32_t index) noexcept {
    const uint32_t position = index / kFirstChunk + 1;
    const int chunk = std::bit_width(position) - 1;
    if (chunk >= kChunks) return nullptr;
    Slot* slots = chunks_[chunk].load(std::memory_order_acquire);
    return slots == nullptr ? nullptr : slots + (index - kFirstChunk * ((1u << chunk) - 1));
  }

  Slot* Decode(const void* handle) noexcept {
    const auto bits = reinterpret_cast<uint64_t>(handle);
    if (bits >> 56 != kKind || GenerationOf(handle) % 2 == 0) return nullptr;
    const uint32_t index = static_cast<uint32_t>(bits) & 0xFFFFFF;
    return index < size_.load(std::memory_order_acquire) ? At(index) : nullptr;
  }

  Slot* Pop() noexcept {
    uint64_t head = free_.load(std::memory_order_acquire);
    for (;;) {
      const auto index_plus_one = static_cast<uint32_t>(head);
      if (index_plus_one == 0) return nullptr;
      Slot* slot = At(index_plus_one - 1);
      const uint32_t next = slot->next.load(std::memory_order_relaxed);
      if (free_.compare_exchange_weak(head, Tagged(head, next), std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        return slot;
      }
    }
  }

  // Takes a slot that was never used, allocating its chunk if it is the first one there.
  Slot* Grow() noexcept {
    uint32_t index = size_.load(std::memory_order_relaxed);
    do {
      if (uint64_t{index} >= uint64_t{kFirstChunk} * ((1u << kChunks) - 1)) return nullptr;
      if (!EnsureChunk(std::bit_width(index / kFirstChunk + 1) - 1)) return nullptr;
    } while (
        !size_.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel, std::memory_order_relaxed));
    Slot* slot = At(index);
    slot->index = index;
    return slot;
  }

  bool EnsureChunk(int chunk) noexcept {
    if (chunks_[chunk].load(std::memory_order_acquire) != nullptr) return true;
    Slot* fresh = new (std::nothrow) Slot[size_t{kFirstChunk} << chunk];
    if (fresh == nullptr) return chunks_[chunk].load(std::memory_order_acquire) != nullptr;
    Slot* expected = nullptr;
    if (!chunks_[chunk].compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) delete[] fresh;
    return true;
  }

  std::atomic<uint64_t> free_{0};
  std::atomic<uint32_t> size_{0};
  std::atomic<Slot*> chunks_[kChunks] = {};
};

}  // namespace portacl
