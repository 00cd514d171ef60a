// SPDX-License-Identifier: Apache-2.0
// What a rule of operators.def is written with: one node of an ONNX graph.
//
//   void ImportRelu(Call& c) { c.Give(0, c.Op<op::Relu>({c.In(0)})); }
//
// Rules build nodes of ir/ops with types that are known: shapes are concrete
// when a network is imported, and operators of constants are constants at once,
// so that what a file computes of shapes is known where a rule asks for it. A
// rule that cannot go on throws by Refuse; the importer catches it at the node,
// and nothing leaves the room.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/attributes.h"
#include "frontend/onnx/schema.h"
#include "frontend/written_builder.h"
#include "ir/ops/operators.h"

namespace mxc::onnx {

// A value of the file.
struct Operand {
  // What it is, where that is known when the network is imported. May have no
  // elements, as no tensor of a graph may.
  std::optional<Tensor> known = {};
  // In the graph; empty where only `known` is there, and for sequences.
  Value value = {};
  // Of a sequence; of an optional, which has at most one.
  std::shared_ptr<const std::vector<Operand>> sequence = {};
  bool optional = false;  // whether `sequence` is that of an optional
  // The name of a parameter whose values `known` are; a variable of that name
  // stands for them in the graph.
  std::string parameter = {};
  // TensorProto.DataType, where the file's type is one that we hold as another:
  // int4 as int8. Else 0.
  int32_t narrow = 0;

  bool given() const {
    return known.has_value() || static_cast<bool>(value) || sequence != nullptr;
  }
  const TensorType& type() const {
    return value ? value.type() : known->type();
  }
};

// Thrown by rules.
struct Refused {
  std::string sentence;
};

class Importer;
class InnerGraph;
struct LoopTurn;
struct Side;

class Call : public WrittenBuilder {
 public:
  using Attributes = std::map<std::string_view, const AttributeProto*>;

  // `origin` is not in the graph; it has the name that new nodes carry on.
  Call(Importer& importer, Graph& graph, const Node& origin,
       const NodeProto& node, int64_t opset, Attributes attributes,
       std::vector<Operand*> inputs);

  const NodeProto& node() const { return node_; }
  // The version of the operator's domain that the model asks for.
  int64_t opset() const { return opset_; }
  // Returns whether the network is given a loss, to be trained.
  bool learns() const;

  // --- attributes, which are the file's by their names; one that no rule asks
  // for is refused when the rule has ended
  bool HasAttribute(std::string_view name);
  int64_t Int(std::string_view name, int64_t fallback);
  int64_t Int(std::string_view name);  // refuses where there is none
  bool Flag(std::string_view name, bool fallback = false) {
    return Int(name, fallback ? 1 : 0) != 0;
  }
  double Float(std::string_view name, double fallback);
  double Float(std::string_view name);
  std::string String(std::string_view name, std::string_view fallback);
  std::string String(std::string_view name);
  std::optional<Extents> Ints(std::string_view name);
  std::optional<std::vector<float>> Floats(std::string_view name);
  std::optional<std::vector<std::string>> Strings(std::string_view name);
  Tensor TensorOf(std::string_view name, int32_t* data_type = nullptr);
  // A number of TensorProto.DataType that we know.
  int32_t DataType(std::string_view name, int32_t fallback);
  int32_t DataType(std::string_view name);  // refuses where there is none
  // The same, which has to be of elements that we hold as they are.
  DType ElementType(std::string_view name, DType fallback);
  // The same, of floats; nullopt where there is none, or 0.
  std::optional<DType> FloatType(std::string_view name);
  const GraphProto& GraphOf(std::string_view name);
  // The attribute is known and changes nothing.
  void Ignore(std::string_view name) { (void)HasAttribute(name); }
  // One of `words`, by its place.
  int OneOf(std::string_view name, std::vector<std::string_view> words,
            int fallback);

  // --- inputs
  int inputs() const { return static_cast<int>(inputs_.size()); }
  bool Has(int i) const {
    return i < inputs() && inputs_[i] != nullptr && inputs_[i]->given();
  }
  // In the graph; refuses where there is none, or where it has no elements.
  Value In(int i);
  const TensorType& TypeOf(int i);
  const Shape& ShapeOf(int i) { return TypeOf(i).shape; }
  int RankOf(int i) { return ShapeOf(i).rank(); }
  DType DTypeOf(int i) { return TypeOf(i).dtype; }
  // Refuses an input whose shape may be a bound of one that data decide.
  void RequireKnownShape(int i);
  // TensorProto.DataType, as the file has it.
  int32_t DataTypeOf(int i);
  // The value, if it does not depend on what the program is given.
  std::optional<Tensor> Known(int i) const;
  // That of a value in the graph.
  std::optional<Tensor> Now(Value value) const;
  // The same, which the operator cannot do without: `what` it is for the
  // sentence that refuses it ("shape").
  Tensor Need(int i, std::string_view what);
  Extents NeedInts(int i, std::string_view what);
  int64_t NeedInt(int i, std::string_view what);
  double NeedFloat(int i, std::string_view what);
  const Operand& operand(int i);
  const std::vector<Operand>& SequenceOf(int i);

