// SPDX-License-Identifier: Apache-2.0
// Which axes of inputs stay open, by which names, and what is asked of a caller.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/frontend/onnx_model.h"

namespace mxc {
namespace {

using onnx_model::Message;
using Lengths = std::map<std::string, int64_t>;
using OpenAxesOfInput = std::vector<LengthAxis>;

constexpr const char* kSeveral = R"json({"mxc": 1,
  "inputs": {"x": ["N", "S", 3], "y": ["N", "T", 3], "m": ["N", "T", "S"]},
  "nodes": [{"op": "relu", "name": "a", "inputs": ["x"]},
            {"op": "relu", "name": "b", "inputs": ["y"]},
            {"op": "relu", "name": "c", "inputs": ["m"]}],
  "outputs": ["a", "b", "c"]})json";

Result<Model> ReadNet(const std::string& text, const BuildOptions& options) {
  return LoadText(std::make_shared<SourceFile>(SourceFile{"net", text}),
                  options);
}

Model BuiltNet(const std::string& text, const BuildOptions& options) {
  auto model = ReadNet(text, options);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  return std::move(*model);
}

std::vector<std::string> RefusalsOf(const std::string& text,
                                    const BuildOptions& options) {
  const auto model = ReadNet(text, options);
  std::vector<std::string> messages;
  if (model.ok()) return messages;
  for (const Diagnostic& error : model.errors()) {
    messages.push_back(error.message);
  }
  return messages;
}

BuildOptions UpTo(const Lengths& lengths) {
  BuildOptions options;
  options.lengths = lengths;
  return options;
}

const OpenAxesOfInput& OpenOf(const Model& model, const char* input) {
  return model.graph.FindVariable(input)->use.open;
}

Shape ShapeOf(const Model& model, const char* input) {
  return model.graph.FindVariable(input)->types[0].shape;
}

// Dimensions are numbers, or names where they are open.
Message InputOfDims(const std::string& name,
                    const std::vector<std::string>& dims) {
  Message shape;
  for (const std::string& dim : dims) {
    const bool number = !dim.empty() && dim[0] >= '0' && dim[0] <= '9';
    shape = std::move(shape).Sub(
        1, number ? Message().Int(1, std::stoi(dim)) : Message().Text(2, dim));
  }
  const Message type =
      Message().Sub(1, Message().Int(1, onnx_model::kFloat).Sub(2, shape));
  return onnx_model::Named(name).Sub(2, type);
}

std::string ReluOnnx(const std::vector<Message>& inputs) {
  onnx_model::GraphParts parts{.nodes = {}, .inputs = inputs, .outputs = {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string x(1, static_cast<char>('x' + i)), of = "of_" + x;
    parts.nodes.push_back(onnx_model::Node("Relu", {x}, {of}));
    parts.outputs.push_back(of);
  }
  return onnx_model::ModelOf(parts)->text;
}

TEST_CASE("each axis that is open is of the length that the network names") {
  const Model model = BuiltNet(kSeveral, UpTo({{"S", 8}, {"T", 5}}));
  CHECK(ShapeOf(model, "x") == Shape{1, 8, 3});
  CHECK(ShapeOf(model, "m") == Shape{1, 5, 8});
  CHECK(OpenOf(model, "x") == OpenAxesOfInput{{1, 1, "S"}});
  CHECK(OpenOf(model, "y") == OpenAxesOfInput{{1, 1, "T"}});
  CHECK(OpenOf(model, "m") == OpenAxesOfInput{{1, 1, "T"}, {2, 1, "S"}});
}

TEST_CASE("a length of one entry has nothing shorter") {
  const Model model = BuiltNet(kSeveral, UpTo({{"S", 8}, {"T", 1}}));
  CHECK(ShapeOf(model, "m") == Shape{1, 1, 8});
  CHECK(OpenOf(model, "y").empty());
  CHECK(OpenOf(model, "m") == OpenAxesOfInput{{2, 1, "S"}});
}

TEST_CASE("the caller's letters stand for the network's") {
  BuildOptions options = UpTo({{"A", 8}, {"T", 5}});
  options.input_shapes["x"] = {2, 8, 3};
  options.open_axes["x"] = {{1, "A"}};
  options.batch = 2;
  const Model model = BuiltNet(kSeveral, options);
  CHECK(OpenOf(model, "x") == OpenAxesOfInput{{1, 1, "A"}});
  CHECK(OpenOf(model, "m") == OpenAxesOfInput{{1, 1, "T"}, {2, 1, "A"}});
  CHECK(ShapeOf(model, "m") == Shape{2, 5, 8});
}

TEST_CASE("the only length needs no name") {
  const std::string only = R"json({"mxc": 1,
    "inputs": {"x": ["N", "T", "T"]},
    "nodes": [{"op": "relu", "name": "a", "inputs": ["x"]}]})json";
  CHECK(OpenOf(BuiltNet(only, UpTo({{"", 4}})), "x") ==
        OpenAxesOfInput{{1, 1, ""}, {2, 1, ""}});
  CHECK(OpenOf(BuiltNet(only, UpTo({{"T", 4}})), "x") ==
        OpenAxesOfInput{{1, 1, "T"}, {2, 1, "T"}});
}

