// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: MXNet's operator RNN where the cell is one of its own, else
// a loop over the steps whose turn is the cell.
#include "frontend/onnx/operators/recurrent.h"

#include <algorithm>
#include <cmath>

#include "frontend/onnx/inner_graph.h"
#include "ir/ops/nn/activation/activation.h"
#include "ir/ops/nn/activation/leaky_relu.h"
#include "ir/ops/nn/convolution/fully_connected.h"
#include "ir/ops/nn/sequence/rnn.h"
#include "ir/ops/nn/sequence/sequence_reverse.h"
#include "ir/ops/tensor/create/arange.h"
#include "ir/ops/tensor/elementwise/clip.h"
#include "ir/ops/tensor/elementwise/hard_sigmoid.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc::onnx {
namespace {

class Recurrent : RecurrentNode {
 public:
  Recurrent(Call& call, Cell cell) : RecurrentNode(call, cell) {}

  void Run() {
    const Results results = IsLayer() ? Layer() : Loops();
    Give(results);
  }

 private:
  // [T, N, D·H] and [D, N, H].
  struct Results {
    Value output, hidden, cell;
  };

  // --- as MXNet's layer

  bool IsLayer() const {
    if (clip_ || coupled_ || peepholes_) return false;
    if (cell_ == Cell::kGru && !after_) return false;
    for (int64_t d = 0; d < directions_; ++d) {
      if (cell_ == Cell::kRnn) {
        const std::string& name = Of(d, 0).name;
        if ((name != "tanh" && name != "relu") || name != Of(0, 0).name) {
          return false;
        }
        continue;
      }
      if (Of(d, 0).name != "sigmoid" || Of(d, 1).name != "tanh") return false;
      if (cell_ == Cell::kLstm && Of(d, 2).name != "tanh") return false;
    }
    return true;
  }

  // The gates of one direction along axis 1 in MXNet's order, one after the
  // other in one vector.
  Value Reordered(Value value, int64_t direction, int64_t first) {
    // ONNX has i o f c and z r h; MXNet i f c o and r z h.
    const std::vector<int64_t> order =
        cell_ == Cell::kLstm  ? std::vector<int64_t>{0, 2, 3, 1}
        : cell_ == Cell::kGru ? std::vector<int64_t>{1, 0, 2}
                              : std::vector<int64_t>{0};
    const Value part = directions_ == 1
                           ? value
                           : c_.SliceAxis(value, 0, direction, direction + 1);
    std::vector<Value> gates;
    for (const int64_t gate : order) {
      const int64_t begin = first + gate * hidden_;
      gates.push_back(c_.SliceAxis(part, 1, begin, begin + hidden_));
    }
    const Value all = c_.Concat(gates, 1);
    return c_.Reshape(all, Shape{all.shape().elements()});
  }

  Value Parameters() {
    std::vector<Value> parts;
    for (int64_t d = 0; d < directions_; ++d) {
      parts.push_back(Reordered(w_, d, 0));
      parts.push_back(Reordered(r_, d, 0));
    }
    const int64_t rows = gates() * hidden_;
    if (!bias_) {
      parts.push_back(c_.Zeros({dtype_, Shape{2 * directions_ * rows}}));
      return c_.Concat(parts, 0);
    }
    for (int64_t d = 0; d < directions_; ++d) {
      parts.push_back(Reordered(bias_, d, 0));
      parts.push_back(Reordered(bias_, d, rows));
    }
    return c_.Concat(parts, 0);
  }

  // Each sequence backwards, as far as it goes.
  Value Backwards(Value x) {
    if (steps_ == 1) return x;
    if (!lengths_) return c_.Op<op::SequenceReverse>({x});
    return c_.Op<op::SequenceReverse>({x, c_.Cast(lengths_, dtype_)},
                                      {.use_sequence_length = true});
  }

