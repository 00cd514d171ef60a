// SPDX-License-Identifier: Apache-2.0
// Our own JSON: what the language means, and how it complains.
#include <doctest/doctest.h>

#include "frontend/frontend.h"
#include "frontend/native/network.h"
#include "tests/support/shared.h"

namespace mxc {
namespace {

Result<Model> LoadNative(const std::string& body,
                         const LoadOptions& options = {}) {
  return LoadText(std::make_shared<SourceFile>(
                      SourceFile{"net.json", "{\"mxc\": 1, " + body + "}"}),
                  options);
}

const std::string kInputs = R"("inputs": {"data": ["N", 3, 8, 8]}, )";

// "name=Op(inputs)" of every node, parameters left out.
std::string Nodes(const Graph& graph) {
  std::string out;
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kVariable) continue;
    out += (out.empty() ? "" : " ") + node->name + "=" + node->op_name + "(";
    for (const Value& input : node->inputs) {
      const Node& from = *input.node;
      if (from.role != VariableRole::kInput) continue;
      out += (out.back() == '(' ? "" : ",") + from.name;
      if (input.index > 0) out += ":" + std::to_string(input.index);
    }
    out += ")";
  }
  return out;
}

std::string MustLoadNodes(const std::string& nodes,
                          const std::string& more = "") {
  const auto model = LoadNative(kInputs + more + R"("nodes": [)" + nodes + "]");
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  return Nodes(model->graph);
}

// "line:column message" of the only error.
std::string Refusal(const std::string& body, const LoadOptions& options = {}) {
  const auto model = LoadNative(body, options);
  REQUIRE_FALSE(model.ok());
  REQUIRE_MESSAGE(model.errors().size() == 1, Render(model.errors()));
  return model.errors()[0].message;
}

std::string NodesRefusal(const std::string& nodes,
                         const std::string& more = "") {
  return Refusal(kInputs + more + R"("nodes": [)" + nodes + "]");
}

TEST_CASE("native: a list reads downwards, unnamed nodes are counted") {
  CHECK(MustLoadNodes(R"({"op": "Activation", "act_type": "relu"},
                    {"op": "Flatten", "name": "f"},
                    {"op": "Activation", "act_type": "tanh"})") ==
        "activation0=Activation(data) f=Flatten(activation0) "
        "activation1=Activation(f)");
}

TEST_CASE("native: inputs are names, outputs of names, and branches") {
  CHECK(MustLoadNodes(R"({"op": "Flatten", "name": "a"},
                    {"op": "elemwise_add", "name": "b", "inputs": [
                      [{"op": "relu", "name": "c"}, {"op": "exp", "name": "d"}],
                      []]},
                    {"op": "elemwise_mul", "name": "e",
                     "inputs": ["d:0", "b"]})") ==
        "a=Flatten(data) c=relu(a) d=exp(c) b=elemwise_add(d,a) "
        "e=elemwise_mul(d,b)");
}

TEST_CASE("native: typed values become MXNet's text") {
  const auto model = LoadNative(kInputs + R"json("nodes": [
      {"op": "Convolution", "name": "c", "kernel": [3, 3], "num_filter": 4,
       "no_bias": true, "cudnn_tune": null, "attrs": {"pad": "(1, 1)"},
       "__lr_mult__": 0.5}])json");
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  const Node& node = *model->graph.outputs[0].node;
  CHECK(node.written.attributes == std::vector<AttrText>{{"kernel", "(3, 3)"},
                                                         {"num_filter", "4"},
                                                         {"no_bias", "True"},
                                                         {"cudnn_tune", "None"},
                                                         {"pad", "(1, 1)"}});
  CHECK(node.written.annotations.at("__lr_mult__") == "0.5");
  REQUIRE(node.inputs.size() == 2);
  CHECK(node.inputs[1].node->name == "c_weight");
  CHECK(node.inputs[1].node->role == VariableRole::kParameter);
}

