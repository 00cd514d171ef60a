// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ir/ops/nn/rnn.h"

namespace mxc {
namespace {

// Through time, from the last step to the first. What is handed back from step
// to step depends on a product with the recurrent weights; all else waits until
// every step is done, and is one product for all of them.
class RnnBackward {
 public:
  RnnBackward(const RnnAttrs& a, GradientBuilder& g)
      : a_(a),
        g_(g),
        steps_(g.In(0).shape()[0]),
        batch_(g.In(0).shape()[1]),
        forward_(UnrollRnn(a, g.origin(), g)) {}

  std::vector<Value> Run() {
    const size_t passes = forward_.passes.size();
    weights_.resize(passes);
    state_gradients_.resize(passes);
    cell_gradients_.resize(passes);
    Value rows = g_.Reshape(g_.Head(0),
                            {steps_ * batch_, a_.directions() * a_.handed()});
    for (int64_t layer = a_.num_layers - 1; layer >= 0; --layer) {
      rows = Layer(layer, rows);
      if (layer > 0 && !forward_.masks.empty()) {
        rows = g_.Mul(rows, forward_.masks[static_cast<size_t>(layer - 1)]);
      }
    }
    std::vector<Value> gradients = g_.None();
    gradients[0] = g_.Reshape(rows, g_.In(0).shape());
    gradients[1] = Parameters();
    gradients[2] = g_.Reshape(g_.Concat(state_gradients_, 0), g_.In(2).shape());
    if (a_.lstm()) {
      gradients[3] =
          g_.Reshape(g_.Concat(cell_gradients_, 0), g_.In(3).shape());
    }
    return gradients;
  }

 private:
  // What one step hands to the one before it in its direction.
  struct Carried {
    Value hidden, cell;  // an empty cell is zero
  };
  // Of all steps, by time.
  struct Gates {
    std::vector<Value> input, recurrent, hidden;
  };
  struct Weights {
    Value from_input, from_state, projection, input_bias, state_bias;
  };

  // aᵀ · b, a · b
  Value TransposedProduct(Value a, Value b) {
    return g_.Op("dot", {a, b}, {{"transpose_a", "True"}});
  }
  Value Product(Value a, Value b) { return g_.Op("dot", {a, b}); }

  // From the gradient of a layer's rows to that of the rows it reads.
  Value Layer(int64_t layer, Value rows) {
    Value sum;
    for (int64_t d = 0; d < a_.directions(); ++d) {
      const auto k = static_cast<size_t>(layer * a_.directions() + d);
      const Value own =
          a_.directions() == 1
              ? rows
              : g_.SliceAxis(rows, 1, d * a_.handed(), (d + 1) * a_.handed());
      const Value read = Pass(k, own);
      sum = sum ? g_.Add(sum, read) : read;
    }
    return sum;
  }

  Value Pass(size_t k, Value rows) {
    const RnnPass& pass = forward_.passes[k];
    Gates gates;
    const auto count = static_cast<size_t>(steps_);
    gates.input.resize(count);
    gates.recurrent.resize(count);
    gates.hidden.resize(count);
    Carried carried = LastState(k);
    for (int64_t n = steps_ - 1; n >= 0; --n) {
      const int64_t t = pass.reversed ? steps_ - 1 - n : n;
      const Value own = g_.SliceAxis(rows, 0, t * batch_, (t + 1) * batch_);
      carried.hidden = carried.hidden ? g_.Add(own, carried.hidden) : own;
      carried = Step(pass, static_cast<size_t>(t), carried, gates);
    }
    state_gradients_[k] = carried.hidden;
    if (a_.lstm()) cell_gradients_[k] = carried.cell;
    return Collect(pass, gates, weights_[k]);
  }

  // The gradients that arrive at the states put out.
  Carried LastState(size_t k) {
    const auto piece = [&](int output, int64_t length) -> Value {
      if (!a_.state_outputs || !g_.HasHead(output)) return {};
      const auto at = static_cast<int64_t>(k);
      return g_.Reshape(g_.SliceAxis(g_.Head(output), 0, at, at + 1),
                        {batch_, length});
    };
    Carried last = {piece(1, a_.handed()), {}};
    if (a_.lstm()) last.cell = piece(2, a_.state_size);
    return last;
  }

