// SPDX-License-Identifier: Apache-2.0
// Caffe's nets: which layers belong to a state, generations, shared weights,
// weights of files, losses, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "frontend/caffe/weights.h"
#include "frontend/network_file.h"
#include "frontend/protobuf/write.h"
#include "tests/frontend/caffe_run.h"
#include "tests/ir/op_run.h"
#include "tests/support/shared.h"

namespace mxc {
namespace {

using Numbers = std::vector<double>;

const std::string kInput = "input: 'x' input_shape { dim: 1 dim: 2 }\n";

// "relu=Activation(x)" of every operator.
std::string OperatorsOf(const Model& model) {
  std::string text;
  for (const Node* node : model.graph.TopologicalOrder()) {
    if (node->kind != Node::Kind::kOperator) continue;
    text += (text.empty() ? "" : " ") + node->name + "=" + node->op_name;
  }
  return text;
}

std::string Operators(const std::string& text,
                      const LoadOptions& options = {}) {
  const auto model = LoadCaffe(text, options);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  return OperatorsOf(*model);
}

std::string Refusal(const std::string& text) {
  const auto model = LoadCaffe(text);
  REQUIRE_FALSE(model.ok());
  const Diagnostic& error = model.errors()[0];
  return fmt::format("{}:{} {}", error.loc.line, error.loc.column,
                     error.message);
}

LoadOptions InState(bool training, std::vector<std::string> stages = {},
                    int64_t level = 0) {
  LoadOptions options;
  options.state = {training, level, std::move(stages)};
  return options;
}

TEST_CASE("caffe: rules say which layers a state has") {
  const std::string text = kInput +
                           R"(
    layer { name: "a" type: "ReLU" bottom: "x" top: "x"
            include { phase: TRAIN } }
    layer { name: "b" type: "TanH" bottom: "x" top: "x"
            exclude { phase: TRAIN } }
    layer { name: "c" type: "AbsVal" bottom: "x" top: "x"
            include { stage: "deep" not_stage: "flat" }
            include { min_level: 2 max_level: 3 } }
    layer { name: "d" type: "Exp" bottom: "x" top: "y" })";
  CHECK(Operators(text) == "b=Activation d=exp");
  CHECK(Operators(text, InState(true)) == "a=Activation d=exp");
  CHECK(Operators(text, InState(false, {"deep"})) ==
        "b=Activation c=abs d=exp");
  CHECK(Operators(text, InState(false, {"deep", "flat"})) ==
        "b=Activation d=exp");
  CHECK(Operators(text, InState(false, {}, 2)) == "b=Activation c=abs d=exp");
  CHECK(Operators(text, InState(false, {}, 4)) == "b=Activation d=exp");
}

TEST_CASE("caffe: in place, a name means what the layer before made of it") {
  const Tensor x = Floats({1, 2}, {-1, 2});
  const CaffeRun run =
      RunCaffe(kInput +
                   "layer { name: 'p' type: 'Power' bottom: 'x' top: 'x' "
                   "power_param { shift: 1 } }"
                   "layer { name: 'q' type: 'Power' bottom: 'x' top: 'x' "
                   "power_param { scale: 3 } }"
                   "layer { name: 'r' type: 'Eltwise' bottom: 'x' bottom: 'x' "
                   "top: 'y' }",
               {{"x", x}});
  CHECK(run.Values() == Numbers{0, 18});
}

TEST_CASE("caffe: outputs are the blobs that nobody reads, by name") {
  const CaffeRun run =
      RunCaffe(kInput +
                   "layer { name: 'n' type: 'TanH' bottom: 'x' top: 'z' }"
                   "layer { name: 'm' type: 'AbsVal' bottom: 'x' top: 'a' }",
               {{"x", Floats({1, 2}, {-1, 2})}});
  CHECK(run.names == std::vector<std::string>{"m_output", "n_output"});
}

TEST_CASE("caffe: layers share parameters that they name alike") {
  const std::string text = R"(
    input: "a" input: "b"
    input_shape { dim: 1 dim: 2 } input_shape { dim: 1 dim: 2 }
    layer { name: "f" type: "InnerProduct" bottom: "a" top: "f"
            param { name: "w" lr_mult: 2 decay_mult: 0 } param { name: "c" }
            inner_product_param { num_output: 1
              weight_filler { type: "gaussian" std: 0.5 }
              bias_filler { value: 0.25 } } }
    layer { name: "g" type: "InnerProduct" bottom: "b" top: "g"
            param { name: "w" } param { name: "c" }
            inner_product_param { num_output: 1 } })";
  const auto model = LoadCaffe(text);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  const Node* weight = model->graph.FindVariable("f_weight");
  REQUIRE(weight != nullptr);
  CHECK(model->graph.FindVariable("g_weight") == nullptr);
  CHECK(weight->role == VariableRole::kParameter);
  CHECK(weight->types[0].shape == Shape({1, 2}));
  CHECK(weight->written.annotations.at("__lr_mult__") == "2");
  CHECK(weight->written.annotations.at("__wd_mult__") == "0");
  CHECK(weight->written.annotations.at("__init__") ==
        R"(["normal", {"sigma": 0.5}])");
  // MXNet would not let it decay, Caffe does.
  const Node* bias = model->graph.FindVariable("f_bias");
  CHECK(bias->written.annotations.at("__wd_mult__") == "1");
  CHECK(bias->written.annotations.at("__init__") ==
        R"(["constant", {"value": 0.25}])");
  CHECK_FALSE(bias->written.annotations.contains("__lr_mult__"));
  std::string other = text;
  other.replace(other.rfind("num_output: 1"), 13, "num_output: 3");
  CHECK(Refusal(other).find("shares 'c' of shape (1), needs (3)") !=
        std::string::npos);
}