TEST_CASE("native: blocks have arguments, defaults and names of their own") {
  const std::string blocks = R"("constants": {"base": 4},
      "blocks": {"unit": {"args": {"k": null, "twice": "$k * 2 + base"},
        "nodes": [
          {"op": "_plus_scalar", "name": "a", "scalar": "$k"},
          {"op": "_plus_scalar", "name": "x_${name}_y", "scalar": "$twice"},
          {"op": "elemwise_add", "inputs": ["a", "input"]}]}}, )";
  const auto model = LoadNative(kInputs + blocks + R"("nodes": [
      {"block": "unit", "name": "u", "k": 3},
      {"op": "elemwise_sub", "name": "end", "inputs": ["u", "u_a"]}])");
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(Nodes(model->graph) ==
        "u_a=_plus_scalar(data) elemwise_add0=elemwise_add(u_a,data) "
        "end=elemwise_sub(elemwise_add0,u_a)");
  const auto all = LoadNative(kInputs + blocks + R"("nodes": [
      {"block": "unit", "name": "u", "k": 3}], "outputs": ["x_u_y", "data"])");
  REQUIRE_MESSAGE(all.ok(), Render(all.errors()));
  CHECK(all->graph.outputs[0].node->written.attributes ==
        std::vector<AttrText>{{"scalar", "10"}});
  CHECK(all->graph.output_names ==
        std::vector<std::string>{"x_u_y_output", "data"});
}

TEST_CASE("native: blocks with several inputs") {
  CHECK(MustLoadNodes(R"({"op": "relu", "name": "r"},
                    {"block": "join", "name": "j", "inputs": ["r", "data"]})",
                      R"("blocks": {"join": {"inputs": ["x", "y"], "nodes": [
                    {"op": "exp", "name": "e"},
                    {"op": "elemwise_sub", "inputs": ["y", "e"]}]}}, )") ==
        "r=relu(data) j_e=exp(r) elemwise_sub0=elemwise_sub(data,j_e)");
}

TEST_CASE("native: repetition counts, walks lists, and nests") {
  CHECK(MustLoadNodes(R"({"repeat": 2, "as": "s", "nodes": [
                      {"repeat": ["a", "b"], "as": "t", "op": "relu",
                       "name": "n${s}${t}${i}", "if": "$s == 1 || t != 'a'"}]})") ==
        "n1a1=relu(data) n1b2=relu(n1a1) n2b2=relu(n1b2)");
  CHECK(MustLoadNodes(R"({"repeat": [["x", 1], ["y", 2]], "as": ["p", "q"],
                     "op": "relu", "name": "${p}${q + i}"})") ==
        "x2=relu(data) y4=relu(x2)");
  CHECK(MustLoadNodes(
            R"({"repeat": 0, "op": "relu"}, {"op": "exp", "name": "e"})") ==
        "e=exp(data)");
}

TEST_CASE("native: N is the batch") {
  LoadOptions options;
  const auto shape = [&](const std::string& inputs) {
    const auto model =
        LoadNative(inputs + R"("nodes": [{"op": "relu"}])", options);
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    return ToString(model->graph.FindVariable("data")->types[0]);
  };
  CHECK(shape(kInputs) == "?[1, 3, 8, 8]");
  options.batch = 8;
  CHECK(shape(kInputs) == "?[8, 3, 8, 8]");
  CHECK(shape(R"("inputs": {"data": {"shape": [5, "N"], "layout": "TN",
                 "dtype": "float16"}}, )") == "f16[5, 8]");
  options = {};
  options.input_shapes["data"] = {2, 3, 5, 5};
  CHECK(shape(kInputs) == "?[2, 3, 5, 5]");
  options.input_shapes["data"] = {2, 7};
  CHECK(shape(R"("inputs": {"data": ["N", "T"]}, )") == "?[2, 7]");
  CHECK(Refusal(R"("inputs": {"data": ["N", "T"]},
                   "nodes": [{"op": "relu"}])") ==
        "'T' has no value; --input-shape of 'data' gives it one");
}

