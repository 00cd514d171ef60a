// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

// From one to the next it is no more than a sixteenth.
std::vector<int64_t> FineRungs(int64_t most) {
  constexpr int64_t kPart = 16;
  std::vector<int64_t> lengths;
  for (int64_t length = 1; length < most;
       length += std::max<int64_t>(length / kPart, 1)) {
    lengths.push_back(length);
  }
  lengths.push_back(most);
  return lengths;
}

// From one to the next it is the same factor, from what little more than weights is
// read for. An axis of extent 1 would be one that is broadcast.
std::vector<int64_t> CoarseRungs(int64_t most, size_t count) {
  constexpr int64_t kLeast = 16, kMultiple = 4;
  std::vector<int64_t> lengths = FineRungs(most);
  if (lengths.size() > 1) lengths.erase(lengths.begin());
  if (lengths.size() <= count || most <= kLeast) {
    if (lengths.size() > count)
      lengths.erase(lengths.begin(), lengths.end() - 1);
    return lengths;
  }
  lengths.clear();
  const double factor = std::pow(static_cast<double>(most) / kLeast,
                                 1 / static_cast<double>(count - 1));
  double length = kLeast;
  for (size_t k = 0; k + 1 < count; ++k, length *= factor) {
    const auto whole = static_cast<int64_t>(std::ceil(length - 1e-6));
    const int64_t rung = (whole + kMultiple - 1) / kMultiple * kMultiple;
    if (rung < most && (lengths.empty() || lengths.back() < rung)) {
      lengths.push_back(rung);
    }
  }
  lengths.push_back(most);
  // What multiples have left over.
  while (lengths.size() < count && lengths.front() > kMultiple) {
    lengths.insert(lengths.begin(), lengths.front() / 2);
  }
  return lengths;
}

std::vector<int64_t> RungsOf(int64_t most, size_t several,
                             const std::vector<int64_t>& given) {
  if (!given.empty()) {
    std::vector<int64_t> lengths = {most};
    for (const int64_t length : given) {
      if (length < most) lengths.push_back(length);
    }
    return lengths;
  }
  if (several == 1) return FineRungs(most);
  const double count = std::pow(static_cast<double>(kMostEntries),
                                1 / static_cast<double>(several));
  return CoarseRungs(most,
                     std::max<size_t>(1, static_cast<size_t>(count + 1e-6)));
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<Lengths> ParseLengths(std::string_view text) {
  Lengths lengths;
  std::string_view rest = text;
  while (true) {
    const std::string_view one = rest.substr(0, rest.find(','));
    const size_t equals = one.rfind('=');
    const bool named = equals != one.npos;
    const std::string name(Trimmed(one.substr(0, named ? equals : 0)));
    const std::string_view number = named ? one.substr(equals + 1) : one;
    int64_t most = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), most);
    const bool whole = error == std::errc() && most >= 1 &&
                       end == number.data() + number.size();
    if (!whole || (named && name.empty())) {
      return UnplacedError(
          fmt::format("'{}' is not a whole number of at least 1{}", one,
                      named ? " behind a name" : ""));
    }
    if (!lengths.emplace(name, most).second) {
      return UnplacedError(
          named ? fmt::format("'{}' gives '{}' two lengths", text, name)
                : fmt::format("'{}' has several lengths without a name", text));
    }
    if (one.size() == rest.size()) break;
    rest.remove_prefix(one.size() + 1);
  }
  if (lengths.size() > 1 && lengths.contains("")) {
    return UnplacedError(
        fmt::format("'{}' names one length and not another", text));
  }
  return lengths;
}

Result<std::vector<Lengths>> LengthsUpTo(const Lengths& most,
                                         std::vector<int64_t> rungs) {
  std::ranges::sort(rungs, std::greater());
  rungs.erase(std::ranges::unique(rungs).begin(), rungs.end());
  const bool one = most.size() == 1;
  if (one && !rungs.empty() && rungs.front() != most.begin()->second) {
    return Error({}, "the longest --bucket is {}, but --length {} is the most",
                 rungs.front(), most.begin()->second);
  }
  const auto& [longest, bound] = *std::ranges::max_element(
      most, {}, [](const auto& length) { return length.second; });
  if (!rungs.empty() && rungs.front() > bound) {
    return Error({},
                 "the longest --bucket is {}, but --length {}={} is the most",
                 rungs.front(), longest, bound);
  }
  std::vector<Lengths> all = {{}};
  for (const auto& [name, extent] : most) {
    std::vector<int64_t> own = RungsOf(extent, most.size(), rungs);
    std::ranges::sort(own, std::greater());
    std::vector<Lengths> longer;
    for (const Lengths& before : all) {
      for (const int64_t length : own) {
        longer.push_back(before);
        longer.back().emplace(name, length);
      }
    }
    all = std::move(longer);
    if (all.size() > size_t{1} << 12) {
      return Error({}, "--bucket asks for more than 4096 entries");
    }
  }
  return all;
}

}  // namespace mxc
