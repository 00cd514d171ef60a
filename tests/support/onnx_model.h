// SPDX-License-Identifier: Apache-2.0
// ONNX models written byte by byte, for tests of their reader. Field numbers are
// those of onnx.proto.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/network_file.h"
#include "frontend/protobuf/write.h"

namespace mxc::test {

using protobuf::WireWriter;

// "N" is a dimension by name, "" one without, others are numbers.
using OnnxDims = std::vector<std::string>;

enum OnnxType : int64_t { kOnnxFloat = 1, kOnnxInt64 = 7, kOnnxBool = 9 };

inline WireWriter OnnxPort(std::string_view name, const OnnxDims& dims,
                           int64_t type = kOnnxFloat) {
  WireWriter shape;
  for (const std::string& text : dims) {
    WireWriter dim;
    const bool number = !text.empty() && text[0] >= '0' && text[0] <= '9';
    if (number) dim.Int(1, std::stoll(text));
    if (!number && !text.empty()) dim.Bytes(2, text);
    shape.Message(1, dim);
  }
  WireWriter tensor, kind, port;
  tensor.Int(1, type);
  tensor.Message(2, shape);
  kind.Message(1, tensor);
  port.Bytes(1, name);
  port.Message(2, kind);
  return port;
}

template <class T>
WireWriter OnnxTensor(std::string_view name, int64_t type,
                      const std::vector<int64_t>& dims,
                      const std::vector<T>& values) {
  WireWriter tensor;
  for (const int64_t dim : dims) tensor.Int(1, dim);
  tensor.Int(2, type);
  tensor.Bytes(8, name);
  tensor.Bytes(9, {reinterpret_cast<const char*>(values.data()),
                   values.size() * sizeof(T)});
  return tensor;
}

inline WireWriter OnnxFloats(std::string_view name,
                             const std::vector<int64_t>& dims,
                             const std::vector<float>& values) {
  return OnnxTensor(name, kOnnxFloat, dims, values);
}
inline WireWriter OnnxInts(std::string_view name,
                           const std::vector<int64_t>& values) {
  return OnnxTensor(name, kOnnxInt64, {static_cast<int64_t>(values.size())},
                    values);
}

inline WireWriter OnnxIntAttribute(std::string_view name, int64_t value) {
  WireWriter attribute;
  attribute.Bytes(1, name);
  attribute.Int(3, value);
  attribute.Int(20, 2);
  return attribute;
}
inline WireWriter OnnxIntsAttribute(std::string_view name,
                                    const std::vector<int64_t>& values) {
  WireWriter attribute;
  attribute.Bytes(1, name);
  for (const int64_t value : values) attribute.Int(8, value);
  attribute.Int(20, 7);
  return attribute;
}

using OnnxNames = std::vector<std::string_view>;

inline WireWriter OnnxNode(std::string_view op, const OnnxNames& inputs,
                           const OnnxNames& outputs,
                           const std::vector<WireWriter>& attributes = {},
                           std::string_view domain = "") {
  WireWriter node;
  for (const std::string_view input : inputs) node.Bytes(1, input);
  for (const std::string_view output : outputs) node.Bytes(2, output);
  node.Bytes(3, outputs.empty() ? op : outputs[0]);
  node.Bytes(4, op);
  for (const WireWriter& attribute : attributes) node.Message(5, attribute);
  if (!domain.empty()) node.Bytes(7, domain);
  return node;
}

struct OnnxModel {
  std::vector<WireWriter> nodes, initializers, inputs, outputs, functions;
  int64_t opset = 17;

  std::string Bytes() const {
    WireWriter graph, version, model;
    for (const WireWriter& node : nodes) graph.Message(1, node);
    graph.Bytes(2, "test");
    for (const WireWriter& tensor : initializers) graph.Message(5, tensor);
    for (const WireWriter& input : inputs) graph.Message(11, input);
    for (const WireWriter& output : outputs) graph.Message(12, output);
    version.Bytes(1, "");
    version.Int(2, opset);
    model.Int(1, 8);
    model.Message(7, graph);
    model.Message(8, version);
    WireWriter own;
    own.Bytes(1, "own");
    own.Int(2, 1);
    model.Message(8, own);
    for (const WireWriter& function : functions) model.Message(25, function);
    return model.bytes();
  }
};

// As a file that is called so; a text may hold any bytes.
inline Result<std::shared_ptr<const NetworkFile>> OpenOnnx(
    const std::string& bytes, const std::string& path = "net.onnx") {
  return OpenNetwork(std::make_shared<const NetworkSource>(
      std::make_shared<const SourceFile>(SourceFile{path, bytes})));
}

// relu(x · w + b) of x [N, 3], w [3, 2], and its softmax.
inline OnnxModel OnnxLayer() {
  OnnxModel model;
  model.inputs = {OnnxPort("x", {"N", "3"})};
  model.initializers = {OnnxFloats("w", {3, 2}, {1, 2, 3, 4, 5, 6}),
                        OnnxFloats("b", {2}, {0.5, -0.5})};
  model.nodes = {OnnxNode("MatMul", {"x", "w"}, {"product"}),
                 OnnxNode("Add", {"product", "b"}, {"sum"}),
                 OnnxNode("Relu", {"sum"}, {"positive"}),
                 OnnxNode("Softmax", {"positive"}, {"y"})};
  model.outputs = {OnnxPort("y", {"N", "2"})};
  return model;
}

}  // namespace mxc::test