TEST_CASE("caffe: the three generations say the same") {
  const std::string names = " bottom: 'x' top: 'y' ";
  const std::string v2 =
      "layer { name: 'c' type: 'Convolution'" + names +
      "param { lr_mult: 3 decay_mult: 2 } convolution_param { num_output: 4 "
      "kernel_size: 3 pad: 1 group: 1 bias_term: false } }";
  const std::string v1 =
      "layers { name: 'c' type: CONVOLUTION" + names +
      "blobs_lr: 3 weight_decay: 2 convolution_param { num_output: 4 "
      "kernel_size: 3 pad: 1 bias_term: false } }";
  // Padding was a layer of its own.
  const std::string v0 =
      "layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'x' top: 'z'"
      " } layers { layer { name: 'c' type: 'conv' num_output: 4 kernelsize: 3 "
      "biasterm: false blobs_lr: 3 weight_decay: 2 } bottom: 'z' top: 'y' }";
  const std::string dims =
      "input: 'x' input_dim: 1 input_dim: 2 input_dim: 5 input_dim: 5\n";
  const std::string shape =
      "input: 'x' input_shape { dim: 1 dim: 2 dim: 5 dim: 5 }\n";
  const std::string layer =
      "layer { name: 'i' type: 'Input' top: 'x' input_param { shape { dim: 1 "
      "dim: 2 dim: 5 dim: 5 } } }\n";
  std::vector<std::string> written;
  for (const std::string& text :
       {shape + v2, layer + v2, dims + v1, dims + v0}) {
    auto model = LoadCaffe(text);
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    REQUIRE(InferTypes(model->graph, true).ok());
    CHECK(model->graph.outputs[0].shape() == Shape({1, 4, 5, 5}));
    written.push_back(WriteSymbol(model->graph));
  }
  for (const std::string& text : written) CHECK(text == written[0]);
  CHECK(written[0].find("\"__lr_mult__\": \"3\"") != std::string::npos);
}

