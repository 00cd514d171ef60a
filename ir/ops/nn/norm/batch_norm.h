// SPDX-License-Identifier: Apache-2.0
// BatchNorm's rules, for the operators that differ in their attributes only.
//   data                      f[N, C, d1 …], the channels along `axis`
//   gamma, beta               f[C]
//   moving_mean, moving_var   f[C], states
//   output                    (data − mean) / √(var + eps) · gamma + beta
//   mean, var                 f[C]: the statistics used; var as 1 / √(var +
//                             eps)
//   next_moving_mean, …_var   f[C]: the states' next values, moving · momentum
//                             + statistic · (1 − momentum) when it trains
// The statistics are those of the batch when it trains (the biased variance),
// the moving ones otherwise or with use_global_stats. Where data is f16 all
// else but the output is f32.
// The gradient, where x̂ = (data − mean) / √(var + eps), the sums and means over
// all axes but the channels':
//   data   gamma / √(var + eps) · (dy − mean(dy) − x̂ · mean(dy · x̂)); without
//          the two means where the statistics are the moving ones
//   gamma  Σ dy · x̂, nothing with fix_gamma          beta  Σ dy
// None passes to or from mean and var.
// C1  axis is one of data's
// C2  gamma, beta and the states have one entry for each channel
// Source: MXNet 1.9.1 operator/nn/batch_norm.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

struct BatchNormForm {
  double eps = 1e-3;
  double momentum = 0.9;
  int64_t axis = 1;
  bool fix_gamma = true;  // gamma counts as 1
  bool use_global_stats = false;
  bool relu = false;            // max(output, 0) instead
  bool variance_as_is = false;  // var without the root and the reciprocal
};

// The channels' axis, from the front.
int ChannelAxis(const BatchNormForm& form, int rank);
bool UsesMovingStatistics(const BatchNormForm& form, bool training);

std::vector<InputSpec> BatchNormInputs();
void BatchNormTypes(const BatchNormForm& form, TypeInference& t);
void BatchNormMeaning(const BatchNormForm& form, Definition& def);
// With statistics of the batch: sums, and elementwise operators of them.
std::vector<Value> BatchNormParts(const BatchNormForm& form, const Node& node,
                                  GraphBuilder& b);
std::vector<Value> BatchNormGradient(const BatchNormForm& form,
                                     GradientBuilder& g);

// The operator, for attributes with a member `BatchNormForm form() const` and
// `bool output_mean_var`.
template <class A>
Op<A> BatchNormOperator(std::string name) {
  return Op<A>(std::move(name))
      .Inputs(BatchNormInputs())
      .Outputs({"output", "mean", "var", "next_moving_mean", "next_moving_var"})
      .NextStates(2)
      .ForcedInput([](const A& a, int input) {
        const bool gamma = input == 1 && a.form().fix_gamma;
        return gamma ? std::optional<double>(1) : std::nullopt;
      })
      .VisibleOutputsOf([](const A& a) { return a.output_mean_var ? 3 : 1; })
      .Types([](const A& a, TypeInference& t) { BatchNormTypes(a.form(), t); })
      .FloatsOnly()
      .Meaning(
          [](const A& a, Definition& def) { BatchNormMeaning(a.form(), def); })
      .Decompose([](const A& a, const Node& node, GraphBuilder& b) {
        return BatchNormParts(a.form(), node, b);
      })
      .Gradient([](const A& a, GradientBuilder& g) {
        return BatchNormGradient(a.form(), g);
      });
}

// What every BatchNorm has; its channels are on axis 1.
struct BatchNormOptions {
  double eps = 1e-3;
  double momentum = 0.9;
  bool fix_gamma = true;
  bool use_global_stats = false;
  bool output_mean_var = false;

  // MXNet bounds momentum by 0 and 1, but not that of BatchNorm itself.
  void Describe(Fields& f, bool bounded = true);
  BatchNormForm form() const {
    return {eps, momentum, 1, fix_gamma, use_global_stats};
  }
};

// Attributes of BatchNorm since 1.0.
struct BatchNormAttrs : BatchNormOptions {
  int64_t axis = 1;
  bool cudnn_off = false;
  std::optional<double> min_calib_range, max_calib_range;

  void Describe(Fields& f);
  BatchNormForm form() const {
    BatchNormForm form = BatchNormOptions::form();
    form.axis = axis;
    return form;
  }
};
MXC_ATTRS(BatchNorm, BatchNormAttrs);

}  // namespace mxc
