// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/write_model.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <set>
#include <unordered_map>

#include "frontend/onnx/export.h"
#include "frontend/onnx/schema.h"
#include "frontend/onnx/tensor_data.h"
#include "frontend/variables.h"

namespace mxc::onnx {

using protobuf::WireWriter;

#define MXC_ONNX_EXPORT(op, rule) void Export##rule(Export&);
#include "frontend/onnx/exports.def"
#undef MXC_ONNX_EXPORT

ExportRule FindExportRule(std::string_view op) {
  static const auto* rules = new std::map<std::string_view, ExportRule>{
#define MXC_ONNX_EXPORT(op, rule) {op, &Export##rule},
#include "frontend/onnx/exports.def"
#undef MXC_ONNX_EXPORT
  };
  const auto found = rules->find(op);
  return found == rules->end() ? nullptr : found->second;
}

// Field numbers: schema.cc.
class ModelWriter {
 public:
  ModelWriter(const Model& model, const Graph* other, int64_t opset,
              std::string data_name)
      : model_(model),
        other_(other),
        opset_(opset),
        data_name_(std::move(data_name)),
        open_batch_(other != nullptr) {}

  Result<WrittenModel> Write() {
    const Graph& graph = model_.graph;
    const std::vector<Node*> order = NeededNodes(graph);
    int64_t bytes = 0;
    for (const auto& [name, tensor] : model_.parameters) {
      bytes += tensor.size_bytes();
    }
    external_ = bytes > kMostInside;
    for (const Node* node : order) NameOutputs(*node);
    for (const Node* node : order) WriteNode(*node);
    WriteOutputs(graph);
    if (!errors_.empty()) return std::move(errors_);
    WireWriter all;
    for (const WireWriter& node : nodes_) all.Message(1, node);
    all.Bytes(2, graph.name.empty() ? "network" : graph.name);
    for (const WireWriter& initializer : initializers_) {
      all.Message(5, initializer);
    }
    for (const Node* input : inputs_) {
      all.Message(11, Port(input->name, input->types[0], OtherShape(*input)));
    }
    for (const WireWriter& output : outputs_) all.Message(12, output);
    WireWriter model, opset;
    opset.Bytes(1, "");
    opset.Int(2, opset_);
    model.Int(1, opset_ >= 21 ? 10 : 8);
    model.Bytes(2, "mxc");
    model.Message(7, all);
    model.Message(8, opset);
    return WrittenModel{model.bytes(), std::move(data_)};
  }

  int64_t opset() const { return opset_; }
  // The value of a constant or a parameter; null: it is neither.
  const Tensor* KnownOf(const Node& node) const {
    if (node.kind == Node::Kind::kConstant) return &node.constant;
    const auto found = model_.parameters.find(node.name);
    return node.kind == Node::Kind::kVariable &&
                   found != model_.parameters.end()
               ? &found->second
               : nullptr;
  }
  void FixBatch() { open_batch_ = false; }

  // A constant or parameter is written when it is first read.
  std::string NameOf(const Value& value) {
    const auto found = names_.find(value.node);
    MXC_CHECK(found != names_.end(), "'{}'", value.node->name);
    const std::string& name = found->second[static_cast<size_t>(value.index)];
    if (const Tensor* known = KnownOf(*value.node);
        known != nullptr && initialized_.insert(name).second) {
      AddInitializer(name, *known);
    }
    return name;
  }

  std::string Unique(std::string wish) {
    while (!taken_.insert(wish).second) wish += "_";
    return wish;
  }

