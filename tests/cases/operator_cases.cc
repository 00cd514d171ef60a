// SPDX-License-Identifier: Apache-2.0
// ops: a folder with index.jsonl, a line a case, and cases.tar.gz, which holds
// cases/NAME-symbol.json and cases/NAME.params: arg:X and aux:X before the run,
// out:K after it, ograd:K the gradients of the outputs, grad:X those of the
// arguments, added to gradin:X where that is there; aux_after_backward:X, or
// aux_after:X where it is missing, the states at the end. An output that was
// not written is missing.
//
// A case with gradients runs twice: forward alone, its parameters constants,
// and forward and backward, everything an input.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "frontend/frontend.h"
#include "tests/cases/arrays.h"
#include "tests/cases/backward.h"
#include "tests/cases/case_report.h"
#include "tests/cases/cases.h"
#include "tests/cases/compare.h"
#include "tests/cases/in_process.h"
#include "tests/support/archive.h"

namespace mxc {
namespace {

using Tensors = NamedTensors;

std::shared_ptr<const SourceFile> SourceOf(const Archive& archive,
                                           const std::string& path) {
  const auto text = archive.find(path);
  if (text == archive.end()) return nullptr;
  return std::make_shared<SourceFile>(SourceFile{path, text->second});
}

// Gives the variables their types and returns their values.
std::map<std::string, Tensor> Feed(Model& model, const Tensors& tensors) {
  std::map<std::string, Tensor> inputs;
  for (const auto& node : model.graph.nodes()) {
    if (node->kind != Node::Kind::kVariable) continue;
    for (const char* prefix : {"arg:", "aux:"}) {
      const auto found = tensors.find(prefix + node->name);
      if (found == tensors.end()) continue;
      node->types[0] = found->second.type();
      inputs[node->name] = found->second;
    }
  }
  return inputs;
}

void BindAllButData(Model& model, const Tensors& inputs) {
  for (const auto& node : model.graph.nodes()) {
    const auto value = inputs.find(node->name);
    if (node->kind == Node::Kind::kVariable &&
        node->role != VariableRole::kInput && value != inputs.end()) {
      model.parameters[node->name] = value->second;
    }
  }
  BindParameters(model);
}

void MakeAllInputs(Graph& graph) {
  for (const auto& node : graph.nodes()) node->role = VariableRole::kInput;
}

std::vector<std::string> OutputNames(size_t count) {
  std::vector<std::string> names;
  for (size_t k = 0; k < count; ++k) names.push_back(fmt::format("out:{}", k));
  return names;
}

// In an error: the case asks for what we lack.
constexpr std::string_view kNotSupported = "not supported";

Diagnostics NotSupported(const Diagnostics& errors) {
  return {Error({}, "{} yet: {}", kNotSupported, errors[0].message)};
}

// What passed, of how many, for one operator.
struct Tally {
  int passed = 0, failed = 0, skipped = 0;

  std::string Text() const {
    std::string text = std::to_string(passed);
    if (failed > 0) text += fmt::format(", {} failed", failed);
    if (skipped > 0) text += fmt::format(", {} skipped", skipped);
    return text;
  }
};

class OperatorCases {
 public:
  OperatorCases(const CaseOptions& options, Archive archive)
      : options_(options),
        archive_(std::move(archive)),
        report_(options.verbose) {}

  void Run(const nlohmann::json& line) {
    const std::string name = line["name"], op = line["op"];
    if (!name.starts_with(options_.only)) return;
    if (options_.part != "gradients") Run(name, line, false, outputs_[op]);
    if (line["grads"].empty() || options_.part == "outputs") return;
    const std::string deviation = Deviation(line);
    if (deviation.empty()) return Run(name, line, true, gradients_[op]);
    ++gradients_[op].skipped;
    report_.Skip(name + " backward", deviation);
  }

  int Finish() const {
    if (options_.verbose) {
      for (const auto& [op, outputs] : outputs_) {
        const auto gradients = gradients_.find(op);
        fmt::print(
            "{:42} outputs {:24} gradients {}\n", op, outputs.Text(),
            gradients == gradients_.end() ? "none" : gradients->second.Text());
      }
    }
    return report_.Finish();
  }

