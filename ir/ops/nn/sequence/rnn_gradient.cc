// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ir/ops/nn/activation/activation.h"
#include "ir/ops/nn/sequence/rnn.h"
#include "ir/ops/tensor/control/scan.h"
#include "ir/ops/tensor/linalg/dot.h"

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
        forward_(BuildRnn(a, g.origin(), true, g)) {}

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
  // Gradients that one step hands to the one before it in its direction.
  struct Carried {
    Value hidden, cell;
  };
  // The gates of all steps, f[T·N, …].
  struct Gates {
    Value input, recurrent, hidden;
  };
  struct Weights {
    Value from_input, from_state, projection, input_bias, state_bias;
  };

  // aᵀ · b, a · b
  Value TransposedProduct(Value a, Value b) {
    return g_.Op<op::Dot>({a, b}, {.transpose_a = true});
  }
  Value Product(Value a, Value b) { return g_.Op<op::Dot>({a, b}); }

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
    g_.BeginPart(RnnPartName(a_, static_cast<int64_t>(k)));
    ScanBuilder scan(g_, steps_, !pass.reversed);
    const Value own =
        scan.Slice(g_.Reshape(rows, {steps_, batch_, a_.handed()}));
    const Carried behind = LastState(k, pass);
    const Value from_after = scan.Carry(behind.hidden);
    GraphBuilder& b = scan.inside();
    const Value begun = forward_.begun ? scan.Slice(forward_.begun) : Value();
    const Value hidden = Begun(b.Add(own, from_after), begun, b);
    const Gates gates = Step(pass, hidden, from_after, behind, begun, scan);
    const size_t input = scan.Stack(gates.input);
    const size_t recurrent =
        a_.mode == RnnMode::kGru ? scan.Stack(gates.recurrent) : input;
    const size_t projected = a_.projection_size ? scan.Stack(hidden) : input;
    const auto [last, stacks, histories] = scan.Finish("steps");
    state_gradients_[k] = last[0];
    if (a_.lstm()) cell_gradients_[k] = last[1];
    const Value read = Collect(
        pass,
        {Rows(stacks[input]), Rows(stacks[recurrent]), Rows(stacks[projected])},
        weights_[k]);
    g_.BeginPart("");
    return read;
  }

  // 0 for sequences that are over; `value` where there are no lengths.
  static Value Begun(Value value, Value begun, GraphBuilder& b) {
    return begun ? b.Mul(value, begun) : value;
  }
  // Adds to `value` the gradient that passes by the steps behind a sequence's
  // end.
  static Value PastEnd(Value value, Value carried, Value begun,
                       GraphBuilder& b) {
    return begun ? b.Add(value, b.Mul(carried, b.Sub(1.0, begun))) : value;
  }

  // f[T, N, …] as f[T·N, …].
  Value Rows(Value all) {
    return g_.Reshape(all, {steps_ * batch_, all.shape()[2]});
  }

  // The gradients that arrive at the states put out.
  Carried LastState(size_t k, const RnnPass& pass) {
    const auto piece = [&](int output, Value state) {
      if (!a_.state_outputs || !g_.HasHead(output)) {
        return g_.Zeros(state.type());
      }
      const auto at = static_cast<int64_t>(k);
      return g_.Reshape(g_.SliceAxis(g_.Head(output), 0, at, at + 1),
                        state.shape());
    };
    Carried last = {piece(1, pass.first_hidden), {}};
    if (a_.lstm()) last.cell = piece(2, pass.first_cell);
    return last;
  }

  // One turn: from the gradient of the state that a step hands on to that of
  // the state it was handed.
  Gates Step(const RnnPass& pass, Value hidden, Value carry,
             const Carried& last, Value begun, ScanBuilder& scan) {
    GraphBuilder& b = scan.inside();
    Gates gates;
    Value direct;  // what passes to the state before beside the gates
    switch (a_.mode) {
      case RnnMode::kRelu:
      case RnnMode::kTanh:
        gates.input = b.Op<op::ActivationGradient>(
            {hidden, scan.Slice(pass.hidden)},
            {.act_type =
                 a_.mode == RnnMode::kRelu ? ActType::kRelu : ActType::kTanh});
        gates.recurrent = gates.input;
        break;
      case RnnMode::kLstm:
        gates.input = gates.recurrent =
            LstmStep(pass, hidden, last, begun, scan);
        break;
      case RnnMode::kGru: {
        const std::vector<Value> parts = b.Ops<op::GruCellGradient>(
            {scan.Slice(pass.reset), scan.Slice(pass.keep),
             scan.Slice(pass.candidate), scan.Slice(pass.recalled),
             scan.Slice(pass.hidden_before), hidden});
        gates.input = parts[0];
        gates.recurrent = parts[1];
        direct = parts[2];
        break;
      }
    }
    Value before =
        b.Op<op::Dot>({gates.recurrent, scan.Whole(pass.cell.from_state)});
    if (direct) before = b.Add(before, direct);
    scan.Next(carry, PastEnd(before, carry, begun, b));
    return gates;
  }

  // Where the cell was clipped, nothing passes through it: its gates count as
  // closed. Its tanh is computed again: that takes less time than to keep it.
  Value LstmStep(const RnnPass& pass, Value hidden, const Carried& last,
                 Value begun, ScanBuilder& scan) {
    GraphBuilder& b = scan.inside();
    if (a_.projection_size) {
      hidden = b.Op<op::Dot>({hidden, scan.Whole(pass.cell.projection)});
    }
    const Value carry = scan.Carry(last.cell);
    Value in = scan.Slice(pass.in), forget = scan.Slice(pass.forget);
    if (pass.unclipped) {
      const Value unclipped = scan.Slice(pass.unclipped);
      in = b.Mul(in, unclipped);
      forget = b.Mul(forget, unclipped);
    }
    const Value squashed = b.Op<op::Activation>({scan.Slice(pass.cell_after)},
                                                {.act_type = ActType::kTanh});
    const std::vector<Value> parts = b.Ops<op::LstmCellGradient>(
        {in, forget, scan.Slice(pass.candidate), scan.Slice(pass.out),
         scan.Slice(pass.cell_before), squashed, hidden,
         Begun(carry, begun, b)});
    scan.Next(carry, PastEnd(parts[1], carry, begun, b));
    return parts[0];
  }

  // All steps at once: the gradients of the weights, and of what was read.
  Value Collect(const RnnPass& pass, const Gates& gates, Weights& weights) {
    if (g_.Needs(1)) {
      weights.from_input = TransposedProduct(gates.input, pass.rows);
      weights.from_state =
          TransposedProduct(gates.recurrent, Rows(pass.hidden_before));
      if (a_.projection_size) {
        weights.projection =
            TransposedProduct(gates.hidden, Rows(pass.unprojected));
      }
      weights.input_bias = g_.Sum(gates.input, {0});
      weights.state_bias = a_.mode == RnnMode::kGru
                               ? g_.Sum(gates.recurrent, {0})
                               : weights.input_bias;
    }
    return Product(gates.input, pass.cell.from_input);
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
  const RnnParts forward_;
  std::vector<Weights> weights_;                         // by pass
  std::vector<Value> state_gradients_, cell_gradients_;  // by pass
};

}  // namespace

std::vector<Value> RnnGradient(const RnnAttrs& a, GradientBuilder& g) {
  return RnnBackward(a, g).Run();
}

}  // namespace mxc
