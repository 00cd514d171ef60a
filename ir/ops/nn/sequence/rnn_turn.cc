// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "ir/ops/nn/activation/activation.h"
#include "ir/ops/nn/convolution/fully_connected.h"
#include "ir/ops/nn/sequence/rnn.h"
#include "ir/ops/tensor/control/scan.h"
#include "ir/ops/tensor/elementwise/clip.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {
namespace {

// A step of a cell, as the turn of a repeat. Where it trains, the values that
// the gradient needs come out of every turn.
class RnnTurn {
 public:
  // `begun`: as in RnnParts, or empty.
  RnnTurn(const RnnAttrs& attrs, RnnPass& pass, Value begun, bool keeps,
          GraphBuilder& builder)
      : a_(attrs),
        pass_(pass),
        begun_(begun),
        keeps_(keeps),
        outside_(builder),
        scan_(builder, pass.rows.shape()[0] / pass.first_hidden.shape()[0],
              pass.reversed),
        b_(scan_.inside()) {}

  // `inputs`: f[T, N, G·H], the part of the data before the activations.
  void Build(Value inputs) {
    input_ = scan_.Slice(inputs);
    before_ = scan_.Carry(pass_.first_hidden);
    if (begun_) begun_ = scan_.Slice(begun_);
    recurrent_ =
        RnnFullyConnected(b_, before_, scan_.Whole(pass_.cell.from_state),
                          scan_.Whole(pass_.cell.state_bias));
    switch (a_.mode) {
      case RnnMode::kRelu:
        Advance(Act(Add(input_, recurrent_), ActType::kRelu));
        break;
      case RnnMode::kTanh:
        Advance(Act(Add(input_, recurrent_), ActType::kTanh));
        break;
      case RnnMode::kLstm:
        Lstm();
        break;
      case RnnMode::kGru:
        Gru();
        break;
    }
    Finish();
  }

 private:
  Value Add(Value x, Value y) { return b_.Op<op::ElemwiseAdd>({x, y}); }
  Value Times(Value x, Value y) { return b_.Op<op::ElemwiseMul>({x, y}); }
  Value Act(Value x, ActType type) {
    return b_.Op<op::Activation>({x}, {.act_type = type});
  }
  Value Gate(Value x, int64_t gate) {
    return b_.SliceAxis(x, 1, gate * a_.state_size, (gate + 1) * a_.state_size);
  }

  void Lstm() {
    const Value before = scan_.Carry(pass_.first_cell);
    const Value gates = Add(input_, recurrent_);
    const Value in = Act(Gate(gates, 0), ActType::kSigmoid);
    const Value forget = Act(Gate(gates, 1), ActType::kSigmoid);
    const Value candidate = Act(Gate(gates, 2), ActType::kTanh);
    const Value out = Act(Gate(gates, 3), ActType::kSigmoid);
    const Value cell =
        Clipped(Add(Times(forget, before), Times(in, candidate)));
    const Value squashed = Act(cell, ActType::kTanh);
    const Value unprojected = Times(out, squashed);
    Advance(a_.projection_size
                ? RnnFullyConnected(b_, unprojected,
                                    scan_.Whole(pass_.cell.projection))
                : unprojected);
    scan_.Next(before, Begun(cell, before));
    Keep(in, &RnnPass::in);
    Keep(forget, &RnnPass::forget);
    Keep(candidate, &RnnPass::candidate);
    Keep(out, &RnnPass::out);
    if (a_.projection_size) Keep(unprojected, &RnnPass::unprojected);
  }

  void Gru() {
    const auto gate = [&](int64_t k) {
      return Act(Add(Gate(input_, k), Gate(recurrent_, k)), ActType::kSigmoid);
    };
    const Value reset = gate(0), keep = gate(1);
    const Value recalled = Gate(recurrent_, 2);
    const Value candidate =
        Act(Add(Gate(input_, 2), Times(reset, recalled)), ActType::kTanh);
    const Value change = b_.Op<op::ElemwiseSub>({before_, candidate});
    Advance(Add(candidate, Times(keep, change)));
    Keep(reset, &RnnPass::reset);
    Keep(keep, &RnnPass::keep);
    Keep(candidate, &RnnPass::candidate);
    Keep(recalled, &RnnPass::recalled);
  }

