// SPDX-License-Identifier: Apache-2.0
// Graph: a network as operators. Nodes are owned by the graph and live as long
// as it does; a Value is one output of a node. Names need not be unique.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph/operator.h"
#include "ir/graph/tensor.h"
#include "ir/graph/tensor_use.h"
#include "ir/graph/written.h"
#include "ir/support/diagnostic.h"
#include "ir/support/result.h"

namespace mxc {

class Node;

struct Value {
  Node* node = nullptr;
  int index = 0;

  const TensorType& type() const;
  const Shape& shape() const { return type().shape; }
  explicit operator bool() const { return node != nullptr; }
  friend bool operator==(const Value&, const Value&) = default;
};

// What a variable stands for once the graph is to be compiled. The caller feeds
// inputs in every run; parameters and states live from run to run, each run
// may compute their next values.
enum class VariableRole { kInput, kParameter, kState };

class Node {
 public:
  enum class Kind {
    kVariable,  // fed by the caller, or a parameter, or a state
    kConstant,  // a tensor known now
    kOperator,
    kOpaque,  // an operator we do not know; kept until something is compiled
  };

  Kind kind = Kind::kOperator;
  const Operator* op = nullptr;  // kOperator only
  std::string name;
  AttrsPtr attrs;  // kOperator only
  std::vector<Value> inputs;
  std::vector<TensorType> types;  // one for each output

  VariableRole role = VariableRole::kInput;  // kVariable only
  TensorUse use;                             // kVariable only
  // kVariable of role kInput: the network declares it, so it stays in the graph
  // and becomes an input of the program, whether anything reads it or not.
  bool declared = false;
  // kConstant: the value. A parameter or state: what it is before the first
  // run; zeros if empty.
  Tensor constant;
  std::string op_name;      // the file's word for the operator
  std::string why_unknown;  // kOpaque only: of an operator with that name
  WrittenNode written;
  // The nodes of the user's network that this one carries on; its own name
  // when empty. Passes that merge nodes join their origins.
  std::vector<std::string> origins;
  // Of a batch that passes in parts (TrainingOptions::micro_batches), the part
  // that it is of; -1: of none, or of all.
  int part = -1;
  // Computes gradients alone. A node that stands for several computes them alone
  // if all did.
  bool backward = false;

  SourceLoc loc;
  std::map<std::string, SourceLoc> attr_locs;  // by attribute name

  bool is_declared_input() const {
    return declared && kind == Kind::kVariable && role == VariableRole::kInput;
  }
  bool Is(std::string_view operator_name) const {
    return kind == Kind::kOperator && op->name == operator_name;
  }
  template <class Attrs>
  const Attrs& As() const {
    MXC_CHECK(kind == Kind::kOperator && op->attrs_type == typeid(Attrs),
              "node '{}'", name);
    return *static_cast<const Attrs*>(attrs.get());
  }
  Value out(int index = 0) { return {this, index}; }
  // How many of the last outputs are the next values of the kState inputs.
  int NextStates() const {
    return op != nullptr && op->next_states ? op->next_states(attrs.get()) : 0;
  }
  bool IsLossHead() const {
    return kind == Kind::kOperator && op->loss_head &&
           op->loss_head(attrs.get());
  }
  // "output", "mean" …; "output" for variables and constants.
  std::string OutputName(int index) const;

  int id() const { return id_; }  // unique in its graph, in order of creation

 private:
  friend class Graph;
  int id_ = 0;
};

inline const TensorType& Value::type() const { return node->types[index]; }

// A run ends with variable = next. All reads of the variable see the value that
// it had before the run.
struct Update {
  Node* variable = nullptr;  // a parameter or state; once at most
  Value next;                // of the variable's type
};

struct ValueHash {
  size_t operator()(const Value& value) const {
    return std::hash<const Node*>()(value.node) * 31 +
           static_cast<size_t>(value.index);
  }
};

// Values that others stand for from now on. A pass that visits the nodes in
// topological order notes here what it replaces and updates the inputs of each
// node when it comes to it; Graph::ReplaceUses settles the rest at its end, so
// that a pass looks at each node once.
class Replacements {
 public:
  // All that reads `from` is to read `to`, which does not depend on `from`.
  void Add(Value from, Value to);
  // What stands for `value` now; itself where nothing does.
  Value Of(Value value);
  void ApplyTo(Node& node);  // to its inputs
  bool empty() const { return by_.empty(); }

 private:
  std::unordered_map<Value, Value, ValueHash> by_;  // looked up only
};

class Graph {
 public:
  Graph() = default;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  std::string name = "net";
  std::vector<Value> outputs;
  std::vector<std::string> output_names;  // as MXNet's list_outputs()
  // Of the outputs that training adds; others, behind the last ones too, have
  // none.
  std::vector<TensorUse> output_uses;
  std::vector<Update> updates;
  bool training = false;  // forward(is_train=True): batch statistics, dropout
  // Parameters and states live from run to run; else only those that have an
  // update do (a random counter), and the caller feeds the others as inputs.
  bool stateful = false;
  WrittenGraph written;

  Node* AddVariable(std::string name);
  // An output that is called as its use says.
  void AddOutput(Value value, TensorUse use);
  TensorUse OutputUse(size_t output) const;
  // The last output of that role; empty if there is none.
  Value OutputOf(TensorRole role) const;
  Node* AddConstant(std::string name, Tensor value);
  // Output types are unknown until inference.
  Node* AddOperator(const Operator* op, std::string name, AttrsPtr attrs,
                    std::vector<Value> inputs);
  Node* AddOpaque(std::string op_name, std::string name,
                  std::vector<Value> inputs, int outputs);

  // The nodes that the outputs and updates depend on, each after its inputs, in
  // MXNet's order: post-order, inputs from left to right (nnvm::DFSVisit). Then
  // the declared inputs that nothing reads, in order of creation.
  std::vector<Node*> TopologicalOrder() const;
  // All nodes in order of creation, dead ones too.
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }

  // Variables of the topological order with the given role, in that order.
  std::vector<Node*> Variables(VariableRole role) const;
  // The first of that name; null if there is none.
  Node* FindVariable(const std::string& name) const;

  // Every reader of a replaced value, every graph output and update, reads what
  // stands for it then.
  void ReplaceUses(Replacements& replaced);
  // Deletes the nodes that are not in TopologicalOrder. True if there were any.
  bool RemoveDeadNodes();

 private:
  Node* Add(Node::Kind kind, std::string name);
  int next_id_ = 0;
  std::vector<std::unique_ptr<Node>> nodes_;
  // By the name that they were added under, in order of creation.
  std::unordered_map<std::string, std::vector<Node*>> variables_;
};

// Runs every type function forward and backward until nothing new follows
// (MXNet 1.9.1 src/executor/infer_graph_attr_pass.cc). Variables start from the
// types they have. Float is assumed for element types still unknown at the end.
// Reports contradictions; if `complete`, what stays unknown and broken views.
Status InferTypes(Graph& graph, bool complete);

// The invariants that hold after every pass: inputs exist, acyclic, types known
// and in agreement with the operators. Null when they hold, else what is
// broken.
std::optional<std::string> Verify(const Graph& graph);

// Equal for graphs that print equally.
uint64_t Hash(const Graph& graph);

// The text form; Parse(Print(g)) prints the same.
std::string Print(const Graph& graph);
Result<Graph> ParseGraph(std::shared_ptr<const SourceFile> text);

}  // namespace mxc
