// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/networks_text.h"

#include "frontend/frontend.h"
#include "ir/graph/operator.h"

namespace mxc::fuzz {
namespace {

constexpr const char* kBlocks = R"json({"mxc": 1, "name": "small",
 "inputs": {"data": ["N", 1, 8, 8]},
 "constants": {"filters": [2, 4]},
 "defaults": {"Activation": {"act_type": "relu"}},
 "blocks": {"conv": {"args": {"f": null, "stride": 1}, "nodes": [
  {"op": "Convolution", "name": "conv", "kernel": [3, 3], "pad": [1, 1],
   "num_filter": "$f", "stride": ["$stride", "$stride"]},
  {"op": "BatchNorm", "name": "bn"}, {"op": "Activation"}]}},
 "nodes": [
  {"repeat": "$filters", "as": "f", "block": "conv", "name": "unit${i}",
   "f": "$f", "stride": "$i == 1 ? 1 : 2"},
  {"op": "elemwise_add", "inputs": [[{"op": "Convolution", "name": "side",
   "kernel": [1, 1], "num_filter": 4}], []]},
  {"op": "Pooling", "kernel": [2, 2], "stride": [2, 2], "pool_type": "avg"},
  {"op": "Flatten"}, {"if": false, "op": "Dropout"},
  {"op": "FullyConnected", "name": "fc", "num_hidden": 3},
  {"op": "SoftmaxOutput", "name": "softmax"}]})json";

constexpr const char* kOutputs = R"json({"mxc": 1,
 "inputs": {"x": {"shape": ["N", 6], "dtype": "float32"}, "ids": [4]},
 "parameters": {"w": {"shape": [3, 6], "init": "xavier"}, "table": [5, 6]},
 "nodes": [
  {"op": "Embedding", "name": "e", "inputs": ["ids", "table"],
   "input_dim": 5, "output_dim": 6},
  {"op": "dot", "name": "d", "inputs": ["x", "w"], "transpose_b": true},
  {"op": "SliceChannel", "name": "s", "inputs": ["d"], "num_outputs": 3},
  {"op": "Concat", "name": "c", "inputs": ["s", "s:1", "s:2"], "dim": 1},
  {"op": "Reshape", "inputs": ["c"], "shape": [0, 1, -1]},
  {"op": "transpose", "name": "t", "axes": [2, 0, 1]}],
 "weights": [{"prefix": "{,a.}", "names": {"t${i}*": "x.${i - 1}{.,_}*",
  "w": {"from": ["w", "v"], "transpose": true, "rows": [0, 2]}}}],
 "outputs": ["t", "e"]})json";

constexpr const char* kRecurrent =
    R"json({"mxc": 1, "inputs": {"data": [3, 2, 4],
  "h": [1, 2, 3], "c": [1, 2, 3]}, "parameters": {"p": {"init": "xavier"}},
 "nodes": [
  {"op": "RNN", "name": "lstm", "mode": "lstm", "state_size": 3,
   "num_layers": 1, "state_outputs": true, "inputs": [[], "p", "h", "c"]},
  {"op": "LeakyReLU", "act_type": "prelu", "inputs": ["lstm"]},
  {"op": "mean", "axis": [0], "keepdims": true},
  {"op": "broadcast_mul", "inputs": [[], "lstm"]},
  {"op": "slice_axis", "axis": 1, "begin": 0, "end": null},
  {"op": "MakeLoss"}]})json";

// MXNet 0.8: "param" and "attr", inputs of two numbers; 0.9 to 0.11: "attr".
constexpr const char* kRelease08 = R"json({"nodes": [
 {"op": "null", "param": {}, "name": "data", "inputs": [],
  "backward_source_id": -1},
 {"op": "null", "param": {}, "name": "bn_gamma", "inputs": [],
  "backward_source_id": -1},
 {"op": "null", "param": {}, "name": "bn_beta", "inputs": [],
  "backward_source_id": -1},
 {"op": "BatchNorm", "param": {"eps": "0.001", "fix_gamma": "True"},
  "name": "bn", "inputs": [[0, 0], [1, 0], [2, 0]], "backward_source_id": -1,
  "attr": {"lr_mult": "2"}}],
 "arg_nodes": [0, 1, 2], "heads": [[3, 0]]})json";