TEST_CASE("native: beside inputs with N one without it has no batch") {
  LoadOptions options;
  options.batch = 8;
  const auto shapes = [&](const std::string& inputs) {
    const auto model = LoadNative(
        R"("inputs": )" + inputs + R"(, "nodes": [{"op": "relu"}])", options);
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    std::string text;
    for (const Node* input : model->graph.Variables(VariableRole::kInput)) {
      text += ToString(input->types[0]) + " ";
    }
    return text;
  };
  CHECK(shapes(R"({"data": ["N", 3], "shift": [3], "states": [2, "N", 5]})") ==
        "?[8, 3] ?[3] ?[2, 8, 5] ");
  CHECK(shapes(R"({"data": [1, 3], "other": [1]})") == "?[8, 3] ?[8] ");
}

TEST_CASE("native: declared parameters may be shared") {
  const auto model = LoadNative(kInputs + R"json(
      "parameters": {"w": {"init": "[\"one\", {}]"}},
      "nodes": [
        {"op": "FullyConnected", "name": "a", "num_hidden": 192,
         "no_bias": true, "inputs": ["data", "w"]},
        {"op": "FullyConnected", "name": "b", "num_hidden": 192,
         "no_bias": true, "inputs": ["a", "w"]}])json");
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  const Node& w = *model->graph.FindVariable("w");
  CHECK(w.role == VariableRole::kParameter);
  CHECK(w.written.annotations.at("__init__") == R"(["one", {}])");
  CHECK(model->graph.Variables(VariableRole::kParameter).size() == 1);
}

TEST_CASE("native: it becomes MXNet's JSON") {
  const auto model = LoadNative(kInputs + R"("nodes": [
      {"op": "Concat", "name": "c", "dim": 1, "inputs": [[], []]}])");
  REQUIRE(model.ok());
  const std::string text = WriteSymbol(model->graph);
  const auto again = LoadText(
      std::make_shared<SourceFile>(SourceFile{"c-symbol.json", text}), {});
  REQUIRE_MESSAGE(again.ok(), Render(again.errors()));
  CHECK(text.find(R"("num_args": "2")") != std::string::npos);
}

TEST_CASE("native: the example of the README loads, and its shapes follow") {
  const std::string readme =
      ReadText(SourceFolder() + "/frontend/native/README.md");
  const std::string fence = "```json\n";
  const size_t begin = readme.find(fence) + fence.size();
  const std::string text =
      readme.substr(begin, readme.find("```", begin) - begin);
  auto model =
      LoadText(std::make_shared<SourceFile>(SourceFile{"README.md", text}), {});
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  const Status inferred = InferTypes(model->graph, true);
  REQUIRE_MESSAGE(inferred.ok(), Render(inferred.errors()));
  CHECK(ToString(model->graph.outputs[0].type()) == "f32[1, 10]");
}

TEST_CASE("native: a mistake in the defaults is told once") {
  const std::string text = R"({"mxc": 1,
    "inputs": {"data": [1, 3]},
    "defaults": {"Activation": {"act_type": "rellu"}},
    "nodes": [{"op": "Activation"}, {"op": "Flatten"}, {"op": "Activation"},
              {"op": "Activation", "act_type": "tan"}]})";
  const auto model =
      LoadText(std::make_shared<SourceFile>(SourceFile{"d.json", text}), {});
  REQUIRE_FALSE(model.ok());
  std::vector<std::string> places;
  for (const Diagnostic& error : model.errors()) {
    places.push_back(error.loc.path);
  }
  CHECK(places == std::vector<std::string>{"defaults.Activation.act_type",
                                           "nodes[3].act_type"});
}

