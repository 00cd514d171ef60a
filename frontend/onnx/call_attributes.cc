// SPDX-License-Identifier: Apache-2.0
// What a node's attributes say.
#include <algorithm>
#include <limits>

#include "frontend/onnx/call.h"
#include "frontend/onnx/importer.h"
#include "frontend/onnx/tensor_data.h"

namespace mxc::onnx {
namespace {

int32_t TypeOfAttribute(const AttributeProto& attribute) {
  if (attribute.type != AttributeProto::kUndefined) return attribute.type;
  // Files of IR version 1 have no type: what is there tells it.
  if (attribute.t != nullptr) return AttributeProto::kTensor;
  if (attribute.g != nullptr) return AttributeProto::kGraph;
  if (!attribute.ints.empty()) return AttributeProto::kInts;
  if (!attribute.floats.empty()) return AttributeProto::kFloats;
  if (!attribute.strings.empty()) return AttributeProto::kStrings;
  if (!attribute.s.empty()) return AttributeProto::kString;
  return attribute.f != 0 ? AttributeProto::kFloat : AttributeProto::kInt;
}

}  // namespace

const AttributeProto* Call::Find(std::string_view name, int32_t type,
                                 std::string_view what) {
  asked_.insert(name);
  const auto found = attributes_.find(name);
  if (found == attributes_.end()) return nullptr;
  const AttributeProto* attribute = found->second;
  const int32_t is = TypeOfAttribute(*attribute);
  // An empty list looks like a number where files name no type.
  const bool untyped = attribute->type == AttributeProto::kUndefined;
  Require(is == type || untyped, "attribute '{}' is of kind {}, expected {}",
          name, is, what);
  return attribute;
}

bool Call::HasAttribute(std::string_view name) {
  asked_.insert(name);
  return attributes_.contains(name);
}

int64_t Call::Int(std::string_view name, int64_t fallback) {
  const auto* found = Find(name, AttributeProto::kInt, "an integer");
  return found == nullptr ? fallback : found->i;
}

int64_t Call::Int(std::string_view name) {
  Require(HasAttribute(name), "attribute '{}' is missing", name);
  return Int(name, 0);
}

double Call::Float(std::string_view name, double fallback) {
  const auto* found = Find(name, AttributeProto::kFloat, "a float");
  return found == nullptr ? fallback : static_cast<double>(found->f);
}

double Call::Float(std::string_view name) {
  Require(HasAttribute(name), "attribute '{}' is missing", name);
  return Float(name, 0);
}

std::string Call::String(std::string_view name, std::string_view fallback) {
  const auto* found = Find(name, AttributeProto::kString, "a string");
  return std::string(found == nullptr ? fallback : found->s);
}

std::string Call::String(std::string_view name) {
  Require(HasAttribute(name), "attribute '{}' is missing", name);
  return String(name, "");
}

std::optional<Extents> Call::Ints(std::string_view name) {
  const auto* found = Find(name, AttributeProto::kInts, "a list of integers");
  if (found == nullptr) return std::nullopt;
  return found->ints;
}

std::optional<std::vector<float>> Call::Floats(std::string_view name) {
  const auto* found = Find(name, AttributeProto::kFloats, "a list of floats");
  if (found == nullptr) return std::nullopt;
  std::vector<float> floats;
  for (size_t i = 0; i < found->floats.size(); ++i) {
    floats.push_back(found->floats[i]);
  }
  return floats;
}

std::optional<std::vector<std::string>> Call::Strings(std::string_view name) {
  const auto* found = Find(name, AttributeProto::kStrings, "a list of strings");
  if (found == nullptr) return std::nullopt;
  return std::vector<std::string>(found->strings.begin(), found->strings.end());
}

Tensor Call::TensorOf(std::string_view name, int32_t* data_type) {
  const auto* found = Find(name, AttributeProto::kTensor, "a tensor");
  Require(found != nullptr && found->t != nullptr, "attribute '{}' is missing",
          name);
  auto tensor = importer_.files().Read(*found->t);
  Require(tensor.ok(), "the tensor of attribute '{}': {}", name,
          tensor.ok() ? "" : tensor.errors().front().message);
  if (data_type != nullptr) *data_type = found->t->data_type;
  return std::move(*tensor);
}

int32_t Call::DataType(std::string_view name, int32_t fallback) {
  const int64_t number = Int(name, fallback);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const bool known = number > 0 && number <= kMost &&
                     onnx::DTypeOf(static_cast<int32_t>(number)).has_value();
  Require(known,
          "attribute '{}' is {}, which is no type of elements that are "
          "supported",
          name, number);
  return static_cast<int32_t>(number);
}

int32_t Call::DataType(std::string_view name) {
  Require(HasAttribute(name), "attribute '{}' is missing", name);
  return DataType(name, TensorProto::kUndefined);
}

DType Call::ElementType(std::string_view name, DType fallback) {
  const int32_t type = DataType(name, onnx::DataTypeOf(fallback));
  Require(NarrowType(type) == 0, "attribute '{}' is {}, which is not supported",
          name, DataTypeName(type));
  return *onnx::DTypeOf(type);
}

std::optional<DType> Call::FloatType(std::string_view name) {
  if (Int(name, 0) == 0) return std::nullopt;
  const DType dtype = ElementType(name, DType::kF32);
  Require(IsFloat(dtype), "attribute '{}' is {}, which is no type of floats",
          name, ShortName(dtype));
  return dtype;
}

const GraphProto& Call::GraphOf(std::string_view name) {
  const auto* found = Find(name, AttributeProto::kGraph, "a graph");
  Require(found != nullptr && found->g != nullptr, "attribute '{}' is missing",
          name);
  return *found->g;
}

int Call::OneOf(std::string_view name, std::vector<std::string_view> words,
                int fallback) {
  const auto* found = Find(name, AttributeProto::kString, "a string");
  if (found == nullptr) return fallback;
  const auto at = std::ranges::find(words, found->s);
  Require(at != words.end(), "attribute '{}' is '{}', expected one of {}", name,
          found->s.substr(0, 40), fmt::join(words, ", "));
  return static_cast<int>(at - words.begin());
}

std::string Call::UnknownAttribute() const {
  for (const auto& [name, attribute] : attributes_) {
    if (!asked_.contains(name)) return std::string(name);
  }
  return "";
}

}  // namespace mxc::onnx
