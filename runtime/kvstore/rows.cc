// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/rows.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace mxc::kvstore {
namespace {

constexpr uint64_t kCountBytes = sizeof(uint64_t);

uint64_t BytesOfRow(uint64_t width) {
  return sizeof(uint64_t) + width * sizeof(float);
}

Status NoRows(const char* why) {
  return Fail(StatusCode::kInvalidArgument, "rows that %s", why);
}

}  // namespace

OwnRows Merge(std::span<const Rows> summands, uint64_t width) {
  std::vector<std::pair<uint64_t, const float*>> all;
  for (const Rows& rows : summands) {
    for (size_t i = 0; i < rows.numbers.size(); ++i) {
      all.emplace_back(rows.numbers[i], rows.elements.data() + i * width);
    }
  }
  std::ranges::stable_sort(
      all, [](const auto& a, const auto& b) { return a.first < b.first; });
  OwnRows merged;
  for (const auto& [number, elements] : all) {
    if (merged.numbers.empty() || merged.numbers.back() != number) {
      merged.numbers.push_back(number);
      merged.elements.insert(merged.elements.end(), elements, elements + width);
      continue;
    }
    const auto sum = std::span(merged.elements).last(width);
    for (size_t i = 0; i < width; ++i) sum[i] += elements[i];
  }
  return merged;
}

std::vector<uint64_t> Merge(
    std::span<const std::span<const uint64_t>> numbers) {
  std::vector<uint64_t> merged;
  for (const auto& some : numbers) {
    merged.insert(merged.end(), some.begin(), some.end());
  }
  std::ranges::sort(merged);
  const auto rest = std::ranges::unique(merged);
  merged.erase(rest.begin(), rest.end());
  return merged;
}

Rows Between(const Rows& rows, uint64_t begin, uint64_t end, uint64_t width) {
  const auto at = [&](uint64_t number) {
    return static_cast<size_t>(std::ranges::lower_bound(rows.numbers, number) -
                               rows.numbers.begin());
  };
  const size_t first = at(begin), count = at(end) - first;
  Rows between{rows.numbers.subspan(first, count), {}};
  if (!rows.elements.empty()) {
    between.elements = rows.elements.subspan(first * width, count * width);
  }
  return between;
}

void Scatter(const Rows& from, std::span<const uint64_t> numbers,
             uint64_t width, std::span<float> to) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto at = std::ranges::lower_bound(from.numbers, numbers[i]);
    const auto row = static_cast<size_t>(at - from.numbers.begin());
    CopyBytes(std::as_bytes(from.elements.subspan(row * width, width)),
              std::as_writable_bytes(to.subspan(i * width)));
  }
}

void Replace(const Rows& rows, uint64_t width, std::span<float> table) {
  for (size_t i = 0; i < rows.numbers.size(); ++i) {
    CopyBytes(std::as_bytes(rows.elements.subspan(i * width, width)),
              std::as_writable_bytes(table.subspan(rows.numbers[i] * width)));
  }
}

std::vector<std::byte> EncodeRows(const Rows& rows, uint64_t begin) {
  const uint64_t count = rows.numbers.size();
  std::vector<std::byte> body(kCountBytes + rows.numbers.size_bytes() +
                              rows.elements.size_bytes());
  std::byte* to = body.data();
  std::memcpy(to, &count, sizeof count);
  to += sizeof count;
  for (const uint64_t number : rows.numbers) {
    const uint64_t theirs = number - begin;
    std::memcpy(to, &theirs, sizeof theirs);
    to += sizeof theirs;
  }
  CopyBytes(std::as_bytes(rows.elements),
            std::span(body).last(rows.elements.size_bytes()));
  return body;
}

uint64_t BytesOfRows(uint64_t count, uint64_t width) {
  return kCountBytes + count * BytesOfRow(width);
}

bool MayBeRows(uint64_t bytes, uint64_t width, uint64_t most) {
  if (bytes < kCountBytes) return false;
  const uint64_t rest = bytes - kCountBytes;
  return rest % BytesOfRow(width) == 0 && rest / BytesOfRow(width) <= most;
}

StatusOr<Rows> DecodeRows(Bytes body, uint64_t width, uint64_t most) {
  if (!MayBeRows(body.size(), width, most)) {
    return NoRows("are more than the key has, or cut");
  }
  uint64_t count;
  std::memcpy(&count, body.data(), sizeof count);
  if (count != (body.size() - kCountBytes) / BytesOfRow(width)) {
    return NoRows("are not as many as it says");
  }
  const auto* numbers =
      reinterpret_cast<const uint64_t*>(body.data() + kCountBytes);
  Rows rows{{numbers, count},
            {reinterpret_cast<const float*>(numbers + count), count * width}};
  if (std::ranges::adjacent_find(rows.numbers, std::ranges::greater_equal()) !=
      rows.numbers.end()) {
    return NoRows("do not ascend");
  }
  if (count > 0 && rows.numbers.back() >= most) {
    return NoRows("the key does not have");
  }
  return rows;
}

}  // namespace mxc::kvstore
