// SPDX-License-Identifier: Apache-2.0
// _softmax_output_gradient: SoftmaxOutput's gradient, from its output p.
//   output    f[N, K, d1 …]
//   label     as SoftmaxOutput's
//   gradient  f[N, K, d1 …]  (p − target) · grad_scale / Z, where target is
//             label where that holds probabilities (Z is 1 then), else 1 for
//             the class in label and 0 for others; with smooth_alpha (not
//             multi_output) 1 − α and α / (K − 1). Rows whose label is
//             ignore_label are 0 with use_ignore.
// Z by normalization: null 1; batch the rows of label, or all labels (not
// multi_output); valid the labels other than ignore_label, at least 1. With
// multi_output it is multiplied by the positions of an image, unless valid.
// A label that is no class leaves p.
// Attributes: SoftmaxOutput's.
// Source: MXNet 1.9.1 operator/softmax_output-inl.h.
#include "ir/ops/nn/loss/softmax_output.h"

namespace mxc {
namespace {

// Labels are compared as integers.
Expr Truncated(const Expr& label) { return Cast(label, DType::kI64); }

Expr IgnoreLabel(const SoftmaxOutputAttrs& a) {
  return static_cast<int64_t>(a.ignore_label);
}

Expr Normalizer(const SoftmaxOutputAttrs& a, const Definition& def,
                const SoftmaxOutputRows& rows) {
  const double positions =
      a.multi_output ? static_cast<double>(rows.positions()) : 1;
  switch (a.normalization) {
    case SoftmaxNormalization::kNull:
      return def.Lit(positions);
    case SoftmaxNormalization::kBatch: {
      const int64_t batch = a.multi_output ? def.InShape(1)[0] : rows.labels();
      return def.Lit(static_cast<double>(batch) * positions);
    }
    case SoftmaxNormalization::kValid: {
      const Expr valid =
          Definition::Sum({rows.labels()}, [&](const std::vector<Expr>& r) {
            return Select(Truncated(rows.Label(r[0])) != IgnoreLabel(a),
                          def.Lit(1), def.Lit(0));
          });
      return Max(valid, def.Lit(1));
    }
  }
  MXC_CHECK(false);
}

void SoftmaxOutputGradientTypes(const SoftmaxOutputAttrs&, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetOutDType(0, t.InDType(0));
}

void SoftmaxOutputGradientMeaning(const SoftmaxOutputAttrs& a,
                                  Definition& def) {
  const SoftmaxOutputRows rows(a, def);
  const std::vector<Expr> i = def.Indices();
  const Expr p = def.In(0, i);
  const Expr scale = def.Lit(a.grad_scale);
  if (rows.probabilities()) {
    return def.Set(0, (p - Cast(def.In(1, i), def.OutDType())) * scale);
  }
  const Expr label = Truncated(rows.Label(rows.RowOf(i)));
  const SoftmaxTarget wanted = TargetOf(a, rows.classes());
  const Expr target = Select(rows.ClassOf(i) == label, def.Lit(wanted.of_label),
                             def.Lit(wanted.of_others));
  Expr value = (p - target) * (scale / Normalizer(a, def, rows));
  if (a.use_ignore) {
    value = Select(label == IgnoreLabel(a), def.Lit(0), value);
  }
  def.Set(0, value);
}

}  // namespace

MXC_OP(SoftmaxOutputGradient) {
  return Op<SoftmaxOutputAttrs>("_softmax_output_gradient")
      .Internal()
      .Doc("the gradient of SoftmaxOutput")
      .Inputs({{"output"}, {"label", InputKind::kLabel}})
      .Outputs({"gradient"})
      .Types(SoftmaxOutputGradientTypes)
      .Meaning(SoftmaxOutputGradientMeaning);
}

}  // namespace mxc
