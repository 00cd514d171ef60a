// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/variables.h"
#include "runtime/formats/npy.h"
#include "tools/driver/example_shape.h"
#include "tools/driver/figures.h"
#include "tools/driver/symbol_text.h"
#include "tools/driver/to_tensor.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

Result<std::map<std::string, Tensor>> ReadBound(const NetworkRequest& request) {
  std::map<std::string, Tensor> values;
  for (const auto& [input, path] : request.bound) {
    auto array = runtime::ReadNpy(path);
    if (!array.ok()) {
      return Error({}, "--bind {}: {}", input, array.status().message());
    }
    values[input] = ToTensor(*array);
  }
  return values;
}

LoadOptions LoadOptionsOf(const Specialization& of) {
  LoadOptions load;
  load.batch = of.batch;
  load.input_shapes = of.shapes;
  load.input_types = of.types;
  load.generation = of.generation;
  load.lengths = of.lengths;
  load.open_axes = of.open_axes;
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

Result<std::shared_ptr<const NetworkFile>> OpenNetworkOf(
    const NetworkRequest& request) {
  if (request.text == nullptr) return OpenNetwork(request.model);
  return OpenNetwork(std::make_shared<const NetworkSource>(request.text));
}

// Returns whether any of the layers' arrays has another first extent, which the
// number of outputs is.
bool AreOfOtherClasses(const ClassHead& head, const ParameterArrays& arrays) {
  return std::ranges::any_of(arrays, [&](const runtime::NamedArray& named) {
    const std::string name(runtime::OwnName(named.name));
    const auto& shape = named.array.shape;
    return head.parameters.contains(name) && !shape.empty() &&
           shape[0] != head.classes;
  });
}

// Returns whether a layer that tells classes apart has a parameter without a
// value.
bool LacksClasses(const Model& model) {
  const Result<ClassHead> head = FindClassHead(model.graph);
  if (!head.ok()) return false;
  return std::ranges::any_of(model.graph.Variables(VariableRole::kParameter),
                             [&](const Node* node) {
                               return head->parameters.contains(node->name) &&
                                      !model.parameters.contains(node->name);
                             });
}

}  // namespace

Status InferOpenTypes(Graph& graph, bool complete) {
  MXC_RETURN_IF_ERROR(InferTypes(graph, /*complete=*/false));
  CloseBatches(graph);
  return InferTypes(graph, complete);
}

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
  MXC_ASSIGN(load.input_values, ReadBound(request));
  load.loss = request.loss;
  load.state = request.state;
  return Load(request.model, load);
}

