// SPDX-License-Identifier: Apache-2.0
// The windows of a convolution as columns: im2col and col2im.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

struct ColumnsAttrs {
  Extents kernel = {}, stride = {}, dilate = {}, pad = {};

  void Describe(Fields& f) {
    f("kernel", kernel).Required().Range(1, 1 << 20).Doc("window");
    f("stride", stride).Range(1, 1 << 20).Doc("step of the window");
    f("dilate", dilate).Range(1, 1 << 20).Doc("step within the window");
    f("pad", pad).Range(0, 1 << 20).Doc("zeros around data");
  }

  int rank() const { return static_cast<int>(kernel.size()); }
  int64_t Stride(int k) const { return stride.empty() ? 1 : stride[k]; }
  int64_t Dilate(int k) const { return dilate.empty() ? 1 : dilate[k]; }
  int64_t Pad(int k) const { return pad.empty() ? 0 : pad[k]; }
  // How many windows fit along an axis of data.
  int64_t Windows(int k, int64_t extent) const {
    const int64_t room = extent + 2 * Pad(k) - Dilate(k) * (kernel[k] - 1) - 1;
    return room < 0 ? 0 : room / Stride(k) + 1;
  }
};
MXC_ATTRS(Im2col, ColumnsAttrs);

// C1  kernel has 1 to 3 entries
// C2  stride, dilate and pad are empty or as long as kernel
inline std::optional<std::string> CheckColumns(const ColumnsAttrs& attrs) {
  if (attrs.kernel.empty() || attrs.rank() > 3) {
    return fmt::format("C1: kernel {} has {} entries, expected 1 to 3",
                       ToString(attrs.kernel), attrs.rank());
  }
  for (const Extents* list : {&attrs.stride, &attrs.dilate, &attrs.pad}) {
    if (list->empty() || list->size() == attrs.kernel.size()) continue;
    return fmt::format("C2: {} has another length than kernel {}",
                       ToString(*list), ToString(attrs.kernel));
  }
  return std::nullopt;
}

}  // namespace mxc
