// SPDX-License-Identifier: Apache-2.0
// If and Loop. What is known when the network is imported is decided then: a
// branch is taken, few turns are written out. Else a condition makes a branch of
// the program, and many turns are a scan: `_cond`, `_foreach`, `_while_loop`.
#include <algorithm>
#include <limits>

#include "frontend/onnx/inner_graph.h"
#include "frontend/onnx/operators/turns.h"

namespace mxc::onnx {

void ImportIf(Call& c) {
  const GraphProto& then = c.GraphOf("then_branch");
  const GraphProto& otherwise = c.GraphOf("else_branch");
  if (const auto known = c.Known(0)) {
    const bool holds = IsTrueNow(c, *known);
    auto outputs = c.Run(holds ? then : otherwise, {}, holds ? "then" : "else");
    for (size_t k = 0; k < outputs.size(); ++k) {
      c.Give(static_cast<int>(k), std::move(outputs[k]));
    }
    return;
  }
  const Value condition = c.In(0);
  c.Require(condition.shape().elements() == 1,
            "its condition has shape {}, expected one element",
            ToString(condition.shape()));
  Side sides[2];
  for (int i = 0; i < 2; ++i) {
    const auto outputs = c.RunWithin(sides[i].graph, i == 0 ? then : otherwise,
                                     {}, i == 0 ? "then" : "else");
    for (const Operand& output : outputs) {
      sides[i].outputs.push_back(output.value);
    }
  }
  c.Require(sides[0].outputs.size() == sides[1].outputs.size(),
            "its branches have {} and {} outputs", sides[0].outputs.size(),
            sides[1].outputs.size());
  for (size_t k = 0; k < sides[0].outputs.size(); ++k) {
    const TensorType &one = sides[0].outputs[k].type(),
                     &other = sides[1].outputs[k].type();
    if (one == other) continue;
    c.Refuse(
        "its branches give {} and {}, expected one type where the condition "
        "'{}' is not known when it is compiled; --bind {}=FILE makes it so "
        "where it is an input",
        ToString(one), ToString(other), c.node().input[0], c.node().input[0]);
  }
  const auto chosen = c.Cond(condition, sides[0], sides[1]);
  for (size_t k = 0; k < chosen.size(); ++k) {
    c.Give(static_cast<int>(k), chosen[k]);
  }
}

void ImportLoop(Call& c) {
  const GraphProto& body = c.GraphOf("body");
  const size_t states = c.inputs() > 2 ? c.inputs() - 2 : 0;
  c.Require(body.input.size() == 2 + states,
            "its body has {} inputs, expected {}", body.input.size(),
            2 + states);
  c.Require(body.output.size() >= 1 + states,
            "its body has {} outputs, expected at least {}", body.output.size(),
            1 + states);
  Turns turns{.body = body, .conditional = true};
  turns.most = std::numeric_limits<int64_t>::max();
  if (c.Has(0)) {
    turns.most = std::max<int64_t>(0, c.NeedInt(0, "trip count"));
  }
  turns.may_end = c.Has(1);
  c.Require(c.Has(0) || c.Has(1),
            "it has neither a trip count nor a condition");
  turns.rows = body.output.size() - 1 - states;
  for (size_t k = 0; k < turns.rows; ++k) {
    turns.wanted.push_back(c.Wants(static_cast<int>(states + k)));
  }
  for (size_t k = 0; k < states; ++k) {
    turns.states.push_back(c.operand(static_cast<int>(2 + k)));
  }
  if (c.Has(1)) {
    const auto known = c.Known(1);
    if (known && !IsTrueNow(c, *known)) turns.most = 0;
    if (!known) {
      // A program decides: a loop of no turns or of some.
      turns.first = c.In(1);
      c.Require(turns.first.shape().elements() == 1,
                "its condition has shape {}, expected one element",
                ToString(turns.first.shape()));
    }
  }
  Ends ends = EndsOfTurns(c, std::move(turns));
  GiveEnds(c, ends);
}

}  // namespace mxc::onnx
