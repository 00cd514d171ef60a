// SPDX-License-Identifier: Apache-2.0
// The messages of an ONNX file, with the fields that we read. Source: onnx.proto
// of ONNX 1.23 (IR version 14). Names are the standard's, so that its text can be
// read beside.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "frontend/protobuf/message.h"

namespace mxc::onnx {

using protobuf::Message;
using protobuf::MessageType;
using protobuf::Packed;
using protobuf::Text;

struct StringStringEntryProto : Message {
  Text key, value;
  static const MessageType& Type();
};

struct TensorProto : Message {
  // TensorProto.DataType.
  enum DataType : int32_t {
    kUndefined = 0,
    kFloat = 1,
    kUint8 = 2,
    kInt8 = 3,
    kUint16 = 4,
    kInt16 = 5,
    kInt32 = 6,
    kInt64 = 7,
    kString = 8,
    kBool = 9,
    kFloat16 = 10,
    kDouble = 11,
    kUint32 = 12,
    kUint64 = 13,
    kComplex64 = 14,
    kComplex128 = 15,
    kBfloat16 = 16,
    kFloat8e4m3fn = 17,
    kFloat8e4m3fnuz = 18,
    kFloat8e5m2 = 19,
    kFloat8e5m2fnuz = 20,
    kUint4 = 21,
    kInt4 = 22,
    kFloat4e2m1 = 23,
    kFloat8e8m0 = 24,
    kUint2 = 25,
    kInt2 = 26,
  };
  enum { kExternal = 1 };  // of data_location

  std::vector<int64_t> dims;
  int32_t data_type = 0;
  Packed<float> float_data;
  std::vector<int32_t> int32_data;
  std::vector<Text> string_data;
  std::vector<int64_t> int64_data;
  Text name;
  Text raw_data;
  Packed<double> double_data;
  std::vector<uint64_t> uint64_data;
  std::vector<StringStringEntryProto> external_data;
  int32_t data_location = 0;
  static const MessageType& Type();
};

struct SparseTensorProto : Message {
  std::unique_ptr<TensorProto> values, indices;
  std::vector<int64_t> dims;
  static const MessageType& Type();
};

struct TensorShapeDimension : Message {
  std::optional<int64_t> dim_value;
  Text dim_param;
  static const MessageType& Type();
};

struct TensorShapeProto : Message {
  std::vector<TensorShapeDimension> dim;
  static const MessageType& Type();
};

struct TypeProto;

struct TensorTypeProto : Message {
  int32_t elem_type = 0;
  std::unique_ptr<TensorShapeProto> shape;
  static const MessageType& Type();
};

// Of a sequence and of an optional.
struct ElementTypeProto : Message {
  std::unique_ptr<TypeProto> elem_type;
  static const MessageType& Type();
};

struct TypeProto : Message {
  std::unique_ptr<TensorTypeProto> tensor_type, sparse_tensor_type;
  std::unique_ptr<ElementTypeProto> sequence_type, optional_type;
  static const MessageType& Type();
};

struct ValueInfoProto : Message {
  Text name;
  std::unique_ptr<TypeProto> type;
  static const MessageType& Type();
};

struct GraphProto;

struct AttributeProto : Message {
  enum AttributeType : int32_t {
    kUndefined = 0,
    kFloat = 1,
    kInt = 2,
    kString = 3,
    kTensor = 4,
    kGraph = 5,
    kFloats = 6,
    kInts = 7,
    kStrings = 8,
    kTensors = 9,
    kGraphs = 10,
    kSparseTensor = 11,
    kTypeProto = 13,
  };

  Text name;
  float f = 0;
  int64_t i = 0;
  Text s;
  std::unique_ptr<TensorProto> t;
  std::unique_ptr<GraphProto> g;
  std::unique_ptr<SparseTensorProto> sparse_tensor;
  std::unique_ptr<TypeProto> tp;
  Packed<float> floats;
  std::vector<int64_t> ints;
  std::vector<Text> strings;
  std::vector<TensorProto> tensors;
  std::vector<GraphProto> graphs;
  // What it is; 0 in files of IR version 1.
  int32_t type = 0;
  // In a function's body: the attribute of the caller that it stands for.
  Text ref_attr_name;
  static const MessageType& Type();
};

struct NodeProto : Message {
  std::vector<Text> input, output;
  Text name, op_type, domain, overload;
  std::vector<AttributeProto> attribute;
  static const MessageType& Type();
};

struct GraphProto : Message {
  std::vector<NodeProto> node;
  Text name;
  std::vector<TensorProto> initializer;
  std::vector<SparseTensorProto> sparse_initializer;
  std::vector<ValueInfoProto> input, output, value_info;
  static const MessageType& Type();
};

struct OperatorSetIdProto : Message {
  Text domain;
  int64_t version = 0;
  static const MessageType& Type();
};

struct FunctionProto : Message {
  Text name, domain, overload;
  std::vector<Text> input, output, attribute;
  std::vector<AttributeProto> attribute_proto;
  std::vector<NodeProto> node;
  std::vector<OperatorSetIdProto> opset_import;
  static const MessageType& Type();
};

// "ai.onnx" is the other name of "".
inline Text DomainOf(Text domain) {
  return domain == "ai.onnx" ? Text() : domain;
}

struct ModelProto : Message {
  int64_t ir_version = 0;
  Text producer_name, producer_version, domain;
  std::unique_ptr<GraphProto> graph;
  std::vector<OperatorSetIdProto> opset_import;
  std::vector<FunctionProto> functions;
  static const MessageType& Type();
};

}  // namespace mxc::onnx