  Carried Step(const RnnPass& pass, size_t t, const Carried& carried,
               Gates& gates) {
    const RnnStep& step = pass.steps[t];
    gates.hidden[t] = carried.hidden;
    Carried before;
    Value direct;  // what passes to the state before beside the gates
    switch (a_.mode) {
      case RnnMode::kRelu:
      case RnnMode::kTanh:
        gates.input[t] =
            g_.Op("_activation_gradient", {carried.hidden, step.hidden},
                  {{"act_type", a_.mode == RnnMode::kRelu ? "relu" : "tanh"}});
        gates.recurrent[t] = gates.input[t];
        break;
      case RnnMode::kLstm:
        before.cell = LstmStep(pass, t, carried, gates);
        break;
      case RnnMode::kGru: {
        const std::vector<Value> parts = g_.Ops(
            "_gru_cell_gradient", {step.reset, step.keep, step.candidate,
                                   step.recalled, step.before, carried.hidden});
        gates.input[t] = parts[0];
        gates.recurrent[t] = parts[1];
        direct = parts[2];
        break;
      }
    }
    before.hidden = Product(gates.recurrent[t], pass.cell.from_state);
    if (direct) before.hidden = g_.Add(before.hidden, direct);
    return before;
  }

  // Returns the gradient of the cell before.
  Value LstmStep(const RnnPass& pass, size_t t, const Carried& carried,
                 Gates& gates) {
    const RnnStep& step = pass.steps[t];
    Value hidden = carried.hidden, cell = carried.cell;
    if (a_.projection_size) hidden = Product(hidden, pass.cell.projection);
    if (!cell) cell = g_.Zeros(step.cell.type());
    const std::vector<Value> parts = g_.Ops(
        "_lstm_cell_gradient", {step.in, step.forget, step.candidate, step.out,
                                step.cell_before, step.squashed, hidden, cell});
    gates.input[t] = gates.recurrent[t] = parts[0];
    return parts[1];
  }

  // All steps at once: the gradients of the weights, and of what was read.
  Value Collect(const RnnPass& pass, const Gates& gates, Weights& weights) {
    const Value input = g_.Concat(gates.input, 0);
    const Value recurrent =
        a_.mode == RnnMode::kGru ? g_.Concat(gates.recurrent, 0) : input;
    std::vector<Value> before, unprojected;
    for (const RnnStep& step : pass.steps) {
      before.push_back(step.before);
      unprojected.push_back(step.unprojected);
    }
    if (g_.Needs(1)) {
      weights.from_input = TransposedProduct(input, pass.rows);
      weights.from_state = TransposedProduct(recurrent, g_.Concat(before, 0));
      if (a_.projection_size) {
        weights.projection = TransposedProduct(g_.Concat(gates.hidden, 0),
                                               g_.Concat(unprojected, 0));
      }
      weights.input_bias = g_.Sum(input, {0});
      weights.state_bias = a_.mode == RnnMode::kGru ? g_.Sum(recurrent, {0})
                                                    : weights.input_bias;
    }
    return Product(input, pass.cell.from_input);
  }

  // In the order of the parameter vector.
  Value Parameters() {
    if (!g_.Needs(1)) return {};
    std::vector<Value> pieces;
    const auto add = [&](Value piece) {
      pieces.push_back(g_.Reshape(piece, {piece.shape().elements()}));
    };
    for (const Weights& weights : weights_) {
      add(weights.from_input);
      add(weights.from_state);
      if (a_.projection_size) add(weights.projection);
    }
    for (const Weights& weights : weights_) {
      add(weights.input_bias);
      add(weights.state_bias);
    }
    return g_.Concat(pieces, 0);
  }

  const RnnAttrs& a_;
  GradientBuilder& g_;
  const int64_t steps_, batch_;
  const UnrolledRnn forward_;
  std::vector<Weights> weights_;                         // by pass
  std::vector<Value> state_gradients_, cell_gradients_;  // by pass
};

}  // namespace

std::vector<Value> RnnGradient(const RnnAttrs& a, GradientBuilder& g) {
  return RnnBackward(a, g).Run();
}

}  // namespace mxc
