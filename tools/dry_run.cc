// SPDX-License-Identifier: Apache-2.0
#include "tools/dry_run.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/base/shell_word.h"
#include "runtime/train/scheduler.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

// Of a network whose shapes are known as far as the samples and it say.
struct Size {
  std::vector<std::string> inputs;  // "data 64x1x28x28"
  size_t parameters = 0;
  int64_t numbers = 0;
  bool known = true;  // all shapes are
};

std::string ExtentsText(const Shape& shape) {
  if (!shape.known_rank()) return "of unknown shape";
  std::vector<std::string> extents;
  for (const int64_t extent : shape.dims()) {
    extents.push_back(extent == Shape::kUnknownDim ? "?"
                                                   : std::to_string(extent));
  }
  return fmt::format("{}", fmt::join(extents, "x"));
}

Size SizeOf(const Graph& graph) {
  Size size;
  for (const Node* input : graph.Variables(VariableRole::kInput)) {
    size.inputs.push_back(input->name + " " +
                          ExtentsText(input->types[0].shape));
  }
  for (const Node* parameter : graph.Variables(VariableRole::kParameter)) {
    ++size.parameters;
    const Shape& shape = parameter->types[0].shape;
    size.known = size.known && shape.known();
    if (shape.known()) size.numbers += shape.elements();
  }
  return size;
}

// Where the samples are not there, the net's first error says what it wants.
Result<Size> Measure(const DryRun& run) {
  Result<Model> model = run.network->Draft(run.request.For(0));
  if (!model.ok()) return model.errors();
  MXC_RETURN_IF_ERROR(InferOpenTypes(model->graph));
  return SizeOf(model->graph);
}

int64_t UpdatesOf(const DryRun& run) {
  int64_t updates = run.steps.value_or(0);
  if (run.samples == nullptr) return updates;
  const int64_t an_epoch =
      (run.samples->batches(0) + run.accumulate - 1) / run.accumulate;
  const int64_t all = an_epoch * run.epochs.value_or(1);
  return updates == 0 ? all : std::min(updates, all);
}

Result<std::string> RatesText(const DryRun& run) {
  const int64_t updates = UpdatesOf(run);
  std::optional<train::RunLength> length;
  if (updates > 0) length = {updates, updates};
  auto schedule = train::ParseSchedule(run.schedule, run.rate, length);
  if (!schedule.ok()) return UnplacedError(schedule.status().message());
  const double first = (*schedule)->At(1);
  if (updates < 2 || (*schedule)->NeedsEpochs()) {
    return fmt::format("{:g}", first);
  }
  return fmt::format("{:g} at first, {:g} at the end", first,
                     (*schedule)->At(updates));
}

}  // namespace

Status Show(const DryRun& run, const ReportStyle& style) {
  MXC_ASSIGN(const std::string rates, RatesText(run));
  std::vector<std::string> notes;
  std::string command;
  if (run.solver) {
    notes = run.solver->notes;
    command = "mxc train";
    for (const std::string& word : run.solver->words) {
      if (word != "--dry-run") command += " " + runtime::ShellWord(word);
    }
  }
  std::string samples = run.unread;
  if (run.samples != nullptr) {
    samples = run.samples->summary();
  } else {
    notes.push_back("the samples cannot be read here: " + run.unread);
  }
  const Result<Size> size = Measure(run);
  if (!size.ok()) {
    if (run.samples != nullptr) return size.errors();
    notes.push_back("the network's shapes follow from the samples: " +
                    size.errors()[0].message);
  }
  const int64_t updates = UpdatesOf(run);
  if (style.json) {
    Json json;
    if (run.solver) json["command"] = run.solver->words;
    json["samples"] = run.samples == nullptr ? Json() : Json(samples);
    if (size.ok()) {
      json["inputs"] = size->inputs;
      json["parameters"] = size->parameters;
      if (size->known) json["numbers"] = size->numbers;
    }
    json["updates"] = updates;
    json["rates"] = rates;
    json["notes"] = notes;
    PrintJson(json);
    return Done{};
  }
  if (!command.empty()) PrintOut("{}\n", command);
  if (run.samples != nullptr) PrintOut("  samples  {}\n", samples);
  if (size.ok()) {
    PrintOut("  network  {}; {} parameters{}\n",
             fmt::format("{}", fmt::join(size->inputs, ", ")), size->parameters,
             size->known ? fmt::format(", {} numbers", size->numbers) : "");
  }
  PrintOut(
      "  updates  {} of {} samples{}\n",
      updates == 0 ? "as many as the samples make" : std::to_string(updates),
      run.batch_size * run.accumulate,
      run.validation.empty() ? "" : ", scored after every epoch");
  PrintOut("  rate     {}\n", rates);
  for (const std::string& note : notes) PrintOut("  note     {}\n", note);
  return Done{};
}

}  // namespace mxc