TEST_CASE("caffe: data come from outside") {
  const std::string text = R"(
    layer { name: "d" type: "Data" top: "data" top: "label"
            transform_param { crop_size: 5 }
            data_param { source: "db" batch_size: 8 }
            include { phase: TRAIN } }
    layer { name: "r" type: "ReLU" bottom: "data" top: "r" })";
  const auto open = Shape::kUnknownDim;
  const auto model = LoadCaffe(text, InState(true));
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(model->graph.FindVariable("data")->types[0].shape ==
        Shape({8, open, 5, 5}));
  CHECK(model->graph.FindVariable("label") == nullptr);
  // The state that the layer is not in has the input for all that.
  LoadOptions options;
  options.input_shapes["data"] = {2, 3, 5, 5};
  const auto test = LoadCaffe(text, options);
  REQUIRE_MESSAGE(test.ok(), Render(test.errors()));
  CHECK(test->graph.outputs[0].shape() == Shape({2, 3, 5, 5}));
  REQUIRE(test->notes.size() == 1);
  CHECK(test->notes[0].message ==
        "ReLU 'r': 'data' is an input as in the layer 'd', which phase TEST "
        "leaves out");
}

TEST_CASE("caffe: shapes that are asked for are those of the network") {
  const std::string text =
      "input: 'x' input_shape { dim: 1 dim: 2 dim: 4 dim: 4 }"
      "layer { name: 'p' type: 'Reshape' bottom: 'x' top: 'p' "
      "reshape_param { shape { dim: 0 dim: -1 } } }";
  LoadOptions options;
  options.batch = 3;
  auto model = LoadCaffe(text, options);
  REQUIRE(model.ok());
  CHECK(model->graph.outputs[0].shape() == Shape({3, 32}));
  options = {};
  options.input_shapes["x"] = {5, 1, 2, 2};
  model = LoadCaffe(text, options);
  REQUIRE(model.ok());
  CHECK(model->graph.outputs[0].shape() == Shape({5, 4}));
  options.input_shapes["x"] = {5, -3};
  CHECK_FALSE(LoadCaffe(text, options).ok());
}

// --- sequences

TEST_CASE("caffe: an LSTM forgets where a sequence begins") {
  // One unit. gates = 1 · x + 0.5 · h; by NumPy.
  const std::map<std::string, Tensor> values = {
      {"x", Floats({3, 1, 1}, {1, -1, 0.5})},
      {"cont", Floats({3, 1}, {0, 1, 0})},
      {"y_x_weight", Floats({4, 1}, {1, 2, -1, 0.5})},
      {"y_bias", Floats({4}, {0.1, 0, 0.2, -0.3})},
      {"y_h_weight", Floats({4, 1}, {0.5, -1, 1, 2})}};
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  Numbers expected;
  double h = 0, c = 0;
  const double x[] = {1, -1, 0.5}, cont[] = {0, 1, 0};
  for (int t = 0; t < 3; ++t) {
    const double before = cont[t] * h;
    const double i = sigmoid(x[t] + 0.1 + 0.5 * before);
    const double f = sigmoid(2 * x[t] - before);
    const double o = sigmoid(-x[t] + 0.2 + before);
    const double g = std::tanh(0.5 * x[t] - 0.3 + 2 * before);
    c = cont[t] * f * c + i * g;
    h = o * std::tanh(c);
    expected.push_back(h);
  }
  const std::string inputs = CaffeInputs({{"x", values.at("x")}}) +
                             CaffeInputs({{"cont", values.at("cont")}});
  const CaffeRun run = RunCaffe(
      inputs +
          "layer { name: 'y' type: 'LSTM' bottom: 'x' bottom: 'cont' top: "
          "'y' recurrent_param { num_output: 1 } }",
      values);
  CHECK(run.ShapeOf() == "(3, 1, 1)");
  CHECK(Near(run.Values(), expected, 1e-6));
}

