// SPDX-License-Identifier: Apache-2.0
// What a rule of exports.def is written with: one node of a graph that becomes
// nodes of an ONNX model.
//
//   void ExportSigmoid(Export& e) { e.Emit("Sigmoid", {e.In(0)}); }
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/protobuf/write.h"
#include "ir/graph/graph.h"

namespace mxc::onnx {

// Attributes of an ONNX node.
class ExportAttributes {
 public:
  ExportAttributes& Int(std::string_view name, int64_t value);
  ExportAttributes& Float(std::string_view name, double value);
  ExportAttributes& Floats(std::string_view name,
                           const std::vector<float>& values);
  ExportAttributes& Ints(std::string_view name, const Extents& values);
  ExportAttributes& String(std::string_view name, std::string_view value);
  ExportAttributes& Strings(std::string_view name,
                            const std::vector<std::string>& values);
  const std::vector<protobuf::WireWriter>& messages() const {
    return messages_;
  }

 private:
  std::vector<protobuf::WireWriter> messages_;
};

class ModelWriter;

// Thrown by rules, caught at their node.
struct NotWritten {
  std::string sentence;
};

class Export {
 public:
  Export(ModelWriter& writer, const Node& node);

  const Node& node() const { return node_; }
  int64_t opset() const;

  // --- the operator's attributes, defaults included
  std::string Text(std::string_view name) const;  // refuses where there is none
  bool Flag(std::string_view name) const;
  int64_t Int(std::string_view name) const;
  double Number(std::string_view name) const;
  // Of "(3, 3)"; empty for "()" and "None".
  Extents Ints(std::string_view name) const;
  bool Says(std::string_view name) const;  // the attribute is not "None"

  // --- values, by the names that they have in the model
  int inputs() const { return static_cast<int>(node_.inputs.size()); }
  std::string In(int i) const;
  const TensorType& TypeOf(int i) const { return node_.inputs[i].type(); }
  const Shape& ShapeOf(int i) const { return TypeOf(i).shape; }
  const Shape& OutShape(int i = 0) const { return node_.types[i].shape; }
  std::string Out(int i = 0) const;
  // A new name beside the node's.
  std::string Between(std::string_view role) const;
  std::string Ints(const Extents& values, std::string_view role);  // i64[n]
  std::string Scalar(double value, DType dtype, std::string_view role);
  std::string Filled(const TensorType& type, double value,
                     std::string_view role);
  std::string Floats(const Shape& shape, std::span<const float> values,
                     std::string_view role);
  // The value of an input that is a parameter of float32; refuses others.
  const Tensor& Parameter(int i) const;
  // The node's result follows the batch only as the graph's types say: the model
  // is for that batch alone.
  void FixBatch();

  // --- nodes. Without `outputs` it gives the node's first output.
  void Emit(std::string_view op, std::vector<std::string> inputs,
            const ExportAttributes& attributes = {},
            std::vector<std::string> outputs = {});
  // The same under a new name, which it returns.
  std::string EmitBetween(std::string_view op, std::vector<std::string> inputs,
                          std::string_view role,
                          const ExportAttributes& attributes = {});

  template <class... Args>
  [[noreturn]] void Refuse(fmt::format_string<Args...> format,
                           Args&&... args) const {
    throw NotWritten{fmt::format(format, std::forward<Args>(args)...)};
  }

 private:
  ModelWriter& writer_;
  const Node& node_;
  std::map<std::string, std::string, std::less<>> attributes_;
};

using ExportRule = void (*)(Export&);
// The rule for an operator of ir/ops; null where there is none.
ExportRule FindExportRule(std::string_view op);

}  // namespace mxc::onnx
