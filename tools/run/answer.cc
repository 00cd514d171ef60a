// SPDX-License-Identifier: Apache-2.0
#include "tools/run/answer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "runtime/train/floats.h"
#include "tools/run/failure.h"

namespace mxc::run {
namespace {

// The classes of one row, best first; equal values in the order of the classes.
std::vector<size_t> Best(std::span<const float> row, int count) {
  std::vector<size_t> order(row.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  // NaN last, so that the order is strict.
  const auto value = [&](size_t i) {
    return std::isnan(row[i]) ? -INFINITY : row[i];
  };
  const size_t kept = std::min(order.size(), static_cast<size_t>(count));
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept),
                    order.end(), [&](size_t a, size_t b) {
                      return value(a) != value(b) ? value(a) > value(b) : a < b;
                    });
  order.resize(kept);
  return order;
}

// How many rows of an output there are, where data decide it.
std::optional<int64_t> CountOf(const api::Executor& executor,
                               const std::vector<mxc_tensor>& outputs,
                               std::string_view name) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].use != MXC_USE_COUNT) continue;
    if (outputs[k].name != "count:" + std::string(name)) continue;
    int32_t count = 0;
    std::memcpy(&count, executor.Output(k).data(), sizeof count);
    return count;
  }
  return std::nullopt;
}

}  // namespace

std::string Describe(const runtime::Array& array) {
  return std::string(runtime::ElementName(array.type)) + " " +
         DescribeShape(array.shape);
}

std::vector<float> Floats(const runtime::Array& array) {
  std::vector<float> values;
  train::ToFloats(array.type, array.bytes(), values);
  return values;
}

std::vector<OutputValues> Results(const api::Executor& executor,
                                  const std::vector<mxc_tensor>& outputs) {
  std::vector<OutputValues> results;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const mxc_tensor tensor = executor.OutputTensor(k);
    const auto all = api::Shape(tensor);
    std::vector<int64_t> shape(all.begin(), all.end());
    const auto count = CountOf(executor, outputs, outputs[k].name);
    if (count) shape[0] = *count;
    runtime::Array array =
        Take(runtime::Array::Allocate(TypeOf(outputs[k]), std::move(shape)));
    if (count) {
      const auto values = executor.Output(k);
      std::memcpy(array.bytes().data(), values.data(), array.bytes().size());
    } else {
      executor.ReadOutput(k, array.bytes());
    }
    results.push_back({outputs[k].name, std::move(array)});
  }
  return results;
}

nlohmann::ordered_json Top(const OutputValues& output, int count,
                           const std::vector<std::string>& labels) {
  const auto& shape = output.array.shape;
  const std::vector<float> values = Floats(output.array);
  const size_t row = shape.empty() ? 1 : static_cast<size_t>(shape.back());
  if (!IsFloat(output.array.type) || row == 0 || values.empty()) {
    throw Failure("--top needs an output of floats; '" + output.name + "' is " +
                  Describe(output.array));
  }
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (size_t begin = 0; begin < values.size(); begin += row) {
    Json best = Json::array();
    const auto one = std::span(values).subspan(begin, row);
    for (const size_t index : Best(one, count)) {
      best.push_back({{"index", index},
                      {"label", index < labels.size() ? labels[index] : ""},
                      {"value", one[index]}});
    }
    rows.push_back(best);
  }
  return rows;
}

nlohmann::ordered_json DescribeOutputs(
    const std::vector<OutputValues>& outputs) {
  auto described = nlohmann::ordered_json::array();
  for (const auto& [name, array] : outputs) {
    described.push_back({{"name", name},
                         {"shape", array.shape},
                         {"dtype", runtime::ElementName(array.type)}});
  }
  return described;
}

size_t EntryFor(const api::Model& model, size_t entry, int64_t samples) {
  const std::string name = model.entry(entry).name;
  size_t best = entry;
  for (size_t e = 0; e < model.entry_count(); ++e) {
    if (model.entry(e).name != name) continue;
    const int64_t batch = model.entry(e).batch;
    const int64_t before = model.entry(best).batch;
    const bool holds = batch >= samples;
    const bool held = before >= samples;
    if (holds ? !held || batch < before : !held && batch > before) best = e;
  }
  return best;
}

}  // namespace mxc::run
