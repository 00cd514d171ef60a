// SPDX-License-Identifier: Apache-2.0
// A Caffe net → Graph, for one state and one set of input shapes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/caffe/layer.h"
#include "frontend/caffe/net.h"
#include "frontend/frontend.h"

namespace mxc::caffe {

class Importer {
 public:
  Importer(const Net& net, const BuildOptions& options, Diagnostics& notes)
      : net_(net), options_(options), notes_(notes) {}

  // Variables have roles; types are known as far as those of the inputs are.
  Result<Graph> Run();

  // --- for Layer
  bool training() const { return options_.state.training; }
  const std::shared_ptr<const SourceFile>& source() const {
    return net_.source;
  }
  void AddNote(Diagnostic note) { notes_.push_back(std::move(note)); }
  Node* AddNode(const Operator* op, const std::string& name, AttrsPtr attrs,
                const std::vector<Value>& inputs);
  Node* AddVariable(const std::string& name, const TensorType& type);
  void Rename(Node& node, const std::string& name);
  // What the operator refuses; what follows for its inputs is noted in them.
  std::optional<std::string> InferNode(Node& node);

  // By which a training divides the gradients that loss heads add up.
  double Batch() const;

  // Parameters that layers have in common, by their names.
  Node* FindShared(Text name) const;
  void Share(Text name, Node& variable) { shared_[name] = &variable; }
  Value Shared(Node& variable, const ParamSpec& spec, const Shape& shape,
               Layer& layer);

 private:
  // What a layer of data gives, until somebody asks for it.
  struct Source {
    Shape shape;
    const LayerParameter* layer = nullptr;
  };

  void ImportLayer(const LayerParameter& param);
  void RequireFreeTops(Layer& layer) const;
  std::vector<Value> BottomsOf(Layer& layer);
  std::optional<Value> FindBlob(Text name, Layer& layer);
  Shape ShapeOfInput(const std::string& input, const Source& source) const;
  Value AddInput(Text name, const Source& source, Layer& layer);
  // The sources of the layers that the state leaves out, too.
  void FindSources();
  void AddTops(const Layer& layer);
  void WeighTops(Layer& layer);
  void AddOutputs();
  std::string UniqueName(const std::string& name);

  const Net& net_;
  const BuildOptions& options_;
  Diagnostics& notes_;
  Graph graph_;
  std::map<Text, Value> blobs_;      // the last top of each name
  std::map<Text, Source> sources_;   // not asked for yet
  std::map<Text, Source> left_out_;  // of layers that are not in the state
  std::set<Text> unread_;            // what becomes an output
  std::map<Text, Node*> shared_;
  std::vector<Value> topless_;  // losses without a top, which are outputs, too
  std::set<std::string> names_;
  std::map<std::string, int> numbers_;  // the last one behind each name
  Diagnostics errors_;
};

}  // namespace mxc::caffe
