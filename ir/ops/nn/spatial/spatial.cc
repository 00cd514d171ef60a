// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/spatial/spatial.h"

#include <fmt/format.h>

#include "ir/program/steps/contraction.h"

namespace mxc {

std::vector<Expr> SpatialAxes::Index(Expr batch, Expr channel,
                                     const std::vector<Expr>& position) const {
  std::vector<Expr> index = {batch};
  if (!channels_last) index.push_back(channel);
  index.insert(index.end(), position.begin(), position.end());
  if (channels_last) index.push_back(channel);
  return index;
}

std::vector<Role> SpatialAxes::Roles(Role batch, Role channel) const {
  constexpr Role kSpatial[] = {Role::kSpatial0, Role::kSpatial1,
                               Role::kSpatial2};
  std::vector<Role> roles = {batch};
  if (!channels_last) roles.push_back(channel);
  roles.insert(roles.end(), kSpatial, kSpatial + rank);
  if (channels_last) roles.push_back(channel);
  return roles;
}

bool IsChannelsLast(std::string_view layout) {
  return layout.ends_with('C') && layout.size() > 1;
}

bool LayoutFits(std::string_view layout, int rank) {
  return layout == "None" || static_cast<int>(layout.size()) == rank + 2;
}

Extents OrFill(const Extents& given, int rank, int64_t fill) {
  return given.empty() ? Extents(rank, fill) : given;
}

namespace {

constexpr int64_t kLargestExtent = 1 << 24;

std::optional<std::string> CheckEntries(std::string_view label,
                                        std::string_view name,
                                        const Extents& entries, int64_t low) {
  for (const int64_t entry : entries) {
    if (entry < low || entry > kLargestExtent) {
      return fmt::format("{}: {} is {}, expected entries of at least {}", label,
                         name, ToString(entries), low);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> CheckWindow(const Extents& kernel,
                                       const Extents& stride,
                                       const Extents& dilate,
                                       const Extents& pad) {
  if (kernel.empty() || kernel.size() > 3) {
    return fmt::format("C1: kernel {} has {} entries, expected 1 to 3",
                       ToString(kernel), kernel.size());
  }
  if (auto error = CheckEntries("C1", "kernel", kernel, 1)) return error;
  const struct {
    std::string_view name;
    const Extents& entries;
    int64_t low;
  } others[] = {{"stride", stride, 1}, {"dilate", dilate, 1}, {"pad", pad, 0}};
  for (const auto& [name, entries, low] : others) {
    if (!entries.empty() && entries.size() != kernel.size()) {
      return fmt::format("C2: {} {} has {} entries, expected {} as in kernel",
                         name, ToString(entries), entries.size(),
                         kernel.size());
    }
    if (auto error = CheckEntries("C2", name, entries, low)) return error;
  }
  return std::nullopt;
}

bool RequireImages(TypeInference& t) {
  for (int k = 0; k < t.inputs(); ++k) {
    if (!t.In(k).known_rank()) return false;
    if (!t.Require(t.In(k).rank() == 4, "C1: input {} has {} axes, expected 4",
                   k, t.In(k).rank())) {
      return false;
    }
  }
  return true;
}

}  // namespace mxc
