// SPDX-License-Identifier: Apache-2.0
// RNN's attributes and its unrolling.
#pragma once

#include <vector>

#include "ir/ops/op.h"

namespace mxc {

enum class RnnMode : int { kRelu, kTanh, kLstm, kGru };

struct RnnAttrs {
  int64_t state_size = 0;
  int64_t num_layers = 0;
  bool bidirectional = false;
  RnnMode mode = RnnMode::kRelu;
  double p = 0;
  bool state_outputs = false;
  std::optional<int64_t> projection_size;
  std::optional<double> lstm_state_clip_min, lstm_state_clip_max;
  bool lstm_state_clip_nan = false;
  bool use_sequence_length = false;

  void Describe(Fields& f);

  bool lstm() const { return mode == RnnMode::kLstm; }
  int64_t directions() const { return bidirectional ? 2 : 1; }
  int64_t gates() const { return lstm() ? 4 : mode == RnnMode::kGru ? 3 : 1; }
  // The length of the state that a step hands on and puts out.
  int64_t handed() const { return projection_size.value_or(state_size); }
  // The length of what layer `layer` reads at each step.
  int64_t read(int64_t layer, int64_t input) const {
    return layer == 0 ? input : directions() * handed();
  }
};

// Weights and biases of one layer and direction: pieces of the parameters.
struct RnnCell {
  Value from_input, from_state, projection;  // projection: may be empty
  Value input_bias, state_bias;
};

// What a step of a cell has computed.
struct RnnStep {
  Value before, cell_before;  // the state that it was handed; f[N, R], f[N, H]
  // Before the activations, f[N, G·H]: from the data, from the state.
  Value input, recurrent;
  // After them, f[N, H]: of an lstm, with tanh(cell); of a gru, with the
  // state's part of the candidate.
  Value in, forget, candidate, out, squashed;
  Value reset, keep, recalled;
  Value unprojected;   // f[N, H]; `hidden` itself without projection
  Value hidden, cell;  // the state that it hands on
};

// One layer and direction of an unrolled node.
struct RnnPass {
  RnnCell cell;
  bool reversed = false;
  Value rows;                  // f[T·N, read]: what all steps read
  std::vector<RnnStep> steps;  // by time
};

struct UnrolledRnn {
  std::vector<Value> outputs;
  std::vector<RnnPass> passes;  // layer by layer, forward, then reversed
  std::vector<Value> masks;     // of dropout, after each layer but the last
};

// The network that computes the node, one copy of the cell for each step. The
// same whether it is built for the node or for its gradient.
UnrolledRnn UnrollRnn(const RnnAttrs& a, const Node& node, GraphBuilder& b);

std::vector<Value> RnnGradient(const RnnAttrs& a, GradientBuilder& g);

}  // namespace mxc
