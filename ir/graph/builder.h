// SPDX-License-Identifier: Apache-2.0
// Builds nodes with known types, for rules that express an operator, its
// gradient, or an update by other operators.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/graph/typed_operator.h"

namespace mxc {

class GraphBuilder {
 public:
  // New nodes are named `origin`/<role> and carry its location and origins.
  GraphBuilder(Graph& graph, const Node& origin)
      : graph_(graph), origin_(origin) {}
  virtual ~GraphBuilder() = default;

  // A node of the operator `Id` (ir/ops/operators.h); its types are inferred at
  // once and must be complete. Without a role it is named as its operator.
  template <class Id>
  Value Op(std::vector<Value> inputs, std::string_view role = "") {
    return Ops<Id>(std::move(inputs), role)[0];
  }
  template <class Id>
  Value Op(std::vector<Value> inputs, typename AttrsOf<Id>::type attrs,
           std::string_view role = "") {
    return Ops<Id>(std::move(inputs), std::move(attrs), role)[0];
  }
  // All outputs of the same.
  template <class Id>
  std::vector<Value> Ops(std::vector<Value> inputs,
                         std::string_view role = "") {
    return MakeDefault(OperatorOf<Id>(), std::move(inputs), role);
  }
  template <class Id>
  std::vector<Value> Ops(std::vector<Value> inputs,
                         typename AttrsOf<Id>::type attrs,
                         std::string_view role = "") {
    using Attrs = typename AttrsOf<Id>::type;
    return Make(OperatorOf<Id>(), std::move(inputs), typeid(Attrs),
                std::make_shared<const Attrs>(std::move(attrs)), role);
  }
  // The same for an operator that follows from what a file says, with attributes
  // as MXNet's text.
  Value Op(const Operator& op, std::vector<Value> inputs,
           std::vector<AttrText> attrs = {}, std::string_view role = "") {
    return Ops(op, std::move(inputs), std::move(attrs), role)[0];
  }
  // All outputs of the same.
  std::vector<Value> Ops(const Operator& op, std::vector<Value> inputs,
                         std::vector<AttrText> attrs = {},
                         std::string_view role = "");
  // From now on nodes are named `origin`/`part`/<role>: what belongs together in
  // an operator of many ("layer0"). Empty: they no longer are.
  void BeginPart(std::string_view part) {
    part_ = part.empty() ? "" : std::string(part) + "/";
  }
  Value Constant(Tensor value, std::string_view role);
  Value Scalar(double value, DType dtype = DType::kF32);  // shape (1)

  // --- what ir/ops/builder_operators.cc makes of operators

  // --- arithmetic, with NumPy broadcasting; both sides of one element type
  Value Add(Value a, Value b);
  Value Sub(Value a, Value b);
  Value Mul(Value a, Value b);
  Value Div(Value a, Value b);
  Value Maximum(Value a, Value b);
  // 1 where a > b, else 0, of the element type of both.
  Value Greater(Value a, Value b);
  Value Add(Value a, double b);
  Value Sub(Value a, double b);
  Value Sub(double a, Value b);
  Value Mul(Value a, double b);
  Value Div(Value a, double b);
  Value Div(double a, Value b);
  Value Neg(Value a);
  Value Square(Value a);
  Value Sqrt(Value a);
  Value Sign(Value a);
  Value Abs(Value a);
  Value Exp(Value a);
  Value Log(Value a);
  // condition ≠ 0 ? a : b, elementwise; all of one shape.
  Value Where(Value condition, Value a, Value b);
  // Of tensors of one type, as many as there are.
  Value AddAll(const std::vector<Value>& terms, std::string_view role);

  // --- shapes and element types
  Value Reshape(Value x, const Shape& shape);  // x itself if it has it already
  // The elements with begin ≤ index < end along `axis`.
  Value SliceAxis(Value x, int axis, int64_t begin, int64_t end,
                  std::string_view role = "");
  // Joined along `axis`; a part itself if it is the only one.
  Value Concat(const std::vector<Value>& parts, int axis,
               std::string_view role = "");
  // Summed over `axes` (ascending, not empty).
  Value Sum(Value x, const Extents& axes, bool keepdims = false);
  // Summed over the axes along which a tensor of `shape` was broadcast to x's
  // shape: the gradient of broadcasting.
  Value SumTo(Value x, const Shape& shape);
  Value BroadcastTo(Value x, const Shape& shape);
  Value Cast(Value x, DType dtype);  // x itself if it is of that type already
  Value Zeros(const TensorType& type);
  Value Ones(const TensorType& type);

