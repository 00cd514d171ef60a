// SPDX-License-Identifier: Apache-2.0
#include "frontend/caffe/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/caffe/layers.h"
#include "frontend/protobuf/text.h"
#include "frontend/variables.h"
#include "ir/graph/constraint.h"
#include "ir/support/nearest.h"

namespace mxc::caffe {
namespace {

constexpr size_t kMostNodes = 200'000;

// "phase TEST, stage deploy"
std::string NameOf(const NetworkState& state) {
  std::string name = state.training ? "phase TRAIN" : "phase TEST";
  if (state.level != 0) name += fmt::format(", level {}", state.level);
  if (!state.stages.empty()) {
    name += fmt::format(", stage {}", fmt::join(state.stages, ", "));
  }
  return name;
}

}  // namespace

Result<Graph> Importer::Run() {
  MXC_ASSIGN(const auto layers, LayersFor(net_, options_.state));
  graph_.name = std::string(net_.net.name);
  FindSources();
  for (const LayerParameter* layer : layers) {
    ImportLayer(*layer);
    if (errors_.full()) break;
  }
  if (errors_.empty()) AddOutputs();
  if (!errors_.empty()) return std::move(errors_);
  return std::move(graph_);
}

void Importer::FindSources() {
  for (const LayerParameter& layer : net_.net.layer) {
    if (!IsSource(layer)) continue;
    const std::vector<Shape> shapes = ShapesOfSource(layer);
    for (size_t i = 0; i < layer.top.size(); ++i) {
      left_out_.emplace(layer.top[i], Source{shapes[i], &layer});
    }
  }
}

void Importer::ImportLayer(const LayerParameter& param) {
  Layer layer(*this, param, std::string(param.name));
  try {
    RequireFreeTops(layer);
    if (IsSource(param)) {
      if (!param.bottom.empty()) layer.Fail("has bottoms, expected none");
      const std::vector<Shape> shapes = ShapesOfSource(param);
      for (size_t i = 0; i < param.top.size(); ++i) {
        sources_[param.top[i]] = {shapes[i], &param};
      }
      return;
    }
    const LayerType* type = FindLayerType(param.type);
    if (type == nullptr) {
      const auto names = LayerTypeNames();
      layer.Fail("unknown type of layer{}",
                 NearestNote(Nearest(param.type, names)));
    }
    layer.SetBottoms(BottomsOf(layer));
    type->import(layer);
    if (training()) WeighTops(layer);
    AddTops(layer);
  } catch (const LayerRefused& refused) {
    if (!refused.unknown || errors_.empty()) errors_.push_back(refused.error);
    // What reads its tops is not wrong for that.
    for (const Text top : param.top) {
      blobs_[top] = AddVariable(std::string(top), {DType::kF32, {}})->out();
    }
  }
}

// A blob has one maker, and layers that change it in place.
void Importer::RequireFreeTops(Layer& layer) const {
  const auto& bottoms = layer.param().bottom;
  const auto& tops = layer.param().top;
  for (size_t i = 0; i < tops.size(); ++i) {
    const bool in_place = i < bottoms.size() && bottoms[i] == tops[i];
    if (!in_place && (blobs_.contains(tops[i]) || sources_.contains(tops[i]))) {
      layer.Fail("another layer makes its top '{}', too", tops[i]);
    }
  }
}

std::vector<Value> Importer::BottomsOf(Layer& layer) {
  std::vector<Value> bottoms;
  for (const Text name : layer.param().bottom) {
    const auto blob = FindBlob(name, layer);
    if (!blob) {
      std::vector<std::string_view> known;
      for (const auto& [other, value] : blobs_) known.push_back(other);
      for (const auto& [other, source] : sources_) known.push_back(other);
      layer.Fail("no layer before it makes its bottom '{}' in {}{}", name,
                 NameOf(options_.state), NearestNote(Nearest(name, known)));
    }
    unread_.erase(name);
    bottoms.push_back(*blob);
  }
  return bottoms;
}

std::optional<Value> Importer::FindBlob(Text name, Layer& layer) {
  if (const auto found = blobs_.find(name); found != blobs_.end()) {
    return found->second;
  }
  if (const auto found = sources_.find(name); found != sources_.end()) {
    return AddInput(name, found->second, layer);
  }
  const auto other = left_out_.find(name);
  if (other == left_out_.end()) return std::nullopt;
  layer.Note("'{}' is an input as in the layer '{}', which {} leaves out", name,
             other->second.layer->name, NameOf(options_.state));
  return AddInput(name, other->second, layer);
}

// What the caller says of the shape wins over the file, as SetInputTypes has
// it, which checks once more what it says. Labels have as many samples as the
// data beside them.
Shape Importer::ShapeOfInput(const std::string& input,
                             const Source& source) const {
  Shape shape = source.shape;
  if (const auto given = options_.input_shapes.find(input);
      given != options_.input_shapes.end()) {
    shape = given->second;
  } else if (const auto known = options_.known_shapes.find(input);
             known != options_.known_shapes.end() && !shape.known()) {
    shape = known->second;
    if (!options_.known_batch && shape.rank() > 0) {
      shape[0] = Shape::kUnknownDim;
    }
  } else if (shape.known_rank() && shape.rank() == 1) {
    const auto beside =
        options_.input_shapes.find(std::string(source.layer->top[0]));
    if (beside != options_.input_shapes.end() && !beside->second.empty()) {
      shape[0] = beside->second[0];
    }
  }
  if (options_.batch > 0 && shape.known_rank() && shape.rank() > 0) {
    shape[0] = options_.batch;
  }
  return shape;
}

Value Importer::AddInput(Text name, const Source& source, Layer& layer) {
  const std::string input(name);
  const Shape shape = ShapeOfInput(input, source);
  const auto negative = [](int64_t dim) {
    return dim < 0 && dim != Shape::kUnknownDim;
  };
  if (const auto unfit = Unfit({DType::kF32, shape})) {
    layer.Fail("its bottom '{}' has {}", name, *unfit);
  }
  if (shape.known_rank() && std::ranges::any_of(shape.dims(), negative)) {
    layer.Fail("its bottom '{}' has the shape {}, which cannot be", name,
               ToString(shape));
  }
  // By this name the caller speaks of it, whatever else is called so.
  names_.insert(input);
  Node* variable = graph_.AddVariable(input);
  variable->op_name = "null";
  variable->types[0] = {DType::kF32, shape};
  variable->loc = protobuf::LocateIn(net_.source, *source.layer);
  blobs_[name] = variable->out();
  return variable->out();
}

void Importer::AddTops(const Layer& layer) {
  const auto& tops = layer.param().top;
  const auto& values = layer.top_values();
  for (size_t i = 0; i < tops.size(); ++i) {
    if (i >= values.size() || !values[i]) continue;
    blobs_[tops[i]] = values[i];
    unread_.insert(tops[i]);
  }
  const bool loss = layer.param().type.ends_with("Loss");
  if (loss && tops.empty() && !values.empty() && values[0]) {
    topless_.push_back(values[0]);
  }
}

// A top of any layer is part of the objective, where the layer gives it a
// weight; the rules of losses see to their own.
void Importer::WeighTops(Layer& layer) {
  const LayerParameter& param = layer.param();
  if (param.type.ends_with("Loss")) return;
  for (int i = 0; i < layer.tops(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (at >= param.loss_weight.size() || param.loss_weight[at] == 0) continue;
    if (at >= layer.top_values().size() || !layer.top_values()[at]) continue;
    SetLoss(layer, i, layer.SumFrom(layer.top_values()[at], 0));
  }
}

// Caffe's order: by name.
void Importer::AddOutputs() {
  OutputNamer namer;
  for (const Text name : unread_) {
    AddOutput(graph_, blobs_.at(name), namer);
  }
  for (const Value loss : topless_) AddOutput(graph_, loss, namer);
  if (graph_.outputs.empty()) {
    errors_.push_back(Error({}, "{}: the net has no outputs in {}",
                            net_.source->path, NameOf(options_.state)));
  }
}

double Importer::Batch() const {
  for (const auto& node : graph_.nodes()) {
    if (node->kind != Node::Kind::kVariable ||
        node->role != VariableRole::kInput) {
      continue;
    }
    const Shape& shape = node->types[0].shape;
    if (shape.known_rank() && shape.rank() > 0 && shape.known(0)) {
      return static_cast<double>(shape[0]);
    }
  }
  return 1;
}

std::string Importer::UniqueName(const std::string& name) {
  if (names_.insert(name).second) return name;
  int& number = numbers_[name];
  while (true) {
    std::string unique = fmt::format("{}{}", name, ++number);
    if (names_.insert(unique).second) return unique;
  }
}

Node* Importer::AddNode(const Operator* op, const std::string& name,
                        AttrsPtr attrs, const std::vector<Value>& inputs) {
  if (graph_.nodes().size() >= kMostNodes) {
    throw LayerRefused{
        Error({}, "{}: more than {} nodes", net_.source->path, kMostNodes)};
  }
  return graph_.AddOperator(op, UniqueName(name), std::move(attrs), inputs);
}

Node* Importer::AddVariable(const std::string& name, const TensorType& type) {
  Node* variable = graph_.AddVariable(UniqueName(name));
  variable->op_name = "null";
  variable->types[0] = type;
  return variable;
}

void Importer::Rename(Node& node, const std::string& name) {
  node.name = UniqueName(name);
}

std::optional<std::string> Importer::InferNode(Node& node) {
  std::vector<TensorType> types;
  for (const Value& input : node.inputs) types.push_back(input.type());
  TypeInference inference(types, node.types, graph_.training);
  node.op->types(node.attrs.get(), inference);
  if (inference.error()) return ReadViolation(*inference.error()).sentence;
  for (size_t i = 0; i < types.size(); ++i) {
    if (const auto unfit = Unfit(types[i])) {
      return fmt::format("'{}' has {}", node.inputs[i].node->name, *unfit);
    }
    Node& input = *node.inputs[i].node;
    if (input.kind == Node::Kind::kVariable) input.types[0] = types[i];
  }
  for (const TensorType& type : node.types) {
    if (const auto unfit = Unfit(type)) {
      return fmt::format("its top has {}", *unfit);
    }
  }
  return std::nullopt;
}

Node* Importer::FindShared(Text name) const {
  const auto found = shared_.find(name);
  return found == shared_.end() ? nullptr : found->second;
}

Value Importer::Shared(Node& variable, const ParamSpec& spec,
                       const Shape& shape, Layer& layer) {
  const Shape& has = variable.types[0].shape;
  if (!has.known() || !shape.known() || has == shape) return variable.out();
  if (spec.share_mode == DimCheckMode::kPERMISSIVE &&
      has.elements() == shape.elements()) {
    return layer.Reshape(variable.out(), shape.dims());
  }
  layer.Fail("shares '{}' of shape {}, needs {}", spec.name, ToString(has),
             ToString(shape));
}

}  // namespace mxc::caffe