TEST_CASE("native: sentences") {
  CHECK(NodesRefusal(R"({"op": "Activation", "act_type": "relu"},
                        {"op": "Flatten", "inputs": ["nowhere"]})") ==
        "there is no node 'nowhere' above");
  // The attribute is not missing as well: it is misspelt.
  CHECK(NodesRefusal(R"({"op": "Activation", "act_typ": "relu"})") ==
        "Activation 'activation0': attribute 'act_typ' is unknown; nearest: "
        "act_type");
  CHECK(NodesRefusal(R"({"op": "Activation", "act_typ": "relu",
                         "act_type": "relu"})") ==
        "Activation 'activation0': attribute 'act_typ' is unknown; nearest: "
        "act_type");
  CHECK(NodesRefusal(R"({"op": "relu", "name": "a"},
                        {"op": "relu", "name": "a"})") ==
        "two nodes are called 'a'");
  CHECK(NodesRefusal(R"({"op": "elemwise_add", "name": "a"})") ==
        "elemwise_add 'a' lacks its input 'rhs'");
  CHECK(NodesRefusal(R"({"op": "relu", "inputs": ["data", "data"]})") ==
        "relu 'relu0' has 2 inputs, expected 1");
  CHECK(NodesRefusal(R"({"op": "relu", "inputs": ["data:1"]})") ==
        "'data' has 1 outputs");
  CHECK(NodesRefusal(R"({"name": "x"})") ==
        "expected one of the keys 'op', 'block' and 'nodes'");
  CHECK(NodesRefusal(R"({"op": "relu", "if": "$1"})") ==
        "'if' is an integer, expected true or false");
  CHECK(NodesRefusal(R"({"op": "relu", "repeat": -1})") ==
        "'repeat' is -1, expected 0 to 100000");
  CHECK(NodesRefusal(R"({"op": "relu", "name": "${x}"})") ==
        "'x' is not defined here");
  CHECK(NodesRefusal(R"({"op": "_plus_scalar", "scalar": "$7 / 2"})") ==
        "7 / 2 has no integer value");
  CHECK(Refusal(R"("nodes": [{"op": "relu"}])") == "key 'inputs' is missing");
  CHECK(Refusal(kInputs + R"("node": [], "nodes": [{"op": "relu"}])") ==
        "key 'node' is unknown; nearest: nodes");
}

TEST_CASE("native: one mistake does not hide the next") {
  const auto model = LoadNative(kInputs + R"("nodes": [
      {"repeat": 3, "nodes": [
        {"op": "Activation", "name": "a${i}", "act_type": "rellu"},
        {"op": "Flaten", "name": "f${i}"}]},
      {"op": "Convolution", "name": "c", "kernel": [3, 3]},
      {"op": "elemwise_add", "name": "sum", "inputs": ["a1", "c", "f3"]},
      {"op": "Flaten", "name": "last", "inputs": ["sum", "f2"]}])");
  REQUIRE_FALSE(model.ok());
  std::string found;
  for (const Diagnostic& error : model.errors()) {
    found += fmt::format("{}: {}\n", error.loc.line, error.message);
  }
  CHECK(found ==
        "3: Activation 'a1': act_type is 'rellu', expected one of relu, "
        "sigmoid, tanh, softrelu, softsign\n"
        "5: Convolution 'c': attribute 'num_filter' is missing\n"
        "6: elemwise_add 'sum' has 3 inputs, expected 2\n"
        "4: operator 'Flaten' of node 'f1' is unknown; nearest: Flatten\n"
        "7: operator 'Flaten' of node 'last' is unknown; nearest: Flatten\n");
}

TEST_CASE("native: what is unknown in each instance is told once") {
  LoadOptions options;
  options.require_supported = true;
  CHECK(Refusal(kInputs + R"("nodes": [{"repeat": 9, "op": "Flaten"}])",
                options) ==
        "operator 'Flaten' of node 'flaten0' is unknown; nearest: Flatten");
}