TEST_CASE("caffe: an RNN's states may go in and out") {
  const std::map<std::string, Tensor> values = {
      {"x", Floats({2, 1, 1}, {1, -1})},
      {"cont", Floats({2, 1}, {1, 1})},
      {"s", Floats({1, 1}, {2})},
      {"h", Floats({1, 1, 1}, {0.5})},
      {"y_x_weight", Floats({1, 1}, {2})},
      {"y_bias", Floats({1}, {0.1})},
      {"y_static_weight", Floats({1, 1}, {0.25})},
      {"y_h_weight", Floats({1, 1}, {-1})},
      {"y_output_weight", Floats({1, 1}, {3})},
      {"y_output_bias", Floats({1}, {0.2})}};
  double h = 0.5;
  Numbers outputs;
  for (const double x : {1.0, -1.0}) {
    h = std::tanh(-h + 2 * x + 0.1 + 0.5);
    outputs.push_back(std::tanh(3 * h + 0.2));
  }
  std::string text;
  for (const char* name : {"x", "cont", "s", "h"}) {
    text += CaffeInputs({{name, values.at(name)}});
  }
  const CaffeRun run = RunCaffe(
      text +
          "layer { name: 'y' type: 'RNN' bottom: 'x' bottom: 'cont' bottom: "
          "'s' bottom: 'h' top: 'y' top: 'z' "
          "recurrent_param { num_output: 1 expose_hidden: true } }",
      values);
  CHECK(Near(run.Values(0), outputs, 1e-6));
  CHECK(Near(run.Values(1), {h}, 1e-6));
}

// --- losses and what is measured

CaffeRun RunLoss(const std::string& type, const std::string& more,
                 const Tensor& scores, const Tensor& labels) {
  const std::map<std::string, Tensor> values = {{"a", scores}, {"b", labels}};
  return RunCaffe(CaffeInputs(values) + "layer { name: 'y' type: '" + type +
                      "' bottom: 'a' bottom: 'b' top: 'y' " + more + " }",
                  values);
}

TEST_CASE("caffe: losses are Caffe's numbers") {
  const Tensor scores = Floats({2, 2}, {1, -2, 0.5, 3});
  const Tensor labels = Floats({2}, {0, 1});
  const auto loss = [&](const char* type, const char* more, const Tensor& b) {
    return RunLoss(type, more, scores, b).Values();
  };
  CHECK(Near(loss("EuclideanLoss", "", Floats({2, 2}, {0, 0, 0, 1})),
             {(1 + 4 + 0.25 + 4) / 4}));
  CHECK(Near(loss("HingeLoss", "", labels), {1.5 / 2}));
  CHECK(Near(loss("HingeLoss", "hinge_loss_param { norm: L2 }", labels),
             {2.25 / 2}));
  double cross = 0;
  const double x[] = {1, -2, 0.5, 3}, t[] = {1, 0, 0.5, 1};
  for (int i = 0; i < 4; ++i) {
    const double p = 1 / (1 + std::exp(-x[i]));
    cross -= t[i] * std::log(p) + (1 - t[i]) * std::log(1 - p);
  }
  const Tensor targets = Floats({2, 2}, {1, 0, 0.5, 1});
  CHECK(Near(loss("SigmoidCrossEntropyLoss", "", targets), {cross / 2}));
  CHECK(Near(loss("SigmoidCrossEntropyLoss",
                  "loss_param { normalization: NONE }", targets),
             {cross}));
  CHECK(Near(RunLoss("MultinomialLogisticLoss", "",
                     Floats({2, 2}, {0.5, 0.5, 0.25, 0.75}), labels)
                 .Values(),
             {-(std::log(0.5) + std::log(0.75)) / 2}));
  // Classes on the last axis: the loss itself, without the label that is
  // ignored.
  const double first =
      -std::log(std::exp(1.0) / (std::exp(1.0) + std::exp(-2.0)));
  CHECK(Near(RunLoss("SoftmaxWithLoss",
                     "softmax_param { axis: 2 } loss_param { ignore_label: 7 }",
                     Floats({1, 2, 2}, {1, -2, 0.5, 3}), Floats({1, 2}, {0, 7}))
                 .Values(),
             {first}));
}

