// SPDX-License-Identifier: Apache-2.0
// _convolution_backward_weight: the gradient of a convolution with respect to
// its weight. No operator of MXNet's: the gradients of Convolution and
// Deconvolution are made of it.
//   data      f[N, C, d1 … dk]
//   gradient  f[N, num_filter, o1 … ok]          of the convolution's output
//   output    f[num_filter, C / num_group, kernel…]
//             output[w] = Σ data[y·stride + w·dilate − pad] · gradient[y]
//             over all images and positions y; data is zero outside
// Channels come last in all three when `layout` says so. The gradient's extents
// need not be those of a convolution of data.
// C1 – C3, C5, C8: see convolution_geometry.h
// C6  data and the gradient have the same batch
// C7  the gradient has num_filter channels, and num_group divides data's
#include "ir/ops/nn/convolution/convolution_geometry.h"
#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

void BackwardWeightTypes(const ConvolutionGeometry& a, TypeInference& t) {
  if (!RequireImages(a, t)) return;
  const SpatialAxes axes = a.axes();
  const Shape &data = t.In(0), &gradient = t.In(1);
  const int64_t channels = data[axes.channel()];
  if (!t.Require(data[0] == gradient[0],
                 "C6: data {} and gradient {} differ in the batch",
                 ToString(data), ToString(gradient)) ||
      !t.Require(gradient[axes.channel()] == a.num_filter &&
                     channels % a.num_group == 0,
                 "C7: data {} and gradient {} do not fit num_filter {} and "
                 "num_group {}",
                 ToString(data), ToString(gradient), a.num_filter,
                 a.num_group)) {
    return;
  }
  Shape output = Shape::OfRank(a.rank() + 2);
  output[0] = a.num_filter;
  output[axes.channel()] = channels / a.num_group;
  for (int d = 0; d < a.rank(); ++d) output[axes.spatial(d)] = a.kernel[d];
  t.SetOut(0, output);
}

void BackwardWeightMeaning(const ConvolutionGeometry& a, Definition& def) {
  const SpatialAxes axes = a.axes();
  const Extents stride = a.strides(), dilate = a.dilates(), pad = a.pads();
  const std::vector<Expr> i = def.Indices();
  const Expr filter = i[0];
  const int64_t depth = def.OutShape()[axes.channel()];
  std::vector<Expr> extents = {def.InShape(1)[0]};
  for (int d = 0; d < a.rank(); ++d) {
    extents.push_back(def.InShape(1)[axes.spatial(d)]);
  }
  def.Set(
      0, Definition::Sum(extents, [&](const std::vector<Expr>& r) {
        Expr channel = i[axes.channel()];
        if (a.num_group > 1) {
          channel = filter / a.group_filters() * depth + channel;
        }
        std::vector<Expr> position;
        Expr inside;
        for (int d = 0; d < a.rank(); ++d) {
          const int axis = axes.spatial(d);
          const Expr at = r[1 + d] * stride[d] + i[axis] * dilate[d] - pad[d];
          position.push_back(at);
          inside = Both(inside, at >= 0 && at < def.InShape(0)[axis]);
        }
        return Select(
            inside,
            def.In(0, axes.Index(r[0], channel, position)) *
                def.In(1, axes.Index(r[0], filter, {r.begin() + 1, r.end()})),
            def.Lit(0));
      }));
}

std::optional<Contraction> BackwardWeightContraction(
    const ConvolutionGeometry& a, const Definition& def) {
  const SpatialAxes axes = a.axes();
  Contraction c;
  c.batch = def.OutShape()[axes.channel()];
  c.groups = a.num_group;
  c.in = def.InShape(0)[0];
  c.out = a.group_filters();
  c.input = SpatialExtents(axes, def.InShape(0));
  c.output = a.kernel;
  c.kernel = SpatialExtents(axes, def.InShape(1));
  c.stride = a.dilates();
  c.dilate = a.strides();
  c.pad = a.pads();
  c.data_dilate = Extents(a.rank(), 1);
  c.data_axes = axes.Roles(Role::kIn, Role::kGroupBatch);
  c.weight_axes = axes.Roles(Role::kIn, Role::kGroupOut);
  c.output_axes = axes.Roles(Role::kGroupOut, Role::kBatch);
  return c;
}

}  // namespace

MXC_OP(ConvolutionBackwardWeight) {
  return Op<ConvolutionGeometry>("_convolution_backward_weight")
      .Doc("the gradient of a convolution with respect to its weight")
      .Inputs({{"data", InputKind::kData}, {"gradient", InputKind::kData}})
      .Check(CheckGeometry)
      .Types(BackwardWeightTypes)
      .Meaning(BackwardWeightMeaning)
      .AsContraction(BackwardWeightContraction);
}

}  // namespace mxc
