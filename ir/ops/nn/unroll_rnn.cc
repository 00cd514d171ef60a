// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ir/ops/nn/dropout.h"
#include "ir/ops/nn/rnn.h"

namespace mxc {
namespace {

class Unrolling {
 public:
  Unrolling(const RnnAttrs& attrs, const Node& node, GraphBuilder& builder)
      : a_(attrs),
        b_(builder),
        node_(node),
        steps_(node.inputs[0].shape()[0]),
        batch_(node.inputs[0].shape()[1]) {}

  UnrolledRnn Run() {
    TakeCells();
    const int64_t input = node_.inputs[0].shape()[2];
    // Steps are stacked in the rows of one matrix, N to a step.
    Value rows = Reshape(node_.inputs[0], {steps_ * batch_, input});
    for (int64_t layer = 0; layer < a_.num_layers; ++layer) {
      if (layer > 0) rows = Dropped(rows, layer);
      std::vector<Value> directions;
      for (int64_t d = 0; d < a_.directions(); ++d) {
        directions.push_back(Direction(rows, layer, d));
      }
      rows = Concat(directions, 1);
    }
    result_.outputs = {Reshape(rows, node_.types[0].shape.dims())};
    if (a_.state_outputs) {
      AddLastStates(1, &RnnStep::hidden);
      if (a_.lstm()) AddLastStates(2, &RnnStep::cell);
    }
    return std::move(result_);
  }

 private:
  Value Op(std::string_view op, std::vector<Value> inputs,
           std::vector<AttrText> attrs = {}) {
    return b_.Op(op, std::move(inputs), std::move(attrs), Numbered(op));
  }
  std::string Numbered(std::string_view op) {
    return fmt::format("{}{}", op, ++count_);
  }
  Value Reshape(Value x, const Extents& shape) {
    return Op("Reshape", {x}, {{"shape", ToString(shape)}});
  }
  Value Slice(Value x, int axis, int64_t begin, int64_t end) {
    return b_.SliceAxis(x, axis, begin, end, Numbered("slice_axis"));
  }
  Value Concat(const std::vector<Value>& parts, int axis) {
    if (parts.size() == 1) return parts[0];
    return b_.Concat(parts, axis, Numbered("Concat"));
  }
  Value Add(Value x, Value y) { return Op("elemwise_add", {x, y}); }
  Value Times(Value x, Value y) { return Op("elemwise_mul", {x, y}); }
  Value Act(Value x, const char* type) {
    return Op("Activation", {x}, {{"act_type", type}});
  }
  Value Product(Value x, Value weight, Value bias = {}) {
    std::vector<Value> inputs = {x, weight};
    if (bias) inputs.push_back(bias);
    return Op("FullyConnected", inputs,
              {{"num_hidden", std::to_string(weight.shape()[0])},
               {"no_bias", PrintBool(!bias)}});
  }

  // The next piece of the parameter vector.
  Value Take(const Extents& shape) {
    const int64_t length = *CheckedProduct(shape);
    taken_ += length;
    return Reshape(Slice(node_.inputs[1], 0, taken_ - length, taken_), shape);
  }

  void TakeCells() {
    const int64_t rows = a_.gates() * a_.state_size;
    const int64_t input = node_.inputs[0].shape()[2];
    result_.passes.resize(static_cast<size_t>(a_.num_layers * a_.directions()));
    for (size_t k = 0; k < result_.passes.size(); ++k) {
      const int64_t layer = static_cast<int64_t>(k) / a_.directions();
      RnnCell& cell = result_.passes[k].cell;
      cell.from_input = Take({rows, a_.read(layer, input)});
      cell.from_state = Take({rows, a_.handed()});
      if (a_.projection_size) {
        cell.projection = Take({a_.handed(), a_.state_size});
      }
    }
    for (RnnPass& pass : result_.passes) {
      pass.cell.input_bias = Take({rows});
      pass.cell.state_bias = Take({rows});
    }
  }

  // State k of input `input`.
  Value Initial(int input, int64_t k, int64_t length) {
    return Reshape(Slice(node_.inputs[input], 0, k, k + 1), {batch_, length});
  }