  void AddInitializer(const std::string& name, const Tensor& tensor) {
    WireWriter proto;
    for (const int64_t dim : tensor.shape().dims()) proto.Int(1, dim);
    proto.Int(2, DataTypeOf(tensor.type().dtype));
    proto.Bytes(8, name);
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes()),
                                 static_cast<size_t>(tensor.size_bytes()));
    if (external_ && bytes.size() >= kLeastOutside) {
      const auto entry = [&](std::string_view key, const std::string& value) {
        WireWriter pair;
        pair.Bytes(1, key);
        pair.Bytes(2, value);
        proto.Message(13, pair);
      };
      entry("location", data_name_);
      entry("offset", std::to_string(data_bytes_));
      entry("length", std::to_string(bytes.size()));
      proto.Int(14, TensorProto::kExternal);
      data_bytes_ += bytes.size();
      data_.push_back(bytes);
      kept_.push_back(tensor);
    } else {
      proto.Bytes(9, bytes);
    }
    initializers_.push_back(std::move(proto));
  }

  void AddNode(std::string_view op, const std::string& name,
               const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs,
               const ExportAttributes& attributes) {
    WireWriter node;
    for (const std::string& input : inputs) node.Bytes(1, input);
    for (const std::string& output : outputs) node.Bytes(2, output);
    node.Bytes(3, name);
    node.Bytes(4, op);
    for (const WireWriter& attribute : attributes.messages()) {
      node.Message(5, attribute);
    }
    nodes_.push_back(std::move(node));
  }

 private:
  static constexpr int64_t kMostInside = 1'900'000'000;
  static constexpr size_t kLeastOutside = 1024;

  // What the outputs need where loss heads read no labels.
  std::vector<Node*> NeededNodes(const Graph& graph) {
    std::set<const Node*> needed;
    std::vector<const Node*> open;
    for (const Value& output : graph.outputs) open.push_back(output.node);
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (!needed.insert(node).second) continue;
      const bool head = node->IsLossHead() && node->inputs.size() > 1;
      for (size_t i = 0; i < (head ? 1 : node->inputs.size()); ++i) {
        open.push_back(node->inputs[i].node);
      }
    }
    std::vector<Node*> order;
    for (Node* node : graph.TopologicalOrder()) {
      if (needed.contains(node)) order.push_back(node);
    }
    return order;
  }

  void NameOutputs(const Node& node) {
    std::vector<std::string>& names = names_[&node];
    for (size_t i = 0; i < node.types.size(); ++i) {
      std::string name = node.name;
      if (node.kind == Node::Kind::kOperator) {
        const Value value{const_cast<Node*>(&node), static_cast<int>(i)};
        for (size_t k = 0; k < model_.graph.outputs.size(); ++k) {
          if (model_.graph.outputs[k] == value) {
            name = model_.graph.output_names[k];
          }
        }
        if (name == node.name && node.types.size() > 1) {
          name += "_" + node.OutputName(static_cast<int>(i));
        }
      }
      names.push_back(Unique(name));
    }
  }

  void WriteNode(const Node& node) {
    switch (node.kind) {
      case Node::Kind::kConstant:
        return;
      case Node::Kind::kVariable:
        if (KnownOf(node) == nullptr) inputs_.push_back(&node);
        return;
      case Node::Kind::kOpaque:
        break;
      case Node::Kind::kOperator:
        if (const ExportRule rule = FindExportRule(node.op->name)) {
          try {
            Export e(*this, node);
            return rule(e);
          } catch (const NotWritten& refused) {
            errors_.push_back(Error(node.loc, "'{}' ({}): {}", node.name,
                                    node.op->name, refused.sentence));
            return;
          }
        }
        break;
    }
    errors_.push_back(Error(node.loc, "'{}' ({}) cannot be written as ONNX",
                            node.name, node.op_name));
  }

  // Of the other batch; null where every extent is fixed.
  const Shape* OtherShape(const Node& input) const {
    if (!open_batch_) return nullptr;
    const Node* found = other_->FindVariable(input.name);
    return found == nullptr ? nullptr : &found->types[0].shape;
  }

  static WireWriter Port(const std::string& name, const TensorType& type,
                         const Shape* other) {
    WireWriter shape;
    const bool comparable = other != nullptr && other->known_rank() &&
                            other->rank() == type.shape.rank();
    for (int axis = 0; axis < type.shape.rank(); ++axis) {
      WireWriter dim;
      if (comparable && (*other)[axis] != type.shape[axis]) {
        dim.Bytes(2, "N");
      } else {
        dim.Int(1, type.shape[axis]);
      }
      shape.Message(1, dim);
    }
    WireWriter tensor, kind, port;
    tensor.Int(1, DataTypeOf(type.dtype));
    tensor.Message(2, shape);
    kind.Message(1, tensor);
    port.Bytes(1, name);
    port.Message(2, kind);
    return port;
  }

  void WriteOutputs(const Graph& graph) {
    std::set<std::string> written;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const Value& value = graph.outputs[i];
      std::string name = NameOf(value);
      // An output that is an input, or stands twice, is a copy.
      if (value.node->kind != Node::Kind::kOperator ||
          !written.insert(name).second) {
        const std::string copy = Unique(graph.output_names[i]);
        AddNode("Identity", copy, {name}, {copy}, {});
        name = copy;
      }
      const bool open = open_batch_ && i < other_->outputs.size();
      outputs_.push_back(Port(name, value.type(),
                              open ? &other_->outputs[i].shape() : nullptr));
    }
  }

  const Model& model_;
  const Graph* const other_;
  const int64_t opset_;
  const std::string data_name_;
  bool external_ = false;
  bool open_batch_;
  std::unordered_map<const Node*, std::vector<std::string>> names_;
  std::set<std::string> taken_, initialized_;
  std::vector<const Node*> inputs_;
  std::vector<WireWriter> nodes_, initializers_, outputs_;
  std::vector<std::string_view> data_;
  std::vector<Tensor> kept_;  // whose bytes `data_` views
  size_t data_bytes_ = 0;
  Diagnostics errors_;
};

