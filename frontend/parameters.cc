// SPDX-License-Identifier: Apache-2.0
// Parameter files: found beside the network, read, and fitted to its variables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <span>

#include "frontend/caffe/weights.h"
#include "frontend/frontend.h"
#include "frontend/native/weight_names.h"
#include "frontend/network_source.h"
#include "frontend/variables.h"
#include "runtime/formats/convert.h"
#include "runtime/formats/ndarray_list.h"
#include "runtime/formats/npz.h"
#include "runtime/formats/safetensors.h"
#include "runtime/train/read_parameters.h"

namespace mxc {
namespace {

// "conv0_weight, conv0_bias and 257 more"
std::string SomeNames(const std::vector<Node*>& nodes) {
  constexpr size_t kShown = 6;
  std::string names;
  for (size_t i = 0; i < std::min(nodes.size(), kShown); ++i) {
    names += (names.empty() ? "" : ", ") + nodes[i]->name;
  }
  if (nodes.size() <= kShown) return names;
  return fmt::format("{} and {} more", names, nodes.size() - kShown);
}

namespace fs = std::filesystem;

// NNNN of "<stem>-NNNN.params".
std::optional<int> EpochOf(const std::string& file, const std::string& stem) {
  constexpr std::string_view kSuffix = ".params";
  if (!file.starts_with(stem + "-") || !file.ends_with(kSuffix)) {
    return std::nullopt;
  }
  const char* begin = file.data() + stem.size() + 1;
  const char* end = file.data() + file.size() - kSuffix.size();
  int epoch = 0;
  const auto [stop, error] = std::from_chars(begin, end, epoch);
  if (error != std::errc() || stop != end || epoch < 0) return std::nullopt;
  return epoch;
}

Tensor ToTensor(runtime::Array array) {
  TensorType type = {*DTypeFromFlag(static_cast<int>(array.type)),
                     Shape(std::move(array.shape))};
  const std::byte* data = array.storage.get();
  return Tensor(std::move(type), std::move(array.storage), data);
}

std::string Name(const runtime::NamedArray& array) {
  return std::string(runtime::OwnName(array.name));
}

class Fitting {
 public:
  Fitting(Model& model, const LoadOptions& options)
      : model_(model), options_(options) {}

  // `own`: those that count where `arrays` have none of the name.
  Status Run(const ParameterArrays& arrays, const ParameterArrays& own) {
    for (const runtime::NamedArray& array : arrays) Take(array);
    if (!arrays.empty() && ignored_.size() == arrays.size() &&
        HasParameters()) {
      return NoneFits(arrays.size());
    }
    NoteIgnored(arrays.size());
    for (const runtime::NamedArray& array : own) {
      if (!model_.parameters.contains(Name(array))) Take(array);
    }
    if (errors_.empty()) CheckShapes();
    if (!errors_.empty()) return std::move(errors_);
    return Done{};
  }

 private:
  void Take(const runtime::NamedArray& array) {
    const std::string name = Name(array);
    Node* variable = model_.graph.FindVariable(name);
    if (variable == nullptr || IsFed(*variable)) {
      ignored_.push_back(name);
      return;
    }
    Tensor value = ToTensor(array.array);
    if (const auto unfit = Unfit(value.type())) {
      errors_.push_back(Error(variable->loc, "{}: array '{}' has {}",
                              model_.parameter_file, name, *unfit));
      return;
    }
    if (!model_.parameters.emplace(name, std::move(value)).second) {
      errors_.push_back(Error({}, "{}: array '{}' appears twice",
                              model_.parameter_file, name));
      return;
    }
    if (name.size() < array.name.size()) {
      model_.prefixes[name] = array.name.substr(0, 3);
    }
    if (variable->role == VariableRole::kInput) {
      variable->role = VariableRole::kParameter;
      variable->types[0] = model_.parameters[name].type();
    }
  }

  // What the caller gives at every run stays an input, even if a file of a
  // whole executor holds it.
  bool IsFed(const Node& variable) const {
    return variable.role == VariableRole::kInput &&
           (variable.name == "data" ||
            options_.input_shapes.contains(variable.name) ||
            options_.input_types.contains(variable.name) ||
            IsLabel(model_.graph, variable));
  }

