// SPDX-License-Identifier: Apache-2.0
// One operator with any attributes between inputs of any type: its schema, its
// type function and, where it is small, its meaning.
//
//   input:  u16 the operator's number · lines "attribute=text" · lines
//           "f32 2 3" of inputs, "?" where unknown · 'T' at its end: training
#include <charconv>

#include "ir/graph/supported.h"
#include "ir/program/interpreter.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

constexpr int64_t kMostElements = 64;
constexpr size_t kMostInputs = 9;

std::string_view TakeUntil(std::string_view* text, char end) {
  const std::string_view taken = text->substr(0, text->find(end));
  text->remove_prefix(std::min(taken.size() + 1, text->size()));
  return taken;
}

TensorType TypeOf(std::string_view line) {
  TensorType type;
  type.dtype =
      DTypeFromShortName(TakeUntil(&line, ' ')).value_or(DType::kUnknown);
  Extents dims;
  while (!line.empty()) {
    const std::string_view word = TakeUntil(&line, ' ');
    int64_t extent = Shape::kUnknownDim;
    std::from_chars(word.data(), word.data() + word.size(), extent);
    dims.push_back(std::max(extent, Shape::kUnknownDim));
  }
  if (!dims.empty()) type.shape = Shape(std::move(dims));
  return type;
}

const std::vector<const Operator*>& PublicOperators() {
  static const std::vector<const Operator*> operators = [] {
    std::vector<const Operator*> list;
    for (const Operator* op : AllOperators()) {
      if (!op->internal) list.push_back(op);
    }
    return list;
  }();
  return operators;
}

// Null where the operator refuses the attributes or that many inputs.
Node* AddNode(const Operator& op, std::string_view text, Graph& graph) {
  std::vector<AttrText> written;
  std::vector<Value> inputs;
  while (!text.empty()) {
    const std::string_view line = TakeUntil(&text, '\n');
    if (const size_t equals = line.find('='); equals != line.npos) {
      written.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    } else if (inputs.size() < kMostInputs) {
      Node* variable = graph.AddVariable(std::to_string(inputs.size()));
      variable->types[0] = TypeOf(line);
      inputs.push_back(variable->out());
    }
  }
  std::vector<AttrError> errors;
  AttrsPtr attrs = op.parse(written, errors);
  if (!errors.empty() || (op.check && op.check(attrs.get()))) return nullptr;
  // As files have it: of operators that take any number, num_args says it.
  const size_t needed = op.inputs(attrs.get()).size();
  if (needed > inputs.size()) return nullptr;
  inputs.resize(needed);
  return graph.AddOperator(&op, "op", std::move(attrs), std::move(inputs));
}

bool IsSmall(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    for (const TensorType& type : node->types) {
      const auto elements = CheckedProduct(type.shape.dims());
      if (!elements || *elements > kMostElements) return false;
    }
  }
  return true;
}

void Evaluate(Graph graph) {
  static const auto target = ResolveTarget("x86-64-v3");
  PassContext context;
  context.target = &*target;
  PassOptions required;
  required.level = 0;
  const auto program = RunPipeline(std::move(graph), context, required);
  if (!program.ok()) return;
  std::map<std::string, Tensor> inputs;
  for (const int b : program->BuffersOf(BufferKind::kInput)) {
    const Buffer& buffer = program->buffers[b];
    inputs[buffer.name] = Tensor::Filled(buffer.type, 1);
  }
  (void)Interpret(*program, inputs);
}

void RunOperators(Bytes input) {
  if (input.size() < 2) return;
  const auto& operators = PublicOperators();
  const Operator& op = *operators[Load<uint16_t>(input, 0) % operators.size()];
  std::string_view text = TextOf(input).substr(2);
  Graph graph;
  graph.training = text.ends_with('T');
  if (graph.training) text.remove_suffix(1);
  Node* node = AddNode(op, text, graph);
  if (node == nullptr) return;
  for (int i = 0; i < op.visible_outputs(node->attrs.get()); ++i) {
    graph.outputs.push_back(node->out(i));
    graph.output_names.push_back("out" + std::to_string(i));
  }
  if (!Infers(graph)) return;
  if (IsSmall(graph) && CanBeCompiled(op)) {
    Evaluate(std::move(graph));
  }
}

// --- seeds

// Every attribute with its default, or a text that may be legal.
struct AttrLines : Fields {
  void Visit(Field& field) override {
    if (!field.required) {
      text += std::string(field.name) + "=" + PrintField(field) + "\n";
      return;
    }
    const bool list = std::holds_alternative<Extents*>(field.value);
    text += std::string(field.name) + "=";
    text += !field.one_of.empty() ? std::string(field.one_of[0])
            : list                ? "(2, 2)"
                                  : "2";
    text += "\n";
  }
  std::string text;
};

std::vector<std::string> OperatorsSeeds() {
  std::vector<std::string> seeds;
  for (size_t i = 0; i < PublicOperators().size(); ++i) {
    AttrLines lines;
    if (PublicOperators()[i]->describe) PublicOperators()[i]->describe(lines);
    const std::string number = Number(static_cast<uint16_t>(i));
    seeds.push_back(number + lines.text + "f32 2 3 4 4\n?\n?\n?\n?");
    seeds.push_back(number + lines.text + "f32 3 4\nf32 3 4\n?\n?T");
  }
  return seeds;
}

}  // namespace

extern const Target operators;
const Target operators = {.run = RunOperators,
                          .seeds = OperatorsSeeds,
                          .most_bytes = 512,
                          .words = {"f32 ",
                                    "f16 ",
                                    "f64 ",
                                    "i32 ",
                                    "i64 ",
                                    "u8 ",
                                    "bool ",
                                    "bf16 ",
                                    "?",
                                    "(3, 3)",
                                    "(0,)",
                                    "()",
                                    "None",
                                    "True",
                                    "False",
                                    "-1",
                                    "0",
                                    "9223372036854775807",
                                    "4611686018427387904",
                                    "2147483648",
                                    "1e38",
                                    "nan",
                                    "axis=",
                                    "shape=",
                                    "kernel=",
                                    "stride=",
                                    "pad=",
                                    "dilate=",
                                    "num_filter=",
                                    "num_group=",
                                    "num_hidden=",
                                    "T"}};

}  // namespace mxc::fuzz
