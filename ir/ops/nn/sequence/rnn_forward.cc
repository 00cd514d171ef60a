// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "ir/ops/nn/activation/dropout.h"
#include "ir/ops/nn/sequence/rnn.h"
#include "ir/ops/tensor/create/arange.h"
#include "ir/ops/tensor/shape/reshape.h"

namespace mxc {
namespace {

// All layers and directions.
class RnnForward {
 public:
  RnnForward(const RnnAttrs& attrs, const Node& node, bool keeps,
             GraphBuilder& builder)
      : a_(attrs),
        b_(builder),
        keeps_(keeps),
        node_(node),
        steps_(node.inputs[0].shape()[0]),
        batch_(node.inputs[0].shape()[1]) {}

  RnnParts Run() {
    TakeCells();
    if (a_.use_sequence_length) result_.begun = Begun();
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
      AddLastStates(1, &RnnPass::last_hidden);
      if (a_.lstm()) AddLastStates(2, &RnnPass::last_cell);
    }
    return std::move(result_);
  }

 private:
  std::string Numbered(std::string_view op) {
    return fmt::format("{}{}", op, ++count_);
  }
  Value Reshape(Value x, const Extents& shape) {
    return b_.Op<op::Reshape>({x}, {.shape = shape}, Numbered("Reshape"));
  }
  Value Slice(Value x, int axis, int64_t begin, int64_t end) {
    return b_.SliceAxis(x, axis, begin, end, Numbered("slice_axis"));
  }
  Value Concat(const std::vector<Value>& parts, int axis) {
    if (parts.size() == 1) return parts[0];
    return b_.Concat(parts, axis, Numbered("Concat"));
  }
  Value Times(Value x, Value y) {
    return b_.Op<op::ElemwiseMul>({x, y}, Numbered("elemwise_mul"));
  }

  // For every step and sequence 1 where the sequence is not over, else 0.
  Value Begun() {
    const DType dtype = node_.inputs[0].type().dtype;
    const Value lengths =
        b_.Reshape(b_.Cast(node_.inputs[a_.lengths()], dtype), {1, batch_, 1});
    const Value step = b_.Op<op::Arange>(
        {}, {.start = 0, .stop = static_cast<double>(steps_), .dtype = dtype},
        Numbered("_arange"));
    return b_.Op<op::BroadcastLesser>(
        {b_.Reshape(step, {steps_, 1, 1}), lengths},
        Numbered("broadcast_lesser"));
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
    b_.BeginPart(RnnPartName(a_, k));
    pass.rows = rows;
    pass.reversed = direction == 1;
    pass.first_hidden = Initial(2, k, a_.handed());
    if (a_.lstm()) pass.first_cell = Initial(3, k, a_.state_size);
    const Value inputs =
        RnnFullyConnected(b_, rows, pass.cell.from_input, pass.cell.input_bias);
    const int64_t gates = a_.gates() * a_.state_size;
    BuildRnnTurns(a_, Reshape(inputs, {steps_, batch_, gates}), result_.begun,
                  keeps_, b_, pass);
    const Value output = Reshape(pass.output, {steps_ * batch_, a_.handed()});
    b_.BeginPart("");
    return output;
  }

  void AddLastStates(int output, Value RnnPass::* state) {
    std::vector<Value> last;
    for (const RnnPass& pass : result_.passes) last.push_back(pass.*state);
    result_.outputs.push_back(
        Reshape(Concat(last, 0), node_.types[output].shape.dims()));
  }

  const RnnAttrs& a_;
  GraphBuilder& b_;
  const bool keeps_;
  const Node& node_;
  const int64_t steps_, batch_;
  int64_t taken_ = 0;
  int count_ = 0;
  RnnParts result_;
};

}  // namespace

std::string RnnPartName(const RnnAttrs& a, int64_t pass) {
  const int64_t layer = pass / a.directions();
  const bool reversed = pass % a.directions() == 1;
  return fmt::format("layer{}{}", layer, reversed ? "_reversed" : "");
}

RnnParts BuildRnn(const RnnAttrs& a, const Node& node, bool keeps,
                  GraphBuilder& b) {
  return RnnForward(a, node, keeps, b).Run();
}

}  // namespace mxc
