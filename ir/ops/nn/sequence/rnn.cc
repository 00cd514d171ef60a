// SPDX-License-Identifier: Apache-2.0
// RNN: num_layers recurrent layers, in one or both directions.
//   data        f[T, N, I]
//   parameters  f[P]   all weights, then all biases. Weights, for each layer
//               and direction: f[G·H, read], f[G·H, R], and
//               f[projection_size, H] if there is one; biases: f[G·H] for data,
//               f[G·H] for the state
//   state       f[layers·D, N, R]
//   state_cell  f[layers·D, N, H]      lstm only
//   sequence_length  [N], of a sequence that is shorter than T: what lies
//               behind its end changes no state, and 0 is put out for it
//   output      f[T, N, D·R], and with state_outputs the last state and cell
// H = state_size, R = projection_size or H, D = directions, G = gates:
//   rnn_relu, rnn_tanh  h = f(x + s)                x = Wx·data + bx
//   lstm  i, f, g, o    c = σ(f)·c + σ(i)·tanh(g)   s = Wh·h + bh
//                       h = σ(o)·tanh(c), projected; gates of x + s
//   gru   r, z, n       h = (1 − σ(z))·tanh(xn + σ(r)·sn) + σ(z)·h
// C1  data has 3 axes
// C2  state and state_cell have the shapes above
// C3  parameters has the length that follows
// C4  only an lstm has a projection or bounds of its cell, which come together
// lstm_state_clip_min and _max bound the cell that a step hands on; with
// lstm_state_clip_nan, NaN becomes the least.
// When it trains, what layers but the first read has dropout of share p.
// The gradient goes back step by step; that of the weights is one product of
// matrices for all steps.
// Source: MXNet 1.9.1 operator/rnn.cc, rnn_impl.h.
#include "ir/ops/nn/sequence/rnn.h"
#include "ir/ops/nn/sequence/sequence.h"

#include <fmt/format.h>

