// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <utility>

#include "frontend/attach_loss.h"
#include "frontend/csr_inputs.h"
#include "frontend/frontend.h"
#include "frontend/generate.h"
#include "frontend/network_file.h"
#include "frontend/open_lengths.h"
#include "frontend/variables.h"

namespace mxc {
namespace {

// All that cannot be compiled; of control flow that stays, why.
Status ExpandAndRequire(Graph& graph) {
  const Status expanded = ExpandSubgraphs(graph);
  Status supported = RequireSupported(graph);
  if (expanded.ok() || supported.ok()) return supported;
  Diagnostics errors = supported.errors();
  const Diagnostic& reason = expanded.errors()[0];
  const auto same = std::ranges::find_if(errors, [&](const Diagnostic& error) {
    return error.loc.path == reason.loc.path;
  });
  if (same == errors.end()) return expanded;
  *same = reason;
  return errors;
}

}  // namespace

std::string StemOfNetwork(const std::string& path) {
  constexpr std::string_view kSymbol = "-symbol";
  std::string stem = std::filesystem::path(path).stem().string();
  if (stem.ends_with(kSymbol)) stem.resize(stem.size() - kSymbol.size());
  return stem;
}

Result<Model> BuildModel(const NetworkFile& network,
                         const BuildOptions& options) {
  Model model;
  model.source = network.source();
  model.stem = StemOfNetwork(model.source->path);
  MXC_ASSIGN(model.graph, network.Build(options, model.notes));
  model.own_parameters = network.parameters();
  MXC_ASSIGN(model.weight_names, network.weight_names());
  if (model.graph.name.empty()) model.graph.name = model.stem;
  if (!options.loss.empty()) {
    MXC_RETURN_IF_ERROR(AttachLoss(options.loss, model.graph));
  }
  BuildOptions set = options;
  MXC_RETURN_IF_ERROR(TakeCsrInputs(model.graph, set));
  DeclareInputs(model.graph);
  if (!network.binds_inputs() && !options.input_values.empty()) {
    return Error({},
                 "--bind gives '{}' a value; of this network inputs decide "
                 "no shapes",
                 options.input_values.begin()->first);
  }
  if (network.binds_inputs()) set.batch = 0;
  const bool writes = options.generation.streams > 0;
  if (writes) {
    MXC_RETURN_IF_ERROR(KeepRows(set.generation, model.graph));
  }
  // Lengths that it was trained on.
  if (writes || !options.lengths.empty()) set.known_shapes.clear();
  MXC_RETURN_IF_ERROR(SetInputTypes(model.graph, set));
  if (writes) CloseLengths(set.generation.rows, model.graph);
  if (!options.lengths.empty()) {
    MXC_RETURN_IF_ERROR(OpenLengths(options, model.graph));
  }
  if (options.require_supported) {
    MXC_RETURN_IF_ERROR(ExpandAndRequire(model.graph));
  }
  return model;
}

Result<Model> LoadText(std::shared_ptr<const SourceFile> source,
                       const BuildOptions& options) {
  MXC_ASSIGN(
      const auto network,
      OpenNetwork(std::make_shared<const NetworkSource>(std::move(source))));
  return BuildModel(*network, options);
}

Result<Model> Load(const std::string& path, const LoadOptions& options) {
  MXC_ASSIGN(const auto network, OpenNetwork(path));
  MXC_ASSIGN(Model model, BuildModel(*network, options));
  MXC_RETURN_IF_ERROR(LoadParameters(model, options));
  return model;
}

}  // namespace mxc