  Results Layer() {
    const RnnMode mode = cell_ == Cell::kLstm      ? RnnMode::kLstm
                         : cell_ == Cell::kGru     ? RnnMode::kGru
                         : Of(0, 0).name == "relu" ? RnnMode::kRelu
                                                   : RnnMode::kTanh;
    std::vector<Value> inputs = {reversed_ ? Backwards(x_) : x_, Parameters(),
                                 first_hidden_};
    if (cell_ == Cell::kLstm) inputs.push_back(first_cell_);
    if (lengths_) inputs.push_back(c_.Cast(lengths_, DType::kI32));
    const auto outputs = c_.Ops<op::RNN>(
        inputs, {.state_size = hidden_,
                 .num_layers = 1,
                 .bidirectional = directions_ == 2,
                 .mode = mode,
                 .state_outputs = true,
                 .use_sequence_length = static_cast<bool>(lengths_)});
    Results results = {outputs[0], outputs[1], {}};
    if (reversed_) results.output = Backwards(results.output);
    if (cell_ == Cell::kLstm) results.cell = outputs[2];
    return results;
  }

  // --- as a loop

  // What goes into a gate is clipped. The cell of an LSTM is not, by ONNX
  // Runtime.
  Value Gated(GraphBuilder& b, Value x, const CellActivation& activation) {
    if (clip_) {
      x = b.Op<op::Clip>({x}, {.a_min = -*clip_, .a_max = *clip_});
    }
    return Activate(b, x, activation);
  }

  Value Activate(GraphBuilder& b, Value x, const CellActivation& activation) {
    const std::string& name = activation.name;
    const double alpha = activation.alpha;
    const auto leaky = [&](LeakyType type) {
      return b.Op<op::LeakyReLU>({x}, {.act_type = type, .slope = alpha});
    };
    if (name == "leakyrelu") return leaky(LeakyType::kLeaky);
    if (name == "elu") return leaky(LeakyType::kElu);
    if (name == "affine") {
      return b.Add(b.Mul(x, activation.alpha), activation.beta);
    }
    if (name == "scaledtanh") {
      return b.Mul(b.Op<op::Tanh>({b.Mul(x, activation.beta)}),
                   activation.alpha);
    }
    if (name == "hardsigmoid") {
      return b.Op<op::HardSigmoid>({x},
                                   {.alpha = alpha, .beta = activation.beta});
    }
    if (name == "thresholdedrelu") {
      const Value above = b.Op<op::GreaterEqualScalar>({x}, {.scalar = alpha});
      return b.Where(above, x, b.Zeros(x.type()));
    }
    const ActType type = name == "relu"       ? ActType::kRelu
                         : name == "sigmoid"  ? ActType::kSigmoid
                         : name == "tanh"     ? ActType::kTanh
                         : name == "softplus" ? ActType::kSoftRelu
                                              : ActType::kSoftSign;
    return b.Op<op::Activation>({x}, {.act_type = type});
  }

  // One direction's part of W, R, B or P.
  Value Part(Value value, int64_t direction) {
    const Value part = directions_ == 1
                           ? value
                           : c_.SliceAxis(value, 0, direction, direction + 1);
    const Extents& dims = part.shape().dims();
    return c_.Reshape(part, Shape(Extents(dims.begin() + 1, dims.end())));
  }

  Value Product(GraphBuilder& b, Value x, Value weight, Value bias) {
    std::vector<Value> inputs = {x, weight};
    if (bias) inputs.push_back(bias);
    return b.Op<op::FullyConnected>(
        inputs, {.num_hidden = weight.shape()[0], .no_bias = !bias});
  }

  // A direction's weights. The biases may be empty; that of the state is one
  // with the data's where nothing comes between the two.
  struct Weights {
    Value input, state, input_bias, state_bias, peepholes;
  };

  Weights WeightsOf(int64_t direction) {
    Weights weights = {Part(w_, direction), Part(r_, direction), {}, {}, {}};
    if (peepholes_) weights.peepholes = Part(peepholes_, direction);
    if (!bias_) return weights;
    const Value both = Part(bias_, direction);
    const int64_t rows = gates() * hidden_;
    const Value input = c_.SliceAxis(both, 0, 0, rows);
    const Value state = c_.SliceAxis(both, 0, rows, 2 * rows);
    if (cell_ == Cell::kGru && after_) {
      weights.input_bias = input;
      weights.state_bias = state;
    } else {
      weights.input_bias = c_.Add(input, state);
    }
    return weights;
  }