  bool training() const { return graph_.training; }
  int64_t mxnet_version() const { return graph_.written.version; }
  const Node& origin() const { return origin_; }
  // The variable of that name, role kState, made with `initial` if it is new.
  Value State(std::string_view name, Tensor initial, TensorUse use = {});
  // The run ends with `variable` = `next`.
  void Update(Value variable, Value next);

  // --- random numbers (ir/program/philox.h): the same for the same state,
  // node name, role and element index; between different ones independent
  // The state variable `random`, i64[2]: seed and counter. A run of a graph
  // that asks for it adds 1 to the counter.
  Value RandomState();
  // f32, uniform in [0, 1), and normal of mean 0 and variance 1.
  Value Uniform(const Shape& shape, std::string_view role = "uniform");
  Value Normal(const Shape& shape, std::string_view role = "normal");
  // The stream of the origin's numbers for this role.
  int64_t Stream(std::string_view role) const;

 protected:
  // Called where an operator refuses what it is given, `why` as it says it.
  // Aborts, since rules know what they ask for. A front end, which asks for what
  // files say, overrides it, and throws.
  [[noreturn]] virtual void Broken(const Operator& op, const std::string& why);
  // Called with attributes before anything reads them. A front end, whose
  // attributes follow from what files say, overrides it and refuses illegal ones.
  virtual void CheckAttrs(const Operator&, const void* /*attrs*/) {}
  // Called with every new node, whose types are known, and its outputs. Returns
  // what stands for the outputs.
  virtual std::vector<Value> Made(Node& node, std::vector<Value> outputs);

  Graph& graph_;
  const Node& origin_;
  std::string_view prefix_;  // of roles

 private:
  // `type` is that of the attributes, which has to be the operator's.
  std::vector<Value> Make(const Operator& op, std::vector<Value> inputs,
                          std::type_index type, AttrsPtr attrs,
                          std::string_view role);
  std::vector<Value> MakeDefault(const Operator& op, std::vector<Value> inputs,
                                 std::string_view role);
  AttrsPtr Parsed(const Operator& op, const std::vector<AttrText>& attrs);

  std::string part_;  // empty, or with a slash
};

// What a gradient rule is written with. New nodes are named
// `origin`/grad:<role>.
class GradientBuilder : public GraphBuilder {
 public:
  // `heads`: the gradient of each output of `node`, empty where none arrives.
  // `needed`: whether the gradient of each input will be used.
  GradientBuilder(Graph& graph, Node& node, std::vector<Value> heads,
                  std::vector<bool> needed);

  int inputs() const { return static_cast<int>(node_.inputs.size()); }
  int outputs() const { return static_cast<int>(node_.types.size()); }
  Value In(int i) const { return node_.inputs[i]; }
  Value Out(int i = 0) const { return {&node_, i}; }
  bool HasHead(int i) const { return static_cast<bool>(heads_[i]); }
  // The gradient of an output; zeros where none arrives.
  Value Head(int i = 0);
  // A rule may leave out what is not needed, and should where it costs nodes.
  bool Needs(int i) const { return needed_[i]; }
  // The operator's attributes, for an operator of the same.
  std::vector<AttrText> Attrs() const;
  // That of the one output, summed to the shape of an input that was broadcast;
  // empty where it is not needed.
  Value HeadSummedTo(int input);
  // As many empty values as there are inputs.
  std::vector<Value> None() const { return std::vector<Value>(inputs()); }

  // The gradients of an operator with one output whose meaning reads every
  // input at the index of the output or broadcast along it: by its `slope`, or
  // else by symbolic derivatives of the meaning (ir/program/derivative.h).
  std::vector<Value> Elementwise();

 private:
  std::string InputName(int i) const;

  Node& node_;
  std::vector<Value> heads_;
  std::vector<bool> needed_;
};

}  // namespace mxc
