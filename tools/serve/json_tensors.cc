// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/json_tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "runtime/base/status.h"
#include "runtime/formats/convert.h"
#include "tools/run/failure.h"

namespace mxc::serve {
namespace {

using nlohmann::json;

constexpr size_t kMostValues = 1 << 20;
constexpr int kDeepest = 32;

// Counts while it parses: a document takes many times the memory of its text.
json Parse(std::string_view body) {
  size_t values = 0;
  std::set<std::string> names;
  const auto count = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1 &&
        !names.insert(parsed.get<std::string>()).second) {
      throw run::Failure("the JSON has '" + parsed.get<std::string>() +
                         "' more than once");
    }
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

// What a type of KServe's holds: whole numbers from `least` to `most`, or any.
struct KserveNumbers {
  std::string_view name;
  std::optional<runtime::ElementType> type;  // to be kept as
  bool whole = false;
  double least = 0, most = 0;
};

const KserveNumbers& NumbersOf(const json& tensor) {
  using runtime::ElementType;
  static const std::vector<KserveNumbers> kAll = {
      {"BOOL", ElementType::kBool, true, 0, 1},
      {"UINT8", ElementType::kU8, true, 0, 255},
      {"UINT16", {}, true, 0, 65535},
      {"UINT32", {}, true, 0, 4294967295},
      {"UINT64", {}, true, 0, 0x1p64},
      {"INT8", ElementType::kI8, true, -128, 127},
      {"INT16", {}, true, -32768, 32767},
      {"INT32", ElementType::kI32, true, -0x1p31, 0x1p31 - 1},
      {"INT64", {}, true, -0x1p63, 0x1p63},
      {"FP16", {}},
      {"BF16", {}},
      {"FP32", {}},
      {"FP64", {}}};
  const auto said = tensor.find("datatype");
  if (said == tensor.end() || !said->is_string()) {
    throw run::Failure("each of \"inputs\" needs a datatype, as in \"FP32\"");
  }
  const auto found =
      std::ranges::find(kAll, said->get<std::string>(), &KserveNumbers::name);
  if (found != kAll.end()) return *found;
  std::string list;
  for (const KserveNumbers& one : kAll) {
    list += (list.empty() ? "" : ", ") + std::string(one.name);
  }
  throw run::Failure("datatype '" + said->get<std::string>() + "' is none of " +
                     list);
}

// As elements of the type, where they are such.
runtime::NamedArray Typed(runtime::NamedArray tensor,
                          const KserveNumbers& numbers) {
  const auto bytes = tensor.array.bytes();
  const std::span values(reinterpret_cast<const double*>(bytes.data()),
                         bytes.size() / sizeof(double));
  for (const double value : values) {
    if (!numbers.whole || (value == std::floor(value) &&
                           value >= numbers.least && value <= numbers.most)) {
      continue;
    }
    throw run::Failure(runtime::Format("'%s' holds %.9g, which is no %s",
                                       tensor.name.c_str(), value,
                                       std::string(numbers.name).c_str()));
  }
  if (!numbers.type) return tensor;
  runtime::Array typed =
      run::Take(runtime::Array::Allocate(*numbers.type, tensor.array.shape));
  runtime::ConvertElements(runtime::ElementType::kF64, bytes, *numbers.type,
                           typed.bytes());
  return {std::move(tensor.name), std::move(typed)};
}

// {"name": …, "shape": […], "datatype": …, "data": […]}
runtime::NamedArray KserveTensor(const json& tensor) {
  if (!tensor.is_object() || !tensor.contains("data") ||
      !tensor.contains("shape")) {
    throw run::Failure(
        "each of \"inputs\" needs name, shape, datatype and data");
  }
  const KserveNumbers& numbers = NumbersOf(tensor);
  std::vector<int64_t> shape;
  for (const json& axis : tensor["shape"]) {
    if (!axis.is_number_integer()) {
      throw run::Failure("a \"shape\" is an array of whole numbers");
    }
    shape.push_back(axis.get<int64_t>());
  }
  const auto name = tensor.find("name");
  const bool named = name != tensor.end() && name->is_string();
  return Typed(TensorOf(named ? name->get<std::string>() : "", tensor["data"],
                        std::move(shape)),
               numbers);
}

// "outputs": [{"name": …}…], those that are asked for.
std::vector<std::string> KserveOutputs(const json& document) {
  std::vector<std::string> names;
  const auto outputs = document.find("outputs");
  if (outputs == document.end()) return names;
  for (const json& output : *outputs) {
    const auto name = output.is_object() ? output.find("name") : output.end();
    if (name == output.end() || !name->is_string()) {
      throw run::Failure("each of \"outputs\" needs a name");
    }
    names.push_back(*name);
  }
  return names;
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
    result.outputs = KserveOutputs(document);
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
