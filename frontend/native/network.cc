// SPDX-License-Identifier: Apache-2.0
// The document's frame: its keys, the inputs and their shapes, the outputs.
#include "frontend/native/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontend/csr_inputs.h"
#include "frontend/native/constants.h"
#include "frontend/native/expander.h"
#include "frontend/variables.h"
#include "ir/support/nearest.h"

namespace mxc {
namespace {

using Kind = JsonValue::Kind;

constexpr std::string_view kBatch = "N";

class NetworkReader : JsonDiagnostics {
 public:
  NetworkReader(const JsonDocument& document, const BuildOptions& options,
                Budget budget)
      : JsonDiagnostics(document, found_),
        options_(options),
        budget_(budget),
        expander_(document, graph_, budget_, found_) {}

  Result<Graph> Read() {
    const JsonValue& root = document_.root();
    CheckKeys(root);
    EvaluateConstants(document_, budget_, constants_, *this);
    expander_.SetDefaults(root.Find("defaults"));
    expander_.SetBlocks(root.Find("blocks"));
    const Value data = ReadInputs(root.Find("inputs"));
    ReadParameters(root.Find("parameters"));
    const JsonValue* nodes = root.Find("nodes");
    if (nodes == nullptr) {
      Fail(root, "key 'nodes' is missing");
    } else if (Expect(*nodes, Kind::kArray, "'nodes'")) {
      const Value last = expander_.Expand(*nodes, constants_, data);
      SetOutputs(root.Find("outputs"), last);
    }
    if (!found_.empty()) {
      expander_.ReportUnknownOperators();
      return std::move(found_);
    }
    AssignRoles(graph_);
    for (Node* parameter : parameters_) {
      parameter->role = VariableRole::kParameter;
    }
    return std::move(graph_);
  }

 private:
  void CheckKeys(const JsonValue& root) {
    static constexpr std::string_view kKeys[] = {
        "mxc",    "name",  "inputs",  "parameters", "constants", "defaults",
        "blocks", "nodes", "outputs", "weights",    "//"};
    for (const JsonMember& member : root.members) {
      if (std::ranges::count(kKeys, member.key) > 0) continue;
      const std::string_view nearest = Nearest(member.key, kKeys);
      Fail(document_.LocateKey(root, member), "key '{}' is unknown{}",
           member.key, NearestNote(nearest));
    }
    const JsonValue& version = *root.Find("mxc");
    if (!version.Is(Kind::kInteger) || version.integer != 1) {
      Fail(version, "version {} of the language is unknown, expected 1",
           document_.Text(version).substr(0, 20));
    }
    const JsonValue* name = root.Find("name");
    if (name != nullptr && Expect(*name, Kind::kString, "'name'")) {
      graph_.name = name->string;
    }
  }

  // The first input is what the first node reads.
  Value ReadInputs(const JsonValue* inputs) {
    if (inputs == nullptr) {
      Fail(document_.root(), "key 'inputs' is missing");
      return {};
    }
    if (!Expect(*inputs, Kind::kObject, "'inputs'")) return {};
    std::vector<Declared> declared;
    for (const JsonMember& member : inputs->members) {
      declared.push_back(Declare(member));
      declared.back().node->declared = true;  // read or not
    }
    if (std::ranges::any_of(declared, HasBatch)) {
      for (const Declared& input : declared) NoteBatchAxis(input);
    }
    for (const Declared& input : declared) BindFrom(input);
    for (Declared& input : declared) Settle(input);
    return declared.empty() ? Value() : declared[0].node->out();
  }

  void ReadParameters(const JsonValue* parameters) {
    if (parameters == nullptr ||
        !Expect(*parameters, Kind::kObject, "'parameters'")) {
      return;
    }
    for (const JsonMember& member : parameters->members) {
      Declared declared = Declare(member);
      Settle(declared);
      parameters_.push_back(declared.node);
    }
  }

  // A variable whose shape may hold symbols.
  struct Declared {
    Node* node;
    std::vector<JsonValue> dims;
    const JsonValue* shape;  // null: unknown
  };

