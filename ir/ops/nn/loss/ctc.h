// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification (Graves et al., 2006), for CTCLoss and
// its parts. A label of L classes is extended by blanks to S = 2·L + 1 symbols:
// blank, first class, blank, …. Probabilities are logarithms; a log of 0 is
// kCtcImpossible, so that no difference of two is NaN.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

inline constexpr double kCtcImpossible = -1e30;

enum class BlankLabel : int { kFirst, kLast };

struct CtcAttrs {
  bool use_data_lengths = false;
  bool use_label_lengths = false;
  BlankLabel blank_label = BlankLabel::kFirst;

  void Describe(Fields& f);
};
MXC_ATTRS(CTCEmissions, CtcAttrs);
MXC_ATTRS(CTCEnds, CtcAttrs);
MXC_ATTRS(CTCGradient, CtcAttrs);

// Labels as a meaning reads them: input `label` is [N, L], input `lengths` (−1:
// none) [N]. Without lengths the first 0 (blank_label first) or −1 (last) ends
// a label. `classes` is C.
struct CtcLabels {
  const CtcAttrs& attrs;
  const Definition& def;
  int label = 0, lengths = -1;
  int64_t classes = 0;

  Expr Length(Expr n) const;
  // Of an extended label, 0 ≤ s < S.
  Expr Symbol(Expr n, Expr s) const;
  // Whether a path may come to symbol s from symbol s − 2.
  Expr MaySkipTo(Expr n, Expr s) const;
};

// log Σ exp(x).
Expr LogSumExp(const std::vector<Expr>& x);

}  // namespace mxc
