// SPDX-License-Identifier: Apache-2.0
// _contrib_DeformablePSROIPooling: PSROIPooling at sample_per_part² points of
// each part, which may be shifted.
//   data       f[N, output_dim · group_size², H, W]
//   rois       f[R, 5]          image, x1, y1, x2, y2; rounded, scaled
//   trans      f[R, 2·classes, part_size, part_size]   unless no_trans: shifts
//              x, then y, in trans_std of the region
//   output     f[R, output_dim, p, p]   the mean of the points in the image
//   top_count  f[R, output_dim, p, p]   how many there are; hidden
// C1  data has 4 axes and rois 5 columns
// C2  data has output_dim · group_size² channels
// C3  trans has the shape above, and classes divide output_dim
// Source: MXNet 1.9.1 operator/contrib/deformable_psroi_pooling.cc.
#include "ir/ops/nn/detection/roi.h"
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/spatial/bilinear.h"

namespace mxc {
namespace {

struct DeformablePsRoiAttrs {
  double spatial_scale = 1;
  int64_t output_dim = 0;
  int64_t group_size = 0;
  int64_t pooled_size = 0;
  int64_t part_size = 0;
  int64_t sample_per_part = 1;
  double trans_std = 0;
  bool no_trans = false;

  void Describe(Fields& f) {
    constexpr double kMost = 1 << 12;
    DescribeSpatialScale(f, spatial_scale);
    f("output_dim", output_dim)
        .Required()
        .Range(1, 1 << 24)
        .Doc("output channels");
    f("group_size", group_size)
        .Required()
        .Range(1, kMost)
        .Doc("groups of channels along a side");
    f("pooled_size", pooled_size)
        .Required()
        .Range(1, kMost)
        .Doc("parts along a side");
    f("part_size", part_size)
        .Range(0, kMost)
        .Doc("shifts along a side; pooled_size where 0");
    f("sample_per_part", sample_per_part)
        .Range(1, kMost)
        .Doc("points along a side of a part");
    f("trans_std", trans_std).Range(0, 1).Doc("unit of trans");
    f("no_trans", no_trans).Doc("whether there is no input trans");
  }
  int64_t shifts() const { return part_size == 0 ? pooled_size : part_size; }
};

std::vector<InputSpec> DeformablePsRoiInputs(const DeformablePsRoiAttrs& a) {
  if (a.no_trans) return {{"data"}, {"rois"}};
  return {{"data"}, {"rois"}, {"trans"}};
}

void DeformablePsRoiTypes(const DeformablePsRoiAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (!RoiTypes(t)) return;
  const int64_t channels = a.output_dim * a.group_size * a.group_size;
  if (!t.Require(t.In(0)[1] == channels,
                 "C2: data has {} channels, expected {}", t.In(0)[1],
                 channels)) {
    return;
  }
  const int64_t regions = t.In(1)[0];
  if (!a.no_trans) {
    const Shape& trans = t.In(2);
    if (!trans.known()) return;
    if (!t.Require(trans.rank() == 4 && trans[0] == regions && trans[1] > 0 &&
                       trans[1] % 2 == 0 && trans[2] == a.shifts() &&
                       trans[3] == a.shifts() &&
                       a.output_dim % (trans[1] / 2) == 0,
                   "C3: trans has shape {}, expected ({}, 2·classes, {}, {})",
                   ToString(trans), regions, a.shifts(), a.shifts())) {
      return;
    }
  }
  const Shape output = {regions, a.output_dim, a.pooled_size, a.pooled_size};
  t.SetOut(0, output);
  t.SetOut(1, output);
}

// One side of a part: its first point and the distance to the next.
struct PointRow {
  Expr start, step;
};

PointRow PointRowOf(const DeformablePsRoiAttrs& a, const Definition& def,
                    const std::vector<Expr>& i, int d) {
  const Expr scale = def.Lit(a.spatial_scale), half = def.Lit(0.5);
  const Expr start = RoundAway(RoiCoordinate(def, i[0], 2 - d)) * scale - half;
  const Expr stop =
      (RoundAway(RoiCoordinate(def, i[0], 4 - d)) + def.Lit(1)) * scale - half;
  const Expr length = Max(stop - start, def.Lit(0.1));
  const Expr part = length / def.Lit(static_cast<double>(a.pooled_size));
  Expr first = start + Cast(i[2 + d], def.OutDType()) * part;
  if (!a.no_trans) {
    const int64_t of_class = a.output_dim / (def.InShape(2)[1] / 2);
    const auto shift = [&](int axis) {
      return i[axis] * a.shifts() / a.pooled_size;
    };
    const Expr trans =
        def.In(2, {i[0], i[1] / of_class * 2 + (1 - d), shift(2), shift(3)});
    first = first + trans * def.Lit(a.trans_std) * length;
  }
  return {first, part / def.Lit(static_cast<double>(a.sample_per_part))};
}

void DeformablePsRoiMeaning(const DeformablePsRoiAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Shape& data = def.InShape(0);
  const PointRow rows[] = {PointRowOf(a, def, i, 0), PointRowOf(a, def, i, 1)};
  const auto group = [&](int axis) {
    return i[axis] * a.group_size / a.pooled_size;
  };
  const Expr channel =
      (i[1] * a.group_size + group(2)) * a.group_size + group(3);
  const auto sum = [&](const std::function<Expr(Expr y, Expr x)>& f) {
    return Definition::Sum(
        {a.sample_per_part, a.sample_per_part},
        [&](const std::vector<Expr>& r) {
          Expr at[2], inside;
          for (int d = 0; d < 2; ++d) {
            const double last = static_cast<double>(data[2 + d]) - 1;
            const Expr point =
                rows[d].start + Cast(r[d], def.OutDType()) * rows[d].step;
            const Expr in =
                point >= def.Lit(-0.5) && point <= def.Lit(last + 0.5);
            inside = inside ? inside && in : in;
            at[d] = Min(Max(point, def.Lit(0)), def.Lit(last));
          }
          return Select(inside, f(at[0], at[1]), def.Lit(0));
        });
  };
  const Expr total = sum([&](Expr y, Expr x) {
    return BilinearWithin(y, x, [&](Expr row, Expr column) {
      return def.In(0, {RoiImage(def, i[0]), channel, row, column});
    });
  });
  const Expr count = sum([&](Expr, Expr) { return def.Lit(1); });
  def.Set(0, total / Max(count, def.Lit(1)));
  def.Set(1, count);
}

}  // namespace

MXC_OP(DeformablePSROIPooling) {
  return Op<DeformablePsRoiAttrs>("_contrib_DeformablePSROIPooling")
      .Doc("position-sensitive averages of shifted parts of regions")
      .InputsOf(DeformablePsRoiInputs)
      .Outputs({"output", "top_count"}, 1)
      .Types(DeformablePsRoiTypes)
      .FloatsOnly()
      .Meaning(DeformablePsRoiMeaning)
      .Gradient([](const auto&, GradientBuilder& g) {
        std::vector<Value> gradients = MeaningGradients(g);
        gradients[1] = {};
        return gradients;
      });
}

}  // namespace mxc