  Value Clipped(Value cell) {
    if (!a_.clips()) return cell;
    const double low = *a_.lstm_state_clip_min, high = *a_.lstm_state_clip_max;
    const Value above = b_.Op<op::GreaterEqualScalar>({cell}, {.scalar = low});
    const Value below = b_.Op<op::LesserEqualScalar>({cell}, {.scalar = high});
    Keep(Times(above, below), &RnnPass::unclipped);
    if (a_.lstm_state_clip_nan) {
      const Value least = b_.Scalar(*a_.lstm_state_clip_min, cell.type().dtype);
      cell = b_.Where(b_.Op<op::BroadcastEqual>({cell, cell}), cell,
                      b_.BroadcastTo(least, cell.shape()));
    }
    return b_.Op<op::Clip>({cell}, {.a_min = low, .a_max = high});
  }

  // The first for sequences that are that long, else the second.
  Value Begun(Value value, Value other) {
    if (!begun_) return value;
    return b_.Where(b_.BroadcastTo(begun_, value.shape()), value, other);
  }

  void Advance(Value hidden) {
    scan_.Next(before_, Begun(hidden, before_));
    if (begun_) put_out_ = Begun(hidden, b_.Zeros(hidden.type()));
  }

  void Keep(Value value, Value RnnPass::* place) {
    if (keeps_) kept_.emplace_back(scan_.Stack(value), place);
  }

  // The states of all steps.
  struct States {
    Value handed, handed_on;
  };

  // Cuts the history of a carry, [T + 1, N, length].
  States StatesOf(Value history) {
    const int64_t steps = history.shape()[0] - 1;
    const Value low = outside_.SliceAxis(history, 0, 0, steps);
    const Value high = outside_.SliceAxis(history, 0, 1, steps + 1);
    if (pass_.reversed) return {high, low};
    return {low, high};
  }

  void Finish() {
    const size_t output = begun_ ? scan_.Stack(put_out_) : 0;
    const auto [last, stacks, histories] = scan_.Finish("steps");
    const States hidden = StatesOf(histories[0]);
    pass_.hidden = hidden.handed_on;
    pass_.hidden_before = hidden.handed;
    pass_.last_hidden = last[0];
    pass_.output = begun_ ? stacks[output] : pass_.hidden;
    if (a_.lstm()) {
      const States cells = StatesOf(histories[1]);
      pass_.cell_before = cells.handed;
      pass_.cell_after = cells.handed_on;
      pass_.last_cell = last[1];
    }
    for (const auto& [stack, place] : kept_) pass_.*place = stacks[stack];
  }

  const RnnAttrs& a_;
  RnnPass& pass_;
  Value begun_;  // inside, from Build on
  const bool keeps_;
  GraphBuilder& outside_;
  ScanBuilder scan_;
  GraphBuilder& b_;  // of the turn
  Value input_, before_, recurrent_, put_out_;
  std::vector<std::pair<size_t, Value RnnPass::*>> kept_;
};

}  // namespace

Value RnnFullyConnected(GraphBuilder& b, Value x, Value weight, Value bias) {
  std::vector<Value> inputs = {x, weight};
  if (bias) inputs.push_back(bias);
  return b.Op<op::FullyConnected>(
      inputs, {.num_hidden = weight.shape()[0], .no_bias = !bias});
}

void BuildRnnTurns(const RnnAttrs& a, Value inputs, Value begun, bool keeps,
                   GraphBuilder& b, RnnPass& pass) {
  RnnTurn(a, pass, begun, keeps, b).Build(inputs);
}

}  // namespace mxc
