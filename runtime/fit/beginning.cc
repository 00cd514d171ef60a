// SPDX-License-Identifier: Apache-2.0
#include "runtime/fit/beginning.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/train/caffe_snapshot.h"
#include "runtime/train/initial_states.h"
#include "runtime/train/parameter_initializer.h"
#include "runtime/train/read_parameters.h"

namespace mxc::fit {
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

Status PrepareStates(Request& request, train::TrainStep& step,
                     train::Reporter& reporter) {
  const uint64_t seed = request.samples.seed;
  if (seed != 0) SeedRandom(seed, step);
  if (!request.init.empty()) {
    MXC_RT_RETURN_IF_ERROR(
        train::InitializeParameters(request.init, seed, step));
  }
  if (!request.params.empty()) {
    MXC_RT_ASSIGN(const auto parameters, train::ReadParameters(request.params));
    MXC_RT_ASSIGN(const std::vector<std::string> sentences,
                  train::LoadParameters(parameters, step,
                                        /*leave_unfit=*/!request.init.empty()));
    for (const std::string& sentence : sentences) {
      if (request.trainer.worker > 0) break;  // the first one tells it
      reporter.Warn(request.params + ": " + sentence);
    }
  }
  if (request.states.empty()) return {};
  Status loaded;
  if (train::IsCaffeState(request.states)) {
    MXC_RT_ASSIGN(const auto state, train::ReadCaffeState(request.states));
    loaded = train::LoadCaffeState(state, step);
    request.trainer.begin = state.steps;
  } else {
    MXC_RT_ASSIGN(const auto states, train::ReadStates(request.states));
    loaded = train::LoadUpdaterStates(states, step);
  }
  if (loaded.ok()) return {};
  return {loaded.code(), "'" + request.states + "': " + loaded.message()};
}

}  // namespace mxc::fit
