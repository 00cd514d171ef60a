// SPDX-License-Identifier: Apache-2.0
// _convolution_backward_data: the gradient of a convolution with respect to its
// data. No operator of MXNet's: the gradient of Convolution is made of it, and
// Deconvolution.
//   gradient  f[N, num_filter, o1 … ok]          of the convolution's output
//   weight    f[num_filter, C / num_group, kernel…]
//   output    f[N, C, extent…]
//             output[i] = Σ gradient[(i + pad − w·dilate) / stride] · weight[w]
//             over the filters of i's group and all w for which the division
//             leaves no rest
// Channels come last in all three when `layout` says so. The gradient's extents
// need not be those of a convolution of the output: it is zero outside.
// Where the kernel covers most of the output: see convolution_columns.h.
// C1 – C3, C5, C8: see convolution_geometry.h
// C6  extent has a positive entry for each of kernel's
// C7  the gradient's channels and the weight's first axis are num_filter, its
//     other axes kernel
#include <fmt/format.h>

#include <algorithm>

#include "ir/ops/nn/convolution/convolution_backward_data.h"
#include "ir/ops/nn/convolution/convolution_columns.h"
#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

constexpr int64_t kLargestAttribute = 1 << 24;

std::optional<std::string> BackwardDataCheck(
    const ConvolutionBackwardDataAttrs& a) {
  if (auto error = CheckGeometry(a)) return error;
  const bool sound = std::ranges::all_of(
      a.extent, [](int64_t n) { return n > 0 && n <= kLargestAttribute; });
  if (a.extent.size() != a.kernel.size() || !sound) {
    return fmt::format("C6: extent is {}, expected {} positive entries",
                       ToString(a.extent), a.kernel.size());
  }
  return std::nullopt;
}

void BackwardDataTypes(const ConvolutionBackwardDataAttrs& a,
                       TypeInference& t) {
  if (!RequireImages(a, t)) return;
  const SpatialAxes axes = a.axes();
  const Shape &gradient = t.In(0), &weight = t.In(1);
  if (!t.Require(gradient[axes.channel()] == a.num_filter &&
                     weight[0] == a.num_filter &&
                     SpatialExtents(axes, weight) == a.kernel,
                 "C7: gradient {} and weight {} do not fit num_filter {} and "
                 "kernel {}",
                 ToString(gradient), ToString(weight), a.num_filter,
                 ToString(a.kernel))) {
    return;
  }
  Shape output = Shape::OfRank(a.rank() + 2);
  output[0] = gradient[0];
  output[axes.channel()] = weight[axes.channel()] * a.num_group;
  for (int d = 0; d < a.rank(); ++d) output[axes.spatial(d)] = a.extent[d];
  t.SetOut(0, output);
}

void BackwardDataMeaning(const ConvolutionBackwardDataAttrs& a,
                         Definition& def) {
  const SpatialAxes axes = a.axes();
  const Extents stride = a.strides(), dilate = a.dilates(), pad = a.pads();
  const std::vector<Expr> i = def.Indices();
  const int64_t depth = def.InShape(1)[axes.channel()];
  const Expr channel = i[axes.channel()];
  std::vector<Expr> extents = {a.group_filters()};
  for (const int64_t extent : a.kernel) extents.push_back(extent);
  def.Set(0, Definition::Sum(extents, [&](const std::vector<Expr>& r) {
            const Expr filter =
                a.num_group == 1 ? r[0]
                                 : channel / depth * a.group_filters() + r[0];
            std::vector<Expr> position;
            Expr meets;
            for (int d = 0; d < a.rank(); ++d) {
              const int axis = axes.spatial(d);
              const Expr at = i[axis] + pad[d] - r[1 + d] * dilate[d];
              position.push_back(at / stride[d]);
              meets = Both(meets, at >= 0 && at % stride[d] == 0 &&
                                      at / stride[d] < def.InShape(0)[axis]);
            }
            const Expr cell = a.num_group == 1 ? channel : channel % depth;
            return Select(meets,
                          def.In(0, axes.Index(i[0], filter, position)) *
                              def.In(1, axes.Index(filter, cell,
                                                   {r.begin() + 1, r.end()})),
                          def.Lit(0));
          }));
}

std::optional<Contraction> BackwardDataContraction(
    const ConvolutionBackwardDataAttrs& a, const Definition& def) {
  const SpatialAxes axes = a.axes();
  Contraction c;
  c.batch = def.OutShape()[0];
  c.groups = a.num_group;
  c.in = a.group_filters();
  c.out = def.InShape(1)[axes.channel()];
  c.input = SpatialExtents(axes, def.InShape(0));
  c.output = a.extent;
  c.kernel = a.kernel;
  c.stride = Extents(a.rank(), 1);
  c.dilate = a.dilates();
  c.data_dilate = a.strides();
  c.flip = true;
  for (int d = 0; d < a.rank(); ++d) {
    c.pad.push_back(c.dilate[d] * (a.kernel[d] - 1) - a.pads()[d]);
  }
  c.data_axes = axes.Roles(Role::kBatch, Role::kGroupIn);
  c.weight_axes = axes.Roles(Role::kGroupIn, Role::kOut);
  c.output_axes = axes.Roles(Role::kBatch, Role::kGroupOut);
  return c;
}

}  // namespace

MXC_OP(ConvolutionBackwardData) {
  return Op<ConvolutionBackwardDataAttrs>("_convolution_backward_data")
      .Doc("the gradient of a convolution with respect to its data")
      .Inputs({{"gradient", InputKind::kData}, {"weight", InputKind::kData}})
      .Check(BackwardDataCheck)
      .Types(BackwardDataTypes)
      .Meaning(BackwardDataMeaning)
      .AsContraction(BackwardDataContraction)
      .Decompose([](const ConvolutionBackwardDataAttrs& a, const Node& node,
                    GraphBuilder& b) {
        return TransposedByColumns(a, a.extent, node.inputs[0], node.inputs[1],
                                   b);
      });
}

}  // namespace mxc
