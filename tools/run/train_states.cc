// SPDX-License-Identifier: Apache-2.0
#include "tools/run/train_states.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/train/parameter_initializer.h"
#include "runtime/train/read_parameters.h"
#include "runtime/train/snapshot.h"
#include "tools/run/failure.h"

namespace mxc::run {
namespace {

// The seed of what the network itself draws.
void SeedRandom(uint64_t seed, train::TrainStep& step) {
  for (size_t i = 0; i < step.states().size(); ++i) {
    const data::Field& field = step.states()[i];
    if (field.name != "random" || field.type != runtime::ElementType::kI64) {
      continue;
    }
    const auto bytes = std::as_bytes(std::span(&seed, 1));
    std::ranges::copy(bytes, step.State(i).begin());
  }
}

}  // namespace

void PrepareStates(const TrainOptions& options, train::TrainStep& step,
                   train::Reporter& reporter) {
  if (options.samples.seed != 0) SeedRandom(options.samples.seed, step);
  if (!options.init.empty()) {
    Require(
        train::InitializeParameters(options.init, options.samples.seed, step));
  }
  if (!options.params.empty()) {
    for (const std::string& sentence : Take(train::LoadParameters(
             Take(train::ReadParameters(options.params)), step,
             /*leave_unfit=*/!options.init.empty()))) {
      if (options.trainer.worker > 0) break;  // the first one tells it
      reporter.Warn(options.params + ": " + sentence);
    }
  }
  if (!options.states.empty()) {
    const train::Status loaded =
        train::LoadUpdaterStates(Take(train::ReadStates(options.states)), step);
    if (!loaded.ok()) {
      throw Failure("'" + options.states + "': " + loaded.message());
    }
  }
}

}  // namespace mxc::run
