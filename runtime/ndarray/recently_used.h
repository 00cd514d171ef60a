// SPDX-License-Identifier: Apache-2.0
// What was used last, by key; the rest is forgotten.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

namespace mxc::runtime {

// For one thread at a time.
template <class Key, class Value, class Hash = std::hash<Key>>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(size_t most) : most_(most) {}

  // Null if it is not there; until something is added.
  const Value* Find(const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    uses_.splice(uses_.begin(), uses_, found->second.use);
    return &found->second.value;
  }
  bool empty() const { return entries_.empty(); }
  void Remove(const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    uses_.erase(found->second.use);
    entries_.erase(found);
  }
  // Of all that are there, the last used first.
  template <class Function>
  void ForEach(const Function& function) const {
    for (const Key* key : uses_) function(entries_.at(*key).value);
  }
  // Of a key that is not there.
  void Add(Key key, Value value) {
    if (entries_.size() == most_) {
      Remove(Key(*uses_.back()));
    }
    const auto added =
        entries_.try_emplace(std::move(key), Entry{std::move(value), {}}).first;
    uses_.push_front(&added->first);
    added->second.use = uses_.begin();
  }

 private:
  using Uses = std::list<const Key*>;
  struct Entry {
    Value value;
    typename Uses::iterator use;
  };

  const size_t most_;
  std::unordered_map<Key, Entry, Hash> entries_;
  Uses uses_;  // the last one first
};

}  // namespace mxc::runtime
