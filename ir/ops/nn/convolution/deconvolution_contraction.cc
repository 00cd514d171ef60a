// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/convolution/deconvolution.h"
#include "ir/program/steps/contraction.h"

namespace mxc {

std::optional<Contraction> DeconvolutionContraction(const DeconvolutionAttrs& a,
                                                    const Definition& def) {
  const SpatialAxes axes = a.axes();
  Contraction c;
  c.batch = def.OutShape()[0];
  c.groups = a.num_group;
  c.in = def.InShape(0)[1] / a.num_group;
  c.out = a.group_filters();
  c.kernel = a.kernel;
  c.stride = Extents(a.rank(), 1);
  c.dilate = a.dilates();
  c.data_dilate = a.strides();
  c.flip = true;
  c.input = SpatialExtents(axes, def.InShape(0));
  c.output = SpatialExtents(axes, def.OutShape());
  for (int d = 0; d < a.rank(); ++d) {
    c.pad.push_back(c.dilate[d] * (a.kernel[d] - 1) -
                    PlacementOf(a, d, c.input[d]).pad);
  }
  c.data_axes = axes.Roles(Role::kBatch, Role::kGroupIn);
  c.weight_axes = axes.Roles(Role::kGroupIn, Role::kOut);
  c.output_axes = axes.Roles(Role::kBatch, Role::kGroupOut);
  return c;
}

}  // namespace mxc
