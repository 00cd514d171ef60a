// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace mxc::kvstore {
namespace {

// Rows stay whole, and what is compressed together.
uint64_t UnitOf(const KeySpec& key, const Settings& settings) {
  return key.sparse() ? key.width : settings.compression.unit();
}

// A group is cut as a whole, so that a part of a parameter and of what the
// optimizer keeps for it are on one server.
std::map<uint32_t, bool> CutGroups(const KeyTable& keys,
                                   const Settings& settings) {
  const uint64_t least =
      std::max<uint64_t>(settings.cut_from, settings.servers);
  std::map<uint32_t, uint64_t> sizes;
  for (const KeySpec& key : keys) {
    if (key.trained) sizes[key.group] = key.bytes;
  }
  std::map<uint32_t, bool> cut;
  for (const KeySpec& key : keys) {
    const uint64_t bytes = sizes[key.group];
    const bool may = !key.indivisible && !key.everywhere &&
                     key.bytes == bytes && bytes / sizeof(float) >= least &&
                     key.elements() / UnitOf(key, settings) >= settings.servers;
    cut[key.group] = may && cut.try_emplace(key.group, true).first->second;
  }
  return cut;
}

// Where slice `i` begins (MXNET.md 6.2); the last one ends where the key does.
uint64_t BeginOf(const KeySpec& key, uint32_t i, const Settings& settings) {
  if (i == settings.servers) return key.elements();
  const uint64_t unit = UnitOf(key, settings);
  const double units = static_cast<double>(key.elements() / unit);
  return unit * static_cast<uint64_t>(
                    std::round(units / double(settings.servers) * double(i)));
}

}  // namespace

Parts::Parts(const KeyTable& keys, const Settings& settings) {
  const uint32_t servers = settings.servers;
  auto cut = CutGroups(keys, settings);
  KeyTable rest = keys;
  for (KeySpec& key : rest) {
    if (cut[key.group]) key.bytes = 0;
  }
  const auto homes = Assign(rest, servers, settings.placement);
  for (uint32_t key = 0; key < keys.size(); ++key) {
    of.push_back(static_cast<uint32_t>(table.size()));
    if (!cut[keys[key].group]) {
      table.push_back(keys[key]);
      parts.push_back({key, 0, 0, homes[key]});
      continue;
    }
    for (uint32_t i = 0; i < servers; ++i) {
      const uint64_t begin = BeginOf(keys[key], i, settings);
      KeySpec& part = table.emplace_back(keys[key]);
      part.bytes =
          (BeginOf(keys[key], i + 1, settings) - begin) * sizeof(float);
      parts.push_back({key, begin, begin * sizeof(float), i});
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
std::vector<std::span<std::byte>> PartShelf::Kept(uint32_t part) {
  const Parts::Part& place = parts_.parts[part];
  const uint64_t bytes = parts_.table[part].bytes;
  const uint64_t whole = whole_.Value(place.key).size();
  auto kept = whole_.Kept(place.key);
  for (auto& memory : kept) {
    if (memory.size() == whole) memory = memory.subspan(place.offset, bytes);
  }
  return kept;
}

}  // namespace mxc::kvstore
