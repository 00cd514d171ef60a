// SPDX-License-Identifier: Apache-2.0
// An ONNX model → Graph, for one set of input shapes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/frontend.h"
#include "frontend/onnx/call.h"
#include "frontend/onnx/inner_graph.h"
#include "frontend/onnx/input_extents.h"
#include "frontend/onnx/schema.h"
#include "frontend/onnx/tensor_data.h"
#include "frontend/onnx/value_now.h"

namespace mxc::onnx {

class Importer {
 public:
  // All must outlive this.
  Importer(const ModelProto& model, const TensorFiles& files,
           const BuildOptions& options);

  // Variables have roles; every type is known.
  Result<Graph> Run(Diagnostics& notes);

  // --- for Call
  const TensorFiles& files() const { return files_; }
  bool learns() const { return !options_.loss.empty(); }
  Value ValueOf(Operand& operand);
  // The value, where it follows from constants and the present values of small
  // parameters.
  std::optional<Tensor> ValueNow(Value value) {
    return onnx::ValueNow(value, parameter_values_, work_left_);
  }
  // Notes a new node that reads what has a length which data decide.
  void NoteLength(const Node& node);
  bool MayHaveLengthByData(Value value) const {
    return lengths_.contains(value.node);
  }
  // As InputExtents does.
  Extents Rebatched(Extents stated, const Shape& data) {
    return extents_->Rebatched(std::move(stated), data);
  }
  // Refuses more nodes than a network may have; `nodes` is how many the work of
  // one is worth.
  void CountNode(int64_t nodes = 1);
  // The same for elements of sequences, which are copied again and again.
  void CountElements(int64_t elements);
  // Refuses more memory than what is computed may have in all.
  void TakeBytes(int64_t bytes);
  // The node's values, where its inputs are constants and they take little work,
  // each by itself and all in all.
  std::optional<std::vector<Tensor>> Folded(const Node& node, double most);
  // Of a graph that the node holds which is being imported. Its nodes' names
  // begin with `prefix`; they go into `within` unless that is null.
  std::vector<Operand> RunInner(const GraphProto& graph,
                                std::vector<Operand> inputs,
                                const std::string& prefix, InnerGraph* within);

 private:
  // The names of a graph, or of a function's body.
  struct Scope {
    Scope* outer = nullptr;
    // Where its nodes are in a graph of their own: that, the one around it, and
    // how many are opened around it.
    InnerGraph* within = nullptr;
    Graph* around = nullptr;
    size_t opened = 0;
    std::map<std::string_view, Operand> values;
    // Of a function: what its attributes are here.
    const Call::Attributes* attributes = nullptr;
    const std::map<std::string_view, int64_t>* opsets = nullptr;
    std::string prefix;  // of its nodes' names
  };
  // Where the importer is; it is there again when this ends, as it does by
  // refusals, too: a rule may try another way then.
  class Place {
   public:
    explicit Place(Importer& importer)
        : importer_(importer),
          here_(importer.here_),
          opened_(importer.opened_),
          depth_(importer.depth_) {}
    ~Place() {
      importer_.here_ = here_;
      importer_.opened_ = std::move(opened_);
      importer_.depth_ = depth_;
    }
    Place(const Place&) = delete;

   private:
    Importer& importer_;
    Graph* const here_;
    std::vector<InnerGraph*> opened_;
    const int depth_;
  };

  // --- inputs and parameters
  void AddInputs(const GraphProto& graph, Scope& scope);
  Operand AddInput(Text input, const TypeProto* asked);
  void AddSequenceInput(const ValueInfoProto& info, const TypeProto& element,
                        Scope& scope);
  void AddInitializers(const GraphProto& graph, Scope& scope, bool outermost);

  // --- nodes
  static Call::Attributes AttributesOf(const NodeProto& node,
                                       const Scope& scope);
  const std::vector<const NodeProto*>& OrderOf(
      const std::vector<NodeProto>& nodes);
  void RunNodes(const std::vector<NodeProto>& nodes, Scope& scope);
  void RunNode(const NodeProto& node, Scope& scope);
  // A name of at most so many bytes: a long one's beginning, and its hash.
  static std::string Shortened(std::string_view name, size_t most);
  static std::string FunctionKey(Text domain, Text name, Text overload);
  bool RunFunction(Call& call, const NodeProto& node, Scope& scope);
  void Finish(const NodeProto& node, Call& call, const std::string& name,
              Scope& scope);
  Operand* Find(Scope& scope, Text name);
  // What stands in a scope that has a graph of its own for an operand outside.
  Operand Inside(Operand& outside, Scope& scope);
  Value ConstantHere(const Tensor& tensor);

  void AddOutput(Operand& operand, const std::string& name);
  // That the program holds elements of the file's type as ours.
  void NoteNarrow(std::string_view what, Text name, const Operand& operand);
  void AddOutputs(const GraphProto& graph, Scope& scope);
  void SetRoles();
  void NameConstants();

  const ModelProto& model_;
  const TensorFiles& files_;
  const BuildOptions& options_;
  std::map<std::string_view, int64_t> opsets_;
  std::map<std::string, const FunctionProto*> functions_;
  std::optional<InputExtents> extents_;  // of the outermost graph
  std::set<std::string> bound_;          // inputs that have their values
  Graph graph_;
  Graph* here_ = &graph_;             // where nodes go now
  std::vector<InnerGraph*> opened_;   // the last is here_, if there are any
  ParameterValues parameter_values_;  // looked up only
  Scope* scope_ = nullptr;            // of the node that is being imported
  int depth_ = 0;                     // of graphs in graphs
  int64_t nodes_ = 0, elements_ = 0;
  std::set<const Node*> lengths_;  // looked up only
  // Of the interpreter, as ConstantValue counts it, and of memory.
  double work_left_ = 1e9;
  int64_t bytes_left_ = int64_t{1} << 30;
  // Of the nodes of a graph, which is asked for at each turn of a loop.
  std::map<const std::vector<NodeProto>*, std::vector<const NodeProto*>>
      orders_;
  bool left_out_ = false;  // whether an output is, which has no elements
  Diagnostics errors_;
  Diagnostics notes_;
};

}  // namespace mxc::onnx
