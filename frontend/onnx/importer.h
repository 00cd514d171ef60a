// SPDX-License-Identifier: Apache-2.0
// An ONNX model → Graph, for one set of input shapes.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/frontend.h"
#include "frontend/onnx/call.h"
#include "frontend/onnx/schema.h"
#include "frontend/onnx/tensor_data.h"

namespace mxc::onnx {

class Importer {
 public:
  // `values` are those of graph inputs that are known now, by name: they are no
  // inputs of the result.
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
  std::optional<Tensor> ValueNow(Value value) const;
  // What a shape that the file states is for the batch that is asked for: where
  // its first extent is the file's own batch, it becomes the one of `data`. The
  // file's is fixed, as exporters write it, who state such shapes, too.
  Extents Rebatched(Extents stated, const Shape& data);
  // Refuses more nodes than a network may have.
  void CountNode();
  std::vector<Operand> RunInner(const GraphProto& graph,
                                std::vector<Operand> inputs);

 private:
  // The names of a graph, or of a function's body.
  struct Scope {
    const Scope* outer = nullptr;
    std::map<std::string_view, Operand> values;
    // Of a function: what its attributes are here.
    const Call::Attributes* attributes = nullptr;
    const std::map<std::string_view, int64_t>* opsets = nullptr;
    std::string prefix;  // of its nodes' names
  };
  struct OpenNode;

  // --- inputs and parameters
  void AddInputs(const GraphProto& graph, Scope& scope);
  void AddInput(const ValueInfoProto& info, Scope& scope);
  bool HasBatch(const TensorShapeDimension& first, int64_t batch);
  void BindSymbols(const GraphProto& graph);
  void AddInitializers(const GraphProto& graph, Scope& scope, bool outermost);

  // --- nodes
  void RunNodes(const std::vector<NodeProto>& nodes, Scope& scope);
  void RunNode(const NodeProto& node, Scope& scope);
  bool RunFunction(Call& call, const NodeProto& node, Scope& scope);
  void Finish(const NodeProto& node, Call& call, const std::string& name,
              Scope& scope);
  static Operand* Find(Scope& scope, Text name);
  static std::vector<const NodeProto*> InOrder(
      const std::vector<NodeProto>& nodes);

  void AddOutputs(const GraphProto& graph, Scope& scope);
  void SetRoles();
  void NameConstants();

  const ModelProto& model_;
  const TensorFiles& files_;
  const BuildOptions& options_;
  std::map<std::string_view, int64_t> opsets_;
  std::map<std::string, const FunctionProto*> functions_;
  std::map<std::string, int64_t, std::less<>> symbols_;
  Graph graph_;
  std::unordered_map<const Node*, Tensor> parameter_values_;  // looked up only
  Scope* scope_ = nullptr;  // of the node that is being imported
  const TensorShapeDimension* batch_axis_ = nullptr;  // of the first input
  int64_t batch_ = 0;                                 // of the first input
  int64_t file_batch_ = 0;  // fixed by an input whose batch is another one now
  bool rebatched_ = false;
  int depth_ = 0;  // of graphs in graphs
  int64_t nodes_ = 0;
  Diagnostics errors_;
};

// The parameters of a model: initializers of floats that are no scalars, and
// constant nodes of more than one float, as they lie in the file.
Result<ParameterArrays> ReadParameterArrays(const ModelProto& model,
                                            const TensorFiles& files);

// "'conv1' (Conv)": a node for messages.
std::string NameForPeople(const NodeProto& node);

}  // namespace mxc::onnx
