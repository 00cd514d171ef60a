// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/keys.h"

#include <algorithm>
#include <map>

#include "runtime/base/checksum.h"

namespace mxc::kvstore {
namespace {

using Homes = std::map<uint32_t, uint32_t>;  // the server of each group

Homes BySize(const KeyTable& keys, uint32_t servers) {
  std::map<uint32_t, uint64_t> sizes;
  for (const KeySpec& key : keys) sizes[key.group] += key.bytes;
  std::vector<std::pair<uint32_t, uint64_t>> groups(sizes.begin(), sizes.end());
  std::ranges::stable_sort(
      groups, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<uint64_t> loads(servers);
  Homes homes;
  for (const auto& [group, bytes] : groups) {
    const auto least = std::ranges::min_element(loads);
    *least += bytes;
    homes[group] = static_cast<uint32_t>(least - loads.begin());
  }
  return homes;
}

// MXNet 1.9.1, src/kvstore/kvstore_dist.h, EncodeDefaultKey.
Homes InTurn(const KeyTable& keys, uint32_t servers) {
  constexpr uint64_t kMultiplier = 9973;
  uint64_t number = 0;
  Homes homes;
  for (const KeySpec& key : keys) {
    if (!key.trained) continue;
    homes[key.group] = static_cast<uint32_t>(number++ * kMultiplier % servers);
  }
  return homes;
}

}  // namespace

std::vector<uint32_t> Assign(const KeyTable& keys, uint32_t servers,
                             Placement placement) {
  const Homes homes = placement == Placement::kBySize ? BySize(keys, servers)
                                                      : InTurn(keys, servers);
  std::vector<uint32_t> assigned;
  for (const KeySpec& key : keys) {
    const auto home = homes.find(key.group);
    assigned.push_back(home == homes.end() ? 0 : home->second);
  }
  return assigned;
}

uint64_t Digest(const KeyTable& keys) {
  runtime::RunningChecksum sum;
  for (const KeySpec& key : keys) {
    const std::string line = Format(
        "%s %llu %d %u %d %u %d %u %u %llu %llu\n", key.name.c_str(),
        static_cast<unsigned long long>(key.bytes), key.trained, key.group,
        key.everywhere, key.priority, key.indivisible, key.writer, key.reader,
        static_cast<unsigned long long>(key.width),
        static_cast<unsigned long long>(key.grain));
    sum.Add(std::as_bytes(std::span(line)));
  }
  return sum.value();
}

}  // namespace mxc::kvstore