TEST_CASE("caffe: ContrastiveLoss and InfogainLoss") {
  const std::map<std::string, Tensor> pairs = {
      {"a", Floats({2, 2}, {0, 0, 1, 1})},
      {"b", Floats({2, 2}, {0.3, 0.4, 1, 4})},
      {"c", Floats({2}, {0, 1})}};
  const std::string inputs = CaffeInputs(pairs);
  const auto run = [&](const std::string& layer) {
    return RunCaffe(inputs + layer, pairs).Values();
  };
  const std::string contrastive =
      "layer { name: 'y' type: 'ContrastiveLoss' bottom: 'a' bottom: 'b' "
      "bottom: 'c' top: 'y' contrastive_loss_param { margin: 2 ";
  CHECK(Near(run(contrastive + "} }"), {(1.5 * 1.5 + 9) / 4}));
  CHECK(Near(run(contrastive + "legacy_version: true } }"), {(1.75 + 9) / 4}));
  const std::map<std::string, Tensor> gain = {
      {"a", Floats({1, 2}, {0, std::log(3.0F)})},
      {"b", Floats({1}, {1})},
      {"c", Floats({2, 2}, {1, 0, 0.5, 2})}};
  CHECK(Near(RunCaffe(CaffeInputs(gain) +
                          "layer { name: 'y' type: 'InfogainLoss' bottom: 'a' "
                          "bottom: 'b' bottom: 'c' top: 'y' }",
                      gain)
                 .Values(),
             {-(0.5 * std::log(0.25) + 2 * std::log(0.75))}));
}

TEST_CASE("caffe: Accuracy counts scores as large as the label's against it") {
  const Tensor scores = Floats({3, 3}, {1, 3, 2, 5, 5, 0, 0, 1, 2});
  const Tensor labels = Floats({3}, {1, 0, 1});
  CHECK(Near(RunLoss("Accuracy", "", scores, labels).Values(), {1 / 3.0}));
  CHECK(Near(RunLoss("Accuracy", "accuracy_param { top_k: 2 }", scores, labels)
                 .Values(),
             {1}));
  CHECK(Near(
      RunLoss("Accuracy", "accuracy_param { ignore_label: 0 }", scores, labels)
          .Values(),
      {0.5}));
}

TEST_CASE("caffe: what trains ends in MXNet's loss heads") {
  const auto heads = [](const std::string& type, const std::string& more,
                        const std::string& label) {
    const auto model = LoadCaffe(
        "input: 'a' input: 'b' input_shape { dim: 4 dim: 3 } "
        "input_shape { " +
            label +
            " } layer { name: 'p' type: 'AbsVal' bottom: 'a' top: 'p' }"
            " layer { name: 'y' type: '" +
            type + "' bottom: 'p' bottom: 'b' top: 'y' " + more + " }",
        InState(true));
    REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
    const Node& head = *model->graph.outputs[0].node;
    CHECK(head.IsLossHead());
    std::string text = head.op_name;
    for (const auto& [name, value] : head.written.attributes) {
      if (name == "grad_scale" || name == "normalization") {
        text += " " + name + "=" + value;
      }
    }
    return text;
  };
  const std::string classes = "dim: 4", whole = "dim: 4 dim: 3";
  CHECK(heads("SoftmaxWithLoss", "loss_weight: 0.5", classes) ==
        "SoftmaxOutput grad_scale=0.5");
  // Valid labels are counted, and the batch divides once more.
  CHECK(heads("SoftmaxWithLoss", "loss_param { ignore_label: 255 }", classes) ==
        "SoftmaxOutput grad_scale=4 normalization=valid");
  CHECK(heads("SoftmaxWithLoss", "loss_param { normalization: NONE }",
              classes) == "SoftmaxOutput grad_scale=4");
  CHECK(heads("SigmoidCrossEntropyLoss", "", whole) ==
        "LogisticRegressionOutput grad_scale=3");
  CHECK(heads("HingeLoss", "", classes) == "SVMOutput");
  const auto written = LoadCaffe(
      "input: 'a' input_shape { dim: 4 dim: 3 }"
      "layer { name: 'r' type: 'Reduction' bottom: 'a' top: 'r' loss_weight: 2 "
      "reduction_param { axis: 1 } }",
      InState(true));
  REQUIRE_MESSAGE(written.ok(), Render(written.errors()));
  const Node& head = *written->graph.outputs[0].node;
  CHECK(head.op_name == "MakeLoss");
  CHECK(head.written.attributes[0].second == "8");
}

