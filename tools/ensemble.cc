// SPDX-License-Identifier: Apache-2.0
#include "tools/ensemble.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "frontend/variables.h"
#include "runtime/base/joined.h"
#include "runtime/data/label_names.h"
#include "tools/arrays.h"
#include "tools/artifact_overview.h"
#include "tools/driver/network.h"
#include "tools/driver/unplaced_error.h"
#include "tools/stored_network.h"

namespace mxc {
namespace {

using Symbol = nlohmann::ordered_json;

// Node and output, as a symbol's inputs and heads have them.
Symbol Edge(int64_t node, int64_t output) {
  return Symbol::array({node, output, 0});
}

struct Member {
  std::string path;
  Model model;
  train::Provenance provenance;
};

Result<Member> ReadMember(const NetworkRequest& asked,
                          const Specialization& of) {
  NetworkRequest network = asked;
  if (IsArtifact(network.model)) {
    MXC_ASSIGN(StoredNetwork stored, ReadStoredNetwork(network.model));
    if (stored.parameters->empty()) {
      return UnplacedError(fmt::format(
          "'{}' keeps its weights as its code reads them; an ensemble is made "
          "of networks, or of artifacts that train",
          network.model));
    }
    network.text = std::move(stored.source);
    network.arrays = std::move(stored.parameters);
  }
  MXC_ASSIGN(const auto loaded, LoadedNetwork::Read(network));
  MXC_ASSIGN(Model model, loaded->DraftWithParameters(of));
  MXC_RETURN_IF_ERROR(InferOpenTypes(model.graph));
  if (!network.init.empty()) {
    std::map<std::string, Tensor> drawn;
    MXC_RETURN_IF_ERROR(InitializeMissing(network, model, drawn));
  }
  MXC_RETURN_IF_ERROR(RequireParameters(model));
  return Member{network.model, std::move(model),
                loaded->parameter_file().provenance};
}

// The symbols of the members in one, and their parameters under other names.
class Joint {
 public:
  Status Add(Member member);
  Status Finish(const std::string& how);

  std::string text() const { return symbol_.dump(1); }
  const ParameterArrays& arrays() const { return arrays_; }
  InputShapes shapes() const { return shapes_; }

 private:
  int64_t Node(const char* op, const std::string& name, Symbol attributes,
               Symbol inputs);
  int64_t Votes(const Symbol& head, size_t output, size_t member);
  Status TakeInput(const mxc::Node& input, const std::string& path);

