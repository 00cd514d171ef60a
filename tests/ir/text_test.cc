// SPDX-License-Identifier: Apache-2.0
// Print and parse are inverses, on random programs and graphs; damaged texts
// are refused with a place.
#include <doctest/doctest.h>

#include <random>

#include "ir/graph/graph.h"
#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/support/lexer.h"

namespace mxc {
namespace {

using Random = std::mt19937;

int Pick(Random& random, int n) {
  return static_cast<int>(random() % static_cast<unsigned>(n));
}

Expr RandomIndexText(Random& random, std::vector<int>& vars, int depth) {
  switch (depth == 0 ? Pick(random, 2) : Pick(random, 6)) {
    case 0:
      return Expr(Pick(random, 20));
    case 1:
      return Var(vars[Pick(random, static_cast<int>(vars.size()))]);
    default:
      break;
  }
  const Expr a = RandomIndexText(random, vars, depth - 1);
  const Expr b = RandomIndexText(random, vars, depth - 1);
  switch (Pick(random, 6)) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * Expr(1 + Pick(random, 9));
    case 3:
      return a / Expr(1 + Pick(random, 9));
    case 4:
      return a % Expr(1 + Pick(random, 9));
    default:
      return Select(a < b, a, b);
  }
}

// A value that loads from operands of rank 2.
Expr RandomValue(Random& random, std::vector<int> vars, int operands,
                 int depth) {
  if (depth == 0 || Pick(random, 5) == 0) {
    if (Pick(random, 3) == 0) {
      return Constant(static_cast<double>(Pick(random, 1000)) / 7);
    }
    return Load(
        Pick(random, operands), DType::kF32,
        {RandomIndexText(random, vars, 2), RandomIndexText(random, vars, 2)});
  }
  const auto child = [&] {
    return RandomValue(random, vars, operands, depth - 1);
  };
  switch (Pick(random, 7)) {
    case 0:
      return child() + child();
    case 1:
      return child() * child();
    case 2:
      return Max(child(), child());
    case 3:
      return Unary(static_cast<UnaryOp>(Pick(random, 34)), child())->dtype ==
                     DType::kBool
                 ? Tanh(child())
                 : Unary(UnaryOp::kExp, child());
    case 4:
      return Select(child() <= child(), child(), child());
    case 5:
      return Cast(Cast(child(), DType::kI32), DType::kF32);
    default: {
      const int var = FreshReductionVar();
      const Expr begin = RandomIndexText(random, vars, 1);
      vars.push_back(var);
      return Reduce(static_cast<ReduceOp>(Pick(random, 4)),
                    {{var, begin, Expr(9)}},
                    RandomValue(random, vars, operands, depth - 1));
    }
  }
}

Program RandomProgram(unsigned seed) {
  Random random(seed);
  Program program;
  program.name = "net-" + std::to_string(seed);
  program.entry.purpose = Purpose::kInfer;
  const auto add = [&](BufferKind kind) {
    Buffer b;
    b.name = "a \"quoted\" \\ name " + std::to_string(program.buffers.size());
    b.type = {DType::kF32, Shape{1 + Pick(random, 5), 1 + Pick(random, 40)}};
    b.layout = Layout::RowMajor(b.type.shape);
    if (kind == BufferKind::kInternal) {
      b.layout = Layout::Blocked(b.type.shape, 1, 8)
                     .WithHalo({Pick(random, 2), 0}, {1, 0});
      if (Pick(random, 2) == 0) b.layout.dims[1].span = 17;
    }
    b.kind = kind;
    if (kind == BufferKind::kConstant) {
      b.constant = Tensor::Filled(b.type, Pick(random, 9) / 8.0);
    }
    program.buffers.push_back(b);
    return static_cast<int>(program.buffers.size()) - 1;
  };
  const int input = add(BufferKind::kInput),
            weight = add(BufferKind::kConstant);
  for (int s = 0; s < 4; ++s) {
    Step step;
    step.name = "step" + std::to_string(s);
    step.inputs = {input, weight};
    if (s > 0) step.inputs.push_back(program.steps.back().outputs[0]);
    step.outputs = {add(s == 3 ? BufferKind::kOutput : BufferKind::kInternal)};
    step.origins = {"a", "b/c"};
    std::vector<int> vars = {0, 1};
    const Expr value =
        RandomValue(random, vars, static_cast<int>(step.inputs.size()), 4);
    if (s == 2) {
      ContractionStep body;
      body.contraction.batch = 3;
      body.contraction.kernel = body.contraction.data_dilate = {1, 2};
      if (Pick(random, 2) == 0) body.contraction.data_dilate = {1, 1};
      body.contraction.flip = Pick(random, 2) == 0;
      body.contraction.data_axes = {Role::kBatch, Role::kIn};
      body.contraction.weight_axes = {Role::kOut, Role::kIn};
      body.contraction.output_axes = {Role::kBatch, Role::kOut};
      body.choice = {"first-layer", {8, -6, 2}};
      if (Pick(random, 2) == 0) body.maxima = {1, 2};
      ContractionTypes& types = body.contraction.types;
      if (Pick(random, 2) == 0) {
        types = {DType::kBF16, DType::kF64, DType::kF64, DType::kF32};
      }
      body.epilogue = Acc(types.sum) + Cast(value, types.sum);
      step.body = body;
    } else {
      const Shape& shape = program.buffers[step.outputs[0]].type.shape;
      step.body = Map{{{0, {0, 0}, shape.dims(), value}}};
    }
    program.steps.push_back(std::move(step));
  }
  return program;
}

std::shared_ptr<const SourceFile> File(std::string text) {
  return std::make_shared<SourceFile>(SourceFile{"test.ir", std::move(text)});
}

TEST_CASE("programs print and parse back to the same text") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::string text = Print(RandomProgram(seed));
    const auto parsed = ParseProgram(File(text));
    INFO("seed ", seed, "\n", text);
    REQUIRE_MESSAGE(parsed.ok(), Render(parsed.errors()));
    CHECK(Print(*parsed) == text);
  }
}

