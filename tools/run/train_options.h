// SPDX-License-Identifier: Apache-2.0
// What the command line says of a training.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/train/trainer.h"
#include "tools/run/job_roles.h"
#include "tools/run/samples.h"
#include "tools/run/subcommand.h"
#include "tools/signature/requirement.h"

namespace mxc::run {

struct TrainOptions {
  std::string artifact;
  int threads = 0;
  std::string device;
  bool check_weights = true;
  signature::Requirement requirement;
  SampleOptions samples;
  bool no_shuffle = false;
  std::string validation;                        // --val
  std::vector<std::string> validation_settings;  // --val-opt
  train::TrainerOptions trainer;
  std::optional<double> learning_rate;
  std::string metrics;
  std::string params, states, init;
  JobOptions job;
  std::vector<std::string> job_options;  // said to a process that is alone
  std::string trace;
  int64_t report_every = 50;
  bool quiet = false;
};

// What may not be said together.
struct Combination {
  bool accumulates = false, averages = false;  // --accumulate, --ema
  std::string device;                          // as --device has it
  std::string kvstore;                         // of a job; else empty
};
// As a sentence; empty: all of it goes together.
std::string CannotCombine(const Combination& said);

void DeclareTrain(CLI::App& app, TrainOptions& options, Reporting& reporting);

}  // namespace mxc::run
