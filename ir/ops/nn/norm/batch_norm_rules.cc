// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "ir/ops/nn/norm/batch_norm.h"
#include "ir/ops/nn/norm/moments.h"

namespace mxc {

std::vector<InputSpec> BatchNormInputs() {
  return {{"data"},
          {"gamma", InputKind::kParameter},
          {"beta", InputKind::kParameter},
          {"moving_mean", InputKind::kState},
          {"moving_var", InputKind::kState}};
}

void BatchNormOptions::Describe(Fields& f, bool bounded) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  f("eps", eps).Doc("added to the variance");
  f("momentum", momentum)
      .Range(bounded ? 0 : -kInfinity, bounded ? 1 : kInfinity)
      .Doc("of the moving statistics");
  f("fix_gamma", fix_gamma).Doc("whether gamma counts as 1");
  f("use_global_stats", use_global_stats)
      .Doc("whether the moving statistics are used when training too");
  f("output_mean_var", output_mean_var).Doc("whether mean and var can be read");
}

void BatchNormAttrs::Describe(Fields& f) {
  BatchNormOptions::Describe(f, false);
  f("axis", axis).Doc("the channels'; negative from the end");
  f("cudnn_off", cudnn_off).Hint();
  f("min_calib_range", min_calib_range).Hint();
  f("max_calib_range", max_calib_range).Hint();
}

int ChannelAxis(const BatchNormForm& form, int rank) {
  return static_cast<int>(form.axis < 0 ? form.axis + rank : form.axis);
}

namespace {

void BatchNormDTypes(TypeInference& t) {
  const DType data = t.InDType(0);
  t.SetOutDType(0, data);
  t.SetInDType(0, t.OutDType(0));
  if (t.InDType(0) == DType::kUnknown) return;
  const DType statistics = AccumulateType(t.InDType(0));
  for (int i = 1; i < t.inputs(); ++i) t.SetInDType(i, statistics);
  for (int i = 1; i < t.outputs(); ++i) t.SetOutDType(i, statistics);
}

}  // namespace

void BatchNormTypes(const BatchNormForm& form, TypeInference& t) {
  BatchNormDTypes(t);
  t.SetOut(0, t.In(0));
  if (t.error()) return;
  t.SetIn(0, t.Out(0));
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  const int axis = ChannelAxis(form, data.rank());
  if (!t.Require(axis >= 0 && axis < data.rank(),
                 "C1: axis {} is not one of the {} of data", form.axis,
                 data.rank())) {
    return;
  }
  for (int i = 1; i < t.inputs(); ++i) {
    const Shape& given = t.In(i);
    if (!t.Require(
            !given.known() || !data.known(axis) || given == Shape{data[axis]},
            "C2: {} has shape {}, expected ({},)", BatchNormInputs()[i].name,
            ToString(given), data[axis])) {
      return;
    }
    t.SetIn(i, {data[axis]});
    if (t.error()) return;
    if (t.In(i).known() && !data.known(axis)) {
      Shape refined = data;
      refined[axis] = t.In(i)[0];
      t.SetIn(0, refined);
    }
  }
  for (int i = 1; i < t.outputs(); ++i) t.SetOut(i, {data[axis]});
}

bool UsesMovingStatistics(const BatchNormForm& form, bool training) {
  return !training || form.use_global_stats;
}

namespace {

Moments StatisticsOf(const BatchNormForm& form, const Definition& def, int axis,
                     Expr channel) {
  if (UsesMovingStatistics(form, def.training())) {
    return {def.In(3, {channel}), def.In(4, {channel})};
  }
  Extents others;
  for (int k = 0; k < def.InShape(0).rank(); ++k) {
    if (k != axis) others.push_back(k);
  }
  return MomentsOver(def, others, {channel}, def.OutDType(1));
}

}  // namespace

void BatchNormMeaning(const BatchNormForm& form, Definition& def) {
  const int axis = ChannelAxis(form, def.InShape(0).rank());
  const DType type = def.OutDType(1);
  const auto inverse = [&](const Expr& variance) {
    return Constant(1, type) / Sqrt(variance + Constant(form.eps, type));
  };
  const std::vector<Expr> i = def.Indices();
  const Moments own = StatisticsOf(form, def, axis, i[axis]);
  Expr scale = inverse(own.variance);
  if (!form.fix_gamma) scale = scale * def.In(1, {i[axis]});
  Expr value =
      (Cast(def.In(0, i), type) - own.mean) * scale + def.In(2, {i[axis]});
  if (form.relu) value = Max(value, Constant(0, type));
  def.Set(0, value);

  const Moments shown = StatisticsOf(form, def, axis, Var(0));
  def.Set(1, shown.mean);
  def.Set(2, form.variance_as_is ? shown.variance : inverse(shown.variance));

  const bool keep = UsesMovingStatistics(form, def.training());
  const auto next = [&](int state, const Expr& statistic) {
    const Expr moving = def.In(state, {Var(0)});
    if (keep) return moving;
    return moving * Constant(form.momentum, type) +
           statistic * Constant(1 - form.momentum, type);
  };
  def.Set(3, next(3, shown.mean));
  def.Set(4, next(4, shown.variance));
}

}  // namespace mxc
