// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include "ir/graph/graph.h"
#include "ir/support/lexer.h"

namespace mxc {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 31;  // of a parsed constant
constexpr size_t kMaxRank = 16;
constexpr size_t kMaxOutputs = 4096;

class GraphParser {
 public:
  explicit GraphParser(std::shared_ptr<const SourceFile> file)
      : lex_(std::move(file)) {}

  Result<Graph> Run() {
    lex_.Expect("graph");
    lex_.Expect("@");
    graph_.name = lex_.Identifier();
    while (lex_.Accept("-")) graph_.name += "-" + lex_.Identifier();
    graph_.training = lex_.Accept("training");
    graph_.stateful = lex_.Accept("stateful");
    lex_.Expect("{");
    while (lex_.Peek() == "%") ParseNode();
    lex_.Expect("return");
    if (lex_.Peek() == "%") {
      do {
        graph_.outputs.push_back(ParseRef());
        if (lex_.Peek().starts_with("\"")) {
          graph_.output_names.push_back(lex_.QuotedString());
        }
        graph_.output_uses.push_back(ReadTensorUse(lex_));
      } while (lex_.Accept(","));
    }
    while (lex_.Accept("update")) ParseUpdate();
    lex_.Expect("}");
    lex_.ExpectEnd();
    if (lex_.failed()) return lex_.errors();
    return std::move(graph_);
  }

 private:
  // "%12" or "%12.1", which the lexer takes for one number.
  Value ParseRef() {
    lex_.Expect("%");
    const std::string word = lex_.Identifier();
    const size_t dot = word.find('.');
    const auto it = nodes_.find(word.substr(0, dot));
    const int index =
        dot == std::string::npos ? 0 : std::atoi(word.c_str() + dot + 1);
    if (it == nodes_.end() || index < 0 ||
        index >= static_cast<int>(it->second->types.size())) {
      lex_.Fail("a value defined above");
      return dummy_.AddVariable("")->out();
    }
    return it->second->out(index);
  }

  void ParseUpdate() {
    const Value variable = ParseRef();
    if (variable.node->kind != Node::Kind::kVariable) {
      lex_.Fail("a variable to update");
    }
    lex_.Expect("=");
    graph_.updates.push_back({variable.node, ParseRef()});
  }

  void ParseNode() {
    lex_.Expect("%");
    const std::string number = lex_.Identifier();
    const std::string name = lex_.QuotedString();
    lex_.Expect("=");
    Node* node = ParseBody(name);
    if (node != nullptr) nodes_[number] = node;
  }

  Node* ParseBody(const std::string& name) {
    if (lex_.Accept("opaque")) return ParseOpaque(name);
    const std::string word = lex_.Identifier();
    if (word == "constant") return ParseConstant(name);
    if (word == "input" || word == "parameter" || word == "state") {
      Node* node = graph_.AddVariable(name);
      node->role = word == "input"       ? VariableRole::kInput
                   : word == "parameter" ? VariableRole::kParameter
                                         : VariableRole::kState;
      node->declared = true;
      node->types[0] = ParseType();
      node->use = ReadTensorUse(lex_);
      return node;
    }
    const Operator* op = FindOperator(word);
    if (op == nullptr) {
      lex_.Fail("an operator before '" + std::string(lex_.Peek()) + "'");
      return nullptr;
    }
    return ParseOperator(op, name);
  }

  Node* ParseOperator(const Operator* op, const std::string& name) {
    std::vector<Value> inputs = ParseInputs();
    std::vector<AttrText> texts;
    if (lex_.Accept("{")) {
      do {
        std::string key = lex_.Identifier();
        lex_.Expect("=");
        texts.emplace_back(std::move(key), lex_.QuotedString());
      } while (lex_.Accept(","));
      lex_.Expect("}");
    }
    std::vector<AttrError> errors;
    AttrsPtr attrs = op->parse(texts, errors);
    if (!errors.empty()) lex_.Fail("legal attributes: " + errors[0].message);
    if (lex_.failed()) return nullptr;
    Node* node =
        graph_.AddOperator(op, name, std::move(attrs), std::move(inputs));
    ParseTypes(node);
    return node;
  }

  Node* ParseOpaque(const std::string& name) {
    const std::string op_name = lex_.QuotedString();
    Node* node = graph_.AddOpaque(op_name, name, ParseInputs(), 0);
    ParseTypes(node);
    return node;
  }

  std::vector<Value> ParseInputs() {
    std::vector<Value> inputs;
    lex_.Expect("(");
    while (!lex_.AtEnd() && !lex_.Accept(")")) {
      if (!inputs.empty()) lex_.Expect(",");
      inputs.push_back(ParseRef());
    }
    return inputs;
  }

  void ParseTypes(Node* node) {
    if (!lex_.Accept(":")) return;
    std::vector<TensorType> types;
    do {
      types.push_back(ParseType());
    } while (lex_.Accept(",") && types.size() < kMaxOutputs);
    if (node->kind == Node::Kind::kOperator &&
        types.size() != node->types.size()) {
      return lex_.Fail("one type for each output");
    }
    node->types = std::move(types);
  }

  Node* ParseConstant(const std::string& name) {
    const TensorType type = ParseType();
    const auto elements =
        type.known() ? CheckedProduct(type.shape.dims()) : std::nullopt;
    if (lex_.failed() || !elements || *elements > kMaxElements) {
      lex_.Fail("a constant of known, reasonable size");
      return nullptr;
    }
    std::byte* bytes = nullptr;
    Tensor tensor = Tensor::Allocate(type, &bytes);
    if (lex_.Accept("=")) {
      for (int64_t i = 0; i < *elements && !lex_.failed(); ++i) {
        StoreElement(bytes + i * SizeOf(type.dtype), type.dtype, lex_.Number());
      }
    }
    return graph_.AddConstant(name, std::move(tensor));
  }

  // "f32[1, ?, 8]", "f32[...]", "?[2]".
  TensorType ParseType() {
    TensorType type;
    if (!lex_.Accept("?")) {
      const auto dtype = DTypeFromShortName(lex_.Peek());
      if (!dtype) lex_.Fail("an element type");
      lex_.Identifier();
      type.dtype = dtype.value_or(DType::kUnknown);
    }
    lex_.Expect("[");
    if (lex_.Accept("..")) {
      lex_.Expect(".");
      lex_.Expect("]");
      return type;
    }
    Extents dims;
    while (!lex_.AtEnd() && !lex_.Accept("]")) {
      if (!dims.empty()) lex_.Expect(",");
      dims.push_back(lex_.Accept("?") ? Shape::kUnknownDim : lex_.Integer());
      if (dims.back() < Shape::kUnknownDim || dims.size() > kMaxRank) {
        lex_.Fail("a dimension");
      }
    }
    type.shape = Shape(dims);
    return type;
  }

  Lexer lex_;
  Graph graph_, dummy_;
  std::map<std::string, Node*> nodes_;
};

}  // namespace

Result<Graph> ParseGraph(std::shared_ptr<const SourceFile> text) {
  return GraphParser(std::move(text)).Run();
}

}  // namespace mxc
