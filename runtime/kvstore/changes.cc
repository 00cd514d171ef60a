// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/changes.h"

#include <algorithm>

#include "runtime/kvstore/rows.h"

namespace mxc::kvstore {
namespace {

// Updates that change nothing must not be kept without limit, either.
uint64_t CostOf(const std::vector<uint64_t>& update) {
  return std::max<uint64_t>(1, update.size());
}

}  // namespace

void Changes::Add(std::span<const uint64_t> numbers) {
  updates_.emplace_back(numbers.begin(), numbers.end());
  kept_ += CostOf(updates_.back());
  while (kept_ > most_) {
    kept_ -= CostOf(updates_.front());
    updates_.pop_front();
  }
}

std::optional<std::vector<uint64_t>> Changes::OfLast(uint64_t updates) const {
  if (updates > updates_.size()) return std::nullopt;
  const auto first = updates_.end() - static_cast<ptrdiff_t>(updates);
  const std::vector<std::span<const uint64_t>> numbers(first, updates_.end());
  return Merge(numbers);
}

}  // namespace mxc::kvstore
