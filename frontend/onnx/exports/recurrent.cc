// SPDX-License-Identifier: Apache-2.0
// RNN: a node for each layer, which has both directions.
#include <algorithm>

#include "frontend/onnx/export.h"

namespace mxc::onnx {
namespace {

// Where ONNX's gates are among MXNet's: iofc of ifco, zrh of rzn.
const Extents& GatesOf(const std::string& mode) {
  static const Extents lstm = {0, 3, 1, 2}, gru = {1, 0, 2}, one = {0};
  return mode == "lstm" ? lstm : mode == "gru" ? gru : one;
}

// Reads MXNet's vector of parameters from front to back.
class FlatParameters {
 public:
  explicit FlatParameters(std::span<const float> values) : left_(values) {}

  // [gates · rows, columns], its gates in ONNX's order, behind `to`.
  void Take(const Extents& gates, int64_t rows, int64_t columns,
            std::vector<float>& to) {
    const auto piece = static_cast<size_t>(rows * columns);
    for (const int64_t gate : gates) {
      const auto part = left_.subspan(static_cast<size_t>(gate) * piece, piece);
      to.insert(to.end(), part.begin(), part.end());
    }
    left_ = left_.subspan(gates.size() * piece);
  }

 private:
  std::span<const float> left_;
};

struct LayerWeights {
  std::vector<float> input, state, bias;  // of both directions
  int64_t read = 0;
};

std::vector<LayerWeights> WeightsOf(Export& e, const Extents& gates,
                                    int64_t hidden, int64_t directions) {
  std::vector<LayerWeights> layers(static_cast<size_t>(e.Int("num_layers")));
  FlatParameters flat(e.Parameter(1).floats());
  int64_t read = e.ShapeOf(0)[2];
  for (LayerWeights& layer : layers) {
    layer.read = read;
    for (int64_t d = 0; d < directions; ++d) {
      flat.Take(gates, hidden, read, layer.input);
      flat.Take(gates, hidden, hidden, layer.state);
    }
    read = directions * hidden;
  }
  for (LayerWeights& layer : layers) {
    for (int64_t d = 0; d < directions; ++d) {
      flat.Take(gates, hidden, 1, layer.bias);
      flat.Take(gates, hidden, 1, layer.bias);
    }
  }
  return layers;
}

// The states of one layer among those of all.
std::string StateOf(Export& e, int input, int64_t layer, int64_t directions,
                    int64_t layers) {
  if (layers == 1) return e.In(input);
  return e.EmitBetween(
      "Slice",
      {e.In(input), e.Ints({layer * directions}, "starts"),
       e.Ints({(layer + 1) * directions}, "ends"), e.Ints({0}, "axes")},
      fmt::format("layer{}_first{}", layer, input));
}

// What all layers leave, as the node's output `output`.
void JoinStates(Export& e, int output, const std::vector<std::string>& states) {
  if (states.size() == 1)
    return e.Emit("Identity", states, {}, {e.Out(output)});
  e.Emit("Concat", states, ExportAttributes().Int("axis", 0), {e.Out(output)});
}

}  // namespace

void ExportRecurrent(Export& e) {
  const std::string mode = e.Text("mode");
  const bool lstm = mode == "lstm", gru = mode == "gru";
  if (e.Says("projection_size")) e.Refuse("it has a projection");
  if (e.Says("lstm_state_clip_min")) e.Refuse("its cells are clipped");
  if (e.Flag("use_sequence_length")) e.Refuse("it has lengths");
  const int64_t hidden = e.Int("state_size"), layers = e.Int("num_layers");
  const int64_t directions = e.Flag("bidirectional") ? 2 : 1;
  const Extents& gates = GatesOf(mode);
  const auto count = static_cast<int64_t>(gates.size());
  const auto weights = WeightsOf(e, gates, hidden, directions);
  std::string data = e.In(0);
  std::vector<std::string> last, last_cells;
  for (int64_t k = 0; k < layers; ++k) {
    const LayerWeights& w = weights[static_cast<size_t>(k)];
    const std::string layer = fmt::format("layer{}", k);
    ExportAttributes attributes;
    attributes.Int("hidden_size", hidden)
        .String("direction", directions == 2 ? "bidirectional" : "forward");
    if (gru) attributes.Int("linear_before_reset", 1);
    if (!lstm && !gru) {
      const std::string f = mode == "rnn_relu" ? "Relu" : "Tanh";
      attributes.Strings(
          "activations",
          std::vector<std::string>(static_cast<size_t>(directions), f));
    }
    std::vector<std::string> inputs = {
        data,
        e.Floats({directions, count * hidden, w.read}, w.input, layer + "_W"),
        e.Floats({directions, count * hidden, hidden}, w.state, layer + "_R"),
        e.Floats({directions, 2 * count * hidden}, w.bias, layer + "_B"),
        "",
        StateOf(e, 2, k, directions, layers)};
    if (lstm) inputs.push_back(StateOf(e, 3, k, directions, layers));
    std::vector<std::string> outputs = {e.Between(layer + "_steps"),
                                        e.Between(layer + "_last")};
    if (lstm) outputs.push_back(e.Between(layer + "_last_cell"));
    e.Emit(lstm ? "LSTM" : gru ? "GRU" : "RNN", inputs, attributes, outputs);
    last.push_back(outputs[1]);
    if (lstm) last_cells.push_back(outputs[2]);
    // [T, D, N, H] → [T, N, D·H]
    const std::string beside =
        e.EmitBetween("Transpose", {outputs[0]}, layer + "_beside",
                      ExportAttributes().Ints("perm", {0, 2, 1, 3}));
    const std::string shape = e.Ints({0, 0, -1}, layer + "_shape");
    if (k + 1 == layers) {
      e.Emit("Reshape", {beside, shape});
    } else {
      data = e.EmitBetween("Reshape", {beside, shape}, layer + "_output");
    }
  }
  if (!e.Flag("state_outputs")) return;
  JoinStates(e, 1, last);
  if (lstm) JoinStates(e, 2, last_cells);
}

}  // namespace mxc::onnx
