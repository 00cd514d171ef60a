// SPDX-License-Identifier: Apache-2.0
// What the command line says of a training.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/fit/request.h"
#include "tools/run/subcommand.h"
#include "tools/signature/requirement.h"

namespace mxc::run {

struct TrainOptions {
  std::vector<std::string> artifacts;  // one, or one for each stage
  bool check_weights = true;
  signature::Requirement requirement;
  fit::Request request;
  std::vector<std::string> job_options;  // said to a process that is alone
  int64_t report_every = 50;
  bool quiet = false;
};

void DeclareTrain(CLI::App& app, TrainOptions& options, Reporting& reporting);

// --data and what belongs to it, of what is scored as of what is trained on.
void DeclareSamples(CLI::App& app, fit::SampleRequest& samples);

}  // namespace mxc::run