  // 1 in steps of a sequence, else 0: [T, N, 1].
  Value Begun() {
    const Value step =
        c_.Op<op::Arange>({}, {.start = 0, .stop = steps_, .dtype = dtype_});
    return c_.Op<op::BroadcastLesser>(
        {c_.Reshape(step, Shape{steps_, 1, 1}),
         c_.Reshape(c_.Cast(lengths_, dtype_), Shape{1, batch_, 1})});
  }

  Results Loops() {
    std::vector<Value> outputs, hidden, cells;
    for (int64_t d = 0; d < directions_; ++d) {
      const bool backwards = reversed_ || d == 1;
      const auto results = Loop(d, backwards);
      outputs.push_back(backwards ? Backwards(results[0]) : results[0]);
      hidden.push_back(c_.Unsqueeze(results[1], 0));
      if (cell_ == Cell::kLstm) cells.push_back(c_.Unsqueeze(results[2], 0));
    }
    Results results = {c_.Concat(outputs, 2), c_.Concat(hidden, 0), {}};
    if (cell_ == Cell::kLstm) results.cell = c_.Concat(cells, 0);
    return results;
  }

  // What a step reads, and what it makes of the states.
  struct Step {
    int64_t direction = 0;
    Value input, hidden, cell;
    Value state, state_bias, peepholes;
  };
  struct Next {
    Value hidden, cell;
  };

  // What all steps put out, then the last states.
  std::vector<Value> Loop(int64_t direction, bool backwards) {
    const Weights weights = WeightsOf(direction);
    const Value x = backwards ? Backwards(x_) : x_;
    const int64_t rows = gates() * hidden_;
    const Value flat =
        Product(c_, c_.Reshape(x, Shape{steps_ * batch_, x.shape()[2]}),
                weights.input, weights.input_bias);
    const Value all = c_.Reshape(flat, Shape{steps_, batch_, rows});
    LoopTurn turn;
    WrittenBuilder b(turn.graph.graph(), c_.origin());
    const auto slice = [&](Value value) {
      Extents dims = value.shape().dims();
      dims.erase(dims.begin());
      turn.slices.push_back(
          turn.graph.Bind(value, {value.type().dtype, Shape(dims)}));
      return turn.slices.back();
    };
    const Value input = slice(all);
    const Value begun = lengths_ ? slice(Begun()) : Value();
    const auto carry = [&](Value first) {
      const Value inner = turn.graph.Bind(Part(first, direction),
                                          {dtype_, Shape{batch_, hidden_}});
      turn.carried.push_back(inner);
      return inner;
    };
    const Value hidden = carry(first_hidden_);
    const Value memory = cell_ == Cell::kLstm ? carry(first_cell_) : Value();
    Step step;
    step.direction = direction;
    step.input = input;
    step.hidden = hidden;
    step.cell = memory;
    step.state = turn.graph.Inside(weights.state);
    if (weights.state_bias) {
      step.state_bias = turn.graph.Inside(weights.state_bias);
    }
    if (weights.peepholes)
      step.peepholes = turn.graph.Inside(weights.peepholes);
    const Next next = cell_ == Cell::kRnn   ? RnnStep(b, step)
                      : cell_ == Cell::kGru ? GruStep(b, step)
                                            : LstmStep(b, step);
    const auto chosen = [&](Value value, Value otherwise) {
      if (!begun) return value;
      return b.Where(b.BroadcastTo(begun, value.shape()), value, otherwise);
    };
    turn.rows = {chosen(next.hidden, b.Zeros(hidden.type()))};
    turn.next = {chosen(next.hidden, hidden)};
    if (cell_ == Cell::kLstm) turn.next.push_back(chosen(next.cell, memory));
    return c_.Foreach(backwards ? "backwards" : "steps", turn, steps_);
  }

  Value Gate(GraphBuilder& b, Value gates, int64_t gate) {
    return b.SliceAxis(gates, 1, gate * hidden_, (gate + 1) * hidden_);
  }

