// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/parameter_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <ranges>

#include "frontend/frontend.h"
#include "runtime/data/label_names.h"
#include "tools/driver/shape_text.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

// "epochs 1, 2, 3", "epochs 1 to 90"
std::string ListEpochs(const std::vector<int>& epochs) {
  const bool in_a_row =
      epochs.back() - epochs.front() + 1 == std::ssize(epochs);
  if (epochs.size() == 1) return fmt::format("epoch {}", epochs.front());
  if (epochs.size() > 3 && in_a_row) {
    return fmt::format("epochs {} to {}", epochs.front(), epochs.back());
  }
  constexpr size_t kMost = 10;
  if (epochs.size() <= kMost) {
    return fmt::format("epochs {}", fmt::join(epochs, ", "));
  }
  return fmt::format("{} epochs from {} to {}", epochs.size(), epochs.front(),
                     epochs.back());
}

// The epochs of every run; those without a run, or without an .mxc, under "".
using Runs = std::map<std::string, std::vector<int>>;

Runs RunsOf(const std::map<int, std::string>& files) {
  Runs runs;
  for (const auto& [epoch, path] : files) {
    const auto mxc = std::filesystem::path(path).replace_extension(".mxc");
    runs[train::RunOf(mxc.string())].push_back(epoch);
  }
  return runs;
}

// Why the newest file may not be the one that is meant; empty: it is.
std::string Doubt(const ParameterFile& file, const Runs& runs) {
  if (!file.provenance.problem.empty()) return file.provenance.problem;
  if (runs.size() < 2) return "";
  const std::string run = file.provenance.Note("run");
  std::map<int, std::string> texts;  // by the first epoch
  for (const auto& [name, epochs] : runs) {
    texts[epochs.front()] =
        fmt::format("{} of {}", ListEpochs(epochs),
                    name.empty() ? "no run that is known" : "run " + name);
  }
  // Older sets that do not say are of the same prefix, and no contradiction.
  if (runs.size() == 2 && runs.contains("") && !run.empty()) return "";
  return fmt::format("{} stands among files of several runs: {}", file.path,
                     fmt::join(std::views::values(texts), ", "));
}

}  // namespace

Result<ParameterFile> ChooseParameters(const std::string& model,
                                       const std::string& params,
                                       std::optional<int> epoch) {
  ParameterFile file;
  LoadOptions load;
  load.params = params;
  load.epoch = epoch;
  MXC_ASSIGN(file.path, FindParameterFile(model, load));
  if (file.path.empty()) return file;
  file.provenance = train::ProvenanceOf(file.path);
  std::map<int, std::string> beside;
  if (params.empty()) beside = ParameterFilesBeside(model);
  for (const auto& [number, path] : beside) {
    file.epochs.push_back(number);
    if (path == file.path) file.epoch = number;
  }
  const std::string doubt = Doubt(file, RunsOf(beside));
  if (doubt.empty()) return file;
  if (params.empty() && !epoch) {
    return UnplacedError(doubt +
                         "; say by --epoch or --params which are meant");
  }
  file.warnings.push_back(doubt);
  return file;
}

std::string Describe(const ParameterFile& file) {
  if (!file.epoch || file.epochs.size() < 2) return file.path;
  if (*file.epoch == file.epochs.back()) {
    return fmt::format("{}, the newest of {}", file.path,
                       ListEpochs(file.epochs));
  }
  return fmt::format("{}, of {}", file.path, ListEpochs(file.epochs));
}

std::map<std::string, std::vector<int64_t>> ShapesOfTraining(
    const ParameterFile& file) {
  const auto words = data::ParseLabelNames(file.provenance.Note("inputs"));
  if (!words.ok()) return {};
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const std::string& word : *words) {
    auto shape = ParseNamedShape(word);
    if (!shape || shapes.contains(shape->first)) return {};
    shapes.insert(std::move(*shape));
  }
  return shapes;
}

}  // namespace mxc