Result<std::shared_ptr<LoadedNetwork>> LoadedNetwork::Read(
    const NetworkRequest& request) {
  const Stopwatch watch;
  std::shared_ptr<LoadedNetwork> network(new LoadedNetwork(request));
  Diagnostics errors;
  TakeOrAdd(ParametersFor(request), network->parameter_file_, errors);
  TakeOrAdd(OpenNetworkOf(request), network->file_, errors);
  TakeOrAdd(ReadBound(request), network->bound_, errors);
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

// They are of as many classes as the symbol has.
void LoadedNetwork::ForgetNamesOfSymbol() {
  if (parameter_file_->provenance.known) return;
  auto file = std::make_shared<ParameterFile>(*parameter_file_);
  file->provenance.notes.erase("label_names");
  parameter_file_ = std::move(file);
}

Status LoadedNetwork::SetClasses(int64_t classes, const Specialization& of) {
  MXC_ASSIGN(Model model, Build(OptionsFor(of)));
  MXC_RETURN_IF_ERROR(InferOpenTypes(model.graph));
  MXC_ASSIGN(head_, FindClassHead(model.graph));
  classes_ = classes;
  if (classes != head_->classes) ForgetNamesOfSymbol();
  MXC_ASSIGN(model, Build(OptionsFor(of)));
  const Status fits = InferOpenTypes(model.graph);
  if (fits.ok()) return RequireClasses(*head_, classes, model.graph);
  Diagnostics errors = fits.errors();
  errors[0].notes.push_back(
      fmt::format("so it is with {} outputs of {}, of which the network has {}",
                  classes, head_->Names(), head_->classes));
  return errors;
}

Status LoadedNetwork::SetClasses(const CompileRequest& request) {
  if (request.network.classes == 0) return Done{};
  return SetClasses(request.network.classes, request.First());
}

bool LoadedNetwork::BeginsClasses(const Specialization& of) {
  LoadOptions load = OptionsFor(of);
  Result<Model> model = Build(load);
  if (!model.ok() || !AddParameters(*model, load).ok() ||
      !InferOpenTypes(model->graph).ok()) {
    return false;
  }
  return LacksClasses(*model);
}

std::string LoadedNetwork::ChangedClasses() const {
  if (!head_ || head_->classes == classes_) return "";
  return fmt::format("{} {} {} outputs, {} in {}", head_->Names(),
                     head_->layers.size() == 1 ? "has" : "have", classes_,
                     head_->classes, file_->source()->path);
}

// What was trained on many samples at a time may be used on one.
LoadOptions LoadedNetwork::OptionsFor(const Specialization& of) const {
  LoadOptions load = LoadOptionsOf(of);
  load.known_shapes = ShapesOfTraining(*parameter_file_);
  load.known_batch = false;
  return load;
}

// With what the request says of the network itself.
void LoadedNetwork::Complete(BuildOptions& options) const {
  options.input_values = bound_;
  options.loss = request_.loss;
  options.state = request_.state;
}

Result<Model> LoadedNetwork::Build(const LoadOptions& options) const {
  LoadOptions load = options;
  Complete(load);
  MXC_ASSIGN(Model model, BuildModel(*file_, load));
  if (head_) {
    MXC_RETURN_IF_ERROR(mxc::SetClasses(*head_, classes_, model.graph));
    if (classes_ != head_->classes) ForgetLabelNames(model.graph);
  }
  return model;
}

Result<Model> LoadedNetwork::Draft(const Specialization& of) const {
  return Build(LoadOptionsOf(of));
}

Result<Model> LoadedNetwork::DraftWithParameters(const Specialization& of) {
  LoadOptions load = LoadOptionsOf(of);
  MXC_ASSIGN(Model model, Build(load));
  MXC_RETURN_IF_ERROR(AddParameters(model, load));
  return model;
}

Result<std::string> LoadedNetwork::Stored(const Specialization& of) const {
  BuildOptions build = LoadOptionsOf(of);
  Complete(build);
  return file_->Stored(build);
}

Result<DType> LoadedNetwork::StorageFor(const Specialization& of,
                                        DType precision) const {
  MXC_ASSIGN(Model model, Draft(of));
  // Fused layers become those that multiply. What cannot be is told by whoever
  // plans it.
  if (!ExpandSubgraphs(model.graph).ok()) return precision;
  const auto multiplies = [](const Node* node) {
    return node->op != nullptr && node->op->multiplies_integers;
  };
  const auto nodes = model.graph.TopologicalOrder();
  return std::ranges::any_of(nodes, multiplies) ? DType::kI8 : precision;
}

Status LoadedNetwork::RequireOperators(const Specialization& of) const {
  LoadOptions load = LoadOptionsOf(of);
  load.require_supported = true;
  Complete(load);
  MXC_ASSIGN(const Model model, BuildModel(*file_, load));
  return Done{};
}

// Where nothing but the parameters of the layers that tell classes apart does
// not fit, an option begins them anew.
Diagnostics LoadedNetwork::WithRemedy(Diagnostics errors,
                                      const LoadOptions& options) {
  if (head_ || arrays_ == nullptr) return errors;
  Result<Model> model = Build(options);
  if (!model.ok()) return errors;
  CloseBatches(model->graph);
  if (!InferTypes(model->graph, /*complete=*/false).ok()) return errors;
  const Result<ClassHead> head = FindClassHead(model->graph);
  if (!head.ok() || !AreOfOtherClasses(*head, *arrays_)) return errors;
  LoadOptions without = options;
  without.may_be_unfit = head->parameters;
  model = Build(options);
  if (!model.ok() || !LoadParameters(*model, without).ok()) return errors;
  errors[0].notes.push_back(fmt::format(
      "--classes {} of 'mxc train' and 'mxc compile' begins {} anew",
      head->classes, head->Names()));
  return errors;
}

Status LoadedNetwork::AddParameters(Model& model, LoadOptions& options) {
  options.params = parameter_file_->path;
  options.read_parameters = !options.params.empty();
  options.leave_unfit = request_.refits;
  if (head_) options.may_be_unfit = head_->parameters;
  // Nothing lies beside a text in memory.
  if (request_.text != nullptr && options.params.empty() &&
      file_->parameters() == nullptr) {
    return Done{};
  }
  if (arrays_ == nullptr && options.read_parameters) {
    MXC_ASSIGN(auto arrays, ReadParameters(options.params));
    model.parameter_file = options.params;
    MXC_ASSIGN(arrays_, UnderOwnNames(model, std::move(arrays)));
  }
  options.arrays = arrays_;
  const Status added = LoadParameters(model, options);
  if (added.ok()) return added;
  return WithRemedy(added.errors(), options);
}

namespace {

// A name that is written otherwise in the file than in the network, whose
// parameters are of other shapes where the file has them.
void DoubtNames(const ParameterArrays& arrays, Model& model) {
  std::vector<Node*> missing = MissingParameters(model);
  std::erase_if(missing, [&](const Node* variable) {
    return std::ranges::any_of(arrays, [&](const runtime::NamedArray& array) {
      return runtime::OwnName(array.name) == variable->name;
    });
  });
  if (missing.empty() || model.homeless.empty()) return;
  const auto more = [](size_t count) {
    return count > 1 ? fmt::format(" and {} more", count - 1) : std::string();
  };
  model.doubts.push_back(
      Error({},
            "'{}'{} of {} belongs to no parameter, and '{}'{} begins anew: are "
            "they the same?",
            model.homeless[0], more(model.homeless.size()),
            model.parameter_file, missing[0]->name, more(missing.size())));
}

}  // namespace

Result<Model> LoadedNetwork::Specialize(const Specialization& of,
                                        ParameterUse use) {
  LoadOptions load = OptionsFor(of);
  load.require_supported = true;
  MXC_ASSIGN(Model model, Build(load));
  MXC_RETURN_IF_ERROR(AddParameters(model, load));
  MXC_RETURN_IF_ERROR(InferOpenTypes(model.graph));
  if (use == ParameterUse::kConstants) {
    model.left_out = CutUnknownLabels(model.graph);
  }
  MXC_RETURN_IF_ERROR(RequireInputShapes(model.graph));
  begins_classes_ = LacksClasses(model);
  if (request_.make_up_weights || !request_.init.empty()) {
    if (arrays_ != nullptr) DoubtNames(*arrays_, model);
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