  Next RnnStep(GraphBuilder& b, const Step& s) {
    const Value sum = b.Add(s.input, Product(b, s.hidden, s.state, {}));
    return {Gated(b, sum, Of(s.direction, 0)), {}};
  }

  // z r h
  Next GruStep(GraphBuilder& b, const Step& s) {
    const CellActivation &f = Of(s.direction, 0), &g = Of(s.direction, 1);
    Value keep, candidate;
    if (after_) {
      const Value state = Product(b, s.hidden, s.state, s.state_bias);
      const auto gate = [&](int64_t k) {
        return Gated(b, b.Add(Gate(b, s.input, k), Gate(b, state, k)), f);
      };
      keep = gate(0);
      const Value recalled = b.Mul(gate(1), Gate(b, state, 2));
      candidate = Gated(b, b.Add(Gate(b, s.input, 2), recalled), g);
    } else {
      const Value gates = b.SliceAxis(s.state, 0, 0, 2 * hidden_);
      const Value own = b.SliceAxis(s.state, 0, 2 * hidden_, 3 * hidden_);
      const Value state = Product(b, s.hidden, gates, {});
      const auto gate = [&](int64_t k) {
        return Gated(b, b.Add(Gate(b, s.input, k), Gate(b, state, k)), f);
      };
      keep = gate(0);
      const Value recalled = Product(b, b.Mul(gate(1), s.hidden), own, {});
      candidate = Gated(b, b.Add(Gate(b, s.input, 2), recalled), g);
    }
    // (1 − z) candidate + z hidden
    const Value change = b.Sub(s.hidden, candidate);
    return {b.Add(candidate, b.Mul(keep, change)), {}};
  }

  // i o f c; peepholes i o f
  Next LstmStep(GraphBuilder& b, const Step& s) {
    const CellActivation &f = Of(s.direction, 0), &g = Of(s.direction, 1),
                         &h = Of(s.direction, 2);
    const Value gates = b.Add(s.input, Product(b, s.hidden, s.state, {}));
    const auto gate = [&](int64_t k, Value cell) {
      Value sum = Gate(b, gates, k);
      if (s.peepholes) {
        const Value weight =
            b.SliceAxis(s.peepholes, 0, k * hidden_, (k + 1) * hidden_);
        sum = b.Add(sum, b.Mul(cell, b.Reshape(weight, Shape{1, hidden_})));
      }
      return Gated(b, sum, f);
    };
    const Value in = gate(0, s.cell);
    const Value forget = coupled_ ? b.Sub(1.0, in) : gate(2, s.cell);
    const Value candidate = Gated(b, Gate(b, gates, 3), g);
    const Value cell = b.Add(b.Mul(forget, s.cell), b.Mul(in, candidate));
    const Value out = gate(1, cell);
    return {b.Mul(out, Activate(b, cell, h)), cell};
  }

  // --- the results

  void Give(const Results& results) {
    // [T, N, D·H] → [T, D, N, H]
    const Value split =
        c_.Reshape(results.output, Shape{steps_, batch_, directions_, hidden_});
    if (c_.Wants(0)) {
      c_.Give(0, batch_first_ ? c_.Transpose(split, {1, 0, 2, 3})
                 : directions_ == 1
                     ? c_.Reshape(split, Shape{steps_, 1, batch_, hidden_})
                     : c_.Transpose(split, {0, 2, 1, 3}));
    }
    const auto state = [&](int i, Value value) {
      if (!c_.Wants(i)) return;
      c_.Give(i, batch_first_ ? c_.Transpose(value, {1, 0, 2}) : value);
    };
    state(1, results.hidden);
    if (cell_ == Cell::kLstm) state(2, results.cell);
  }
};

}  // namespace

void ImportLSTM(Call& c) { Recurrent(c, Cell::kLstm).Run(); }
void ImportGRU(Call& c) { Recurrent(c, Cell::kGru).Run(); }
void ImportRNN(Call& c) { Recurrent(c, Cell::kRnn).Run(); }

}  // namespace mxc::onnx