namespace {

WireWriter AttributeOf(std::string_view name, int64_t type) {
  WireWriter attribute;
  attribute.Bytes(1, name);
  attribute.Int(20, type);
  return attribute;
}

}  // namespace

ExportAttributes& ExportAttributes::Int(std::string_view name, int64_t value) {
  WireWriter attribute = AttributeOf(name, AttributeProto::kInt);
  attribute.Int(3, value);
  messages_.push_back(std::move(attribute));
  return *this;
}

ExportAttributes& ExportAttributes::Float(std::string_view name, double value) {
  WireWriter attribute = AttributeOf(name, AttributeProto::kFloat);
  attribute.Float(2, static_cast<float>(value));
  messages_.push_back(std::move(attribute));
  return *this;
}

ExportAttributes& ExportAttributes::Ints(std::string_view name,
                                         const Extents& values) {
  WireWriter attribute = AttributeOf(name, AttributeProto::kInts);
  for (const int64_t value : values) attribute.Int(8, value);
  messages_.push_back(std::move(attribute));
  return *this;
}

ExportAttributes& ExportAttributes::Floats(std::string_view name,
                                           const std::vector<float>& values) {
  WireWriter attribute = AttributeOf(name, AttributeProto::kFloats);
  for (const float value : values) attribute.Float(7, value);
  messages_.push_back(std::move(attribute));
  return *this;
}

ExportAttributes& ExportAttributes::String(std::string_view name,
                                           std::string_view value) {
  WireWriter attribute = AttributeOf(name, AttributeProto::kString);
  attribute.Bytes(4, value);
  messages_.push_back(std::move(attribute));
  return *this;
}

ExportAttributes& ExportAttributes::Strings(
    std::string_view name, const std::vector<std::string>& values) {
  WireWriter attribute = AttributeOf(name, AttributeProto::kStrings);
  for (const std::string& value : values) attribute.Bytes(9, value);
  messages_.push_back(std::move(attribute));
  return *this;
}