TEST_CASE("ONNX names axes, and those alike are of one length") {
  const std::string model =
      ReluOnnx({InputOfDims("x", {"batch", "source", "3"}),
                InputOfDims("y", {"batch", "target", "source"})});
  const Model built = BuiltNet(model, UpTo({{"source", 7}, {"target", 4}}));
  CHECK(OpenOf(built, "x") == OpenAxesOfInput{{1, 1, "source"}});
  CHECK(OpenOf(built, "y") ==
        OpenAxesOfInput{{1, 1, "target"}, {2, 1, "source"}});
  CHECK(ShapeOf(built, "y") == Shape{1, 4, 7});
  CHECK(RefusalsOf(model, UpTo({{"", 7}})) ==
        std::vector<std::string>{
            "inputs leave several lengths open, 'source' and 'target'; "
            "--length source=7,target=7 says how long each may be"});
  BuildOptions letters = UpTo({{"A", 7}, {"target", 4}});
  letters.input_shapes["x"] = {1, 7, 3};
  letters.open_axes["x"] = {{1, "A"}};
  CHECK(OpenOf(BuiltNet(model, letters), "y") ==
        OpenAxesOfInput{{1, 1, "target"}, {2, 1, "A"}});
}

TEST_CASE("what options do not name is asked for, once") {
  CHECK(RefusalsOf(kSeveral, UpTo({{"", 9}})) ==
        std::vector<std::string>{
            "inputs leave several lengths open, 'S' and 'T'; --length S=9,T=9 "
            "says how long each may be"});
  CHECK(RefusalsOf(kSeveral, UpTo({{"S", 9}})) ==
        std::vector<std::string>{"input 'y' leaves axis 1 open, 'T'; --length "
                                 "T=N says how long it may be"});
  CHECK(RefusalsOf(kSeveral, UpTo({{"S", 9}, {"T", 5}, {"U", 3}})) ==
        std::vector<std::string>{
            "--length names 'U'; what inputs leave open is 'S' and 'T'"});
  const std::string nameless = ReluOnnx({InputOfDims("x", {"batch", "", "3"})});
  CHECK(OpenOf(BuiltNet(nameless, UpTo({{"", 5}})), "x") ==
        OpenAxesOfInput{{1, 1, ""}});
  CHECK(
      RefusalsOf(nameless, UpTo({{"T", 5}})) ==
      std::vector<std::string>{
          "--length names 'T'; the length that inputs leave open has no "
          "name: --length 5",
          "input 'x' leaves axis 1 open without a name; --input-shape x:… has "
          "a letter for it, as in 1xT, or an extent"});
  CHECK(RefusalsOf(ReluOnnx({InputOfDims("x", {"batch", "", ""})}),
                   UpTo({{"", 5}})) ==
        std::vector<std::string>{
            "input 'x' leaves axes 1 and 2 open without a name; --input-shape "
            "x:… has letters for them, as in 1xSxT, or an extent for one"});
}

}  // namespace
}  // namespace mxc
