// SPDX-License-Identifier: Apache-2.0
#include "ir/program/expr_table.h"

#include <algorithm>
#include <iterator>

namespace mxc {

bool EqualExprSet::Insert(const Expr& e) {
  if (2 * (count_ + 1) > slots_.size()) {
    std::vector<const Expr*> before(std::max<size_t>(32, 2 * slots_.size()));
    before.swap(slots_);
    for (const Expr* other : before) {
      if (other != nullptr) slots_[PlaceOf(*other)] = other;
    }
  }
  const size_t place = PlaceOf(e);
  if (slots_[place] != nullptr) return false;
  slots_[place] = &e;
  ++count_;
  return true;
}

// The slot of an equal one, or where it would be.
size_t EqualExprSet::PlaceOf(const Expr& e) const {
  const size_t mask = slots_.size() - 1;
  size_t place = e->hash & mask;
  while (slots_[place] != nullptr && !Equal(*slots_[place], e)) {
    place = (place + 1) & mask;
  }
  return place;
}

bool FreeVarTable::IsFree(int var, const Expr& e) {
  return std::ranges::binary_search(Of(e), var);
}

// Reduction variables are bound by one reduction only, so no binder hides
// another.
int FreeVarTable::IdOf(const Expr& e) {
  if (e->kind == ExprKind::kVar) return Intern({e->index});
  if (e->args.empty()) return 0;
  if (const int* known = ids_.Find(e.get())) return *known;
  int free = 0;
  for (const Expr& arg : e->args) free = Union(free, IdOf(arg));
  for (const Range& range : e->ranges) free = Without(free, range.var);
  for (const Range& range : e->ranges) {
    free = Union(Union(free, IdOf(range.begin)), IdOf(range.end));
  }
  ids_.Add(e.get(), free);
  return free;
}

int FreeVarTable::Union(int a, int b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  std::vector<int> both;
  std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(both));
  return both == sets_[a] ? a : Intern(std::move(both));
}

int FreeVarTable::Without(int set, int var) {
  if (!std::ranges::binary_search(sets_[set], var)) return set;
  std::vector<int> rest = sets_[set];
  std::erase(rest, var);
  return Intern(std::move(rest));
}

int FreeVarTable::Intern(std::vector<int> set) {
  const auto [known, added] =
      numbers_.try_emplace(set, static_cast<int>(sets_.size()));
  if (added) sets_.push_back(std::move(set));
  return known->second;
}

}  // namespace mxc
