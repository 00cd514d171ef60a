// SPDX-License-Identifier: Apache-2.0
// _npi_einsum: sums of products of elements whose indices letters name,
// "ij,jk->ik"; "..." stands for the axes that have no letter, and without "->"
// the output has, in alphabetical order, the letters that occur once.
//   data0 … t[…]   an axis for each letter of its part
// C1  subscripts have a part of letters for each input, and at most one output,
//     whose letters are distinct and among those of the inputs
// C2  each input has as many axes as its part has letters
// C3  a letter has one extent, or 1, everywhere
#include "ir/ops/numpy/linalg/npi_einsum.h"

#include "ir/ops/numpy/linalg/einsum.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void EinsumTypes(const NpiEinsumAttrs& a, TypeInference& t) {
  t.AllSameDType();
  std::vector<Shape> inputs;
  for (int i = 0; i < t.inputs(); ++i) {
    if (!t.In(i).known()) return;
    inputs.push_back(t.In(i));
  }
  const auto einsum = ParseEinsum(a.subscripts, inputs);
  if (!einsum.ok()) return t.Fail("{}", einsum.errors()[0].message);
  t.SetOut(0, einsum->OutputShape());
}

std::vector<Value> EinsumParts(const NpiEinsumAttrs& a, const Node& node,
                               GraphBuilder& b) {
  std::vector<Shape> inputs;
  for (const Value& input : node.inputs) inputs.push_back(input.shape());
  return {EinsumOf(b, *ParseEinsum(a.subscripts, inputs), node.inputs)};
}

}  // namespace

MXC_OP(NpiEinsum) {
  return Op<NpiEinsumAttrs>("_npi_einsum")
      .Doc("numpy.einsum")
      .Variadic()
      .InputsOf([](const NpiEinsumAttrs& a) {
        return NumberedInputs("data", a.num_args);
      })
      .Types(EinsumTypes)
      .Decompose(EinsumParts);
}

}  // namespace mxc