  Symbol symbol_ = {{"nodes", Symbol::array()},
                    {"arg_nodes", Symbol::array()},
                    {"heads", Symbol::array()},
                    {"attrs", {{"mxnet_version", {"int", 10901}}}}};
  std::map<std::string, int64_t> inputs_;  // their nodes
  InputShapes shapes_;
  std::vector<Symbol> heads_;              // of each member
  std::vector<std::string> output_names_;  // of the first one's output nodes
  std::string first_;                      // its path
  ParameterArrays arrays_;
};

int64_t Joint::Node(const char* op, const std::string& name, Symbol attributes,
                    Symbol inputs) {
  Symbol& nodes = symbol_["nodes"];
  nodes.push_back({{"op", op},
                   {"name", name},
                   {"attrs", std::move(attributes)},
                   {"inputs", std::move(inputs)}});
  return static_cast<int64_t>(nodes.size()) - 1;
}

// What members call by one name is one input.
Status Joint::TakeInput(const mxc::Node& input, const std::string& path) {
  const Shape& shape = input.types[0].shape;
  if (!shape.known()) return Done{};
  const Extents& extents = shape.dims();
  const auto [known, added] = shapes_.emplace(input.name, extents);
  if (added || known->second == extents) return Done{};
  return UnplacedError(fmt::format(
      "'{}' takes '{}' of shape {}, '{}' of shape {}", path, input.name,
      ToString(shape), first_, ToString(Shape(known->second))));
}

Status Joint::Add(Member member) {
  if (first_.empty()) first_ = member.path;
  const std::string prefix = fmt::format("member{}_", heads_.size());
  std::map<std::string, const mxc::Node*> given;
  for (const mxc::Node* input :
       member.model.graph.Variables(VariableRole::kInput)) {
    given.emplace(input->name, input);
    MXC_RETURN_IF_ERROR(TakeInput(*input, member.path));
  }
  Symbol added = Symbol::parse(WriteSymbol(member.model.graph));
  std::vector<int64_t> places;  // of its nodes in the joint one
  const auto moved = [&](Symbol edges) {
    for (Symbol& edge : edges) edge[0] = places[edge[0].get<size_t>()];
    return edges;
  };
  Symbol& nodes = symbol_["nodes"];
  for (Symbol& node : added["nodes"]) {
    const std::string name = node["name"];
    const bool is_input = node["op"] == "null" && given.contains(name);
    if (is_input && inputs_.contains(name)) {
      places.push_back(inputs_[name]);
      continue;
    }
    places.push_back(static_cast<int64_t>(nodes.size()));
    if (is_input) {
      inputs_[name] = places.back();
    } else {
      node["name"] = prefix + name;
    }
    node["inputs"] = moved(node["inputs"]);
    nodes.push_back(std::move(node));
  }
  heads_.push_back(moved(added["heads"]));
  if (heads_.back().size() != heads_.front().size()) {
    return UnplacedError(fmt::format(
        "'{}' has {} outputs, '{}' {}: members of an ensemble have equally "
        "many",
        member.path, heads_.back().size(), first_, heads_.front().size()));
  }
  if (output_names_.empty()) {
    for (const Value& output : member.model.graph.outputs) {
      output_names_.push_back(output.node->name);
    }
  }
  for (const auto& [name, value] : member.model.parameters) {
    MXC_ASSIGN(runtime::Array array, ToArray(value));
    arrays_.push_back({prefix + name, std::move(array)});
  }
  return Done{};
}

// One for the class that the member tells, or for each of those that it cannot
// tell apart.
int64_t Joint::Votes(const Symbol& head, size_t output, size_t member) {
  const std::string name = fmt::format("vote{}_{}", member, output);
  const int64_t most =
      Node("max", name + "_most", {{"axis", "-1"}, {"keepdims", "True"}},
           Symbol::array({head}));
  return Node("broadcast_equal", name, Symbol::object(),
              Symbol::array({head, Edge(most, 0)}));
}

Status Joint::Finish(const std::string& how) {
  const size_t members = heads_.size();
  for (size_t output = 0; output < output_names_.size(); ++output) {
    Symbol summands = Symbol::array();
    for (size_t member = 0; member < members; ++member) {
      const Symbol& head = heads_[member][output];
      summands.push_back(how == "vote" ? Edge(Votes(head, output, member), 0)
                                       : head);
    }
    const std::string& name = output_names_[output];
    const int64_t sum =
        Node("add_n", name + "_sum", {{"num_args", fmt::format("{}", members)}},
             std::move(summands));
    const int64_t mean =
        Node("_mul_scalar", name,
             {{"scalar",
               fmt::format("{:.17g}", 1.0 / static_cast<double>(members))}},
             Symbol::array({Edge(sum, 0)}));
    symbol_["heads"].push_back(Edge(mean, 0));
  }
  const Symbol& nodes = symbol_["nodes"];
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]["op"] == "null") symbol_["arg_nodes"].push_back(i);
  }
  return Done{};
}

}  // namespace

Status JoinEnsemble(const EnsembleRequest& ensemble, CompileRequest& request) {
  if (request.trains()) {
    return UnplacedError(
        "--ensemble joins networks that have learned; its members are trained "
        "by themselves");
  }
  if (ensemble.members.empty()) {
    return UnplacedError("--ensemble needs two networks or more");
  }
  NetworkRequest& network = request.network;
  std::vector<std::string> paths = {network.model};
  paths.insert(paths.end(), ensemble.members.begin(), ensemble.members.end());
  if (!network.params.empty() || network.epoch) {
    return UnplacedError(
        "--params and --epoch are of one network; each member of an ensemble "
        "has the parameters that lie beside it");
  }
  Specialization of = request.For(1);
  Joint joint;
  for (const std::string& path : paths) {
    network.model = path;
    MXC_ASSIGN(Member member, ReadMember(network, of));
    if (request.preprocessing.empty()) {
      request.preprocessing = member.provenance.Note("preprocess");
    }
    const auto names =
        data::ParseLabelNames(member.provenance.Note("label_names"));
    if (request.label_names.empty() && names.ok()) {
      request.label_names = *names;
    }
    MXC_RETURN_IF_ERROR(joint.Add(std::move(member)));
  }
  MXC_RETURN_IF_ERROR(joint.Finish(ensemble.how));
  network.model = "the ensemble of " + runtime::Joined(paths, ", ");
  network.text = std::make_shared<const SourceFile>(
      SourceFile{network.model, joint.text()});
  network.arrays = std::make_shared<const ParameterArrays>(joint.arrays());
  network.init.clear();
  for (const auto& [name, shape] : joint.shapes()) {
    request.input_shapes.emplace(name, shape);
  }
  return Done{};
}

}  // namespace mxc
