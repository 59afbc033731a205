// Lists that are linked through their elements, so that they need no heap.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace portacl {

template <class Element>
class LinkedList;

// The base of elements. An element is in at most one list at a time.
class Linked {
 protected:
  Linked() = default;
  ~Linked() = default;

  // Forgets the link to a list that no longer exists.
  void ForgetNext() noexcept { next_ = nullptr; }

 private:
  template <class Element>
  friend class LinkedList;
  Linked* next_ = nullptr;
};

// Elements in the order in which they were appended. Not copyable, since two lists would share one chain.
template <class Element>
class LinkedList {
 public:
  bool empty() const { return first_ == nullptr; }

  void Append(Element* element) noexcept {
    Linked* const link = element;
    link->next_ = nullptr;
    (last_ == nullptr ? first_ : last_->next_) = link;
    last_ = link;
  }
  // Moves all elements of `others` to the end.
  void Append(LinkedList& others) noexcept {
    if (others.empty()) return;
    (last_ == nullptr ? first_ : last_->next_) = others.first_;
    last_ = others.last_;
    others = LinkedList();
  }
  Element* Pop() noexcept {
    return PopIf([](const Element&) { return true; });
  }
  bool Remove(const Element* element) noexcept {
    return PopIf([element](const Element& one) { return &one == element; }) != nullptr;
  }
  // Removes and returns the first element for which wanted(element) holds, or nullptr.
  template <class Wanted>
  Element* PopIf(Wanted wanted) noexcept {
    Linked* before = nullptr;
    for (Linked* link = first_; link != nullptr; before = link, link = link->next_) {
      auto* const element = static_cast<Element*>(link);
      if (!wanted(static_cast<const Element&>(*element))) continue;
      (before == nullptr ? first_ : before->next_) = link->next_;
      if (last_ == link) last_ = before;
      link->next_ = nullptr;
      return element;
    }
    return nullptr;
  }

 private:
  Linked* first_ = nullptr;
  Linked* last_ = nullptr;
};

}  // namespace portacl
