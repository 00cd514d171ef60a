// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/passes/networks.h"

namespace mxc {
namespace {

Program Lowered(const Network& net) {
  PassOptions required;
  required.level = 0;
  return Compile(net, required);
}

TEST_CASE("a residual of one picture is added by the convolution") {
  // The batch axis has extent 1: a broadcasting operator reads it at 0.
  const Program program = Compile(ResidualV1(), {});
  int additions = 0;
  for (const Step& step : program.steps) {
    CAPTURE(step.name);
    if (step.name.find("_add") == std::string::npos) continue;
    CHECK(step.contraction() != nullptr);
    ++additions;
  }
  CHECK(additions == 2);
}

TEST_CASE("outputs are the graph's, in its order, copied where read again") {
  const Network net = Outputs();
  const Program program = Lowered(net);
  std::vector<std::string> names;
  for (const int output : program.BuffersOf(BufferKind::kOutput)) {
    names.push_back(program.buffers[output].name);
    CHECK(program.buffers[output].layout.row_major());
  }
  CHECK(names == net.graph.output_names);
  for (const Step& step : program.steps) {
    for (const int input : step.inputs) {
      CHECK(program.buffers[input].kind != BufferKind::kOutput);
    }
  }
}

TEST_CASE("an input that nothing reads is an input still") {
  for (const int level : {0, 2}) {
    CAPTURE(level);
    PassOptions options;
    options.level = level;
    const Program program = Compile(Mlp(), options);
    const auto inputs = program.BuffersOf(BufferKind::kInput);
    REQUIRE(inputs.size() == 2);
    CHECK(program.buffers[inputs[0]].name == "data");
    CHECK(program.buffers[inputs[1]].name == "label");
    const std::vector<bool> read = ReadBuffers(program);
    CHECK(read[inputs[0]]);
    CHECK_FALSE(read[inputs[1]]);
  }
}

TEST_CASE("inputs, states and outputs keep their names, equal ones too") {
  const auto text = std::make_shared<SourceFile>(SourceFile{"net", R"(
    graph @net {
      %0 "x" = input f32[2, 3]
      %1 "y" = input f32[2, 3]
      %2 "w" = state f32[2, 3]
      %3 "s" = elemwise_add(%0, %1) : f32[2, 3]
      %4 "t" = elemwise_add(%2, %3) : f32[2, 3]
      return %0 "x", %3 "s", %3 "s", %2 "w", %4 "y"
      update %2 = %4
    })"});
  Result<Graph> graph = ParseGraph(text);
  REQUIRE_MESSAGE(graph.ok(), Render(graph.errors()));
  const Target target = *ResolveTarget("x86-64-v3");
  const auto planned = RunPipeline(std::move(*graph), {&target}, {});
  REQUIRE_MESSAGE(planned.ok(), Render(planned.errors()));
  const Program& program = *planned;
  std::map<BufferKind, std::vector<std::string>> names;
  for (const Buffer& buffer : program.buffers) {
    names[buffer.kind].push_back(buffer.name);
  }
  using Names = std::vector<std::string>;
  CHECK(names[BufferKind::kInput] == Names{"x", "y"});
  CHECK(names[BufferKind::kState] == Names{"w"});
  CHECK(names[BufferKind::kOutput] == Names{"x", "s", "s", "w", "y"});
  const Tensor x =
      Tensor::FromFloats({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor y = Tensor::FromFloats({2, 3}, std::vector<float>(6, 10));
  const auto outputs = Interpret(program, {{"x", x}, {"y", y}, {"w", y}});
  REQUIRE(outputs.ok());
  CHECK(outputs->at(0).At(5) == 6);
  CHECK(outputs->at(1).At(5) == 16);
  CHECK(outputs->at(2).At(5) == 16);
  CHECK(outputs->at(3).At(5) == 10);  // before the run
  CHECK(outputs->at(4).At(5) == 26);
}

TEST_CASE(
    "an output that an operator's parts lack is refused where it is read") {
  Network net;
  const Value loss =
      net.Op("CTCLoss", "loss",
             {net.Input("x", {4, 1, 3}), net.Input("y", {1, 2})}, {});
  net.Output(loss.node->out(1));
  const Target target = *ResolveTarget("x86-64-v3");
  const auto program = RunPipeline(net.Copy(), {&target}, {});
  REQUIRE_FALSE(program.ok());
  CHECK(program.errors()[0].message.find("is not supported") !=
        std::string::npos);
}

// Sums of the parts, joined again: 0 + 100, 1 + 101 …
TEST_CASE("hundreds of parts are cut, added and joined a few at a time") {
  constexpr int kParts = 150, kRows = 2;
  Network net;
  const Value x = net.Input("x", {kRows, kParts});
  const Value parts = net.Op("SliceChannel", "parts", {x},
                             {{"num_outputs", std::to_string(kParts)}});
  std::vector<Value> all, sums;
  for (int i = 0; i < kParts; ++i) all.push_back(parts.node->out(i));
  const AttrText count = {"num_args", std::to_string(kParts)};
  const Value total = net.Op("add_n", "total", all, {count});
  for (int i = 0; i < kParts; ++i) {
    sums.push_back(net.Op("elemwise_add", "sum" + std::to_string(i),
                          {all[i], all[kParts - 1 - i]}));
  }
  net.Output(total);
  net.Output(net.Op("Concat", "joined", sums, {count, {"dim", "1"}}));
  for (const Program& program : {Lowered(net), Compile(net, {})}) {
    for (const Step& step : program.steps) {
      CHECK(step.inputs.size() + step.outputs.size() < kParts);
    }
    const auto outputs = Interpret(program, net.inputs);
    REQUIRE(outputs.ok());
    const Tensor& given = net.inputs.at("x");
    for (int row = 0; row < kRows; ++row) {
      float sum = 0;
      for (int i = 0; i < kParts; ++i) {
        const int at = row * kParts + i;
        sum += static_cast<float>(given.At(at));
        const double other = given.At(row * kParts + kParts - 1 - i);
        CHECK((*outputs)[1].At(at) == static_cast<float>(given.At(at) + other));
      }
      CHECK((*outputs)[0].At(row) == doctest::Approx(sum));
    }
  }
}

// What the steps of a product of `rows` rows with the first 64 of a text's keys
// write, for the target.
std::vector<Shape> WrittenByAttention(int rows, const char* name) {
  const std::string r = std::to_string(rows);
  const auto text =
      std::make_shared<SourceFile>(SourceFile{"net", R"(
    graph @net {
      %0 "query" = input f32[3, )" + r + R"(, 8]
      %1 "keys" = state f32[3, 128, 8]
      %2 "new" = elemwise_add(%1, %1) : f32[3, 128, 8]
      %3 "filled" = slice_axis(%2) {axis = "1", begin = "0", end = "64"} : f32[3, 64, 8]
      %4 "scores" = batch_dot(%0, %3) {transpose_b = "True"} : f32[3, )" +
                                                         r + R"(, 64]
      return %4 "scores"
      update %1 = %2
    })"});
  Result<Graph> graph = ParseGraph(text);
  REQUIRE_MESSAGE(graph.ok(), Render(graph.errors()));
  const Target target = *ResolveTarget(name);
  const auto planned = RunPipeline(std::move(*graph), {&target}, {});
  REQUIRE_MESSAGE(planned.ok(), Render(planned.errors()));
  std::vector<Shape> written;
  for (const Step& step : planned->steps) {
    for (const int output : step.outputs) {
      written.push_back(planned->buffers[output].type.shape);
    }
  }
  return written;
}

TEST_CASE("a row reads a matrix of its own where it lies") {
  const Shape copy{3, 64, 8};
  for (const char* target : {"x86-64-v3", "aarch64"}) {
    CAPTURE(target);
    const auto of_one = WrittenByAttention(1, target);
    CHECK(std::ranges::find(of_one, copy) == of_one.end());
    CHECK(of_one.size() == 2);
    // More rows are worth a copy that a kernel reads fast.
    const auto of_two = WrittenByAttention(2, target);
    CHECK(std::ranges::find(of_two, copy) != of_two.end());
  }
}

TEST_CASE("steps carry the names of what they come from") {
  const Program program = Compile(ResidualV1(), {});
  bool found = false;
  for (const Step& step : program.steps) {
    found |= step.name == "stem+stem_bn+stem_relu";
  }
  CHECK(found);
}

}  // namespace
}  // namespace mxc
