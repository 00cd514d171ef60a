// SPDX-License-Identifier: Apache-2.0
// ExprTable: what is known of the nodes of expressions, by their addresses.
// Walks over expressions ask it at every node, so it is one block of memory
// without a node for each entry.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ir/program/expr.h"

namespace mxc {

template <class T>
class ExprTable {
 public:
  // The entry of a node, or null. Adding an entry makes it invalid.
  T* Find(const ExprNode* node) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[PlaceOf(node)];
    return slot.node == node ? &slot.value : nullptr;
  }

  // Adds an entry unless there is one. True if it was added.
  bool Add(const ExprNode* node, T value) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot& slot = slots_[PlaceOf(node)];
    if (slot.node == node) return false;
    slot.node = node;
    slot.value = std::move(value);
    ++count_;
    return true;
  }

 private:
  struct Slot {
    const ExprNode* node = nullptr;
    T value{};
  };

  // The slot of the node, or the one where it would be.
  size_t PlaceOf(const ExprNode* node) const {
    const size_t mask = slots_.size() - 1;
    const auto bits = reinterpret_cast<uintptr_t>(node);
    size_t place = (bits * 0x9e3779b97f4a7c15ull >> 32) & mask;
    while (slots_[place].node != nullptr && slots_[place].node != node) {
      place = (place + 1) & mask;
    }
    return place;
  }

  void Grow() {
    constexpr size_t kFirst = 32;
    std::vector<Slot> before(slots_.empty() ? kFirst : 2 * slots_.size());
    before.swap(slots_);
    for (Slot& slot : before) {
      if (slot.node != nullptr) slots_[PlaceOf(slot.node)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half in use
  size_t count_ = 0;
};

// Nodes that a walk has seen.
class ExprSet {
 public:
  // True if it was not there.
  bool Insert(const ExprNode* node) { return table_.Add(node, {}); }

 private:
  struct Nothing {};
  ExprTable<Nothing> table_;
};

// Expressions, no two of them equal. Those that are entered must stay where
// they are.
class EqualExprSet {
 public:
  // True if no equal one was there.
  bool Insert(const Expr& e);

 private:
  size_t PlaceOf(const Expr& e) const;

  std::vector<const Expr*> slots_;  // a power of two, at most half in use
  size_t count_ = 0;
};

// Sets of variables that are free in expressions. Few different ones occur in
// an expression, and most nodes have that of a child: each is kept once.
class FreeVarTable {
 public:
  // Ascending.
  const std::vector<int>& Of(const Expr& e) { return sets_[IdOf(e)]; }
  bool IsFree(int var, const Expr& e);

 private:
  int IdOf(const Expr& e);
  int Union(int a, int b);
  int Without(int set, int var);
  int Intern(std::vector<int> set);

  ExprTable<int> ids_;
  std::vector<std::vector<int>> sets_ = {{}};  // the empty one is number 0
  std::map<std::vector<int>, int> numbers_;    // of the others
};

}  // namespace mxc
