// SPDX-License-Identifier: Apache-2.0
// MODEL and what is said about it on the command line: a network with known
// shapes and weights, ready for the pipeline.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/frontend.h"
#include "ir/support/result.h"
#include "tools/parameter_file.h"

namespace mxc {

struct NetworkOptions {
  std::string model;
  std::vector<std::string> input_shapes;  // "data:1x3x224x224"
  std::vector<std::string> input_types;   // "data:float16"
  std::string params;                     // empty: found beside the model
  std::optional<int> epoch;               // of the parameter file
  std::string init;  // empty: missing parameters are errors
  uint64_t seed = 0;
  // Only shapes matter: missing parameters are made up.
  bool make_up_weights = false;
  // What `params` and `epoch` choose; null: it is chosen at every load.
  std::shared_ptr<const ParameterFile> parameters;
};

// MODEL, --input-shape and --input-type.
void AddModelOptions(CLI::App& app, NetworkOptions& options);
// --params, --epoch, --init and --seed.
void AddWeightOptions(CLI::App& app, NetworkOptions& options);

// "data:1x3x224x224"; the name may hold colons.
Result<std::map<std::string, Extents>> ParseInputShapes(
    const std::vector<std::string>& texts);

// "data:float16"
Result<std::map<std::string, DType>> ParseInputTypes(
    const std::vector<std::string>& texts);

// The graph with what the command line says about types, unknown operators
// and missing parameters included. `batch`: see LoadOptions.
Result<Model> LoadModel(const NetworkOptions& options, int64_t batch,
                        bool read_parameters);

// As NetworkOptions::parameters, which it is where that is not null.
Result<std::shared_ptr<const ParameterFile>> ParametersFor(
    const NetworkOptions& options);

// Values for all parameters that no file gave, as options.init says.
Status InitializeMissing(const NetworkOptions& options, Model& model);

// What becomes of parameters: constants, or states of the artifact, which they
// are at first.
enum class ParameterUse { kConstants, kStates };

// Ready for the pipeline: every operator is supported, every parameter has a
// value. All that is wrong at one stage is reported at once.
Result<Model> LoadNetwork(const NetworkOptions& options, int64_t batch,
                          ParameterUse use = ParameterUse::kConstants);

}  // namespace mxc