  // "data": ["N", 3, 224, 224], or an object with shape, dtype, layout, init.
  Declared Declare(const JsonMember& member) {
    Node* node = graph_.AddVariable(member.key);
    node->op_name = "null";
    node->loc = document_.LocateKey(*member.value.parent, member);
    expander_.AddGlobal(node->name, node->out(), node->loc);
    Declared declared{node, {}, &member.value};
    if (member.value.Is(Kind::kObject)) {
      declared.shape = member.value.Find("shape");
      for (const JsonMember& property : member.value.members) {
        ReadProperty(*node, property);
      }
    }
    if (declared.shape == nullptr ||
        !Expect(*declared.shape, Kind::kArray, "the shape")) {
      declared.shape = nullptr;
      return declared;
    }
    for (const JsonValue& dim : declared.shape->items) {
      Evaluated value = Substitute(dim, constants_, budget_);
      if (!value.error.empty()) {
        Fail(dim, "{}", value.error);
      } else if (!value.value.Is(Kind::kString) &&
                 (!value.value.Is(Kind::kInteger) || value.value.integer < 1)) {
        Fail(dim,
             "an extent is {}, expected a number from 1 or a name such "
             "as \"N\"",
             document_.Text(dim).substr(0, 20));
        declared.shape = nullptr;
      }
      declared.dims.push_back(std::move(value.value));
    }
    return declared;
  }

  static bool IsBatch(const JsonValue& dim) {
    return dim.Is(Kind::kString) && dim.string == kBatch;
  }

  static bool HasBatch(const Declared& declared) {
    return std::ranges::any_of(declared.dims, IsBatch);
  }

  // Where "N" is not the first extent, a layout says so, as MXNet's do: "LNC" of a
  // recurrent layer's states. One without it is of an input that is the same for
  // all samples.
  static void NoteBatchAxis(const Declared& declared) {
    const auto batch = std::ranges::find_if(declared.dims, IsBatch);
    if (declared.dims.empty() || batch == declared.dims.begin()) return;
    std::string layout(declared.dims.size(), 'C');
    layout[0] = declared.dims[0].Is(Kind::kString) ? 'T' : 'L';
    if (batch != declared.dims.end()) {
      layout[static_cast<size_t>(batch - declared.dims.begin())] = 'N';
    }
    declared.node->written.annotations.emplace("__layout__", layout);
  }

  void ReadProperty(Node& node, const JsonMember& property) {
    const std::string& key = property.key;
    const JsonValue& value = property.value;
    if (key == "shape" || key == "//") return;
    if (key == "nonzeros") return ReadNonzeros(node, value);
    if (key != "dtype" && key != "layout" && key != "init" && key != "stype") {
      Fail(document_.LocateKey(*value.parent, property),
           "key '{}' is unknown; known: shape, dtype, layout, init, stype, "
           "nonzeros",
           key);
    } else if (Expect(value, Kind::kString, fmt::format("'{}'", key))) {
      if (key == "stype") {
        ReadStorage(node, value);
      } else if (key != "dtype") {
        node.written.annotations["__" + key + "__"] = value.string;
      } else if (const auto dtype = DTypeFromMxnetName(value.string)) {
        node.types[0].dtype = *dtype;
      } else {
        Fail(value, "'{}' is no element type such as float32", value.string);
      }
    }
  }

  // Notes the storage type by MXNet's number.
  void ReadStorage(Node& node, const JsonValue& value) {
    const std::string_view names[] = {"default", "row_sparse", "csr"};
    const auto found = std::ranges::find(names, value.string);
    if (found == std::end(names)) {
      return Fail(value, "'{}' is no storage, expected one of {}", value.string,
                  fmt::join(names, ", "));
    }
    node.written.annotations["__storage_type__"] =
        std::to_string(found - std::begin(names));
  }

