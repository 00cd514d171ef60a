// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace mxc::kvstore {
namespace {

// Rows stay whole, what is compressed together, and in slices what is updated
// together.
uint64_t UnitOf(const KeySpec& key, const Settings& settings) {
  if (key.sparse()) return key.width;
  const uint64_t unit = settings.compression.unit();
  const bool sliced = settings.slice > 0 && key.grain > 0;
  return sliced ? std::lcm(unit, key.grain) : unit;
}

// A group is cut as a whole, so that a part of a parameter and of what the
// optimizer keeps for it are on one server: the groups that can be.
std::set<uint32_t> DivisibleGroups(const KeyTable& keys) {
  std::map<uint32_t, uint64_t> sizes;
  for (const KeySpec& key : keys) {
    if (key.trained) sizes[key.group] = key.bytes;
  }
  std::set<uint32_t> groups;
  for (const auto& [group, bytes] : sizes) groups.insert(group);
  for (const KeySpec& key : keys) {
    if (key.indivisible || key.everywhere || key.bytes != sizes[key.group]) {
      groups.erase(key.group);
    }
  }
  return groups;
}

bool IsLarge(const KeySpec& key, const Settings& settings) {
  const uint64_t least =
      std::max<uint64_t>(settings.cut_from, settings.servers);
  return key.elements() >= least &&
         key.elements() / UnitOf(key, settings) >= settings.servers;
}

struct Elements {
  uint64_t begin = 0, end = 0;  // of a key
};

// Shares of nearly equal size, in whole units (MXNET.md 6.2); the last one ends
// where the range does.
std::vector<Elements> Divide(const Elements& range, uint64_t unit,
                             uint64_t count) {
  const double units = static_cast<double>((range.end - range.begin) / unit);
  std::vector<Elements> shares;
  uint64_t begin = range.begin;
  for (uint64_t i = 1; i <= count; ++i) {
    const auto end =
        static_cast<uint64_t>(std::round(units / double(count) * double(i)));
    shares.push_back(
        {begin, i == count ? range.end : range.begin + unit * end});
    begin = shares.back().end;
  }
  return shares;
}

// In how many slices a server's share of a key travels.
uint64_t SlicesOf(const KeySpec& key, const Elements& range,
                  const Settings& settings) {
  if (settings.slice == 0 || key.grain == 0 || key.sparse()) return 1;
  const uint64_t unit = UnitOf(key, settings);
  const uint64_t units = (range.end - range.begin) / unit;
  const uint64_t most = std::max<uint64_t>(1, settings.slice / unit);
  return std::max<uint64_t>(1, (units + most - 1) / most);
}

}  // namespace

Parts::Parts(const KeyTable& keys, const Settings& settings) {
  const std::set<uint32_t> divisible = DivisibleGroups(keys);
  std::vector<bool> large;
  KeyTable rest = keys;
  for (KeySpec& key : rest) {
    large.push_back(divisible.contains(key.group) && IsLarge(key, settings));
    if (large.back()) key.bytes = 0;
  }
  const auto homes = Assign(rest, settings.servers, settings.placement);
  for (uint32_t i = 0; i < keys.size(); ++i) {
    const KeySpec& key = keys[i];
    of.push_back(static_cast<uint32_t>(table.size()));
    if (!divisible.contains(key.group)) {
      table.push_back(key);
      parts.push_back({i, 0, 0, homes[i]});
      continue;
    }
    const uint64_t unit = UnitOf(key, settings);
    uint32_t server = large[i] ? 0 : homes[i];
    for (const Elements& share :
         Divide({0, key.elements()}, unit, large[i] ? settings.servers : 1)) {
      for (const Elements& slice :
           Divide(share, unit, SlicesOf(key, share, settings))) {
        KeySpec& part = table.emplace_back(key);
        part.bytes = (slice.end - slice.begin) * sizeof(float);
        parts.push_back({i, slice.begin, slice.begin * sizeof(float), server});
      }
      ++server;
    }
  }
  of.push_back(static_cast<uint32_t>(table.size()));
}

std::span<std::byte> PartShelf::Value(uint32_t part) {
  const Parts::Part& place = parts_.parts[part];
  return whole_.Value(place.key).subspan(place.offset,
                                         parts_.table[part].bytes);
}

void PartShelf::OnWritten(uint32_t part) {
  whole_.OnWritten(parts_.parts[part].key);
}

Status PartShelf::Update(uint32_t part, uint64_t first,
                         std::span<const float> gradient, double rate) {
  const Parts::Part& place = parts_.parts[part];
  return whole_.Update(place.key, place.begin + first, gradient, rate);
}

Status PartShelf::UpdateRows(uint32_t part, const Rows& rows, double rate) {
  const Parts::Part& place = parts_.parts[part];
  std::vector<uint64_t> numbers(rows.numbers.begin(), rows.numbers.end());
  for (uint64_t& number : numbers) {
    number += place.begin / parts_.table[part].width;
  }
  return whole_.UpdateRows(place.key, {numbers, rows.elements}, rate);
}

// What has the key's size is cut as the key is.
std::vector<std::span<std::byte>> PartShelf::Kept(uint32_t part, uint64_t) {
  const Parts::Part& place = parts_.parts[part];
  const uint64_t bytes = parts_.table[part].bytes;
  const uint64_t whole = whole_.Value(place.key).size();
  auto kept = whole_.Kept(place.key, place.begin);
  for (auto& memory : kept) {
    if (memory.size() == whole) memory = memory.subspan(place.offset, bytes);
  }
  return kept;
}

}  // namespace mxc::kvstore