  bool HasParameters() const {
    return std::ranges::any_of(model_.graph.nodes(), [this](const auto& node) {
      return node->kind == Node::Kind::kVariable && !IsFed(*node);
    });
  }

  std::string Ignored() const {
    constexpr size_t kShown = 8;
    const size_t shown = std::min(ignored_.size(), kShown);
    return fmt::format("{}{}",
                       fmt::join(std::span(ignored_).first(shown), ", "),
                       shown < ignored_.size() ? " …" : "");
  }

  Diagnostic NoneFits(size_t arrays) const {
    Diagnostic error =
        Error({}, "{}: none of its {} arrays is a parameter of the network: {}",
              model_.parameter_file, arrays, Ignored());
    error.notes.push_back(
        "if Gluon's save_parameters wrote this file, use export instead: it "
        "names the parameters as the network does");
    return error;
  }

  void NoteIgnored(size_t arrays) {
    if (ignored_.empty()) return;
    model_.homeless = ignored_;
    model_.notes.push_back(
        Error({}, "{}: {} of {} arrays belong to no parameter: {}",
              model_.parameter_file, ignored_.size(), arrays, Ignored()));
  }

  // First what follows from the inputs alone, so that a wrong array is told
  // from a wrong network; then the arrays complete what is still unknown.
  void CheckShapes() {
    const std::vector<std::vector<TensorType>> before = Types();
    if (InferFromArrayTypes() || InferFromFloats(before)) CompareShapes();
    if (!errors_.empty()) return;
    for (const auto& [name, tensor] : model_.parameters) {
      model_.graph.FindVariable(name)->types[0] = tensor.type();
    }
    Infer();
  }

  // The types of the arrays win over those that the network notes, as in
  // MXNet's SymbolBlock.imports: of a network that was cast after its first run
  // the notes are old. They say what does not follow from the arrays, and where
  // integers are, which no cast of a network changes.
  bool InferFromArrayTypes() {
    std::vector<std::pair<Node*, DType>> notes;
    for (const auto& node : model_.graph.nodes()) {
      if (node->kind != Node::Kind::kVariable ||
          options_.input_types.contains(node->name)) {
        continue;
      }
      DType& dtype = node->types[0].dtype;
      const auto array = model_.parameters.find(node->name);
      const bool integers = dtype != DType::kUnknown && !IsFloat(dtype);
      if (integers && array == model_.parameters.end()) continue;
      notes.emplace_back(node.get(), dtype);
      dtype = array == model_.parameters.end() ? DType::kUnknown
                                               : array->second.type().dtype;
    }
    if (!Infer()) return false;
    for (const auto& [node, noted] : notes) {
      DType& dtype = node->types[0].dtype;
      if (dtype == DType::kUnknown) dtype = noted;
    }
    return Infer();
  }

  // Where the types of the arrays do not fit together or do not fit the
  // network, floats of 16 bits become float32, which holds each of them.
  bool InferFromFloats(const std::vector<std::vector<TensorType>>& before) {
    Diagnostics errors = std::move(errors_);
    const auto arrays = model_.parameters;
    std::map<std::string, int> widened;  // arrays by the name of their type
    for (auto& [name, tensor] : model_.parameters) {
      const DType dtype = tensor.type().dtype;
      if (dtype != DType::kF16 && dtype != DType::kBF16) continue;
      tensor = AsFloat(tensor);
      ++widened[std::string(MxnetName(dtype))];
    }
    errors_ = {};
    SetTypes(before);
    if (!widened.empty() && InferFromArrayTypes()) {
      for (const auto& [type, count] : widened) {
        model_.notes.push_back(Error(
            {}, "{}: {} of {} {} float32, as the network around {}",
            model_.parameter_file,
            count == 1 ? "1 array" : fmt::format("{} arrays", count), type,
            count == 1 ? "becomes" : "become", count == 1 ? "it" : "them"));
      }
      return true;
    }
    model_.parameters = arrays;
    errors_ = std::move(errors);
    return false;
  }