  void ReadNonzeros(Node& node, const JsonValue& value) {
    if (!value.Is(Kind::kInteger) || value.integer < 1) {
      return Fail(value,
                  "nonzeros is {}, expected how many elements of a row are not "
                  "zero at most",
                  document_.Text(value).substr(0, 20));
    }
    node.written.annotations[kNonzerosAnnotation] =
        std::to_string(value.integer);
  }

  // What the caller's shapes say about the symbols.
  void BindFrom(const Declared& input) {
    const auto given = options_.input_shapes.find(input.node->name);
    const auto open = options_.open_axes.find(input.node->name);
    const size_t batch_axis = static_cast<size_t>(
        BatchAxis(*input.node, static_cast<int>(input.dims.size())));
    for (size_t axis = 0; axis < input.dims.size(); ++axis) {
      if (!input.dims[axis].Is(Kind::kString)) continue;
      const std::string& symbol = input.dims[axis].string;
      if (options_.batch > 0 && axis == batch_axis) {
        symbols_[symbol] = options_.batch;
      } else if (open != options_.open_axes.end() &&
                 open->second.contains(static_cast<int>(axis))) {
        letters_.emplace(symbol, open->second.at(static_cast<int>(axis)));
      } else if (given != options_.input_shapes.end() &&
                 given->second.size() == input.dims.size()) {
        symbols_.emplace(symbol, given->second[axis]);
      }
    }
  }

  // What the caller calls the length that the network calls so.
  std::string LengthOf(const std::string& symbol) const {
    const auto letter = letters_.find(symbol);
    return letter == letters_.end() ? symbol : letter->second;
  }

  void Settle(const Declared& declared) {
    if (declared.shape == nullptr) return;
    symbols_.emplace(kBatch, 1);
    Extents dims;
    for (size_t axis = 0; axis < declared.dims.size(); ++axis) {
      const JsonValue& dim = declared.dims[axis];
      const auto bound = symbols_.find(dim.string);
      if (!dim.Is(Kind::kString)) {
        dims.push_back(dim.integer);
      } else if (bound != symbols_.end()) {
        dims.push_back(bound->second);
      } else if (options_.generation.streams > 0) {
        dims.push_back(Shape::kUnknownDim);  // CloseLengths
      } else if (!options_.lengths.empty()) {
        dims.push_back(Shape::kUnknownDim);  // OpenLengths
        declared.node->use.open.push_back(
            {.axis = static_cast<int>(axis), .length = LengthOf(dim.string)});
      } else {
        Fail(declared.shape->items[axis],
             "'{}' has no value; --input-shape of '{}' gives it one",
             dim.string, declared.node->name);
      }
    }
    if (dims.size() != declared.dims.size()) return;
    TensorType& type = declared.node->types[0];
    type.shape = dims;
    if (const auto unfit = Unfit(type)) {
      Fail(*declared.shape, "'{}' has {}", declared.node->name, *unfit);
    }
  }

  void SetOutputs(const JsonValue* outputs, Value last) {
    OutputNamer namer;
    if (outputs == nullptr) {
      if (last) {
        AddOutput(graph_, last, namer);
      } else if (errors_.empty()) {
        Fail(document_.root(), "the network has no node");
      }
      return;
    }
    if (!Expect(*outputs, Kind::kArray, "'outputs'")) return;
    for (const JsonValue& output : outputs->items) {
      if (const Value value = expander_.FindGlobal(output)) {
        AddOutput(graph_, value, namer);
      }
    }
    if (outputs->items.empty()) Fail(*outputs, "the network has no output");
  }

  const BuildOptions& options_;
  Graph graph_;
  Diagnostics found_;
  Budget budget_;
  Expander expander_;
  Scope constants_;
  std::map<std::string, int64_t, std::less<>> symbols_;
  std::map<std::string, std::string> letters_;  // of BuildOptions::open_axes
  std::vector<Node*> parameters_;
};

}  // namespace

Result<Graph> ReadNetwork(const JsonDocument& document,
                          const BuildOptions& options, Budget budget) {
  return NetworkReader(document, options, budget).Read();
}

}  // namespace mxc