TEST_CASE("a name with a line feed is read back from within a body") {
  const std::string name = "a\n \"b\"\\n";
  CHECK(Quoted(name) == R"("a\n \"b\"\\n")");
  Lexer lex(std::make_shared<SourceFile>(SourceFile{"text", Quoted(name)}));
  CHECK(lex.QuotedString() == name);
}

TEST_CASE("a variable that no reduction binds is refused") {
  Program program = RandomProgram(1);
  program.steps[0].map()->stores[0].value =
      Cast(Var(FreshReductionVar()), DType::kF32);
  const auto parsed = ParseProgram(File(Print(program)));
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.errors()[0].message.find(
            "expected a variable of a reduction around it") !=
        std::string::npos);
}

TEST_CASE("what follows a text is refused") {
  const auto program = ParseProgram(File(Print(RandomProgram(1)) + "}\n"));
  REQUIRE_FALSE(program.ok());
  CHECK(program.errors()[0].message == "expected the end, found '}'");
  const auto graph = ParseGraph(File("graph @g {\n  return\n}\nupdate"));
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.errors()[0].message == "expected the end, found 'update'");
}

// A program whose first step stores that value, an f32.
std::string Storing(const std::string& value) {
  Program program = RandomProgram(1);
  program.steps[0].map()->stores[0].value = Cast(Var(0), DType::kF32);
  std::string text = Print(program);
  const std::string before = "f32(i0)";
  return text.replace(text.find(before), before.size(), value);
}

TEST_CASE("operations on types that do not have them are refused") {
  for (const char* value :
       {"f32(mulhigh(1, 2))", "f32(mulhigh(1:i32, 2:i32))", "bitand(1.0, 2.0)",
        "bitxor(1.0, 2.0)", "shr(1.0, 2.0)", "f32(bits(1))", "f32(300:u8)",
        "f32(0.5:i64)", "f32(inf:i32)", "f32(18446744073709551616:u64)",
        "f32(-1:u32)"}) {
    CAPTURE(value);
    const auto parsed = ParseProgram(File(Storing(value)));
    CHECK_FALSE(parsed.ok());
  }
  CHECK(ParseProgram(File(Storing("f32(mulhigh(1:u32, 2:u32))"))).ok());
}

TEST_CASE("integers of 64 bits keep all digits in text") {
  for (const char* value :
       {"f32(i0 * 9007199254740993)", "f32(i0 * 9223372036854775807)",
        "f32(i0 * -9223372036854775808)",
        "f32(u64(i0) * 18446744073709551615:u64)"}) {
    const std::string text = Storing(value);
    const auto parsed = ParseProgram(File(text));
    REQUIRE_MESSAGE(parsed.ok(), Render(parsed.errors()));
    CHECK(Print(*parsed) == text);
  }
}

TEST_CASE("damaged program texts are refused or read, never worse") {
  Random random(7);
  const std::string text = Print(RandomProgram(1));
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (int k = 0; k <= Pick(random, 3); ++k) {
      damaged[Pick(random, static_cast<int>(text.size()))] =
          text[Pick(random, static_cast<int>(text.size()))];
    }
    if (Pick(random, 3) == 0) damaged.resize(random() % damaged.size());
    const auto parsed = ParseProgram(File(damaged));
    if (parsed.ok()) continue;
    ++refused;
    CHECK(parsed.errors()[0].loc.known());
  }
  CHECK(refused > 1000);
}

TEST_CASE("graphs print and parse back to the same text") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Random random(seed);
    Graph graph;
    graph.name = "net";
    graph.training = seed % 2 == 1;
    std::vector<Value> values;
    for (int i = 0; i < 3; ++i) {
      Node* variable = graph.AddVariable("v" + std::to_string(i));
      variable->role = static_cast<VariableRole>(i);
      variable->types[0] = {DType::kF32, Shape{2, 3, 8, 8}};
      values.push_back(variable->out());
    }
    values.push_back(
        graph
            .AddConstant("c",
                         Tensor::Filled({DType::kF32, Shape{2, 3, 8, 8}}, 0.1))
            ->out());
    const Operator* activation = FindOperator("Activation");
    const Operator* pooling = FindOperator("Pooling");
    for (int i = 0; i < 8; ++i) {
      const Value from = values[Pick(random, static_cast<int>(values.size()))];
      std::vector<AttrError> errors;
      Node* node = nullptr;
      if (Pick(random, 2) == 0) {
        const AttrText act[] = {{"act_type", "tanh"}};
        node = graph.AddOperator(activation, "act" + std::to_string(i),
                                 activation->parse(act, errors), {from});
      } else {
        const AttrText pool[] = {{"kernel", "(3, 3)"}, {"pad", "(1,1)"}};
        node = graph.AddOperator(pooling, "pool" + std::to_string(i),
                                 pooling->parse(pool, errors), {from});
      }
      values.push_back(node->out());
    }
    Node* opaque = graph.AddOpaque("QConvolution", "q", {values.back()}, 2);
    graph.outputs = {values.back(), opaque->out(1)};
    graph.output_names = {"a_output", "q_output1"};
    REQUIRE(InferTypes(graph, false).ok());
    const std::string text = Print(graph);
    INFO(text);
    const auto parsed = ParseGraph(File(text));
    REQUIRE_MESSAGE(parsed.ok(), Render(parsed.errors()));
    CHECK(Print(*parsed) == text);
  }
}

}  // namespace
}  // namespace mxc
