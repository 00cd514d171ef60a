// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/compile_operator.h"

#include <fmt/format.h>

#include <mutex>
#include <span>
#include <utility>

#include "frontend/attributes.h"
#include "ir/graph/graph.h"
#include "ir/graph/supported.h"
#include "runtime/ndarray/array.h"
#include "runtime/ndarray/recently_used.h"
#include "tools/imperative/function_graph.h"

namespace mxc {
namespace {

namespace rt = runtime;

// An operator of which each state input has a next value among its last outputs.
std::vector<size_t> UpdatedInputs(const Node& node) {
  std::vector<size_t> updated;
  if (node.NextStates() == 0) return updated;
  const std::vector<InputSpec> specs = node.op->inputs(node.attrs.get());
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].kind == InputKind::kState) updated.push_back(i);
  }
  return updated;
}

// What an operator of any number of inputs is asked for by their number alone.
Result<AttrsPtr> Parse(const Operator& op, std::string_view name,
                       const std::vector<AttrText>& attrs, size_t inputs) {
  std::vector<LocatedAttr> located;
  for (const auto& [attr, text] : attrs) located.push_back({attr, text, {}});
  const SourceLoc nowhere;
  Diagnostics errors;
  AttrsPtr parsed =
      ParseAttributes({&op, name, name, nowhere, inputs}, located, errors);
  if (!errors.empty()) return errors;
  return parsed;
}

Result<const Operator*> Find(std::string_view name) {
  const Operator* const op = FindPublicOperator(name);
  if (op != nullptr) return op;
  const std::string_view near = NearestOperator(name);
  return Error({}, "there is no operator '{}'{}", name,
               near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
}

class OperatorFunction final : public FunctionCompiler {
 public:
  OperatorFunction(const Operator& op, std::vector<AttrText> attrs,
                   std::string name)
      : FunctionCompiler(std::move(name)), op_(op), attrs_(std::move(attrs)) {}

 private:
  Result<FunctionGraph> Build(std::span<const rt::ArrayType> inputs,
                              bool training) const override {
    MXC_ASSIGN(const AttrsPtr attrs, Parse(op_, name(), attrs_, inputs.size()));
    const size_t wanted = op_.inputs(attrs.get()).size();
    if (inputs.size() != wanted) {
      return Error({}, "{} inputs are given, expected {}", inputs.size(),
                   wanted);
    }
    FunctionGraph built;
    Graph& graph = built.graph;
    graph.training = training;
    std::vector<Value> operands;
    for (const rt::ArrayType& type : inputs) {
      operands.push_back(
          FunctionGraph::AddInput(graph, operands.size(), TensorTypeOf(type))
              ->out());
    }
    Node* const node =
        graph.AddOperator(&op_, name(), attrs, std::move(operands));
    built.updates = UpdatedInputs(*node);
    built.visible = static_cast<size_t>(op_.visible_outputs(attrs.get()));
    for (size_t o = 0; o < built.visible; ++o) Expose(built, *node, o);
    for (size_t u = 0; u < built.updates.size(); ++u) {
      Expose(built, *node, node->types.size() - built.updates.size() + u);
    }
    MXC_RETURN_IF_ERROR(InferTypes(graph, true));
    return built;
  }

  static void Expose(FunctionGraph& function, Node& node, size_t output) {
    function.Add(node.out(static_cast<int>(output)));
  }

  const Operator& op_;
  const std::vector<AttrText> attrs_;  // that can be parsed
};

Result<std::shared_ptr<rt::CallableOperator>> MakeCallable(
    std::string_view name, const std::vector<AttrText>& attrs) {
  MXC_ASSIGN(const Operator* const op, Find(name));
  if (!CanBeCompiled(*op)) {
    return Error({}, "operator '{}' is known, but cannot be computed", name);
  }
  MXC_ASSIGN([[maybe_unused]] const AttrsPtr parsed,
             Parse(*op, name, attrs, 1));
  return std::make_shared<rt::CallableOperator>(
      std::string(name),
      std::make_unique<OperatorFunction>(*op, attrs, std::string(name)));
}

}  // namespace

Result<nlohmann::ordered_json> SignatureOf(std::string_view name,
                                           const std::vector<AttrText>& attrs,
                                           size_t inputs) {
  using Json = nlohmann::ordered_json;
  MXC_ASSIGN(const Operator* const op, Find(name));
  MXC_ASSIGN(const AttrsPtr parsed, Parse(*op, name, attrs, inputs));
  constexpr const char* kKinds[] = {"data", "parameter", "label", "state"};
  Json rows = Json::array();
  for (const InputSpec& input : op->inputs(parsed.get())) {
    rows.push_back({{"name", input.name},
                    {"kind", kKinds[static_cast<size_t>(input.kind)]}});
  }
  return Json{{"inputs", rows},
              {"outputs", op->outputs(parsed.get())},
              {"visible_outputs", op->visible_outputs(parsed.get())}};
}

Result<std::shared_ptr<rt::CallableOperator>> FindCallable(
    std::string_view name, const std::vector<AttrText>& attrs) {
  // Who asks for the same again finds what was compiled.
  constexpr size_t kMost = 4096;
  static std::mutex mutex;
  static rt::RecentlyUsed<std::string, std::shared_ptr<rt::CallableOperator>>
      known(kMost);
  std::string key = std::string(name) + "\n" + PrintAttrLines(attrs);
  const std::lock_guard lock(mutex);
  if (const auto* const found = known.Find(key)) return *found;
  MXC_ASSIGN(auto made, MakeCallable(name, attrs));
  known.Add(std::move(key), made);
  return made;
}

}  // namespace mxc
