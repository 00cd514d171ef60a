// SPDX-License-Identifier: Apache-2.0
// States the attributes of FullyConnected, and the rules that its integer form
// shares: data [N, K…] · weightᵀ [M, K] + bias [M] → [N, M].
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct FullyConnectedAttrs {
  int64_t num_hidden = 0;
  bool no_bias = false;
  bool flatten = true;

  void Describe(Fields& f) {
    f("num_hidden", num_hidden)
        .Required()
        .Range(1, 1 << 30)
        .Doc("elements of an output row");
    f("no_bias", no_bias).Doc("whether there is no input bias");
    f("flatten", flatten).Doc("whether all axes but the first are one row");
  }
};
MXC_ATTRS(FullyConnected, FullyConnectedAttrs);

// Of a FullyConnected, whatever its element types are: data, weight and, unless
// no_bias, bias; C2; products of elements as the output's type has them, and
// their sums; the same as a step, of matrices; the operator of rows alone.
std::vector<InputSpec> FullyConnectedInputs(const FullyConnectedAttrs& a);
void FullyConnectedShapes(const FullyConnectedAttrs& a, TypeInference& t);
void FullyConnectedMeaning(const FullyConnectedAttrs& a, Definition& def);
std::optional<Contraction> FullyConnectedContraction(
    const FullyConnectedAttrs& a, const Definition& def);
std::vector<Value> FullyConnectedByRows(const FullyConnectedAttrs& a,
                                        const Node& node, GraphBuilder& b);

}  // namespace mxc
