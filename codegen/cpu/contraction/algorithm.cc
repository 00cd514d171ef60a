// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/algorithm.h"

#include <algorithm>
#include <utility>

#include "codegen/cpu/contraction/dot_unit.h"
#include "codegen/cpu/contraction/taps.h"
#include "ir/program/int4_blocks.h"
#include "ir/program/kernel_basis.h"
#include "ir/program/quarter_sums.h"
#include "ir/support/check.h"
#include "ir/support/division.h"

namespace mxc::contraction {
namespace {

int AxisOf(const std::vector<Role>& axes, Role role) {
  const auto found = std::ranges::find(axes, role);
  return found == axes.end() ? -1 : static_cast<int>(found - axes.begin());
}

}  // namespace

int64_t WinogradTile(std::string_view algorithm) {
  return algorithm == kWinograd2   ? 2
         : algorithm == kWinograd3 ? 3
         : algorithm == kWinograd4 ? 4
         : algorithm == kWinograd5 ? 5
         : algorithm == kWinograd6 ? 6
                                   : 0;
}

Extents WinogradTiles(const Contraction& c, std::string_view algorithm) {
  Extents tiles;
  for (const int64_t kernel : c.kernel) {
    tiles.push_back(kernel == 1 ? 1 : WinogradTile(algorithm));
  }
  return tiles;
}

Extents WinogradWindows(const Contraction& c, std::string_view algorithm) {
  Extents windows = WinogradTiles(c, algorithm);
  for (size_t i = 0; i < windows.size(); ++i) windows[i] += c.kernel[i] - 1;
  return windows;
}

int64_t WinogradSumsTile(std::string_view algorithm) {
  return algorithm == kWinogradSums2   ? 2
         : algorithm == kWinogradSums4 ? 4
         : algorithm == kWinogradSums6 ? 6
                                       : 0;
}

Extents HaloLow(const Contraction& c) {
  Extents halo;
  for (size_t i = 0; i < c.kernel.size(); ++i) halo.push_back(HaloLow(c, i));
  return halo;
}

Extents HaloHigh(const Contraction& c) {
  Extents halo;
  for (size_t i = 0; i < c.kernel.size(); ++i) halo.push_back(HaloHigh(c, i));
  return halo;
}

Layout WeightLayout(const Contraction& c, std::string_view algorithm,
                    int64_t data_block, int lanes, int panel_vectors) {
  const std::vector<Role>& axes = c.weight_axes;
  int out = AxisOf(axes, Role::kGroupOut), in = AxisOf(axes, Role::kIn);
  int64_t out_extent = c.groups * c.out;
  int64_t groups = 1;  // that are a part of the input channels' axis
  if (out < 0) {
    out = AxisOf(axes, Role::kOut);
    out_extent = c.out;
  }
  if (in < 0) {
    in = AxisOf(axes, Role::kGroupIn);
    groups = c.groups;
  }
  // One channel for each group: their axis has the lanes.
  const int taps = DotTaps(algorithm);
  const bool depthwise =
      algorithm == kDepthwise || (taps > 0 && algorithm != kColumnPairs);
  if (depthwise && groups > 1) {
    std::swap(out, in);
    out_extent = std::exchange(groups, 1);
  }
  const int64_t panel = int64_t{panel_vectors} * lanes;
  const int dots = DotChannels(algorithm);
  const bool in_blocks = (algorithm == kDirect || dots > 0) && data_block > 1;
  const bool winograd = WinogradTile(algorithm) > 0;
  const bool strassen = algorithm == kStrassen;
  const bool tiles = algorithm == kTiles;
  // Entries of a word of a tile.
  const int64_t packed = tiles ? 4 / SizeOf(c.types.weight) : dots;
  const int64_t parts = strassen ? 2 : tiles ? packed : 1;
  const Extents kernel = winograd   ? WinogradWindows(c, algorithm)
                         : strassen ? Extents{kQuarterProducts, 1}
                                    : c.kernel;
  const bool in_last =
      algorithm == kGrouped || depthwise || winograd || strassen || tiles;
  MXC_CHECK(out >= 0 && in >= 0, "weight axes of a {}", algorithm);

  Layout layout;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != Role::kGroup) continue;
    // A single group axis: WeightFits refuses more.
    layout.dims.push_back({static_cast<int>(i), c.groups});
  }
  if (groups > 1) layout.dims.push_back({in, groups});
  const int64_t outs = strassen ? out_extent / parts : out_extent;
  layout.dims.push_back({out, DivideUp(outs, panel)});
  if (in_blocks) {
    layout.dims.push_back({in, DivideUp(c.in, data_block)});
  } else if (!in_last) {
    layout.dims.push_back({in, WeightRows(c) / std::max(1, dots)});
  }
  for (size_t k = 0; k < c.kernel.size(); ++k) {
    const Role role = static_cast<Role>(static_cast<int>(Role::kSpatial0) + k);
    const bool in_dots = taps > 0 && k + 1 == c.kernel.size();
    layout.dims.push_back(
        {AxisOf(axes, role), in_dots ? DivideUp(kernel[k], taps) : kernel[k]});
  }
  if (in_blocks) layout.dims.push_back({in, data_block / std::max(1, dots)});
  if (in_last) layout.dims.push_back({in, c.in / parts});
  layout.dims.push_back({out, panel});
  if (packed > 0) layout.dims.push_back({in, packed});
  if (taps > 0) {
    const auto last = static_cast<Role>(static_cast<int>(Role::kSpatial0) +
                                        c.kernel.size() - 1);
    layout.dims.push_back({AxisOf(axes, last), taps});
  }
  if (strassen) layout.basis = KernelBasis::kStrassen;
  if (winograd) layout.basis = BasisOfWindow(*std::ranges::max_element(kernel));
  layout.halo_low.assign(axes.size(), 0);
  layout.halo_high.assign(axes.size(), 0);
  return layout;
}

}  // namespace mxc::contraction