namespace mxc {

void RnnAttrs::Describe(Fields& f) {
  f("state_size", state_size)
      .Required()
      .Range(1, 1 << 20)
      .Doc("of a layer and direction");
  f("num_layers", num_layers)
      .Required()
      .Range(1, 1024)
      .Doc("each reads the one before");
  f("bidirectional", bidirectional).Doc("whether each layer reads both ways");
  f("mode", mode)
      .OneOf({"rnn_relu", "rnn_tanh", "lstm", "gru"})
      .Required()
      .Doc("the cell");
  f("p", p).Range(0, 1).Doc("dropout between layers, in training");
  f("state_outputs", state_outputs).Doc("whether the last states come out");
  f("projection_size", projection_size)
      .Range(1, 1 << 20)
      .Doc("of an lstm's state");
  f("lstm_state_clip_min", lstm_state_clip_min).Doc("of the cell");
  f("lstm_state_clip_max", lstm_state_clip_max).Doc("of the cell");
  f("lstm_state_clip_nan", lstm_state_clip_nan).Doc("of the cell");
  f("use_sequence_length", use_sequence_length)
      .Doc("whether there is an input sequence_length");
}

namespace {

std::optional<std::string> RnnCheck(const RnnAttrs& a) {
  if (a.projection_size && !a.lstm()) {
    return "C4: projection_size is given, but mode is not lstm";
  }
  const bool bounds = a.lstm_state_clip_min || a.lstm_state_clip_max;
  if (bounds && (!a.lstm() || !a.clips() ||
                 !(*a.lstm_state_clip_min <= *a.lstm_state_clip_max))) {
    return "C4: lstm_state_clip_min and lstm_state_clip_max are not the bounds "
           "of an lstm's cell";
  }
  return std::nullopt;
}

std::vector<InputSpec> RnnInputs(const RnnAttrs& a) {
  std::vector<InputSpec> inputs = {
      {"data"}, {"parameters", InputKind::kParameter}, {"state"}};
  if (a.lstm()) inputs.push_back({"state_cell"});
  if (a.use_sequence_length) inputs.push_back({"sequence_length"});
  return inputs;
}

std::vector<std::string> RnnOutputs(const RnnAttrs& a) {
  if (!a.state_outputs) return {"output"};
  if (!a.lstm()) return {"output", "state_output"};
  return {"output", "state_output", "statecell_output"};
}

int64_t ParameterCount(const RnnAttrs& a, int64_t input) {
  const int64_t rows = a.gates() * a.state_size;
  int64_t count = 0;
  for (int64_t layer = 0; layer < a.num_layers; ++layer) {
    const int64_t columns = a.read(layer, input) + a.handed() + 2;
    const int64_t projection = a.projection_size.value_or(0) * a.state_size;
    count += a.directions() * (rows * columns + projection);
  }
  return count;
}

// All but the lengths, which are numbers of any kind.
void RnnElementTypes(const RnnAttrs& a, TypeInference& t) {
  if (!a.use_sequence_length) return t.AllSameDType();
  DType known = DType::kUnknown;
  const int floats = a.lengths();
  for (int i = 0; i < floats && known == DType::kUnknown; ++i) {
    known = t.InDType(i);
  }
  for (int i = 0; i < t.outputs() && known == DType::kUnknown; ++i) {
    known = t.OutDType(i);
  }
  for (int i = 0; i < floats; ++i) t.SetInDType(i, known);
  for (int i = 0; i < t.outputs(); ++i) t.SetOutDType(i, known);
  if (t.InDType(floats) == DType::kUnknown) t.SetInDType(floats, DType::kI32);
}

void RnnTypes(const RnnAttrs& a, TypeInference& t) {
  RnnElementTypes(a, t);
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  if (!t.Require(data.rank() == 3, "C1: data has {} axes, expected 3",
                 data.rank()) ||
      !data.known(2)) {
    return;
  }
  const Shape parameters = {ParameterCount(a, data[2])};
  if (!t.Require(!t.In(1).known() || t.In(1) == parameters,
                 "C3: parameters has shape {}, expected {}", ToString(t.In(1)),
                 ToString(parameters))) {
    return;
  }
  t.SetIn(1, parameters);
  if (a.use_sequence_length) t.SetIn(a.lengths(), {data[1]});
  const Shape output = {data[0], data[1], a.directions() * a.handed()};
  t.SetOut(0, output);
  for (int k = 0; k < (a.lstm() ? 2 : 1); ++k) {
    const Shape state = {a.num_layers * a.directions(), data[1],
                         k == 0 ? a.handed() : a.state_size};
    if (!t.Require(
            !t.In(2 + k).known() || !state.known() || t.In(2 + k) == state,
            "C2: {} has shape {}, expected {}", k == 0 ? "state" : "state_cell",
            ToString(t.In(2 + k)), ToString(state))) {
      return;
    }
    t.SetIn(2 + k, state);
    if (a.state_outputs) t.SetOut(1 + k, state);
  }
}

CountedForm RnnOfCounted(const RnnAttrs& a, const Node& node,
                         std::span<const int> axes, Value count,
                         GraphBuilder& b) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != (i == 0 ? 0 : -1)) return {};
  }
  RnnAttrs counted = a;
  counted.use_sequence_length = true;
  const Value first = b.Op<op::RNN>(
      InputsWithLengths(node, 0, a.use_sequence_length, count, b), counted);
  CountedForm form;
  for (size_t i = 0; i < node.types.size(); ++i) {
    form.outputs.push_back(first.node->out(static_cast<int>(i)));
    form.axes.push_back(i == 0 ? 0 : -1);
  }
  return form;
}

}  // namespace

MXC_OP(RNN) {
  return Op<RnnAttrs>("RNN")
      .Doc("recurrent layers: rnn_relu, rnn_tanh, lstm, gru")
      .Alias({"_npx_rnn"})
      .InputsOf(RnnInputs)
      .OutputsOf(RnnOutputs)
      .Check(RnnCheck)
      .Types(RnnTypes)
      .FloatsOnly()
      .Decompose([](const RnnAttrs& a, const Node& node, GraphBuilder& b) {
        return BuildRnn(a, node, b.training(), b).outputs;
      })
      .Counted(RnnOfCounted)
      .RandomIf([](const RnnAttrs& a, bool training) {
        return training && a.p > 0 && a.num_layers > 1;
      })
      .Gradient(RnnGradient);
}

}  // namespace mxc
