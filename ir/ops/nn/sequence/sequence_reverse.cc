// SPDX-License-Identifier: Apache-2.0
// SequenceReverse: each sequence backwards; what follows its end stays.
//   output  f as data
// Inputs and constraints: sequence.h; and axis must be 0 (C1).
#include "ir/ops/nn/sequence/sequence_reverse.h"

#include <fmt/format.h>

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/sequence/sequence.h"

namespace mxc {
namespace {

std::optional<std::string> SequenceReverseCheck(const SequenceReverseAttrs& a) {
  if (a.axis == 0) return std::nullopt;
  return fmt::format("C1: axis is {}, expected 0", a.axis);
}

void SequenceReverseTypes(const SequenceReverseAttrs& a, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  SequenceLengthTypes(a.axis, a.use_sequence_length, t);
}

void SequenceReverseMeaning(const SequenceReverseAttrs& a, Definition& def) {
  std::vector<Expr> i = def.Indices();
  const Expr length = SequenceLength(def, 0, a.use_sequence_length, i[1]);
  i[0] = Select(i[0] < length, length - 1 - i[0], i[0]);
  def.Set(0, def.In(0, i));
}

CountedForm ReverseOfCounted(const SequenceReverseAttrs& a, const Node& node,
                             std::span<const int> axes, Value count,
                             GraphBuilder& b) {
  if (axes[0] != a.axis) return {};
  SequenceReverseAttrs counted = a;
  counted.use_sequence_length = true;
  return {{b.Op<op::SequenceReverse>(
              InputsWithLengths(node, a.axis, a.use_sequence_length, count, b),
              counted)},
          {axes[0]}};
}

}  // namespace

MXC_OP(SequenceReverse) {
  return Op<SequenceReverseAttrs>("SequenceReverse")
      .Doc("each sequence backwards")
      .InputsOf([](const SequenceReverseAttrs& a) {
        return SequenceInputs(a.use_sequence_length);
      })
      .Check(SequenceReverseCheck)
      .Types(SequenceReverseTypes)
      .Meaning(SequenceReverseMeaning)
      .Counted(ReverseOfCounted)
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
