// SPDX-License-Identifier: Apache-2.0
#include "tools/train/train_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "frontend/variables.h"
#include "tools/overview.h"

namespace mxc {
namespace {

bool TakesLabels(const Graph& graph, const Node& input) {
  return IsLabel(graph, input) || input.name.ends_with("label");
}

// The shape of each input that the data fill: by name, else in order.
void AddShapes(const std::vector<std::string>& inputs,
               const std::vector<data::Field>& fields, InputShapes& shapes) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    auto field = std::ranges::find(fields, inputs[k], &data::Field::name);
    if (field == fields.end() && k < fields.size()) {
      field = fields.begin() + static_cast<ptrdiff_t>(k);
    }
    if (field == fields.end()) continue;
    shapes.insert_or_assign(inputs[k], field->shape);
  }
}

// Of arrays by the same name whose samples have other shapes.
std::vector<std::string> Differences(const std::vector<data::Field>& taken,
                                     const std::vector<data::Field>& given,
                                     const char* who_says, const char* made) {
  std::vector<std::string> sentences;
  // Without the batch.
  const auto extents = [](const data::Field& field) {
    return std::span(field.shape).subspan(field.shape.empty() ? 0 : 1);
  };
  for (const data::Field& field : taken) {
    const auto found = std::ranges::find(given, field.name, &data::Field::name);
    if (found == given.end() ||
        std::ranges::equal(extents(field), extents(*found))) {
      continue;
    }
    sentences.push_back(
        fmt::format("the network says '{}' is {}, {} {}: it is {} for these",
                    field.name, fmt::join(extents(field), "x"), who_says,
                    fmt::join(extents(*found), "x"), made));
  }
  return sentences;
}

}  // namespace

Result<Model> DraftForShapes(const data::Iterator& source,
                             const LoadedNetwork& network, Specialization of) {
  Result<Model> model = network.Draft(of);
  if (model.ok()) return model;
  for (const auto* fields :
       {&source.provides().data, &source.provides().labels}) {
    for (const data::Field& field : *fields) {
      of.shapes.emplace(field.name, field.shape);
    }
  }
  Result<Model> shaped = network.Draft(of);
  return shaped.ok() ? std::move(shaped) : std::move(model);
}

std::vector<data::Field> TakenBy(const LoadedNetwork& network,
                                 const Specialization& of) {
  const Result<Model> model = network.Draft(of);
  if (!model.ok()) return {};
  std::vector<data::Field> fields;
  for (const Node* input : model->graph.Variables(VariableRole::kInput)) {
    const Shape& shape = input->types[0].shape;
    if (!shape.known_rank() || shape.rank() == 0 ||
        TakesLabels(model->graph, *input)) {
      continue;
    }
    const Extents& dims = shape.dims();
    const bool said = std::all_of(dims.begin() + 1, dims.end(), [](int64_t n) {
      return n != Shape::kUnknownDim;
    });
    if (!said) continue;
    fields.push_back(
        {input->name, data::ElementType::kF32, {dims.begin(), dims.end()}});
  }
  return fields;
}

std::vector<std::string> OtherShapes(const std::vector<data::Field>& taken,
                                     const data::Iterator& source) {
  return Differences(taken, source.provides().data, "the data have", "trained");
}

std::vector<std::string> OtherShapes(const LoadedNetwork& network,
                                     const InputShapes& said) {
  std::vector<data::Field> given;
  for (const auto& [name, shape] : said) {
    given.push_back({name, data::ElementType::kF32, shape});
  }
  if (given.empty()) return {};
  return Differences(TakenBy(network, {}), given, "--input-shape says",
                     "compiled");
}

void TakeShapes(const data::Iterator& source, const Model& model,
                CompileRequest& request) {
  std::vector<std::string> data, labels;
  for (const Node* input : model.graph.Variables(VariableRole::kInput)) {
    if (request.input_shapes.contains(input->name)) continue;
    (TakesLabels(model.graph, *input) ? labels : data).push_back(input->name);
  }
  for (int bucket = 0; bucket < source.buckets(); ++bucket) {
    const data::Provides& provides = source.provides(bucket);
    InputShapes shapes = request.input_shapes;
    AddShapes(data, provides.data, shapes);
    AddShapes(labels, provides.labels, shapes);
    if (source.buckets() == 1) {
      request.input_shapes = std::move(shapes);
    } else {
      request.buckets.push_back(
          {{{"", source.bucket_key(bucket)}}, std::move(shapes)});
    }
  }
}

namespace {

// How the source is told where its labels are.
std::string WayToLabels(const std::string& source) {
  if (source.starts_with("csv:")) {
    return "--data-opt label_column=N says which column, from 0, "
           "label_csv=FILE which file they are in";
  }
  if (source.starts_with("npy:")) {
    return "a second file has them, as in npy:x.npy,y.npy";
  }
  return "an option of the source may say where they are (--data-opt help)";
}

}  // namespace

Status RequireLabels(const data::Iterator& source, const Plan& plan) {
  int64_t needed = 0;  // without those at the end that nothing reads
  for (const BufferRow& row :
       MakeOverview(plan.programs.front(), plan.target, *plan.catalog)
           .buffers) {
    const auto label = std::ranges::find(plan.label_inputs, row.name);
    if (!row.read || label == plan.label_inputs.end()) continue;
    needed = std::max(needed, label - plan.label_inputs.begin() + 1);
  }
  const int64_t given = std::ssize(source.provides().labels);
  if (needed <= given) return Done{};
  return UnplacedError(
      fmt::format("label inputs of the network: {}, label arrays of the data: "
                  "{}; {}",
                  needed, given, WayToLabels(source.summary())));
}

}  // namespace mxc
