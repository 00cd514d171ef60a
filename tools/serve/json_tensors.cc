// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/json_tensors.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tools/run/failure.h"

namespace mxc::serve {
namespace {

using nlohmann::json;

constexpr size_t kMostValues = 1 << 20;
constexpr int kDeepest = 32;

// Counts while it parses: a document takes many times the memory of its text.
json Parse(std::string_view body) {
  size_t values = 0;
  const auto count = [&](int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) throw run::Failure("the JSON is nested too deeply");
    if (++values > kMostValues) {
      throw run::Failure("the JSON holds more than " +
                         std::to_string(kMostValues) +
                         " values; send them as .npy");
    }
    return true;
  };
  try {
    return json::parse(body, count);
  } catch (const json::exception& error) {
    const auto* parse = dynamic_cast<const json::parse_error*>(&error);
    throw run::Failure("the JSON is damaged" +
                       (parse == nullptr
                            ? std::string()
                            : " at byte " + std::to_string(parse->byte)));
  }
}

double NumberOf(const json& value) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number()) return value.get<double>();
  throw run::Failure(std::string("the JSON has a value of type ") +
                     value.type_name() + " among its numbers");
}

// The lengths of the first arrays of each depth.
std::vector<int64_t> ShapeOf(const json& array) {
  std::vector<int64_t> shape;
  for (const json* at = &array; at->is_array(); at = &at->front()) {
    shape.push_back(static_cast<int64_t>(at->size()));
    if (at->empty()) throw run::Failure("the JSON has an empty array");
  }
  return shape;
}

void Flatten(const json& value, size_t depth, const std::vector<int64_t>& shape,
             std::vector<double>& values) {
  const bool inner = depth < shape.size();
  if (value.is_array() != inner ||
      (inner && value.size() != static_cast<size_t>(shape[depth]))) {
    throw run::Failure("the JSON has arrays of several lengths at one depth");
  }
  if (!inner) return values.push_back(NumberOf(value));
  for (const json& part : value) Flatten(part, depth + 1, shape, values);
}

// With the shape that is stated, if any.
runtime::NamedArray TensorOf(std::string name, const json& array,
                             std::optional<std::vector<int64_t>> stated) {
  if (!array.is_array()) {
    throw run::Failure("the JSON has no array for '" + name + "'");
  }
  std::vector<int64_t> shape = ShapeOf(array);
  std::vector<double> values;
  Flatten(array, 0, shape, values);
  if (stated) shape = std::move(*stated);
  const auto bytes = runtime::ArrayBytes(runtime::ElementType::kF64, shape);
  const auto held = std::as_bytes(std::span(values));
  if (!bytes || *bytes != std::ssize(held)) {
    throw run::Failure("the JSON has " + std::to_string(values.size()) +
                       " numbers for '" + name +
                       "', which its shape does not hold");
  }
  auto tensor = run::Take(
      runtime::Array::Allocate(runtime::ElementType::kF64, std::move(shape)));
  std::ranges::copy(held, tensor.bytes().begin());
  return {std::move(name), std::move(tensor)};
}

// {"name": …, "shape": […], "datatype": …, "data": […]}
runtime::NamedArray KserveTensor(const json& tensor) {
  if (!tensor.is_object() || !tensor.contains("data") ||
      !tensor.contains("shape")) {
    throw run::Failure("each of \"inputs\" needs name, shape and data");
  }
  std::vector<int64_t> shape;
  for (const json& axis : tensor["shape"]) {
    if (!axis.is_number_integer()) {
      throw run::Failure("a \"shape\" is an array of whole numbers");
    }
    shape.push_back(axis.get<int64_t>());
  }
  const auto name = tensor.find("name");
  const bool named = name != tensor.end() && name->is_string();
  return TensorOf(named ? name->get<std::string>() : "", tensor["data"],
                  std::move(shape));
}

}  // namespace

bool IsJson(std::string_view body) {
  const size_t first = body.find_first_not_of(" \t\r\n");
  return first != body.npos && (body[first] == '[' || body[first] == '{');
}

JsonTensors ParseJsonTensors(std::string_view body) {
  const json document = Parse(body);
  JsonTensors result;
  if (document.is_array()) {
    result.tensors.push_back(TensorOf("", document, std::nullopt));
    return result;
  }
  const auto inputs = document.find("inputs");
  if (inputs != document.end() && inputs->is_array() && !inputs->empty() &&
      inputs->front().is_object()) {
    for (const json& tensor : *inputs) {
      result.tensors.push_back(KserveTensor(tensor));
    }
    const auto id = document.find("id");
    if (id != document.end() && id->is_string()) result.id = *id;
    return result;
  }
  for (const auto& [name, array] : document.items()) {
    result.tensors.push_back(
        TensorOf(name == "instances" ? "" : name, array, std::nullopt));
  }
  if (result.tensors.empty()) throw run::Failure("the JSON holds no array");
  return result;
}

}  // namespace mxc::serve
