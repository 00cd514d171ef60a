// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/symbol_text.h"

#include <algorithm>

#include "frontend/variables.h"
#include "runtime/data/label_names.h"

namespace mxc {
namespace {

constexpr const char* kLabelNames = "label_names";
constexpr const char* kNotes[] = {kLabelNames, "preprocess"};

std::string AnnotationOf(const std::string& note) { return "__" + note + "__"; }

// The shapes of all inputs that batches fill. An axis is open where programs
// have it of several lengths.
std::map<std::string, Shape> ShapesOfBatches(const Plan& plan) {
  std::map<std::string, Shape> shapes;
  for (const Program& program : plan.programs) {
    for (const int b : program.BuffersOf(BufferKind::kInput)) {
      const Buffer& buffer = program.buffers[b];
      const auto is_it = [&](const auto& names) {
        return std::ranges::count(names, buffer.name) > 0;
      };
      if (!is_it(plan.data_inputs) && !is_it(plan.label_inputs)) continue;
      const auto [at, added] = shapes.emplace(buffer.name, buffer.type.shape);
      if (added || at->second.rank() != buffer.type.shape.rank()) continue;
      for (int axis = 0; axis < at->second.rank(); ++axis) {
        int64_t& extent = at->second[axis];
        if (extent != buffer.type.shape[axis]) extent = Shape::kUnknownDim;
      }
    }
  }
  return shapes;
}

void Annotate(const Plan& plan, Graph& graph) {
  const auto shapes = ShapesOfBatches(plan);
  for (Node* input : graph.Variables(VariableRole::kInput)) {
    const auto shape = shapes.find(input->name);
    if (shape == shapes.end() || shape->second.rank() == 0) continue;
    AnnotateShape(*input, shape->second, graph.written.numpy_shapes);
    if (std::ranges::count(plan.data_inputs, input->name) == 0) continue;
    const std::string notes[] = {data::LabelNamesText(plan.label_names),
                                 plan.preprocessing};
    for (size_t i = 0; i < std::size(notes); ++i) {
      input->written.Annotate(AnnotationOf(kNotes[i]), notes[i]);
    }
  }
}

}  // namespace

Result<std::string> SymbolText(const CompileRequest& request,
                               const Plan& plan) {
  const bool changed =
      !plan.network->ChangedClasses().empty() || !request.network.loss.empty();
  Specialization of = request.For(0);
  if (!request.buckets.empty()) request.buckets.back().ApplyTo(of);
  if (!request.trains() && !changed) return plan.network->Stored(of);
  MXC_ASSIGN(Model model, plan.network->Draft(of));
  Annotate(plan, model.graph);
  return WriteSymbol(model.graph);
}

std::map<std::string, std::string> NotesOfSymbol(const Graph& graph) {
  std::map<std::string, std::string> notes;
  for (const Node* input : graph.Variables(VariableRole::kInput)) {
    for (const std::string note : kNotes) {
      const auto* text = input->written.Annotation(AnnotationOf(note));
      if (text != nullptr) notes.emplace(note, *text);
    }
  }
  return notes;
}

void ForgetLabelNames(Graph& graph) {
  for (Node* input : graph.Variables(VariableRole::kInput)) {
    input->written.Annotate(AnnotationOf(kLabelNames), "");
  }
}

}  // namespace mxc
