// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/compile_operator.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "codegen/codegen.h"
#include "frontend/attributes.h"
#include "ir/graph/graph.h"
#include "ir/graph/supported.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "runtime/executor/model.h"
#include "runtime/ndarray/array.h"
#include "tools/driver/temporary_file.h"

namespace mxc {
namespace {

namespace rt = runtime;

struct BuiltGraph {
  Graph graph;
  size_t visible_outputs = 0;
  std::vector<size_t> updates;
};

TensorType TensorTypeOf(const rt::ArrayType& type) {
  return {static_cast<DType>(type.dtype),
          Shape(Extents(type.extents().begin(), type.extents().end()))};
}

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

class Compiler final : public rt::OperatorCompiler {
 public:
  Compiler(const Operator& op, std::vector<AttrText> attrs, std::string name)
      : op_(op), attrs_(std::move(attrs)), name_(std::move(name)) {}

  rt::StatusOr<rt::CompiledOperator> Compile(
      std::span<const rt::ArrayType> inputs, bool training) const override {
    auto compiled = Make(inputs, training);
    if (compiled.ok()) return std::move(*compiled);
    return rt::Status(rt::StatusCode::kInvalidArgument,
                      SentenceOf(compiled.errors()));
  }

 private:
  Result<BuiltGraph> Build(std::span<const rt::ArrayType> inputs,
                           bool training) const {
    MXC_ASSIGN(const AttrsPtr attrs, Parse(op_, name_, attrs_, inputs.size()));
    const size_t wanted = op_.inputs(attrs.get()).size();
    if (inputs.size() != wanted) {
      return Error({}, "{} inputs are given, expected {}", inputs.size(),
                   wanted);
    }
    BuiltGraph built;
    Graph& graph = built.graph;
    graph.training = training;
    std::vector<Value> operands;
    for (const rt::ArrayType& type : inputs) {
      Node* const variable =
          graph.AddVariable(fmt::format("in{}", operands.size()));
      variable->types[0] = TensorTypeOf(type);
      variable->declared = true;
      operands.push_back(variable->out());
    }
    Node* const node =
        graph.AddOperator(&op_, name_, attrs, std::move(operands));
    MXC_RETURN_IF_ERROR(InferTypes(graph, false));
    built.updates = UpdatedInputs(*node);
    built.visible_outputs =
        static_cast<size_t>(op_.visible_outputs(attrs.get()));
    for (size_t o = 0; o < built.visible_outputs; ++o) Expose(graph, *node, o);
    for (size_t u = 0; u < built.updates.size(); ++u) {
      Expose(graph, *node, node->types.size() - built.updates.size() + u);
    }
    MXC_RETURN_IF_ERROR(InferTypes(graph, true));
    return built;
  }

  static void Expose(Graph& graph, Node& node, size_t output) {
    graph.outputs.push_back(node.out(static_cast<int>(output)));
    graph.output_names.push_back(fmt::format("out{}", output));
  }

  Result<rt::CompiledOperator> Make(std::span<const rt::ArrayType> inputs,
                                    bool training) const {
    MXC_ASSIGN(BuiltGraph built, Build(inputs, training));
    MXC_ASSIGN(const Target target, ResolveTarget("native"));
    const auto catalog = MakeKernelCatalog(target);
    PassContext context;
    context.target = &target;
    context.catalog = catalog.get();
    MXC_ASSIGN(Program program,
               RunPipeline(std::move(built.graph), context, {}));
    program.name = name_;
    const std::vector<Program> entries = {std::move(program)};
    CodegenOptions codegen;
    codegen.catalog = catalog.get();
    MXC_ASSIGN(const rt::NamelessFile file, MakeTemporaryFile());
    MXC_RETURN_IF_ERROR(WriteArtifact(file.path(), entries, target, codegen));
    auto model = rt::Model::Open(file.path(), {});
    if (!model.ok()) return Error({}, "{}", model.status().message());
    return rt::CompiledOperator{*model, built.visible_outputs,
                                std::move(built.updates)};
  }

  const Operator& op_;
  const std::vector<AttrText> attrs_;  // that can be parsed
  const std::string name_;
};

}  // namespace

std::string SentenceOf(const Diagnostics& errors) {
  std::string sentence;
  for (const Diagnostic& error : errors) {
    sentence += (sentence.empty() ? "" : "; ") + error.message;
  }
  return sentence;
}

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
  MXC_ASSIGN(const Operator* const op, Find(name));
  if (!CanBeCompiled(*op)) {
    return Error({}, "operator '{}' is known, but cannot be computed", name);
  }
  MXC_ASSIGN([[maybe_unused]] const AttrsPtr parsed,
             Parse(*op, name, attrs, 1));
  return std::make_shared<rt::CallableOperator>(
      std::string(name),
      std::make_unique<Compiler>(*op, attrs, std::string(name)));
}

}  // namespace mxc
