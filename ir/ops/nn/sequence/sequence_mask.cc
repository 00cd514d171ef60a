// SPDX-License-Identifier: Apache-2.0
// SequenceMask: data, with `value` from a sequence's end on.
//   output  f as data
// Inputs and constraints: sequence.h.
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/sequence/sequence.h"

namespace mxc {
namespace {

struct SequenceMaskAttrs {
  bool use_sequence_length = false;
  double value = 0;
  int64_t axis = 0;

  void Describe(Fields& f) {
    f("use_sequence_length", use_sequence_length)
        .Doc("whether there is an input sequence_length");
    f("value", value).Doc("of the steps after the end");
    f("axis", axis).Doc("of the steps, 0 or 1");
  }
};

void SequenceMaskTypes(const SequenceMaskAttrs& a, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  SequenceLengthTypes(a.axis, a.use_sequence_length, t);
}

void SequenceMaskMeaning(const SequenceMaskAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Expr x = def.In(0, i);
  if (!a.use_sequence_length) return def.Set(0, x);
  const Expr length = SequenceLength(def, a.axis, true, i[a.axis == 0 ? 1 : 0]);
  def.Set(0, Select(i[a.axis] < length, x, def.Lit(a.value)));
}

}  // namespace

MXC_OP(SequenceMask) {
  return Op<SequenceMaskAttrs>("SequenceMask")
      .Doc("replaces the steps after the end of each sequence")
      .Alias({"_npx_sequence_mask"})
      .InputsOf([](const SequenceMaskAttrs& a) {
        return SequenceInputs(a.use_sequence_length);
      })
      .Check(
          [](const SequenceMaskAttrs& a) { return CheckSequenceAxis(a.axis); })
      .Types(SequenceMaskTypes)
      .Meaning(SequenceMaskMeaning)
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
