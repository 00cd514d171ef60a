// SPDX-License-Identifier: Apache-2.0
// SequenceLast: the last step of each sequence.
//   output  f[N, d1 …]   step length − 1 (the first of an empty sequence)
// Inputs and constraints: sequence.h.
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/sequence/sequence.h"

namespace mxc {
struct SequenceLastAttrs {
  bool use_sequence_length = false;
  int64_t axis = 0;

  void Describe(Fields& f) {
    f("use_sequence_length", use_sequence_length)
        .Doc("whether there is an input sequence_length");
    f("axis", axis).Doc("of the steps, 0 or 1");
  }
};
MXC_ATTRS(SequenceLast, SequenceLastAttrs);

namespace {

void SequenceLastTypes(const SequenceLastAttrs& a, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  if (!SequenceLengthTypes(a.axis, a.use_sequence_length, t)) return;
  Extents output = t.In(0).dims();
  output.erase(output.begin() + a.axis);
  t.SetOut(0, output);
}

void SequenceLastMeaning(const SequenceLastAttrs& a, Definition& def) {
  std::vector<Expr> i = def.Indices();
  const Expr length = SequenceLength(def, a.axis, a.use_sequence_length, i[0]);
  i.insert(i.begin() + a.axis, Max(length - 1, 0));
  def.Set(0, def.In(0, i));
}

CountedForm LastOfCounted(const SequenceLastAttrs& a, const Node& node,
                          std::span<const int> axes, Value count,
                          GraphBuilder& b) {
  if (axes[0] != a.axis) return {};
  SequenceLastAttrs counted = a;
  counted.use_sequence_length = true;
  return {{b.Op<op::SequenceLast>(
              InputsWithLengths(node, a.axis, a.use_sequence_length, count, b),
              counted)},
          {-1},
          1};
}

}  // namespace

MXC_OP(SequenceLast) {
  return Op<SequenceLastAttrs>("SequenceLast")
      .Doc("the last step of each sequence")
      .InputsOf([](const SequenceLastAttrs& a) {
        return SequenceInputs(a.use_sequence_length);
      })
      .Check(
          [](const SequenceLastAttrs& a) { return CheckSequenceAxis(a.axis); })
      .Types(SequenceLastTypes)
      .Meaning(SequenceLastMeaning)
      .Counted(LastOfCounted)
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