  // Some elements dropped, the others enlarged, when it trains.
  Value Dropped(Value rows, int64_t layer) {
    if (a_.p == 0 || !b_.training()) return rows;
    const Value mask =
        DropoutMask(a_.p, rows.type(), fmt::format("dropout{}", layer), b_);
    result_.masks.push_back(mask);
    return Times(rows, mask);
  }

  // The rows of one direction of a layer, for all steps.
  Value Direction(Value rows, int64_t layer, int64_t direction) {
    const int64_t k = layer * a_.directions() + direction;
    RnnPass& pass = result_.passes[static_cast<size_t>(k)];
    pass.rows = rows;
    pass.reversed = direction == 1;
    pass.steps.resize(static_cast<size_t>(steps_));
    const Value inputs =
        Product(rows, pass.cell.from_input, pass.cell.input_bias);
    Value hidden = Initial(2, k, a_.handed()), cell;
    if (a_.lstm()) cell = Initial(3, k, a_.state_size);
    std::vector<Value> outputs(static_cast<size_t>(steps_));
    for (int64_t n = 0; n < steps_; ++n) {
      const int64_t t = pass.reversed ? steps_ - 1 - n : n;
      RnnStep& step = pass.steps[static_cast<size_t>(t)];
      step.before = hidden;
      step.cell_before = cell;
      step.input = Slice(inputs, 0, t * batch_, (t + 1) * batch_);
      Advance(pass.cell, step);
      hidden = outputs[static_cast<size_t>(t)] = step.hidden;
      cell = step.cell;
    }
    return Concat(outputs, 0);
  }

  void AddLastStates(int output, Value RnnStep::* state) {
    std::vector<Value> last;
    for (const RnnPass& pass : result_.passes) {
      last.push_back((pass.reversed ? pass.steps.front() : pass.steps.back()).*
                     state);
    }
    result_.outputs.push_back(
        Reshape(Concat(last, 0), node_.types[output].shape.dims()));
  }

  Value Gate(Value x, int64_t gate) {
    return Slice(x, 1, gate * a_.state_size, (gate + 1) * a_.state_size);
  }

  void Advance(const RnnCell& cell, RnnStep& step) {
    step.recurrent = Product(step.before, cell.from_state, cell.state_bias);
    switch (a_.mode) {
      case RnnMode::kRelu:
        step.hidden = Act(Add(step.input, step.recurrent), "relu");
        return;
      case RnnMode::kTanh:
        step.hidden = Act(Add(step.input, step.recurrent), "tanh");
        return;
      case RnnMode::kLstm:
        return Lstm(cell, step);
      case RnnMode::kGru:
        return Gru(step);
    }
  }

  void Lstm(const RnnCell& cell, RnnStep& step) {
    const Value gates = Add(step.input, step.recurrent);
    step.in = Act(Gate(gates, 0), "sigmoid");
    step.forget = Act(Gate(gates, 1), "sigmoid");
    step.candidate = Act(Gate(gates, 2), "tanh");
    step.out = Act(Gate(gates, 3), "sigmoid");
    step.cell = Add(Times(step.forget, step.cell_before),
                    Times(step.in, step.candidate));
    step.squashed = Act(step.cell, "tanh");
    step.unprojected = Times(step.out, step.squashed);
    step.hidden = cell.projection ? Product(step.unprojected, cell.projection)
                                  : step.unprojected;
  }

  void Gru(RnnStep& step) {
    const auto gate = [&](int64_t k) {
      return Act(Add(Gate(step.input, k), Gate(step.recurrent, k)), "sigmoid");
    };
    step.reset = gate(0);
    step.keep = gate(1);
    step.recalled = Gate(step.recurrent, 2);
    step.candidate =
        Act(Add(Gate(step.input, 2), Times(step.reset, step.recalled)), "tanh");
    const Value change = Op("elemwise_sub", {step.before, step.candidate});
    step.hidden = Add(step.candidate, Times(step.keep, change));
  }

  const RnnAttrs& a_;
  GraphBuilder& b_;
  const Node& node_;
  const int64_t steps_, batch_;
  int64_t taken_ = 0;
  int count_ = 0;
  UnrolledRnn result_;
};

}  // namespace

UnrolledRnn UnrollRnn(const RnnAttrs& a, const Node& node, GraphBuilder& b) {
  return Unrolling(a, node, b).Run();
}

}  // namespace mxc