// --- weights

TEST_CASE("caffe: weights come by the names of their layers") {
  // NetParameter, by hand: layer (100) { name type blobs { shape data } }.
  const auto field = [](int number, const std::string& bytes) {
    protobuf::WireWriter writer;
    writer.Bytes(number, bytes);
    return writer.bytes();
  };
  const auto blob = [&](const std::string& dims, std::vector<float> values) {
    const std::string data(reinterpret_cast<const char*>(values.data()),
                           values.size() * sizeof(float));
    return field(7, field(7, field(1, dims)) + field(5, data));
  };
  const auto layer = [&](const char* name, const char* type,
                         const std::string& blobs) {
    return field(100, field(1, name) + field(2, type) + blobs);
  };
  const std::string bytes =
      field(1, "net") +
      layer("ip", "InnerProduct",
            blob({1, 1, 1, 2}, {1, 2}) + blob({1, 1, 1, 1}, {3})) +
      layer("bn", "BatchNorm",
            blob({1}, {6}) + blob({1}, {8}) + blob({1}, {2})) +
      // A setting of a fork, which nobody looks at.
      layer("fork", "Unknown", blob({2}, {4, 5}) + field(148, "\x08\x01"));
  const auto arrays =
      caffe::ReadWeights(std::as_bytes(std::span(bytes)), "net.caffemodel");
  REQUIRE_MESSAGE(arrays.ok(), Render(arrays.errors()));
  std::string text;
  for (const auto& [name, array] : *arrays) {
    text += fmt::format("{}{}=", text.empty() ? "" : " ", name);
    text += ToString(Extents(array.shape)) + ":" +
            fmt::format("{}",
                        *reinterpret_cast<const float*>(array.bytes().data()));
  }
  CHECK(text ==
        "ip_weight=(1, 2):1 ip_bias=(1):3 bn_moving_mean=(1):3 "
        "bn_moving_var=(1):4 fork_weight=(2):4");
  std::string cut = bytes;
  cut.resize(cut.size() - 3);
  CHECK_FALSE(
      caffe::ReadWeights(std::as_bytes(std::span(cut)), "net.caffemodel").ok());
}

// --- what is refused

TEST_CASE("caffe: what is wrong is said of the layer, at its place") {
  const auto layer = [](const std::string& text) {
    return Refusal(kInput + "layer { name: 'y' bottom: 'x' top: 'y' " + text +
                   " }");
  };
  CHECK(layer("type: 'Convolutoin'") ==
        "2:1 Convolutoin 'y': unknown type of layer; nearest: Convolution");
  CHECK(layer("type: 'Convolution'") ==
        "2:1 Convolution 'y': a bottom with 2 axes, expected 3 to 5");
  CHECK(layer("type: 'InnerProduct'") == "2:1 InnerProduct 'y': no num_output");
  CHECK(layer("type: 'Softmax' softmax_param { axis: 2 }") ==
        "2:1 Softmax 'y': axis 2 of a bottom with 2 axes");
  CHECK(layer("type: 'Eltwise'") ==
        "2:1 Eltwise 'y': 1 bottoms, expected at least 2");
  CHECK(layer("type: 'ReLU' bottom: 'z'") ==
        "2:1 ReLU 'y': no layer before it makes its bottom 'z' in phase TEST");
  CHECK(layer("type: 'Reshape' reshape_param { shape { dim: 3 } }")
            .starts_with("2:1 Reshape 'y': "));
  CHECK(layer("type: 'Tile' tile_param { tiles: 0 }")
            .starts_with("2:1 Tile 'y': tiles 0"));
  CHECK(layer("type: 'Python' python_param { module: 'm' layer: 'L' }")
            .find("code in Python (m.L)") != std::string::npos);
  CHECK(layer("type: 'ReLU' relu_parm { }")
            .starts_with("2:53 LayerParameter has no field 'relu_parm'; "
                         "nearest: relu_param"));
  CHECK(layer("type: 'Slice' top: 'z' slice_param { slice_point: 2 }")
            .find("slice_point 2 behind 2") != std::string::npos);
  CHECK(Refusal("name: 'n'").find("a Caffe net without layers") !=
        std::string::npos);
  CHECK(Refusal("net: 'train.prototxt'").find("a solver, expected the net") !=
        std::string::npos);
  CHECK(Refusal("input: 'x' input_dim: 3 layer { }")
            .find("1 inputs have 1 input_dim") != std::string::npos);
  // All that is wrong at once; what reads the tops of a wrong layer is not.
  const auto model =
      LoadCaffe(kInput +
                "layer { name: 'a' type: 'A' bottom: 'x' top: 'a' }"
                "layer { name: 'b' type: 'Pooling' bottom: 'a' top: 'b' "
                "pooling_param { kernel_size: 2 } }"
                "layer { name: 'c' type: 'C' bottom: 'b' top: 'c' }");
  REQUIRE_FALSE(model.ok());
  CHECK(model.errors().size() == 2);
}

