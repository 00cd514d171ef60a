// SPDX-License-Identifier: Apache-2.0
// What a reader of ONNX relies on beyond the operators, which ONNX's own tests
// cover (mxc-cases onnx): shapes by name, folding, parameters, refusals.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "frontend/onnx/schema.h"
#include "frontend/onnx/tensor_data.h"
#include "frontend/protobuf/wire.h"
#include "frontend/variables.h"
#include "tests/support/onnx_model.h"

namespace mxc {
namespace {

using test::kOnnxInt64;
using test::OnnxFloats;
using test::OnnxIntAttribute;
using test::OnnxInts;
using test::OnnxLayer;
using test::OnnxModel;
using test::OnnxNode;
using test::OnnxPort;
using test::OpenOnnx;
using test::WireWriter;

Result<Model> Built(const OnnxModel& model, const BuildOptions& options = {}) {
  MXC_ASSIGN(const auto file, OpenOnnx(model.Bytes()));
  return BuildModel(*file, options);
}

std::string WhyNot(const Result<Model>& model) {
  REQUIRE(!model.ok());
  return model.errors().front().message;
}

Shape OutputShape(const Result<Model>& model) {
  if (!model.ok()) FAIL(model.errors().front().message);
  return model->graph.outputs[0].shape();
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

TEST_CASE("onnx: a file is told by its content") {
  const std::string bytes = OnnxLayer().Bytes();
  CHECK(OpenOnnx(bytes, "weights.bin").ok());
  const auto text = OpenOnnx(R"({"mxc": 1, "inputs": {}, "nodes": []})", "a");
  REQUIRE(text.ok());
  CHECK(!(*text)->binds_inputs());
  const auto cut = OpenOnnx(bytes.substr(0, bytes.size() - 4), "net.onnx");
  REQUIRE(!cut.ok());
  CHECK(Contains(cut.errors().front().message, "bytes are announced"));
}

TEST_CASE("onnx: initializers are parameters, with the file's values") {
  const auto file = OpenOnnx(OnnxLayer().Bytes());
  REQUIRE(file.ok());
  const auto parameters = (*file)->parameters();
  REQUIRE(parameters != nullptr);
  CHECK(parameters->size() == 2);
  Result<Model> model = BuildModel(**file, {});
  REQUIRE(model.ok());
  CHECK(model->graph.Variables(VariableRole::kParameter).size() == 2);
  CHECK(model->graph.output_names == std::vector<std::string>{"y"});
}

TEST_CASE("onnx: the batch is open, and other extents keep their names") {
  OnnxModel model = OnnxLayer();
  CHECK(OutputShape(Built(model)) == Shape{1, 2});
  BuildOptions eight;
  eight.batch = 8;
  CHECK(OutputShape(Built(model, eight)) == Shape{8, 2});

  model.inputs = {OnnxPort("x", {"N", "T"}), OnnxPort("z", {"N", "T"})};
  model.nodes = {OnnxNode("Add", {"x", "z"}, {"y"})};
  CHECK(Contains(WhyNot(Built(model)), "leaves the extent 'T' of axis 1 open"));
  BuildOptions shaped;
  shaped.input_shapes["x"] = {2, 5};
  CHECK(OutputShape(Built(model, shaped)) == Shape{2, 5});
}

TEST_CASE("onnx: shapes that the graph computes are known") {
  OnnxModel model;
  model.inputs = {OnnxPort("x", {"N", "3", "4"})};
  model.initializers = {OnnxInts("first", {0}), OnnxInts("rest", {-1})};
  model.nodes = {OnnxNode("Shape", {"x"}, {"shape"}),
                 OnnxNode("Gather", {"shape", "first"}, {"batch"}),
                 OnnxNode("Concat", {"batch", "rest"}, {"target"},
                          {OnnxIntAttribute("axis", 0)}),
                 OnnxNode("Reshape", {"x", "target"}, {"y"})};
  model.outputs = {OnnxPort("y", {"N", "12"})};
  BuildOptions two;
  two.batch = 2;
  const auto built = Built(model, two);
  CHECK(OutputShape(built) == Shape{2, 12});
  CHECK(built->graph.outputs[0].node->op->name == "Reshape");
}

TEST_CASE("onnx: a batch that the exporter has fixed follows") {
  OnnxModel model;
  model.inputs = {OnnxPort("x", {"1", "3", "4"})};
  model.initializers = {OnnxInts("target", {1, 12})};
  model.nodes = {OnnxNode("Reshape", {"x", "target"}, {"y"})};
  model.outputs = {OnnxPort("y", {"1", "12"})};
  BuildOptions five;
  five.batch = 5;
  CHECK(OutputShape(Built(model, five)) == Shape{5, 12});
}

TEST_CASE("onnx: sizes of pictures follow the batch, too") {
  OnnxModel model;
  model.inputs = {OnnxPort("x", {"1", "2", "4", "4"})};
  model.initializers = {OnnxInts("sizes", {1, 2, 8, 8})};
  model.nodes = {OnnxNode("Resize", {"x", "", "", "sizes"}, {"y"})};
  model.outputs = {OnnxPort("y", {"1", "2", "8", "8"})};
  BuildOptions three;
  three.batch = 3;
  CHECK(OutputShape(Built(model, three)) == Shape{3, 2, 8, 8});
}

TEST_CASE("onnx: what computes the file's batch alone is refused for others") {
  OnnxModel model;
  model.inputs = {OnnxPort("x", {"1", "3"})};
  model.initializers = {OnnxInts("begin", {0}), OnnxInts("end", {1})};
  model.nodes = {OnnxNode("Slice", {"x", "begin", "end", "begin"}, {"y"})};
  model.outputs = {OnnxPort("y", {"1", "3"})};
  CHECK(OutputShape(Built(model)) == Shape{1, 3});
  BuildOptions five;
  five.batch = 5;
  CHECK(Contains(WhyNot(Built(model, five)),
                 "output 'y' has shape (1, 3) for any batch: the file computes "
                 "a batch of 1 alone"));
}

TEST_CASE("onnx: a refusal tells of extents that are not the file's") {
  OnnxModel model = OnnxLayer();
  model.inputs = {OnnxPort("x", {"N", "3"})};
  BuildOptions five;
  five.input_shapes["x"] = {2, 5};
  const auto built = Built(model, five);
  REQUIRE(!built.ok());
  REQUIRE(built.errors().front().notes.size() == 1);
  CHECK(built.errors().front().notes[0] ==
        "input 'x' is given the shape (2, 5); in the file it is (2, 3)");
  five.input_shapes["x"] = {7, 3};  // another batch
  CHECK(OutputShape(Built(model, five)) == Shape{7, 2});
}

TEST_CASE("onnx: one input's batch is no other name's extent") {
  OnnxModel model;
  model.inputs = {OnnxPort("x", {"N", "3"}), OnnxPort("z", {"T", "3"})};
  model.nodes = {
      OnnxNode("Concat", {"x", "z"}, {"y"}, {OnnxIntAttribute("axis", 0)})};
  model.outputs = {OnnxPort("y", {"", "3"})};
  BuildOptions options;
  options.batch = 4;
  options.input_shapes["z"] = {5, 3};
  CHECK(OutputShape(Built(model, options)) == Shape{9, 3});
  options.input_shapes.clear();
  CHECK(OutputShape(Built(model, options)) == Shape{5, 3});
}

TEST_CASE("onnx: what an operator of ours refuses is told without its codes") {
  OnnxModel model = OnnxLayer();
  model.nodes[0] = OnnxNode("MatMul", {"x", "b"}, {"product"});
  const std::string why = WhyNot(Built(model));
  CHECK(Contains(why, "node 'product' (MatMul): "));
  CHECK_FALSE(Contains(why, "C1:"));
}

TEST_CASE("onnx: an input that decides a shape is bound or refused") {
  OnnxModel model;
  model.inputs = {OnnxPort("x", {"2", "6"}), OnnxPort("to", {"2"}, kOnnxInt64)};
  model.nodes = {OnnxNode("Reshape", {"x", "to"}, {"y"})};
  model.outputs = {OnnxPort("y", {"", ""})};
  CHECK(Contains(WhyNot(Built(model)), "--bind to=FILE"));
  BuildOptions bound;
  std::byte* values = nullptr;
  bound.input_values["to"] = Tensor::Allocate({DType::kI64, Shape{2}}, &values);
  const int64_t to[] = {3, 4};
  std::memcpy(values, to, sizeof to);
  CHECK(OutputShape(Built(model, bound)) == Shape{3, 4});
  bound.input_values["two"] = bound.input_values["to"];
  CHECK(WhyNot(Built(model, bound)) ==
        "net.onnx: --bind gives 'two' a value, which is no input");
}

TEST_CASE("onnx: what is not known is refused by node, operator and version") {
  OnnxModel model = OnnxLayer();
  model.nodes[2] = OnnxNode("Relu", {"sum"}, {"positive"},
                            {OnnxIntAttribute("steepness", 2)});
  CHECK(WhyNot(Built(model)) ==
        "net.onnx: node 'positive' (Relu): attribute 'steepness' is not known "
        "to Relu of version 17");
  model.nodes[2] = OnnxNode("Rely", {"sum"}, {"positive"});
  CHECK(Contains(WhyNot(Built(model)), "operator 'Rely' of domain 'ai.onnx'"));
  model.nodes[2] = OnnxNode("Relu", {"nothing"}, {"positive"});
  CHECK(Contains(WhyNot(Built(model)), "'nothing' is made by no node"));
  model = OnnxLayer();
  model.opset = 99;
  CHECK(Contains(WhyNot(Built(model)), "operators of version 99"));
}

TEST_CASE("onnx: nodes out of order are sorted, circles are refused") {
  OnnxModel model = OnnxLayer();
  std::swap(model.nodes[0], model.nodes[3]);
  CHECK(OutputShape(Built(model)) == Shape{1, 2});
  model.nodes = {OnnxNode("Add", {"x", "b1"}, {"a1"}),
                 OnnxNode("Relu", {"a1"}, {"b1"})};
  CHECK(Contains(WhyNot(Built(model)), "round in a circle"));
}

TEST_CASE("onnx: a function of the model is its body, with its attributes") {
  WireWriter function, reference, own;
  reference.Bytes(1, "axis");
  reference.Int(20, 2);
  reference.Bytes(21, "along");
  function.Bytes(1, "Joined");
  function.Bytes(4, "a");
  function.Bytes(5, "c");
  function.Bytes(6, "along");
  function.Message(7, OnnxNode("Concat", {"a", "a"}, {"c"}, {reference}));
  own.Bytes(1, "");
  own.Int(2, 17);
  function.Message(9, own);
  function.Bytes(10, "own");
  OnnxModel model;
  model.functions = {function};
  model.inputs = {OnnxPort("x", {"2", "3"})};
  model.nodes = {
      OnnxNode("Joined", {"x"}, {"y"}, {OnnxIntAttribute("along", 1)}, "own")};
  model.outputs = {OnnxPort("y", {"2", "6"})};
  CHECK(OutputShape(Built(model)) == Shape{2, 6});
}

TEST_CASE("onnx: what an artifact keeps reads as the same network") {
  OnnxModel model = OnnxLayer();
  model.initializers.push_back(OnnxFloats("two", {}, {2}));
  model.nodes.push_back(OnnxNode("Mul", {"y", "two"}, {"z"}));
  model.outputs = {OnnxPort("z", {"N", "2"})};
  const auto file = OpenOnnx(model.Bytes());
  REQUIRE(file.ok());
  const auto stored = (*file)->Stored({});
  REQUIRE(stored.ok());
  const auto again = LoadText(
      std::make_shared<const SourceFile>(SourceFile{"stored", *stored}), {});
  REQUIRE(again.ok());
  CHECK(again->graph.outputs.size() == 1);
  // The scalar is a constant there, too, of the same bits.
  const Node& product = *again->graph.outputs[0].node;
  REQUIRE(product.inputs.size() == 2);
  REQUIRE(product.inputs[1].node->kind == Node::Kind::kConstant);
  CHECK(product.inputs[1].node->constant.At(0) == 2);
}

TEST_CASE("onnx: a loss takes the place of the network's own softmax") {
  BuildOptions options;
  options.loss = "softmax_cross_entropy";
  const auto model = Built(OnnxLayer(), options);
  REQUIRE(model.ok());
  const Node& head = *model->graph.outputs[0].node;
  CHECK(head.op->name == "SoftmaxOutput");
  CHECK(head.inputs[0].node->op->name == "relu");
  CHECK(model->graph.FindVariable("softmax_label") != nullptr);
  options.loss = "mse:nothing";
  CHECK(Contains(WhyNot(Built(OnnxLayer(), options)), "the network has y"));
}

// The bits of int4 stand two in a byte, the first one below; those of halves in
// the numbers of int32_data.
TEST_CASE("onnx: narrow elements") {
  const onnx::TensorFiles files(nullptr, "");
  onnx::TensorProto four;
  four.dims = {3};
  four.data_type = onnx::TensorProto::kInt4;
  const char packed[] = {'\xe1', '\x03'};
  four.raw_data = {packed, 2};
  const auto ints = files.Read(four);
  REQUIRE(ints.ok());
  CHECK(ints->At(0) == 1);
  CHECK(ints->At(1) == -2);
  CHECK(ints->At(2) == 3);

  onnx::TensorProto half;
  half.dims = {2};
  half.data_type = onnx::TensorProto::kFloat16;
  half.int32_data = {0x3c00, 0xc000};
  const auto halves = files.Read(half);
  REQUIRE(halves.ok());
  CHECK(halves->At(0) == 1);
  CHECK(halves->At(1) == -2);

  onnx::TensorProto eight;
  eight.dims = {4};
  eight.data_type = onnx::TensorProto::kFloat8e4m3fn;
  const char bits[] = {'\x38', '\x7e', '\x01', '\x7f'};
  eight.raw_data = {bits, 4};
  const auto eights = files.Read(eight);
  REQUIRE(eights.ok());
  CHECK(eights->At(0) == 1);
  CHECK(eights->At(1) == 448);
  CHECK(eights->At(2) == 0.001953125);  // 2^-9
  CHECK(std::isnan(eights->At(3)));
}

TEST_CASE("onnx: external data stay in the model's folder") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "mxc-onnx-external";
  fs::create_directories(folder);
  const float values[] = {1, 2, 3, 4};
  std::ofstream(folder / "w.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(values), sizeof values);
  onnx::TensorProto tensor;
  const auto again = [&] {
    return onnx::TensorFiles(nullptr, folder.string()).Read(tensor);
  };
  tensor.dims = {2};
  tensor.data_type = onnx::TensorProto::kFloat;
  tensor.data_location = onnx::TensorProto::kExternal;
  tensor.external_data.resize(2);
  tensor.external_data[0].key = "location";
  tensor.external_data[0].value = "w.bin";
  tensor.external_data[1].key = "offset";
  tensor.external_data[1].value = "8";
  const auto read = again();
  REQUIRE(read.ok());
  CHECK(read->At(0) == 3);
  tensor.external_data[1].value = "12";
  CHECK(!again().ok());
  tensor.external_data[1].value = "0";
  for (const char* away : {"../w.bin", "/etc/hostname", "a/../../w.bin", ""}) {
    tensor.external_data[0].value = away;
    CHECK(!again().ok());
  }
  fs::remove_all(folder);
}

TEST_CASE("protobuf: depth and number of messages are bounded") {
  // A graph in an attribute of a node of a graph …
  std::string bytes;
  for (int i = 0; i < 60; ++i) {
    WireWriter node, attribute, graph;
    attribute.Bytes(6, bytes);
    node.Bytes(5, attribute.bytes());
    graph.Bytes(1, node.bytes());
    bytes = graph.bytes();
  }
  onnx::GraphProto deep;
  const auto error = protobuf::ParseWire(std::as_bytes(std::span(bytes)),
                                         onnx::GraphProto::Type(), deep);
  REQUIRE(error.has_value());
  CHECK(Contains(*error, "deep"));

  WireWriter many;
  for (int i = 0; i < 100; ++i) many.Bytes(1, "");
  onnx::GraphProto wide;
  CHECK(protobuf::ParseWire(std::as_bytes(std::span(many.bytes())),
                            onnx::GraphProto::Type(), wide,
                            {.depth = 100, .messages = 50})
            .has_value());
}

// Fields that the table lacks are passed over, packed and single numbers read
// alike: protobuf.dev/programming-guides/encoding.
TEST_CASE("protobuf: the wire format") {
  WireWriter tensor;
  tensor.Bytes(1, std::string_view("\x02\x96\x01", 3));  // dims 2 and 150
  tensor.Int(1, 7);
  tensor.Int(1000, 5);  // unknown
  tensor.Float(1001, 1);
  tensor.Int(2, -1);
  onnx::TensorProto read;
  REQUIRE(!protobuf::ParseWire(std::as_bytes(std::span(tensor.bytes())),
                               onnx::TensorProto::Type(), read));
  CHECK(read.dims == std::vector<int64_t>{2, 150, 7});
  CHECK(read.data_type == -1);
  WireWriter wrong;
  wrong.Bytes(2, "text");
  const auto error = protobuf::ParseWire(
      std::as_bytes(std::span(wrong.bytes())), onnx::TensorProto::Type(), read);
  REQUIRE(error.has_value());
  CHECK(Contains(*error, "data_type"));
}

}  // namespace
}  // namespace mxc