 private:
  void Run(const std::string& name, const nlohmann::json& line, bool backward,
           Tally& tally) {
    const Verdict verdict = InProcess([&] {
      const auto errors = Check(name, line, backward);
      return errors ? errors->front().message : std::string();
    });
    const std::string part = name + (backward ? " backward" : "");
    if (verdict.message.empty()) {
      ++tally.passed;
      report_.Pass(part);
    } else if (!verdict.died && verdict.message.starts_with(kNotSupported)) {
      ++tally.skipped;
      report_.Skip(part, verdict.message);
    } else {
      ++tally.failed;
      report_.Fail(part, verdict.message);
    }
  }

  Result<Model> LoadCase(const std::string& name,
                         const Tensors& tensors) const {
    const auto source = SourceOf(archive_, "cases/" + name + "-symbol.json");
    if (!source) return Error({}, "not in the archive");
    LoadOptions load;
    load.read_parameters = false;
    MXC_ASSIGN(Model model, LoadText(source, load));
    Feed(model, tensors);  // loops run as often as the shapes say
    const Status expanded = ExpandSubgraphs(model.graph);
    if (!expanded.ok()) return NotSupported(expanded.errors());
    const Status supported = RequireSupported(model.graph);
    if (!supported.ok()) return NotSupported(supported.errors());
    return model;
  }

  std::optional<Diagnostics> Check(const std::string& name,
                                   const nlohmann::json& line, bool backward) {
    const auto values = archive_.find("cases/" + name + ".params");
    if (values == archive_.end()) {
      return Diagnostics{Error({}, "not in the archive")};
    }
    const auto tensors = ReadTensors(values->second);
    if (!tensors.ok()) return tensors.errors();
    auto model = LoadCase(name, *tensors);
    if (!model.ok()) return model.errors();
    model->graph.training = line["is_train"];
    auto inputs = Feed(*model, *tensors);
    std::vector<std::string> expected =
        OutputNames(model->graph.outputs.size());
    if (!backward) {
      BindAllButData(*model, inputs);
      if (!model->graph.training) {
        AppendNextStates(model->graph, *tensors, expected);
      }
    } else if (auto errors = AddBackward(model->graph, line, *tensors, inputs,
                                         expected)) {
      return errors;
    }
    auto outputs = RunGraph(std::move(model->graph), inputs, options_.engine);
    if (!outputs.ok()) return outputs.errors();
    Tolerance tolerance = {line["rtol"], line["atol"]};
    // What only copies is exact; its gradient may be a sum, in any order.
    if (backward) {
      tolerance.relative = std::max(tolerance.relative, 1e-6);
      tolerance.absolute = std::max(tolerance.absolute, 1e-6);
    }
    return Compare(*outputs, expected, *tensors, tolerance);
  }

  static std::optional<Diagnostics> AddBackward(
      Graph& graph, const nlohmann::json& line, const Tensors& tensors,
      Tensors& inputs, std::vector<std::string>& expected) {
    MakeAllInputs(graph);
    const Status types = InferTypes(graph, true);
    if (!types.ok()) return types.errors();
    const auto added = AppendBackward(graph, line, tensors, inputs);
    if (!added.ok()) return NotSupported(added.errors());
    expected.insert(expected.end(), added->begin(), added->end());
    return std::nullopt;
  }

  // Outputs by their names in the archive; those that it lacks may be anything.
  static std::optional<Diagnostics> Compare(
      const std::vector<Tensor>& outputs,
      const std::vector<std::string>& expected, const Tensors& tensors,
      Tolerance tolerance) {
    for (size_t k = 0; k < outputs.size(); ++k) {
      const auto want = tensors.find(expected[k]);
      if (want == tensors.end()) continue;
      if (auto error = Difference(outputs[k], want->second, tolerance)) {
        return Diagnostics{Error({}, "{} {}", expected[k], *error)};
      }
    }
    return std::nullopt;
  }

  const CaseOptions& options_;
  const Archive archive_;
  CaseReport report_;
  std::map<std::string, Tally> outputs_, gradients_;  // by operator
};

}  // namespace

int RunOperatorCases(const CaseOptions& options) {
  auto archive = ReadArchive(options.folder + "/cases.tar.gz");
  std::ifstream index(options.folder + "/index.jsonl");
  if (!archive || !index) {
    fmt::print("{} holds no cases.tar.gz and index.jsonl\n", options.folder);
    return 2;
  }
  OperatorCases cases(options, std::move(*archive));
  for (std::string line; std::getline(index, line);) {
    cases.Run(nlohmann::json::parse(line));
  }
  return cases.Finish();
}

}  // namespace mxc
