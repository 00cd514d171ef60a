// SPDX-License-Identifier: Apache-2.0
// Sequences, written out turn by turn as Caffe does. Source:
// recurrent_layer.cpp, lstm_layer.cpp, lstm_unit_layer.cpp, rnn_layer.cpp of
// BVLC/caffe.
//   x     f[T, N, d…], cont f[T, N], which is 0 where a sequence begins
//   tops  f[T, N, H]; with expose_hidden the last states, too: f[1, N, H]
#include "frontend/caffe/layers.h"
#include "ir/ops/nn/convolution/fully_connected.h"
#include "ir/ops/tensor/create/filled.h"
#include "ir/ops/tensor/shape/expand_dims.h"
#include "ir/ops/tensor/shape/squeeze.h"

namespace mxc::caffe {
namespace {

struct Sequence {
  Value cont;     // [T, N]
  Value gates;    // [T, N, G·H]: what the inputs give, bias included
  Value statics;  // [N, G·H]; none where there are no inputs of all turns
  int64_t turns = 0, batch = 0, hidden = 0;
};

constexpr const char* kZero = R"(["constant", {"value": 0}])";

Value Product(Layer& layer, Value x, Value weight, Value bias, int64_t outputs,
              bool flat) {
  std::vector<Value> inputs = {x, weight};
  if (bias) inputs.push_back(bias);
  return layer.Op<op::FullyConnected>(
      inputs, {.num_hidden = outputs, .no_bias = !bias, .flatten = flat});
}

// Returns whether there is an input that all turns have.
bool HasStatic(Layer& layer, int states) {
  const bool exposed = OrDefault(layer.param().recurrent_param).expose_hidden;
  const int least = 2 + (exposed ? states : 0);
  layer.Expect(least, least + 1, exposed ? 1 + states : 1);
  return layer.bottoms() > least;
}

Sequence Begin(Layer& layer, int64_t gates, int states) {
  const RecurrentParameter& p = OrDefault(layer.param().recurrent_param);
  const bool has_static = HasStatic(layer, states);
  if (p.num_output == 0) layer.Fail("no num_output");
  Sequence s;
  s.hidden = p.num_output;
  Value x = layer.Bottom(0);
  s.cont = layer.Bottom(1);
  if (layer.RankOf(x) < 2) layer.Fail("a bottom of less than two axes");
  s.turns = layer.Extent(x, 0);
  s.batch = layer.Extent(x, 1);
  // One batch of inputs, whatever the axes behind it.
  x = layer.Reshape(x, {0, 0, -1});
  const int64_t outputs = gates * s.hidden;
  const Value weight = layer.Parameter(
      0, "x_weight", Shape{outputs, Shape::kUnknownDim}, p.weight_filler);
  const Value bias =
      layer.Parameter(1, "bias", Shape{outputs}, p.bias_filler, kZero);
  s.gates = Product(layer, x, weight, bias, outputs, false);
  if (has_static) {
    const Value statics =
        layer.Parameter(2, "static_weight", Shape{outputs, Shape::kUnknownDim},
                        p.weight_filler);
    s.statics = Product(layer, layer.Bottom(2), statics, {}, outputs, true);
  }
  return s;
}

// Of turn t, without the axis of turns.
Value Turn(Layer& layer, Value x, int64_t t) {
  return layer.Op<op::Squeeze>({layer.Slice(x, 0, t, t + 1)},
                               {.axis = Extents{0}});
}

// [N, 1] for factors of whole states.
Value ContOf(Layer& layer, const Sequence& s, int64_t t) {
  return layer.Reshape(Turn(layer, s.cont, t), {0, 1});
}

Value InputsOf(Layer& layer, const Sequence& s, int64_t t) {
  const Value gates = Turn(layer, s.gates, t);
  return s.statics ? layer.Op<op::ElemwiseAdd>({gates, s.statics}) : gates;
}

// The bottom of that number as [N, H], or zeros.
Value FirstState(Layer& layer, const Sequence& s, int state) {
  const RecurrentParameter& p = OrDefault(layer.param().recurrent_param);
  if (!p.expose_hidden) {
    return layer.Op<op::Zeros>({}, {.shape = {s.batch, s.hidden}});
  }
  const int first = 2 + (s.statics ? 1 : 0);
  return layer.Reshape(layer.Bottom(first + state), {-1, s.hidden});
}

void SetTops(Layer& layer, const std::vector<Value>& outputs,
             const std::vector<Value>& states) {
  std::vector<Value> turns;
  for (const Value& output : outputs) {
    turns.push_back(layer.Op<op::ExpandDims>({output}, {.axis = 0}));
  }
  layer.SetTop(0, layer.Concat(turns, 0));
  for (int i = 1; i < layer.tops(); ++i) {
    layer.SetTop(i, layer.Op<op::ExpandDims>(
                        {states[static_cast<size_t>(i) - 1]}, {.axis = 0}));
  }
}

template <class Function>
Value GateOf(Layer& layer, Value gates, int64_t number, int64_t hidden) {
  const Value gate =
      layer.Slice(gates, 1, number * hidden, (number + 1) * hidden);
  return layer.Op<Function>({gate});
}

struct Cell {
  Value c, h;
};

// c' = cont · f · c + i · g and h' = o · tanh(c'), of gates i, f, o, g.
Cell NextCell(Layer& layer, Value gates, Value cont, Value c, int64_t hidden) {
  const Value i = GateOf<op::Sigmoid>(layer, gates, 0, hidden);
  const Value f = GateOf<op::Sigmoid>(layer, gates, 1, hidden);
  const Value o = GateOf<op::Sigmoid>(layer, gates, 2, hidden);
  const Value g = GateOf<op::Tanh>(layer, gates, 3, hidden);
  const Value kept =
      layer.Op<op::ElemwiseMul>({layer.Op<op::BroadcastMul>({f, cont}), c});
  const Value next =
      layer.Op<op::ElemwiseAdd>({kept, layer.Op<op::ElemwiseMul>({i, g})});
  return {next, layer.Op<op::ElemwiseMul>({o, layer.Op<op::Tanh>({next})})};
}

}  // namespace

void ImportLstm(Layer& layer) {
  constexpr int64_t kGates = 4;
  const RecurrentParameter& p = OrDefault(layer.param().recurrent_param);
  const Sequence s = Begin(layer, kGates, 2);
  const Value weight =
      layer.Parameter(s.statics ? 3 : 2, "h_weight",
                      Shape{kGates * s.hidden, s.hidden}, p.weight_filler);
  Cell cell;
  cell.h = FirstState(layer, s, 0);
  cell.c = FirstState(layer, s, 1);
  std::vector<Value> outputs;
  for (int64_t t = 0; t < s.turns; ++t) {
    const Value cont = ContOf(layer, s, t);
    const Value kept = layer.Op<op::BroadcastMul>({cell.h, cont});
    const Value gates = layer.Op<op::ElemwiseAdd>(
        {Product(layer, kept, weight, {}, kGates * s.hidden, true),
         InputsOf(layer, s, t)});
    cell = NextCell(layer, gates, cont, cell.c, s.hidden);
    outputs.push_back(cell.h);
  }
  SetTops(layer, outputs, {cell.h, cell.c});
}

// One turn: c [1, N, H], gates [1, N, 4H], cont [1, N] → c', h'.
void ImportLstmUnit(Layer& layer) {
  layer.Expect(3, 3, 2);
  const Value c = layer.Bottom(0);
  const int64_t hidden = layer.Extent(c, layer.Axis(-1, layer.RankOf(c)));
  const Value cont = layer.Reshape(layer.Bottom(2), {-1, 1});
  const Cell cell =
      NextCell(layer, layer.Reshape(layer.Bottom(1), {-1, 4 * hidden}), cont,
               layer.Reshape(c, {-1, hidden}), hidden);
  layer.SetTop(0, layer.Reshape(cell.c, {1, -1, hidden}));
  if (layer.tops() > 1) {
    layer.SetTop(1, layer.Reshape(cell.h, {1, -1, hidden}));
  }
}

// h' = tanh(W h + inputs) and the output tanh(V h' + b).
void ImportRnn(Layer& layer) {
  const RecurrentParameter& p = OrDefault(layer.param().recurrent_param);
  const Sequence s = Begin(layer, 1, 1);
  const int next = s.statics ? 3 : 2;
  const Shape square = {s.hidden, s.hidden};
  const Value weight =
      layer.Parameter(next, "h_weight", square, p.weight_filler);
  const Value out_weight =
      layer.Parameter(next + 1, "output_weight", square, p.weight_filler);
  const Value out_bias = layer.Parameter(next + 2, "output_bias",
                                         Shape{s.hidden}, p.bias_filler, kZero);
  Value h = FirstState(layer, s, 0);
  std::vector<Value> outputs;
  for (int64_t t = 0; t < s.turns; ++t) {
    const Value kept = layer.Op<op::BroadcastMul>({h, ContOf(layer, s, t)});
    const Value sum = layer.Op<op::ElemwiseAdd>(
        {Product(layer, kept, weight, {}, s.hidden, true),
         InputsOf(layer, s, t)});
    h = layer.Op<op::Tanh>({sum});
    outputs.push_back(layer.Op<op::Tanh>(
        {Product(layer, h, out_weight, out_bias, s.hidden, true)}));
  }
  SetTops(layer, outputs, {h});
}

}  // namespace mxc::caffe
