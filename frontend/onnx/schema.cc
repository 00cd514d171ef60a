// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/schema.h"

namespace mxc::onnx {

using protobuf::FieldOf;
using protobuf::TypeOf;

const MessageType& StringStringEntryProto::Type() {
  static const MessageType type =
      TypeOf("StringStringEntryProto",
             {
                 FieldOf<&StringStringEntryProto::key>(1, "key"),
                 FieldOf<&StringStringEntryProto::value>(2, "value"),
             });
  return type;
}

const MessageType& TensorProto::Type() {
  static const MessageType type =
      TypeOf("TensorProto",
             {
                 FieldOf<&TensorProto::dims>(1, "dims"),
                 FieldOf<&TensorProto::data_type>(2, "data_type"),
                 FieldOf<&TensorProto::float_data>(4, "float_data"),
                 FieldOf<&TensorProto::int32_data>(5, "int32_data"),
                 FieldOf<&TensorProto::string_data>(6, "string_data"),
                 FieldOf<&TensorProto::int64_data>(7, "int64_data"),
                 FieldOf<&TensorProto::name>(8, "name"),
                 FieldOf<&TensorProto::raw_data>(9, "raw_data"),
                 FieldOf<&TensorProto::double_data>(10, "double_data"),
                 FieldOf<&TensorProto::uint64_data>(11, "uint64_data"),
                 FieldOf<&TensorProto::external_data>(13, "external_data"),
                 FieldOf<&TensorProto::data_location>(14, "data_location"),
             });
  return type;
}

const MessageType& SparseTensorProto::Type() {
  static const MessageType type =
      TypeOf("SparseTensorProto",
             {
                 FieldOf<&SparseTensorProto::values>(1, "values"),
                 FieldOf<&SparseTensorProto::indices>(2, "indices"),
                 FieldOf<&SparseTensorProto::dims>(3, "dims"),
             });
  return type;
}

const MessageType& TensorShapeDimension::Type() {
  static const MessageType type =
      TypeOf("TensorShapeProto.Dimension",
             {
                 FieldOf<&TensorShapeDimension::dim_value>(1, "dim_value"),
                 FieldOf<&TensorShapeDimension::dim_param>(2, "dim_param"),
             });
  return type;
}

const MessageType& TensorShapeProto::Type() {
  static const MessageType type =
      TypeOf("TensorShapeProto", {
                                     FieldOf<&TensorShapeProto::dim>(1, "dim"),
                                 });
  return type;
}

const MessageType& TensorTypeProto::Type() {
  static const MessageType type =
      TypeOf("TypeProto.Tensor",
             {
                 FieldOf<&TensorTypeProto::elem_type>(1, "elem_type"),
                 FieldOf<&TensorTypeProto::shape>(2, "shape"),
             });
  return type;
}

const MessageType& ElementTypeProto::Type() {
  static const MessageType type =
      TypeOf("TypeProto.Sequence",
             {
                 FieldOf<&ElementTypeProto::elem_type>(1, "elem_type"),
             });
  return type;
}

const MessageType& TypeProto::Type() {
  static const MessageType type = TypeOf(
      "TypeProto",
      {
          FieldOf<&TypeProto::tensor_type>(1, "tensor_type"),
          FieldOf<&TypeProto::sequence_type>(4, "sequence_type"),
          FieldOf<&TypeProto::sparse_tensor_type>(8, "sparse_tensor_type"),
          FieldOf<&TypeProto::optional_type>(9, "optional_type"),
      });
  return type;
}

const MessageType& ValueInfoProto::Type() {
  static const MessageType type =
      TypeOf("ValueInfoProto", {
                                   FieldOf<&ValueInfoProto::name>(1, "name"),
                                   FieldOf<&ValueInfoProto::type>(2, "type"),
                               });
  return type;
}

const MessageType& AttributeProto::Type() {
  static const MessageType type =
      TypeOf("AttributeProto",
             {
                 FieldOf<&AttributeProto::name>(1, "name"),
                 FieldOf<&AttributeProto::f>(2, "f"),
                 FieldOf<&AttributeProto::i>(3, "i"),
                 FieldOf<&AttributeProto::s>(4, "s"),
                 FieldOf<&AttributeProto::t>(5, "t"),
                 FieldOf<&AttributeProto::g>(6, "g"),
                 FieldOf<&AttributeProto::floats>(7, "floats"),
                 FieldOf<&AttributeProto::ints>(8, "ints"),
                 FieldOf<&AttributeProto::strings>(9, "strings"),
                 FieldOf<&AttributeProto::tensors>(10, "tensors"),
                 FieldOf<&AttributeProto::graphs>(11, "graphs"),
                 FieldOf<&AttributeProto::tp>(14, "tp"),
                 FieldOf<&AttributeProto::type>(20, "type"),
                 FieldOf<&AttributeProto::ref_attr_name>(21, "ref_attr_name"),
                 FieldOf<&AttributeProto::sparse_tensor>(22, "sparse_tensor"),
             });
  return type;
}

const MessageType& NodeProto::Type() {
  static const MessageType type =
      TypeOf("NodeProto", {
                              FieldOf<&NodeProto::input>(1, "input"),
                              FieldOf<&NodeProto::output>(2, "output"),
                              FieldOf<&NodeProto::name>(3, "name"),
                              FieldOf<&NodeProto::op_type>(4, "op_type"),
                              FieldOf<&NodeProto::attribute>(5, "attribute"),
                              FieldOf<&NodeProto::domain>(7, "domain"),
                              FieldOf<&NodeProto::overload>(8, "overload"),
                          });
  return type;
}

const MessageType& GraphProto::Type() {
  static const MessageType type = TypeOf(
      "GraphProto",
      {
          FieldOf<&GraphProto::node>(1, "node"),
          FieldOf<&GraphProto::name>(2, "name"),
          FieldOf<&GraphProto::initializer>(5, "initializer"),
          FieldOf<&GraphProto::input>(11, "input"),
          FieldOf<&GraphProto::output>(12, "output"),
          FieldOf<&GraphProto::value_info>(13, "value_info"),
          FieldOf<&GraphProto::sparse_initializer>(15, "sparse_initializer"),
      });
  return type;
}

const MessageType& OperatorSetIdProto::Type() {
  static const MessageType type =
      TypeOf("OperatorSetIdProto",
             {
                 FieldOf<&OperatorSetIdProto::domain>(1, "domain"),
                 FieldOf<&OperatorSetIdProto::version>(2, "version"),
             });
  return type;
}

const MessageType& FunctionProto::Type() {
  static const MessageType type = TypeOf(
      "FunctionProto",
      {
          FieldOf<&FunctionProto::name>(1, "name"),
          FieldOf<&FunctionProto::input>(4, "input"),
          FieldOf<&FunctionProto::output>(5, "output"),
          FieldOf<&FunctionProto::attribute>(6, "attribute"),
          FieldOf<&FunctionProto::node>(7, "node"),
          FieldOf<&FunctionProto::opset_import>(9, "opset_import"),
          FieldOf<&FunctionProto::domain>(10, "domain"),
          FieldOf<&FunctionProto::attribute_proto>(11, "attribute_proto"),
          FieldOf<&FunctionProto::overload>(13, "overload"),
      });
  return type;
}

const MessageType& ModelProto::Type() {
  static const MessageType type =
      TypeOf("ModelProto",
             {
                 FieldOf<&ModelProto::ir_version>(1, "ir_version"),
                 FieldOf<&ModelProto::producer_name>(2, "producer_name"),
                 FieldOf<&ModelProto::producer_version>(3, "producer_version"),
                 FieldOf<&ModelProto::domain>(4, "domain"),
                 FieldOf<&ModelProto::graph>(7, "graph"),
                 FieldOf<&ModelProto::opset_import>(8, "opset_import"),
                 FieldOf<&ModelProto::functions>(25, "functions"),
             });
  return type;
}

}  // namespace mxc::onnx