  static Tensor AsFloat(const Tensor& tensor) {
    std::byte* to = nullptr;
    const Tensor wide = Tensor::Allocate({DType::kF32, tensor.shape()}, &to);
    runtime::ConvertElements(
        static_cast<runtime::ElementType>(tensor.type().dtype),
        {tensor.bytes(), static_cast<size_t>(tensor.size_bytes())},
        runtime::ElementType::kF32,
        {to, static_cast<size_t>(wide.size_bytes())});
    return wide;
  }

  std::vector<std::vector<TensorType>> Types() const {
    std::vector<std::vector<TensorType>> types;
    for (const auto& node : model_.graph.nodes()) types.push_back(node->types);
    return types;
  }
  void SetTypes(const std::vector<std::vector<TensorType>>& types) {
    size_t at = 0;
    for (const auto& node : model_.graph.nodes()) node->types = types[at++];
  }

  bool Infer() {
    const Status inferred = InferTypes(model_.graph, false);
    if (inferred.ok()) return true;
    errors_ = inferred.errors();
    return false;
  }

  void CompareShapes() {
    std::vector<std::string> unfit;
    for (const Node* node : model_.graph.TopologicalOrder()) {
      const auto found = model_.parameters.find(node->name);
      if (node->kind != Node::Kind::kVariable ||
          found == model_.parameters.end()) {
        continue;
      }
      const Shape& needed = node->types[0].shape;
      const Shape& given = found->second.shape();
      if (Agree(needed, given)) continue;
      if (options_.leave_unfit || options_.may_be_unfit.contains(node->name)) {
        const std::string file =
            unfit.empty()
                ? fmt::format(" in {} begins anew", model_.parameter_file)
                : "";
        unfit.push_back(fmt::format("{} {}{} as {}", node->name,
                                    ToString(given), file, ToString(needed)));
        model_.parameters.erase(found);
        continue;
      }
      errors_.push_back(
          Error(node->loc,
                "parameter '{}' has shape {} in {}, but the network needs "
                "{}",
                node->name, ToString(given), model_.parameter_file,
                ToString(needed)));
    }
    if (unfit.empty()) return;
    model_.unfit.push_back(Error({}, "{}", fmt::join(unfit, "; ")));
  }

  static bool Agree(const Shape& needed, const Shape& given) {
    if (!needed.known_rank()) return true;
    if (needed.rank() != given.rank()) return false;
    for (int axis = 0; axis < given.rank(); ++axis) {
      if (needed.known(axis) && needed[axis] != given[axis]) return false;
    }
    return true;
  }

  Model& model_;
  const LoadOptions& options_;
  std::vector<std::string> ignored_;
  Diagnostics errors_;
};

}  // namespace

std::map<int, std::string> ParameterFilesBeside(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const std::string stem = StemOfNetwork(path);
  std::map<int, std::string> by_epoch;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(
           folder.empty() ? fs::path(".") : folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (const auto epoch = EpochOf(name, stem)) {
      by_epoch[*epoch] = (folder / name).string();
    }
  }
  return by_epoch;
}

Result<std::string> FindParameterFile(const std::string& path,
                                      const ParameterOptions& options) {
  if (!options.params.empty()) return options.params;
  const std::map<int, std::string> by_epoch = ParameterFilesBeside(path);
  const std::string stem = StemOfNetwork(path);
  if (options.epoch) {
    if (const auto found = by_epoch.find(*options.epoch);
        found != by_epoch.end()) {
      return found->second;
    }
    return Error({}, "there is no file {}-{:04}.params beside {}", stem,
                 *options.epoch, path);
  }
  if (!by_epoch.empty()) return by_epoch.rbegin()->second;
  for (const char* ending : {".params", ".caffemodel"}) {
    const fs::path plain = fs::path(path).parent_path() / (stem + ending);
    std::error_code ignored;
    if (plain != path && fs::exists(plain, ignored)) return plain.string();
  }
  return std::string();
}

Result<std::shared_ptr<const ParameterArrays>> ReadParameters(
    const std::string& path) {
  if (path.ends_with(".caffemodel")) {
    MXC_ASSIGN(const auto file, NetworkSource::Open(path));
    MXC_ASSIGN(ParameterArrays arrays, caffe::ReadWeights(file->bytes(), path));
    return std::make_shared<const ParameterArrays>(std::move(arrays));
  }
  auto arrays = train::ReadParameters(path);
  if (!arrays.ok()) return Error({}, "{}", arrays.status().message());
  return std::make_shared<const ParameterArrays>(std::move(*arrays));
}

Result<std::shared_ptr<const ParameterArrays>> UnderOwnNames(
    Model& model, std::shared_ptr<const ParameterArrays> arrays) {
  if (model.weight_names == nullptr) return arrays;
  MXC_ASSIGN(ParameterArrays named,
             model.weight_names->Apply(model.graph, *arrays,
                                       model.parameter_file, model.notes));
  return std::make_shared<const ParameterArrays>(std::move(named));
}

Status LoadParameters(Model& model, const LoadOptions& options) {
  MXC_ASSIGN(model.parameter_file,
             FindParameterFile(model.source->path, options));
  const ParameterArrays none;
  const auto& own = model.own_parameters;
  if (model.parameter_file.empty() || !options.read_parameters) {
    if (own == nullptr) return Done{};
    model.parameter_file = model.source->path;
    return Fitting(model, options).Run(none, *own);
  }
  std::shared_ptr<const ParameterArrays> arrays = options.arrays;
  if (arrays == nullptr) {
    MXC_ASSIGN(arrays, ReadParameters(model.parameter_file));
    MXC_ASSIGN(arrays, UnderOwnNames(model, std::move(arrays)));
  }
  return Fitting(model, options).Run(*arrays, own == nullptr ? none : *own);
}

std::vector<Node*> MissingParameters(const Model& model) {
  std::vector<Node*> missing;
  for (Node* node : model.graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kVariable &&
        node->role != VariableRole::kInput &&
        !model.parameters.contains(node->name)) {
      missing.push_back(node);
    }
  }
  return missing;
}

