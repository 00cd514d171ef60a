// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/deconvolution.h"
#include "ir/ops/nn/spatial.h"

namespace mxc {

std::optional<Contraction> DeconvolutionContraction(const DeconvolutionAttrs& a,
                                                    const Definition& def) {
  const SpatialAxes axes = {a.rank(), false};
  Contraction c;
  c.batch = def.OutShape()[0];
  c.groups = a.num_group;
  c.in = def.InShape(0)[1] / a.num_group;
  c.out = a.num_filter / a.num_group;
  c.kernel = a.kernel;
  c.stride = Extents(a.rank(), 1);
  c.dilate = OrFill(a.dilate, a.rank(), 1);
  c.data_dilate = OrFill(a.stride, a.rank(), 1);
  c.flip = true;
  for (int d = 0; d < a.rank(); ++d) {
    c.input.push_back(def.InShape(0)[2 + d]);
    c.output.push_back(def.OutShape()[2 + d]);
    c.pad.push_back(c.dilate[d] * (a.kernel[d] - 1) -
                    PlacementOf(a, d, c.input[d]).pad);
  }
  c.data_axes = axes.Roles(Role::kBatch, Role::kGroupIn);
  c.weight_axes = axes.Roles(Role::kGroupIn, Role::kOut);
  c.output_axes = axes.Roles(Role::kBatch, Role::kGroupOut);
  return c;
}

}  // namespace mxc
