// SPDX-License-Identifier: Apache-2.0
// MODEL and what the command line says about it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "tools/driver/request.h"

namespace mxc {

struct InputTexts {
  std::vector<std::string> shapes;  // "data:1x3x224x224"
  std::vector<std::string> types;   // "data:float16"
};

// What --init takes, for its help.
std::string InitializersHelp();

// MODEL, --input-shape and --input-type.
void AddModelOptions(CLI::App& app, NetworkRequest& request,
                     InputTexts& inputs);
// --params, --epoch, --init and --seed.
void AddWeightOptions(CLI::App& app, NetworkRequest& request);

// Labels are float32, which tells no more whole numbers apart.
constexpr int64_t kLeastClasses = 2, kMostClasses = int64_t{1} << 24;
// --classes N
void AddClassesOption(CLI::App& app, NetworkRequest& request);

// What the texts say, or all that is wrong with them.
Result<InputShapes> ParseInputShapes(const std::vector<std::string>& texts);
Result<Specialization> ParseInputs(const InputTexts& inputs, int64_t batch);

}  // namespace mxc