constexpr const char* kRelease11 = R"json({"nodes": [
 {"op": "null", "name": "data", "attr": {"__shape__": "(2, 3, 8)"},
  "inputs": []},
 {"op": "null", "name": "w", "inputs": []},
 {"op": "FullyConnected", "name": "fc", "attr": {"num_hidden": "4",
  "no_bias": "True", "flatten": "False"}, "inputs": [[0, 0, 0], [1, 0, 0]]},
 {"op": "Pooling", "name": "p", "attr": {"kernel": "(2,)", "pool_type": "max"},
  "inputs": [[2, 0, 0]]}],
 "arg_nodes": [0, 1], "node_row_ptr": [0, 1, 2, 3, 4], "heads": [[3, 0, 0]],
 "attrs": {"mxnet_version": ["int", 1100]}})json";

constexpr const char* kControlFlow = R"json({"nodes": [
 {"op": "null", "name": "data", "attrs": {"__shape__": "(3, 2)"},
  "inputs": []},
 {"op": "null", "name": "state", "attrs": {"__shape__": "(2,)"}, "inputs": []},
 {"op": "_foreach", "name": "loop", "attrs": {"in_data_locs": "(0,)",
  "in_state_locs": "(1,)", "num_args": "3", "num_out_data": "1",
  "num_outputs": "2", "remain_locs": "()"},
  "inputs": [[0, 0, 0], [1, 0, 0]], "subgraphs": [{"nodes": [
   {"op": "null", "name": "a", "inputs": []},
   {"op": "null", "name": "b", "inputs": []},
   {"op": "elemwise_add", "name": "sum", "inputs": [[0, 0, 0], [1, 0, 0]]}],
   "arg_nodes": [0, 1], "node_row_ptr": [0, 1, 2, 3],
   "heads": [[2, 0, 0], [2, 0, 0]]}]}],
 "arg_nodes": [0, 1], "node_row_ptr": [0, 1, 2, 4],
 "heads": [[2, 0, 0], [2, 1, 0]], "attrs": {"mxnet_version": ["int", 10901]}})json";

}  // namespace

std::vector<std::string> NativeNetworks() {
  return {kBlocks, kOutputs, kRecurrent};
}

std::vector<std::string> SymbolNetworks() {
  std::vector<std::string> networks = {kRelease08, kRelease11, kControlFlow};
  for (const std::string& text : NativeNetworks()) {
    const auto model = LoadText(SourceOf(BytesOf(text)), {});
    if (!model.ok()) Wrong(Render(model.errors()));
    networks.push_back(WriteSymbol(model->graph));
  }
  return networks;
}

std::vector<std::string> NetworkWords() {
  std::vector<std::string> words = {"\"op\": \"",
                                    "\"inputs\": [[0, 0, 0]]",
                                    "\"nodes\": [",
                                    "\"heads\": ",
                                    "\"attrs\": {",
                                    "\"repeat\": ",
                                    "\"block\": ",
                                    "\"if\": ",
                                    "\"as\": ",
                                    "\"name\": ",
                                    "\"subgraphs\": ",
                                    "\"__shape__\": ",
                                    "\"__dtype__\": ",
                                    "\"__init__\": ",
                                    "(3, 3)",
                                    "(0,)",
                                    "None",
                                    "True",
                                    "-1",
                                    "1e38",
                                    "nan",
                                    "9223372036854775807",
                                    "4611686018427387904",
                                    "2147483648",
                                    "float16",
                                    "int64",
                                    "[[0, 1, 0], [1, 0, 0]]",
                                    "${i}",
                                    "\"$"};
  for (const Operator* op : AllOperators()) {
    if (op->internal) continue;
    words.push_back("\"" + op->name + "\"");
  }
  return words;
}

std::shared_ptr<const SourceFile> SourceOf(Bytes input) {
  return std::make_shared<SourceFile>("net.json", std::string(TextOf(input)));
}

Model ReadAgain(const std::string& written) {
  auto again = LoadText(SourceOf(BytesOf(written)), {});
  if (!again.ok()) {
    Wrong("what is written is refused: " + Render(again.errors()) + "\n" +
          written);
  }
  return std::move(*again);
}

bool Infers(Graph& graph) {
  const Status inferred = InferTypes(graph, /*complete=*/true);
  if (!inferred.ok()) {
    (void)Render(inferred.errors());
    return false;
  }
  if (const auto broken = Verify(graph)) Wrong(*broken);
  return true;
}

}  // namespace mxc::fuzz