TEST_CASE("caffe: an artifact keeps a net as a symbol that reads the same") {
  const std::string text = R"(
    input: "x" input_shape { dim: 2 dim: 3 dim: 9 dim: 9 }
    layer { name: "c" type: "Convolution" bottom: "x" top: "c"
            convolution_param { num_output: 4 kernel_size: 3 } }
    layer { name: "b" type: "BatchNorm" bottom: "c" top: "c" }
    layer { name: "s" type: "Scale" bottom: "c" top: "c"
            scale_param { bias_term: true } }
    layer { name: "p" type: "Pooling" bottom: "c" top: "p"
            pooling_param { kernel_size: 2 stride: 2 } }
    layer { name: "l" type: "LRN" bottom: "p" top: "l"
            lrn_param { norm_region: WITHIN_CHANNEL } }
    layer { name: "f" type: "InnerProduct" bottom: "l" top: "f"
            inner_product_param { num_output: 5 } }
    layer { name: "y" type: "Softmax" bottom: "f" top: "y" })";
  const auto file = OpenNetwork(std::make_shared<const NetworkSource>(
      std::make_shared<const SourceFile>(SourceFile{"net.prototxt", text})));
  REQUIRE_MESSAGE(file.ok(), Render(file.errors()));
  const auto stored = (*file)->Stored({});
  REQUIRE(stored.ok());
  auto first = LoadCaffe(text);
  auto again = LoadText(
      std::make_shared<SourceFile>(SourceFile{"stored.json", *stored}), {});
  REQUIRE_MESSAGE(again.ok(), Render(again.errors()));
  for (Model* model : {&*first, &*again}) {
    const Status typed = InferTypes(model->graph, true);
    REQUIRE_MESSAGE(typed.ok(), (typed.ok() ? "" : Render(typed.errors())));
    for (const VariableRole role :
         {VariableRole::kParameter, VariableRole::kState}) {
      for (Node* node : model->graph.Variables(role)) {
        CHECK(node->types[0].known());
      }
    }
  }
  CHECK(OperatorsOf(*first) == OperatorsOf(*again));
  const auto names = [](const Graph& graph, VariableRole role) {
    std::string all;
    for (const Node* node : graph.Variables(role)) all += node->name + " ";
    return all;
  };
  for (const VariableRole role :
       {VariableRole::kInput, VariableRole::kParameter, VariableRole::kState}) {
    CHECK(names(first->graph, role) == names(again->graph, role));
  }
  CHECK(names(again->graph, VariableRole::kState) ==
        "b_moving_mean b_moving_var ");
}

TEST_CASE("caffe: a blob has one maker") {
  const std::string relu = "layer { name: 'r' type: 'ReLU' bottom: 'x' ";
  CHECK(Refusal(kInput + relu + "top: 'a' }" +
                "layer { name: 'i' type: 'Input' top: 'a' }")
            .ends_with("Input 'i': another layer makes its top 'a', too"));
  CHECK(Refusal(kInput + relu + "top: 'a' }" + relu + "top: 'a' }")
            .ends_with("ReLU 'r': another layer makes its top 'a', too"));
}

