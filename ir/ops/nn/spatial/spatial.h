// SPDX-License-Identifier: Apache-2.0
// What convolutions and pooling share: where the axes are, and the attributes
// that have one entry for each spatial axis.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/operator.h"
#include "ir/program/expr.h"
#include "ir/program/program.h"

namespace mxc {

// The axes of a batch of images, series or volumes with `rank` spatial axes.
struct SpatialAxes {
  int rank = 2;
  bool channels_last = false;

  int channel() const { return channels_last ? rank + 1 : 1; }
  int spatial(int d) const { return (channels_last ? 1 : 2) + d; }

  // The index of one element.
  std::vector<Expr> Index(Expr batch, Expr channel,
                          const std::vector<Expr>& position) const;
  // The role of each axis, for a descriptor.
  std::vector<Role> Roles(Role batch, Role channel) const;
};

// Layouts as MXNet names them; "None" is channels first.
inline constexpr std::string_view kLayouts[] = {"None", "NCW",  "NCHW", "NCDHW",
                                                "NWC",  "NHWC", "NDHWC"};
bool IsChannelsLast(std::string_view layout);
// Returns whether a layout is one of `rank` spatial axes.
bool LayoutFits(std::string_view layout, int rank);

// `given`, or `fill` for each axis when it is empty.
Extents OrFill(const Extents& given, int rank, int64_t fill);

// C1  every input has 4 axes. False, too, while one has an unknown rank.
bool RequireImages(TypeInference& t);

// C1  kernel has 1 to 3 entries, all positive
// C2  stride, dilate and pad are empty or have an entry for each of kernel's;
//     stride and dilate are positive, pad is not negative
std::optional<std::string> CheckWindow(const Extents& kernel,
                                       const Extents& stride,
                                       const Extents& dilate,
                                       const Extents& pad);

}  // namespace mxc
