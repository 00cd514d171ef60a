// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/network.h"

#include <fmt/format.h>

#include "frontend/variables.h"
#include "tools/driver/example_shape.h"
#include "tools/driver/figures.h"
#include "tools/driver/symbol_text.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

LoadOptions LoadOptionsOf(const Specialization& of) {
  LoadOptions load;
  load.batch = of.batch;
  load.input_shapes = of.shapes;
  load.input_types = of.types;
  return load;
}

// Inputs whose shape neither the file nor the request gives.
Status RequireInputShapes(const Graph& graph) {
  Diagnostics errors;
  for (const Node* input : graph.Variables(VariableRole::kInput)) {
    const Shape& shape = input->types[0].shape;
    if (shape.known()) continue;
    errors.push_back(
        Error(input->loc,
              "the shape of input '{0}' is {1}; give --input-shape "
              "{0}:{2} or as it must be",
              input->name, shape.known_rank() ? ToString(shape) : "unknown",
              ExampleShape(graph, *input)));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

// Parameters stay variables and have their values before the first run.
void SeedStates(Model& model) {
  model.graph.stateful = true;
  for (const VariableRole role :
       {VariableRole::kParameter, VariableRole::kState}) {
    for (Node* variable : model.graph.Variables(role)) {
      const auto value = model.parameters.find(variable->name);
      if (value == model.parameters.end()) continue;
      variable->constant = value->second;
      variable->types[0] = value->second.type();
    }
  }
}

}  // namespace

Result<std::shared_ptr<const ParameterFile>> ParametersFor(
    const NetworkRequest& request) {
  if (request.parameters != nullptr) return request.parameters;
  if (request.arrays != nullptr || request.text != nullptr) {
    ParameterFile file;
    file.path = request.params;
    if (request.arrays != nullptr) file.path = "the list of parameters";
    return std::make_shared<const ParameterFile>(std::move(file));
  }
  auto file = ChooseParameters(request.model, request.params, request.epoch);
  if (file.ok()) {
    return std::make_shared<const ParameterFile>(std::move(*file));
  }
  if (request.make_up_weights) return std::make_shared<const ParameterFile>();
  return file.errors();
}

Result<Model> LoadModel(const NetworkRequest& request, const Specialization& of,
                        bool read_parameters) {
  LoadOptions load = LoadOptionsOf(of);
  load.params = request.params;
  load.epoch = request.epoch;
  load.read_parameters = read_parameters;
  load.leave_unfit = request.refits;
  return Load(request.model, load);
}

Result<std::shared_ptr<LoadedNetwork>> LoadedNetwork::Read(
    const NetworkRequest& request) {
  const Stopwatch watch;
  std::shared_ptr<LoadedNetwork> network(new LoadedNetwork(request));
  Diagnostics errors;
  TakeOrAdd(ParametersFor(request), network->parameter_file_, errors);
  std::shared_ptr<const SourceFile> source = request.text;
  if (source == nullptr) TakeOrAdd(ReadSource(request.model), source, errors);
  if (source != nullptr) {
    TakeOrAdd(ParseNetwork(source), network->text_, errors);
  }
  if (!errors.empty()) return errors;
  network->TakeNotesOfSymbol();
  network->seconds_ = watch.seconds();
  return network;
}

// Where no .mxc lies beside the parameters, the symbol may know what it would.
void LoadedNetwork::TakeNotesOfSymbol() {
  if (parameter_file_->provenance.known) return;
  const Result<Model> model = Draft({});
  if (!model.ok()) return;
  auto file = std::make_shared<ParameterFile>(*parameter_file_);
  file->provenance.notes.merge(NotesOfSymbol(model->graph));
  parameter_file_ = std::move(file);
}

Result<Model> LoadedNetwork::Draft(const Specialization& of) const {
  return BuildModel(text_, LoadOptionsOf(of));
}

Status LoadedNetwork::RequireOperators(const Specialization& of) const {
  LoadOptions load = LoadOptionsOf(of);
  load.require_supported = true;
  MXC_ASSIGN(const Model model, BuildModel(text_, load));
  return Done{};
}

Status LoadedNetwork::AddParameters(Model& model, LoadOptions& options) {
  options.params = parameter_file_->path;
  options.read_parameters = !options.params.empty();
  options.leave_unfit = request_.refits;
  // Nothing lies beside a text in memory.
  if (request_.text != nullptr && options.params.empty()) return Done{};
  if (arrays_ == nullptr && options.read_parameters) {
    MXC_ASSIGN(arrays_, ReadParameters(options.params));
  }
  options.arrays = arrays_;
  return LoadParameters(model, options);
}

Result<Model> LoadedNetwork::Specialize(const Specialization& of,
                                        ParameterUse use) {
  LoadOptions load = LoadOptionsOf(of);
  load.require_supported = true;
  // What was trained on many samples at a time may be used on one.
  load.known_shapes = ShapesOfTraining(*parameter_file_);
  load.known_batch = false;
  MXC_ASSIGN(Model model, BuildModel(text_, load));
  MXC_RETURN_IF_ERROR(AddParameters(model, load));
  MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/false));
  CloseBatches(model.graph);
  MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/false));
  if (use == ParameterUse::kConstants) {
    model.left_out = CutUnknownLabels(model.graph);
  }
  MXC_RETURN_IF_ERROR(RequireInputShapes(model.graph));
  if (request_.make_up_weights || !request_.init.empty()) {
    MXC_RETURN_IF_ERROR(InitializeMissing(request_, model, initial_values_));
  }
  MXC_RETURN_IF_ERROR(RequireParameters(model));
  if (use == ParameterUse::kStates) {
    SeedStates(model);
  } else {
    BindParameters(model);
  }
  return model;
}

}  // namespace mxc
