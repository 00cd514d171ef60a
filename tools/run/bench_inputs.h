// SPDX-License-Identifier: Apache-2.0
// What a benchmark feeds: files where they are given, else values of the size
// that networks see, the same in every run.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/run/feed.h"
#include "tools/run/session.h"

namespace mxc::run {

struct BenchInputs {
  Feed feed = {.files = {}, .pictures = {}, .partial = true};
  double learning_rate = 1e-3;
};

void DeclareBenchInputs(CLI::App& app, BenchInputs& inputs);

// Without any file: noise, and classes for labels. With one: zeros (initial
// states), and classes for labels, for what no file is given.
void FillForBench(api::Executor& executor, const Session& session,
                  const BenchInputs& inputs);

// Returns whether a run of the entry is a training step.
bool IsTraining(const Session& session);

}  // namespace mxc::run