TEST_CASE("caffe: a loss without a top is an output for all that") {
  const CaffeRun run = RunCaffe(
      "input: 'a' input_shape { dim: 2 dim: 2 } "
      "input: 'b' input_shape { dim: 2 dim: 1 dim: 1 dim: 1 } "
      "layers { name: 'y' type: SOFTMAX_LOSS bottom: 'a' bottom: 'b' }",
      {{"a", Floats({2, 2}, {0, 0, std::log(3.F), 0})},
       {"b", Floats({2, 1, 1, 1}, {0, 1})}});
  CHECK(Near(run.Values(), {0.5, 0.5, 0.75, 0.25}, 1e-6));
}

TEST_CASE("caffe: names are numbered as quickly as they are many") {
  std::string text =
      "input: 'x' input_shape { dim: 1 dim: 4000 } "
      "layer { name: 's' type: 'Slice' bottom: 'x' slice_param { ";
  for (int i = 1; i < 4000; ++i) text += fmt::format("slice_point: {} ", i);
  text += "} ";
  for (int i = 0; i < 4000; ++i) text += fmt::format("top: 't{}' ", i);
  const auto model = LoadCaffe(text + "}");
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  CHECK(model->graph.outputs.size() == 4000);
}

TEST_CASE("caffe: a small text makes no large network") {
  CHECK(Refusal("input: 'x' input_shape { dim: 1000000 dim: 1 dim: 1 } "
                "input: 'c' input_shape { dim: 1000000 dim: 1 } "
                "layer { name: 'y' type: 'LSTM' bottom: 'x' bottom: 'c' "
                "top: 'y' recurrent_param { num_output: 1 } }")
            .find("more than 200000 nodes") != std::string::npos);
}

// --- files of others

std::vector<std::string> Definitions() {
  std::vector<std::string> paths;
  const std::string folder = SharedFolder();
  if (folder.empty()) return paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder + "/cases/caffe")) {
    const std::string path = entry.path();
    if (path.ends_with(".prototxt") &&
        path.find("solver") == std::string::npos) {
      paths.push_back(path);
    }
  }
  std::ranges::sort(paths);
  return paths;
}

// Where a database says the shape.
std::map<std::string, Extents> ShapesFor(const std::string& path) {
  const auto is = [&](const char* part) {
    return path.find(part) != std::string::npos;
  };
  if (is("cifar10")) return {{"data", {4, 3, 32, 32}}};
  if (is("lenet_train") || is("autoencoder")) return {{"data", {4, 1, 28, 28}}};
  if (is("siamese")) return {{"pair_data", {4, 2, 28, 28}}};
  if (is("caffenet")) return {{"data", {4, 3, 227, 227}}};
  return {};
}

TEST_SUITE("shared") {
  TEST_CASE("caffe: every definition is a network, to test and to train") {
    const auto paths = Definitions();
    if (paths.empty()) {
      MESSAGE("skipped: no shared cases");
      return;
    }
    CHECK(paths.size() >= 26);
    for (const std::string& path : paths) {
      for (const bool training : {false, true}) {
        // What is deployed has no labels of the right size.
        if (training && path.ends_with("/deploy.prototxt")) continue;
        CAPTURE(path);
        CAPTURE(training);
        LoadOptions options = InState(training);
        options.read_parameters = false;
        options.require_supported = true;
        if (path.ends_with("lrcn_cos.prototxt")) {
          options.state.stages = {"factored", "2-layer"};
        }
        options.input_shapes = ShapesFor(path);
        auto model = Load(path, options);
        REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
        const Status typed = InferTypes(model->graph, /*complete=*/true);
        CHECK_MESSAGE(typed.ok(), (typed.ok() ? "" : Render(typed.errors())));
      }
    }
  }
}

}  // namespace
}  // namespace mxc
