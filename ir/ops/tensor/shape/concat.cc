// SPDX-License-Identifier: Apache-2.0
// Concat: the inputs one after the other along dim; all else agrees.
// C1, C2, C3: see joining.h
#include "ir/ops/tensor/shape/concat.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/joining.h"

namespace mxc {
namespace {

// Inputs of one step; of more, parts are joined first, then these.
constexpr size_t kMostInputs = 64;

std::vector<Value> JoinParts(const ConcatAttrs& attrs, const Node& node,
                             GraphBuilder& b) {
  if (node.inputs.size() <= kMostInputs) return {};
  const int axis = *ResolveAxis(attrs.dim, node.types[0].shape.rank());
  std::vector<Value> parts;
  for (size_t at = 0; at < node.inputs.size(); at += kMostInputs) {
    const size_t end = std::min(at + kMostInputs, node.inputs.size());
    parts.push_back(
        b.Concat({node.inputs.begin() + static_cast<ptrdiff_t>(at),
                  node.inputs.begin() + static_cast<ptrdiff_t>(end)},
                 axis, "part"));
  }
  return {b.Concat(parts, axis)};
}

}  // namespace

MXC_OP(Concat) {
  return Op<ConcatAttrs>("Concat")
      .Alias({"concat"})
      .Doc("joins the inputs along an axis")
      .Variadic()
      .InputsOf([](const ConcatAttrs& a) {
        return NumberedInputs("arg", a.num_args);
      })
      .Types(
          [](const ConcatAttrs& a, TypeInference& t) { JoinTypes(t, a.dim); })
      .Meaning([](const ConcatAttrs& a, Definition& def) {
        JoinMeaning(def, *ResolveAxis(a.dim, def.OutShape().rank()));
      })
      .Decompose(JoinParts)
      .Gradient([](const ConcatAttrs& a, GradientBuilder& g) {
        return JoinGradient(g, a.dim);
      });
}

}  // namespace mxc