TEST_CASE("native: blocks complain at their use and inside") {
  const std::string unit = R"("blocks": {"unit": {"args": {"k": null},
      "nodes": [{"op": "_plus_scalar", "scalar": "$k"}]}}, )";
  CHECK(NodesRefusal(R"({"block": "unti", "k": 1})", unit) ==
        "block 'unti' is unknown; nearest: unit");
  CHECK(NodesRefusal(R"({"block": "unit"})", unit) ==
        "argument 'k' is missing");
  CHECK(NodesRefusal(R"({"block": "unit", "k": 1, "kk": 1})", unit) ==
        "the block has no argument 'kk'");
  // Wrong in every instance, told once.
  CHECK(NodesRefusal(R"({"block": "unit", "k": "x", "repeat": 3})", unit)
            .find("scalar is 'x'") != std::string::npos);
  CHECK(NodesRefusal(R"({"block": "a"})",
                     R"("blocks": {"a": {"nodes": [{"block": "a"}]}}, )") ==
        "blocks are nested deeper than 32");
  CHECK(NodesRefusal(R"({"repeat": 100000, "nodes": [
                          {"repeat": 100000, "op": "relu"}]})") ==
        "the network has more than 200000 nodes");
}

// None of these makes many nodes; written out, each would take years. With the
// budget of every day it would take some seconds to say so.
TEST_CASE("native: what takes too many turns is refused, whatever it makes") {
  const auto refusal = [](const std::string& body) {
    const auto document = ParseJson(std::make_shared<SourceFile>(
        SourceFile{"net.json", R"({"mxc": 1, )" + kInputs + body + "}"}));
    REQUIRE(document.ok());
    const auto graph = ReadNetwork(*document, {}, Budget(100000));
    REQUIRE_FALSE(graph.ok());
    return graph.errors()[0].message;
  };
  const std::string expected =
      "the network takes more than 100000 turns, values and expressions to "
      "write out";
  const std::string left_out = R"({"op": "relu", "if": false})";
  const auto repeated = [](const std::string& element) {
    return R"({"repeat": 100000, "nodes": [)" + element + "]}";
  };
  const auto nodes = [](const std::string& element) {
    return R"("nodes": [)" + element + "]";
  };
  CHECK(refusal(nodes(repeated(repeated(left_out)))) == expected);
  CHECK(refusal(nodes(repeated(repeated(repeated(""))))) == expected);
  std::string blocks, constants = R"("c0": [1, 2, 3, 4, 5, 6, 7, 8, 9, 0])";
  for (int i = 0; i < 30; ++i) {
    const std::string next = "b" + std::to_string(i + 1);
    blocks += R"("b)" + std::to_string(i) + R"(": {"nodes": [{"block": ")" +
              next + R"("}, {"block": ")" + next + R"("}]}, )";
    const std::string last = R"("$c)" + std::to_string(i) + '"';
    constants += R"(, "c)" + std::to_string(i + 1) + R"(": [)" + last + ", " +
                 last + ", " + last + "]";
  }
  CHECK(refusal(R"("blocks": {)" + blocks + R"("b30": {"nodes": []}}, )" +
                nodes(R"({"block": "b0"})")) == expected);
  CHECK(refusal(R"("constants": {)" + constants + "}, " +
                nodes(R"({"op": "relu"})")) == expected);
}

TEST_CASE("native: an input that no tensor can be is refused at its shape") {
  const auto refusal = [](const std::string& shape) {
    return Refusal(R"("inputs": {"data": )" + shape +
                   R"(}, "nodes": [{"op": "relu"}])");
  };
  CHECK(refusal("[1, 0]") ==
        "an extent is 0, expected a number from 1 or a name such as \"N\"");
  CHECK(refusal("[1, 1, 1, 1, 1, 1, 1, 1, 1]") ==
        "'data' has a shape of 9 axes; at most 8 are supported");
  CHECK(refusal("[4, 4611686018427387904]") ==
        "'data' has shape (4, 4611686018427387904), which is more than the "
        "2^47 bytes that a process can address");
}

}  // namespace
}  // namespace mxc
