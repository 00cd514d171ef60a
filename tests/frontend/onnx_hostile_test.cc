// SPDX-License-Identifier: Apache-2.0
// Files of ONNX that are made to harm: numbers that overflow, divide by nothing
// or ask for more than there is, and loops that multiply what a file says.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontend/network_file.h"
#include "tests/frontend/onnx_model.h"

namespace mxc {
namespace {

using namespace onnx_model;  // NOLINT
using Attributes = std::vector<Message>;
using Names = std::vector<std::string>;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kHuge = int64_t{1} << 40;
constexpr auto kUint8 = static_cast<Type>(2);

Message Ints(const std::string& name, const std::vector<int64_t>& values) {
  return TensorOf<int64_t>(name, kInt64, {std::ssize(values)}, values);
}

Message None(const std::string& name, const std::vector<int64_t>& dims,
             Type type = kFloat) {
  return TensorOf<float>(name, type, dims, {});
}

// One node of the inputs and initializers, in this order, with outputs y0, y1 ….
struct Hostile {
  std::string op;
  std::vector<Message> inputs = {}, initializers = {};
  Attributes attributes = {};
  Names reads = {"x"};
  int outputs = 1;
  int64_t opset = 21;
  std::string domain = {};
};

std::string RefusalOfOne(const Hostile& one) {
  Names outputs;
  for (int i = 0; i < one.outputs; ++i)
    outputs.push_back(fmt::format("y{}", i));
  Message node = onnx_model::Node(one.op, one.reads, outputs, one.attributes);
  if (!one.domain.empty()) node = std::move(node).Text(7, one.domain);
  return RefusalOf({.nodes = {node},
                    .inputs = one.inputs,
                    .outputs = outputs,
                    .initializers = one.initializers},
                   {}, one.opset);
}

void CheckRefused(const Hostile& one, std::string_view words) {
  CAPTURE(one.op);
  const std::string message = RefusalOfOne(one);
  CAPTURE(message);
  CHECK(message.find(words) != std::string::npos);
}

TEST_CASE("hostile: shapes of more axes than there are") {
  const std::vector<int64_t> ones(100'000, 1);
  CheckRefused({.op = "Reshape",
                .inputs = {Input("x", kFloat, {1})},
                .initializers = {Ints("k", ones)},
                .reads = {"x", "k"}},
               "has 100000 extents");
  CheckRefused({.op = "ConstantOfShape",
                .initializers = {Ints("k", ones)},
                .reads = {"k"}},
               "has 100000 extents");
  CheckRefused({.op = "RandomNormal",
                .attributes = {IntsAttr("shape", ones)},
                .reads = {}},
               "has 100000 extents");
  CheckRefused({.op = "Split",
                .inputs = {Input("x", kFloat, {100'000})},
                .initializers = {Ints("k", ones)},
                .reads = {"x", "k"},
                .outputs = 2},
               "100000 parts for 2 outputs");
}

TEST_CASE("hostile: sums and products of numbers that overflow") {
  const auto of_image = [](std::string op, Attributes attributes,
                           std::vector<Message> more = {},
                           Names reads = {"x", "w"}) {
    std::vector<Message> inputs = {Input("x", kFloat, {1, 2, 3, 3}),
                                   Input("w", kFloat, {2, 1, 3, 3})};
    return Hostile{.op = std::move(op),
                   .inputs = inputs,
                   .initializers = std::move(more),
                   .attributes = std::move(attributes),
                   .reads = std::move(reads)};
  };
  CheckRefused({.op = "Split",
                .inputs = {Input("x", kFloat, {4})},
                .initializers = {Ints("k", {1, kMost})},
                .reads = {"x", "k"},
                .outputs = 2},
               "part 1 has");
  for (const int64_t group : {kLeast, int64_t{0}, kMost}) {
    CheckRefused(of_image("ConvTranspose", {IntAttr("group", group)}),
                 "group is");
  }
  for (const int64_t extent : {kLeast, int64_t{0}, kMost}) {
    CheckRefused(
        of_image("ConvTranspose", {IntsAttr("output_shape", {3, extent})}),
        "output_shape");
  }
  CheckRefused({.op = "ConvTranspose",
                .inputs = {Input("x", kFloat, {1, 1, 3}),
                           Input("w", kFloat, {1, 1, kHuge})},
                .reads = {"x", "w"}},
               "its kernel is");
  CheckRefused(
      {.op = "MaxUnpool",
       .inputs = {Input("x", kFloat, {1, 1, 3}), Input("i", kInt64, {1, 1, 3})},
       .attributes = {IntsAttr("kernel_shape", {2}),
                      IntsAttr("pads", {kMost, 0})},
       .reads = {"x", "i"}},
      "have a number of");
  CheckRefused(
      {.op = "TensorScatter",
       .inputs = {Input("x", kFloat, {1, 4, 2}), Input("u", kFloat, {1, 2, 2})},
       .initializers = {Ints("k", {kMost})},
       .reads = {"x", "u", "k"},
       .opset = 24},
      "leaves no place");
  CheckRefused({.op = "GroupQueryAttention",
                .inputs = {Input("x", kFloat, {1, 2, 4})},
                .attributes = {IntAttr("num_heads", kMost / 2),
                               IntAttr("kv_num_heads", kMost / 2)},
                .domain = "com.microsoft"},
               "num_heads is");
  CheckRefused({.op = "RoiAlign",
                .inputs = {Input("x", kFloat, {1, 1, 3, 3}),
                           Input("r", kFloat, {1, 4}), Input("b", kInt64, {1})},
                .attributes = {IntAttr("output_height", kMost),
                               IntAttr("output_width", kMost)},
                .reads = {"x", "r", "b"}},
               "pooled_size");
}

TEST_CASE("hostile: tensors without elements") {
  CheckRefused({.op = "ScatterND",
                .inputs = {Input("u", kFloat, {1, 3})},
                .initializers = {None("x", {0, 3}), None("k", {1, 0}, kInt64)},
                .reads = {"x", "k", "u"}},
               "name 0 axes");
  CheckRefused(
      {.op = "ScatterND",
       .inputs = {Input("k", kInt64, {1, 1}), Input("u", kFloat, {1, 3})},
       .initializers = {None("x", {0, 3})},
       .reads = {"x", "k", "u"}},
      "no elements");
  CheckRefused({.op = "ConvTranspose",
                .inputs = {Input("x", kFloat, {1, 1, 3})},
                .initializers = {None("w", {1, 0, 3})},
                .reads = {"x", "w"}},
               "no elements");
  CheckRefused(
      {.op = "Range",
       .initializers = {Number("a", 0), None("b", {0}, kInt64), Number("c", 1)},
       .reads = {"a", "b", "c"}},
      "expected one element");
  // Where nothing is, nothing is looked at.
  const Hostile none[] = {
      {.op = "NonMaxSuppression",
       .initializers = {None("b", {kHuge, 0, 4}), None("s", {kHuge, 1, 0}),
                        Number("n", 1)},
       .reads = {"b", "s", "n"}},
      {.op = "Slice",
       .initializers = {None("x", {0}), Ints("a", {-1}), Ints("b", {kLeast}),
                        Ints("c", {0}), Ints("d", {-1})},
       .reads = {"x", "a", "b", "c", "d"}}};
  for (const Hostile& one : none) {
    CheckRefused(one, "no output of the network");  // nothing before it
  }
  CheckRefused({.op = "ReduceSum",
                .initializers = {None("x", {kHuge, 0}), Ints("a", {1})},
                .reads = {"x", "a"}},
               "numbers would be computed");
  // Their extents are bounded like those of others.
  CheckRefused({.op = "Relu", .initializers = {None("x", {0, kMost, kMost})}},
               "more elements than");
  CheckRefused({.op = "ConstantOfShape",
                .initializers = {Ints("k", {0, kMost, kMost})},
                .reads = {"k"}},
               "more than the 2^47 bytes");
}

TEST_CASE("hostile: axes and types that a rule relies on") {
  CheckRefused({.op = "LRN",
                .inputs = {Input("x", kFloat, {3})},
                .attributes = {IntAttr("size", 2)}},
               "its data have the shape");
  CheckRefused({.op = "ConvInteger",
                .inputs = {Input("x", kUint8, {1, 1, 3}),
                           Input("w", kUint8, {}), Input("z", kUint8, {2})},
                .reads = {"x", "w", "", "z"}},
               "its weight has 0 axes");
  CheckRefused(
      {.op = "ConvInteger",
       .inputs = {Input("x", kUint8, {3}), Input("w", kUint8, {1, 1, 3})},
       .reads = {"x", "w"}},
      "its data 1");
  CheckRefused(
      {.op = "Range",
       .initializers = {Number("a", 0), Zeros("b", {}), Number("c", 1)},
       .reads = {"a", "b", "c"}},
      "of the type of its start");
  const Message optional = onnx_model::Node("Optional", {"x"}, {"o"});
  CHECK(RefusalOf(
            {.nodes = {optional, onnx_model::Node("Optional", {"o"}, {"y"})},
             .inputs = {Input("x", kFloat, {1})},
             .outputs = {"y"}})
            .find("optional of an optional") != std::string::npos);
}

TEST_CASE("hostile: lists as long as an axis that only a file has") {
  const std::string_view few = "numbers would be computed";
  const std::vector<int64_t> line = {1, 1, kHuge};
  CheckRefused({.op = "Pad",
                .inputs = {Input("x", kFloat, {1, 1, 3})},
                .initializers = {Ints("k", {0, 0, 0, 0, 0, kHuge})},
                .attributes = {TextAttr("mode", "edge")},
                .reads = {"x", "k"}},
               few);
  CheckRefused({.op = "MaxPool",
                .inputs = {Input("x", kFloat, line)},
                .attributes = {IntsAttr("kernel_shape", {2})},
                .outputs = 2},
               few);
  CheckRefused(
      {.op = "AveragePool",
       .inputs = {Input("x", kFloat, line)},
       .attributes = {IntsAttr("kernel_shape", {3}), IntsAttr("pads", {1, 0})}},
      few);
  CheckRefused(
      {.op = "Resize",
       .inputs = {Input("x", kFloat, line)},
       .initializers = {Ints("k", {1, 1, 1})},
       .attributes = {TextAttr("mode", "linear"), IntAttr("antialias", 1)},
       .reads = {"x", "", "", "k"}},
      few);
  CheckRefused({.op = "Attention",
                .inputs = {Input("q", kFloat, {1, 1, 2, 1}),
                           Input("k", kFloat, {1, 1, kHuge, 1}),
                           Input("v", kFloat, {1, 1, kHuge, 1})},
                .attributes = {IntAttr("is_causal", 1)},
                .reads = {"q", "k", "v"},
                .opset = 23},
               few);
}

TEST_CASE("hostile: what continues a short mask takes no memory") {
  const int64_t keys = 1 << 26;
  const auto model = Build(
      {.nodes = {onnx_model::Node("Attention", {"q", "k", "v", "m"}, {"y"})},
       .inputs = {Input("q", kFloat, {1, 1, 2, 1}),
                  Input("k", kFloat, {1, 1, keys, 1}),
                  Input("v", kFloat, {1, 1, keys, 1}),
                  Input("m", kBool, {2, 1})},
       .outputs = {"y"}},
      {}, 24);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  for (const auto& node : model->graph.nodes()) {
    if (node->kind != mxc::Node::Kind::kConstant) continue;
    CHECK(node->constant.shape().elements() < 100);
  }
}

// --- what multiplies ----------------------------------------------------------

// A loop whose carried value grows, so that its turns are written out; `body`
// may read it, "s", and the number of the turn, "i".
GraphParts Unrolled(int64_t turns, std::vector<Message> body,
                    std::vector<Message> initializers = {}) {
  body.push_back(
      onnx_model::Node("Concat", {"s", "x"}, {"s_out"}, {IntAttr("axis", 0)}));
  const GraphParts inner = {
      .nodes = std::move(body),
      .inputs = {Input("i", kInt64, {}), Input("go", kBool, {}),
                 Input("s", kFloat, {1})},
      .outputs = {"go", "s_out"},
      .initializers = std::move(initializers)};
  return {.nodes = {onnx_model::Node("Loop", {"turns", "", "x"}, {"y"},
                                     {GraphAttr("body", GraphOf(inner))})},
          .inputs = {Input("x", kFloat, {1})},
          .outputs = {"y"},
          .initializers = {Number("turns", turns)}};
}

void CheckRefusedAll(const GraphParts& parts, std::string_view words) {
  const std::string message = RefusalOf(parts);
  CAPTURE(message);
  CHECK(message.find(words) != std::string::npos);
}

TEST_CASE("hostile: constants that turns compute take bounded memory") {
  const std::vector<Message> body = {
      onnx_model::Node("Expand", {"i", "wide"}, {"e"})};
  CheckRefusedAll(Unrolled(900, body, {Ints("wide", {400'000})}),
                  "more than 1 GiB");
}

TEST_CASE("hostile: turns with long lists count as much as many") {
  std::vector<Message> parameters;
  for (int k = 0; k < 20'000; ++k) {
    parameters.push_back(Number(fmt::format("p{}", k), k));
  }
  CheckRefusedAll(Unrolled(900, {}, parameters), "more than 200000 nodes");
  const std::vector<Message> sum = {
      onnx_model::Node("Sum", Names(20'000, "s"), {"sum"})};
  CheckRefusedAll(Unrolled(900, sum), "more than 200000 nodes");
}

TEST_CASE("hostile: long names stay short in the network") {
  const std::string name(1 << 20, 'n');
  const std::vector<Message> body = {
      std::move(onnx_model::Node("Neg", {"x"}, {"z"})).Text(3, name)};
  auto parts = Unrolled(50, body);
  parts.nodes[0] = std::move(parts.nodes[0]).Text(3, name);
  const auto model = Build(parts);
  REQUIRE_MESSAGE(model.ok(), Render(model.errors()));
  for (const auto& node : model->graph.nodes()) CHECK(node->name.size() < 2000);
}

TEST_CASE("hostile: sequences of more elements than they may have") {
  std::vector<Message> nodes = {onnx_model::Node("SequenceEmpty", {}, {"s0"})};
  for (int k = 0; k < 5000; ++k) {
    nodes.push_back(onnx_model::Node("SequenceInsert",
                                     {fmt::format("s{}", k), "x"},
                                     {fmt::format("s{}", k + 1)}));
  }
  CheckRefusedAll({.nodes = nodes,
                   .inputs = {Input("x", kFloat, {1})},
                   .outputs = {"s5000"}},
                  "elements");
}

TEST_CASE("hostile: a branch that no turn takes costs them nothing") {
  std::vector<Message> nodes;
  for (int k = 0; k < 20'000; ++k) {
    nodes.push_back(onnx_model::Node("Neg", {"s"}, {fmt::format("n{}", k)}));
  }
  const Message taken =
      GraphOf({.nodes = {onnx_model::Node("Neg", {"s"}, {"a"})},
               .inputs = {},
               .outputs = {"a"}});
  const Message other =
      GraphOf({.nodes = nodes, .inputs = {}, .outputs = {"n0"}});
  const std::vector<Message> body = {onnx_model::Node(
      "If", {"yes"}, {"z"},
      {GraphAttr("then_branch", taken), GraphAttr("else_branch", other)})};
  const std::string wrong =
      RefusalOf(Unrolled(900, body, {Truth("yes", true)}));
  CHECK_MESSAGE(wrong.empty(), wrong);
}

TEST_CASE("hostile: a branch that gives what its function was not given") {
  const Message nothing =
      GraphOf({.nodes = {}, .inputs = {}, .outputs = {"b"}});
  const Message function =
      Named("F")
          .Text(4, "a")
          .Text(4, "b")
          .Text(5, "c")
          .Sub(7, onnx_model::Node("If", {"a"}, {"c"},
                                   {GraphAttr("then_branch", nothing),
                                    GraphAttr("else_branch", nothing)}))
          .Sub(9, Message().Int(2, 21));
  CheckRefusedAll({.nodes = {onnx_model::Node("F", {"yes"}, {"y"})},
                   .inputs = {Input("x", kFloat, {1})},
                   .outputs = {"y"},
                   .initializers = {Truth("yes", true)},
                   .functions = {function}},
                  "is made by no node");
}

}  // namespace
}  // namespace mxc