  // --- outputs
  int outputs() const { return static_cast<int>(results_.size()); }
  // Returns whether anything reads it.
  bool Wants(int i) const;
  void Give(int i, Value value);
  void Give(int i, Tensor known);
  void Give(int i, Operand operand) {
    if (i < outputs()) results_[i] = std::move(operand);
  }
  // Of output `i`, which is there: the type that the file gives it.
  void SetDataType(int i, int32_t data_type);
  void GiveSequence(int i, std::vector<Operand> elements);

  // --- words
  template <class... Args>
  [[noreturn]] void Refuse(fmt::format_string<Args...> format,
                           Args&&... args) const {
    RefuseWith(format, fmt::make_format_args(args...));
  }
  template <class... Args>
  void Require(bool holds, fmt::format_string<Args...> format,
               Args&&... args) const {
    if (!holds) RefuseWith(format, fmt::make_format_args(args...));
  }

  // --- what rules share
  // An axis that may count from the end, of `rank` axes.
  int Axis(int64_t axis, int rank) const;
  // The same for a list, ascending; refuses one that stands twice.
  Extents Axes(const Extents& axes, int rank) const;
  Value Transpose(Value x, const Extents& axes);
  Value Unsqueeze(Value x, int axis);
  // One entry for each axis; without one the slice goes to the end.
  using Bounds = std::vector<std::optional<int64_t>>;
  Value Slice(Value x, const Bounds& begin, const Bounds& end,
              const Bounds& step);
  // `data` with `part` in place of what is there from `begin` on.
  Value Overwritten(Value data, Value part, const Extents& begin);
  // Over the axes, which stay with the extent 1.
  Value Mean(Value x, const Extents& axes);
  // A shape that the file states for input `i`, for the batch that is asked for.
  Extents Rebatched(int i, Extents stated);
  Value ConstantInts(const Extents& values, std::string_view role);
  // Returns whether a tensor of that shape cannot be in a graph: it has no
  // elements.
  static bool IsEmpty(const Shape& shape);
  // A tensor without elements; refuses extents that none may have.
  Tensor EmptyTensor(DType dtype, const Shape& shape) const;
  // Output 0 without elements.
  void GiveEmpty(DType dtype, const Shape& shape);
  // Refuses more elements of what a rule computes itself than one may have, or
  // than all of the network's may.
  void RequireFew(int64_t elements) const;
  // A scalar as every element of a tensor.
  Value Everywhere(Value scalar, const Shape& shape);
  // What stands for an operand in the graph.
  Value ValueOf(Operand& operand);
  Value ScalarLike(double value, Value like);  // rank 0, of its type

  // Runs a graph that this node holds, which sees the names around it. Its
  // outputs. Nodes are named after this one and `part`.
  std::vector<Operand> Run(const GraphProto& graph, std::vector<Operand> inputs,
                           std::string_view part = "");
  // The same, but what it computes goes into another graph, where `inputs` are.
  // The outputs are values of that graph, those that are known too.
  std::vector<Operand> RunWithin(InnerGraph& within, const GraphProto& graph,
                                 std::vector<Operand> inputs,
                                 std::string_view part);
  // A turn again and again, and one of two sides (inner_graph.h).
  std::vector<Value> Foreach(std::string_view role, LoopTurn& turn,
                             int64_t turns);
  std::vector<Value> WhileLoop(std::string_view role, LoopTurn& turn,
                               int64_t turns);
  std::vector<Value> Cond(Value condition, Side& then, Side& otherwise);
  // Counts towards the nodes that a network may have.
  void CountTurn();

  // For the importer.
  std::vector<Operand>& results() { return results_; }
  std::string UnknownAttribute() const;  // empty: there is none

 protected:
  [[noreturn]] void Broken(const Operator& op, const std::string& why) override;
  std::vector<Value> Made(Node& node, std::vector<Value> outputs) override;

 private:
  // One function for all sentences: rules hold a thousand of them.
  [[noreturn]] static void RefuseWith(fmt::string_view format,
                                      fmt::format_args args);
  const AttributeProto* Find(std::string_view name, int32_t type,
                             std::string_view what);
  std::string InnerPrefix(std::string_view part) const;

  Importer& importer_;
  const NodeProto& node_;
  const int64_t opset_;
  const Attributes attributes_;
  std::set<std::string_view> asked_;
  std::vector<Operand*> inputs_;
  std::vector<Operand> results_;
};

using Rule = void (*)(Call&);

// The least number of a type, or the greatest; infinite for floats.
Element BoundOf(DType dtype, bool greatest);
// A value of the graph, known where it is a constant.
Operand OperandOf(Value value);
// Of i64, as many as the shape has.
Tensor IntTensor(const Extents& values, Shape shape);
// first, first + 1, … up to `rank`.
Extents AxesFrom(int first, int rank);

}  // namespace mxc::onnx
