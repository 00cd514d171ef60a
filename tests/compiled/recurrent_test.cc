// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, compiled, against the interpreter without optimization:
// with weights that are known and that are given, and of every kind of cell.
#include <doctest/doctest.h>

#include <string>

#include "tests/cases/engine.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

struct Recurrent {
  std::string mode;
  int64_t steps = 7, batch = 3, width = 20, units = 17, layers = 2;
  bool both = false, lengths = false, constant = true;
  int64_t projection = 0;

  bool lstm() const { return mode == "lstm"; }
  int64_t gates() const { return lstm() ? 4 : mode == "gru" ? 3 : 1; }
  int64_t handed() const { return projection > 0 ? projection : units; }
  int64_t parameters() const {
    const int64_t d = both ? 2 : 1, rows = gates() * units;
    int64_t count = 0;
    for (int64_t layer = 0; layer < layers; ++layer) {
      const int64_t read = layer == 0 ? width : d * handed();
      count += d * (rows * (read + handed() + 2) + projection * units);
    }
    return count;
  }
};

Network NetworkOf(const Recurrent& r) {
  Network net("recurrent");
  const int64_t cells = r.layers * (r.both ? 2 : 1);
  const Shape parameters = {r.parameters()};
  std::vector<Value> inputs = {
      net.Input("data", {r.steps, r.batch, r.width}),
      r.constant ? net.Constant("parameters", parameters, -0.3, 0.3)
                 : net.Input("parameters", parameters),
      net.Input("state", {cells, r.batch, r.handed()})};
  if (r.lstm()) {
    inputs.push_back(net.Input("cell", {cells, r.batch, r.units}));
  }
  if (r.lengths) {
    inputs.push_back(net.Input("lengths", {r.batch}, DType::kI32));
    Tensor& lengths = net.inputs["lengths"];
    std::byte* bytes = nullptr;
    lengths = Tensor::Allocate(lengths.type(), &bytes);
    for (int64_t n = 0; n < r.batch; ++n) {
      StoreElement(bytes + n * SizeOf(DType::kI32), DType::kI32,
                   static_cast<double>(1 + n * 3));
    }
  }
  std::vector<AttrText> attrs = {{"mode", r.mode},
                                 {"state_size", std::to_string(r.units)},
                                 {"num_layers", std::to_string(r.layers)},
                                 {"bidirectional", PrintBool(r.both)},
                                 {"state_outputs", "True"},
                                 {"use_sequence_length", PrintBool(r.lengths)}};
  if (r.projection > 0) {
    attrs.emplace_back("projection_size", std::to_string(r.projection));
  }
  const Value output = net.Op("RNN", "rnn", inputs, attrs);
  for (int i = 0; i < (r.lstm() ? 3 : 2); ++i) {
    net.Output(output.node->out(i));
  }
  return net;
}

void CheckCompiled(const Recurrent& recurrent) {
  CAPTURE(recurrent.mode);
  CAPTURE(recurrent.constant);
  const Network net = NetworkOf(recurrent);
  PassOptions required;
  required.level = 0;
  const auto expected = Run(Compile(net, required), net.inputs);
  for (const int threads : {1, 2}) {
    EngineOptions options;
    options.engine = "compiled";
    options.threads = threads;
    const auto actual = RunGraph(net.Copy(), net.inputs, options);
    REQUIRE_MESSAGE(actual.ok(), Render(actual.errors()));
    CHECK(Distance(*actual, expected) < 1e-5);
  }
}

TEST_CASE("compiled recurrent layers give the interpreter's numbers") {
  for (const char* mode : {"rnn_relu", "rnn_tanh", "lstm", "gru"}) {
    for (const bool constant : {true, false}) {
      Recurrent recurrent;
      recurrent.mode = mode;
      recurrent.constant = constant;
      CheckCompiled(recurrent);
    }
  }
}

TEST_CASE("compiled recurrent layers run both ways and end where they end") {
  Recurrent recurrent;
  recurrent.mode = "gru";
  recurrent.both = recurrent.lengths = true;
  CheckCompiled(recurrent);
  recurrent.mode = "lstm";
  recurrent.projection = 9;
  CheckCompiled(recurrent);
}

TEST_CASE("a compiled recurrent layer of one step, and of an even number") {
  for (const int64_t steps : {1, 2, 8}) {
    CAPTURE(steps);
    Recurrent recurrent;
    recurrent.mode = "lstm";
    recurrent.steps = steps;
    recurrent.layers = 1;
    CheckCompiled(recurrent);
  }
}

}  // namespace
}  // namespace mxc