Status RequireParameters(const Model& model) {
  const std::vector<Node*> missing = MissingParameters(model);
  if (missing.empty()) return Done{};
  Diagnostic error =
      model.parameter_file.empty()
          ? Error({},
                  "no parameter file {0}-NNNN.params beside {1}; its {2} "
                  "parameters have no values: {3}; name a file (--params), or "
                  "make values up (--init xavier)",
                  model.stem, model.source->path, missing.size(),
                  SomeNames(missing))
          : Error({},
                  "{} lacks {} of the network's parameters: {}; --init xavier "
                  "makes them up",
                  model.parameter_file, missing.size(), SomeNames(missing));
  for (const Diagnostic& note : model.notes) {
    error.notes.push_back(note.message);
    error.notes.insert(error.notes.end(), note.notes.begin(), note.notes.end());
  }
  return error;
}

void BindParameters(Model& model) {
  for (const auto& node : model.graph.nodes()) {
    const auto found = model.parameters.find(node->name);
    if (node->kind != Node::Kind::kVariable ||
        node->role == VariableRole::kInput || found == model.parameters.end()) {
      continue;
    }
    node->kind = Node::Kind::kConstant;
    node->constant = found->second;
    node->types = {found->second.type()};
  }
}

Status WriteParameters(const Model& model, const std::string& path) {
  const bool npz = path.ends_with(".npz");
  const bool safetensors = path.ends_with(".safetensors");
  std::vector<runtime::NamedArray> arrays;
  for (const Node* node : model.graph.TopologicalOrder()) {
    const auto found = model.parameters.find(node->name);
    if (found == model.parameters.end()) continue;
    const Tensor& tensor = found->second;
    auto array = runtime::Array::Allocate(
        *runtime::ElementTypeFromFlag(static_cast<int>(tensor.type().dtype)),
        tensor.shape().dims());
    if (!array.ok()) return Error({}, "{}", array.status().message());
    std::copy_n(tensor.bytes(), tensor.size_bytes(), array->bytes().data());
    const bool state = node->role == VariableRole::kState;
    const char* prefix = npz || safetensors ? "" : state ? "aux:" : "arg:";
    arrays.push_back({prefix + node->name, *array});
  }
  const auto written = npz           ? runtime::WriteNpz(path, arrays)
                       : safetensors ? runtime::WriteSafetensors(path, arrays)
                                     : runtime::WriteNdarrayList(path, arrays);
  if (!written.ok()) return Error({}, "{}", written.message());
  return Done{};
}

}  // namespace mxc
