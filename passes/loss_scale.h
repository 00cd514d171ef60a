// SPDX-License-Identifier: Apache-2.0
// Gradients that are kept in f16 vanish below 2^-24. So what flows back from the
// loss heads is multiplied by a state, `loss_scale`, and what arrives at
// parameters divided by it (Micikevicius et al., Mixed Precision Training, 2018,
// 3.2). The scale is a power of two, so that both are exact.
//
// It starts at 2^16. A run in which a gradient is not finite updates no
// parameter and halves the scale; 2,000 others in a row double it, up to 2^24
// (MXNet 1.9.1, contrib/amp/loss_scaler.py, whose new scale is that of the run
// after the next). Where workers sum their gradients among themselves, the mark
// of these is one more gradient, that of the scale, whose update is an entry of
// its own: all workers find the same sums, and skip the same updates.
#pragma once

#include <span>
#include <string>

#include "ir/graph/builder.h"
#include "ir/graph/graph.h"

namespace mxc {

// Names of its states, f32[1]: the scale, of role kLossScale, and the runs since
// it has changed.
std::string LossScaleName();
std::string GoodRunsName();

class LossScale {
 public:
  // Adds the states to the graph; none of its variables has their names.
  explicit LossScale(Graph& graph);

  Value value() const { return scale_; }
  // A gradient of a parameter, divided by the scale.
  Value Unscaled(const Node& parameter, Value gradient) const;
  // f32[1]: what is not finite where a gradient is not, or the loss. Gradients
  // are unscaled; `loss`: empty where none is known.
  Value Mark(Value loss, std::span<const Value> gradients);
  // Adds the updates of the states, by the mark and the loss.
  void Finish(Value mark, Value loss);

 private:
  Value NotFinite(Value gradient) const;

  Graph& graph_;
  GraphBuilder builder_;
  Value scale_, good_;
};

// What is not finite where a gradient is not, or the loss: f32[1], which no
// update of a parameter survives. The loss where it is not scaled.
Value GuardOf(const Graph& graph);

}  // namespace mxc
