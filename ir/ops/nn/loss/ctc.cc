// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/loss/ctc.h"

namespace mxc {

void CtcAttrs::Describe(Fields& f) {
  f("use_data_lengths", use_data_lengths)
      .Doc("whether there is an input data_lengths");
  f("use_label_lengths", use_label_lengths)
      .Doc("whether there is an input label_lengths");
  f("blank_label", blank_label)
      .OneOf({"first", "last"})
      .Doc("which class is the blank");
}

namespace {

Expr ClassAt(const CtcLabels& labels, Expr n, Expr k) {
  return Cast(labels.def.In(labels.label, {n, k}), DType::kI64);
}

}  // namespace

Expr CtcLabels::Length(Expr n) const {
  const int64_t most = def.InShape(label)[1];
  if (lengths >= 0) {
    return Max(Min(Cast(def.In(lengths, {n}), DType::kI64), most), 0);
  }
  const int64_t padding = attrs.blank_label == BlankLabel::kFirst ? 0 : -1;
  return Min(Definition::MinOf({most},
                               [&](const std::vector<Expr>& k) {
                                 return Select(
                                     ClassAt(*this, n, k[0]) == padding, k[0],
                                     most);
                               }),
             most);
}

Expr CtcLabels::Symbol(Expr n, Expr s) const {
  const int64_t last = def.InShape(label)[1] - 1;
  const int64_t blank =
      attrs.blank_label == BlankLabel::kFirst ? 0 : classes - 1;
  const Expr of_label = ClassAt(*this, n, Min(s / 2, last));
  return Select(s % 2 == 0, blank, Max(Min(of_label, classes - 1), 0));
}

Expr CtcLabels::MaySkipTo(Expr n, Expr s) const {
  const int64_t last = def.InShape(label)[1] - 1;
  const Expr k = Max(Min(s / 2, last), 0);
  return s % 2 == 1 && s >= 3 &&
         ClassAt(*this, n, k) != ClassAt(*this, n, Max(k - 1, 0));
}

Expr LogSumExp(const std::vector<Expr>& x) {
  Expr max = x[0], sum;
  for (size_t k = 1; k < x.size(); ++k) max = Max(max, x[k]);
  for (const Expr& term : x) {
    const Expr part = Exp(term - max);
    sum = sum ? sum + part : part;
  }
  return max + Log(sum);
}

}  // namespace mxc