Export::Export(ModelWriter& writer, const Node& node)
    : writer_(writer), node_(node) {
  for (const auto& [name, text] : node.op->print(node.attrs.get())) {
    attributes_.emplace(name, text);
  }
}

int64_t Export::opset() const { return writer_.opset(); }

std::string Export::Text(std::string_view name) const {
  const auto found = attributes_.find(name);
  MXC_CHECK(found != attributes_.end(), "{} has no attribute '{}'",
            node_.op->name, name);
  return found->second;
}

bool Export::Says(std::string_view name) const {
  const std::string text = Text(name);
  return text != "None" && !text.empty();
}

bool Export::Flag(std::string_view name) const {
  const std::string text = Text(name);
  return text == "True" || text == "1";
}

int64_t Export::Int(std::string_view name) const {
  return std::strtoll(Text(name).c_str(), nullptr, 10);
}

double Export::Number(std::string_view name) const {
  return std::strtod(Text(name).c_str(), nullptr);
}

Extents Export::Ints(std::string_view name) const {
  const std::string text = Text(name);
  Extents values;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error == std::errc()) values.push_back(value);
    at = error == std::errc() ? stop : at + 1;
  }
  return values;
}

std::string Export::In(int i) const {
  return writer_.NameOf(node_.inputs[static_cast<size_t>(i)]);
}

std::string Export::Out(int i) const {
  return writer_.NameOf({const_cast<Node*>(&node_), i});
}

std::string Export::Between(std::string_view role) const {
  return writer_.Unique(fmt::format("{}_{}", node_.name, role));
}

std::string Export::Ints(const Extents& values, std::string_view role) {
  std::byte* to = nullptr;
  Tensor tensor = Tensor::Allocate(
      {DType::kI64, Shape{static_cast<int64_t>(values.size())}}, &to);
  std::memcpy(to, values.data(), values.size() * sizeof(int64_t));
  std::string name = Between(role);
  writer_.AddInitializer(name, tensor);
  return name;
}

std::string Export::Scalar(double value, DType dtype, std::string_view role) {
  return Filled({dtype, Shape(Extents())}, value, role);
}

std::string Export::Filled(const TensorType& type, double value,
                           std::string_view role) {
  std::string name = Between(role);
  writer_.AddInitializer(name, Tensor::Filled(type, value));
  return name;
}

std::string Export::Floats(const Shape& shape, std::span<const float> values,
                           std::string_view role) {
  std::string name = Between(role);
  writer_.AddInitializer(name, Tensor::FromFloats(shape, values));
  return name;
}

const Tensor& Export::Parameter(int i) const {
  const Tensor* value = writer_.KnownOf(*node_.inputs[i].node);
  if (value == nullptr || value->type().dtype != DType::kF32) {
    Refuse("its input {} is no parameter of float32", i);
  }
  return *value;
}

void Export::FixBatch() { writer_.FixBatch(); }

void Export::Emit(std::string_view op, std::vector<std::string> inputs,
                  const ExportAttributes& attributes,
                  std::vector<std::string> outputs) {
  if (outputs.empty()) outputs = {Out()};
  const bool own = outputs[0] == Out();
  writer_.AddNode(op, own ? node_.name : outputs[0], inputs, outputs,
                  attributes);
}

std::string Export::EmitBetween(std::string_view op,
                                std::vector<std::string> inputs,
                                std::string_view role,
                                const ExportAttributes& attributes) {
  std::string name = Between(role);
  Emit(op, std::move(inputs), attributes, {name});
  return name;
}

Result<WrittenModel> WriteModel(const Model& model, const Graph* other,
                                int64_t opset, const std::string& data_name) {
  if (opset < kOldestWritten || opset > kNewestWritten) {
    return Error({}, "operators of version {}, expected {} to {}", opset,
                 kOldestWritten, kNewestWritten);
  }
  return ModelWriter(model, other, opset, data_name).Write();
}

}  // namespace mxc::onnx
