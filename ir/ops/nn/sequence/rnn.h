// SPDX-License-Identifier: Apache-2.0
// RNN's attributes and what it consists of.
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
  std::optional<int64_t> projection_size = {};
  std::optional<double> lstm_state_clip_min = {}, lstm_state_clip_max = {};
  bool lstm_state_clip_nan = false;
  bool use_sequence_length = false;

  void Describe(Fields& f);

  bool lstm() const { return mode == RnnMode::kLstm; }
  bool clips() const { return lstm_state_clip_min && lstm_state_clip_max; }
  // The number of the input sequence_length.
  int lengths() const { return lstm() ? 4 : 3; }
  int64_t directions() const { return bidirectional ? 2 : 1; }
  int64_t gates() const { return lstm() ? 4 : mode == RnnMode::kGru ? 3 : 1; }
  // The length of the state that a step hands on and puts out.
  int64_t handed() const { return projection_size.value_or(state_size); }
  // The length of what layer `layer` reads at each step.
  int64_t read(int64_t layer, int64_t input) const {
    return layer == 0 ? input : directions() * handed();
  }
};
MXC_ATTRS(RNN, RnnAttrs);

// Weights and biases of one layer and direction: pieces of the parameters.
struct RnnCell {
  Value from_input, from_state, projection;  // projection: may be empty
  Value input_bias, state_bias;
};

// One layer and direction.
struct RnnPass {
  RnnCell cell;
  bool reversed = false;
  Value rows;                      // f[T·N, read]: what all steps read
  Value first_hidden, first_cell;  // f[N, R], f[N, H]: before the first step
  Value last_hidden, last_cell;    // after the last
  Value hidden;                    // f[T, N, R]: what the steps hand on
  Value output;                    // f[T, N, R]: what they put out
  // Where they are kept, of all steps: the states they were handed, f[T, N, R] and
  // f[T, N, H]; of an lstm the cell that they hand on; the gates after their
  // activations, f[T, N, H], and with a projection the output before it; of a
  // gru the state's part of the candidate.
  Value hidden_before, cell_before, cell_after;
  Value in, forget, candidate, out, unprojected;
  Value reset, keep, recalled;
  Value unclipped;  // of an lstm that clips its cell: where it need not
};

struct RnnParts {
  std::vector<Value> outputs;
  std::vector<RnnPass> passes;  // layer by layer, forward, then reversed
  std::vector<Value> masks;     // of dropout, after each layer but the last
  Value begun;  // f[T, N, 1]: 1 where a sequence is that long, else 0
};

// What its nodes' names say of a pass, by its number: "layer1_reversed".
std::string RnnPartName(const RnnAttrs& a, int64_t pass);

// The network that computes the node: a repeat over the steps for each layer
// and direction. `keeps`: what the gradient needs of it, too. In training always
// so, which makes it the same for the node and for its gradient.
RnnParts BuildRnn(const RnnAttrs& a, const Node& node, bool keeps,
                  GraphBuilder& b);

// The steps of one pass, of which rows, cell and first states are set, and which
// gets the rest. `inputs`: f[T, N, G·H], the data's part of the gates before
// their activations. `begun`: as in RnnParts.
void BuildRnnTurns(const RnnAttrs& a, Value inputs, Value begun, bool keeps,
                   GraphBuilder& b, RnnPass& pass);
Value RnnFullyConnected(GraphBuilder& b, Value x, Value weight,
                        Value bias = {});

std::vector<Value> RnnGradient(const RnnAttrs& a, GradientBuilder& g);

}  // namespace mxc
