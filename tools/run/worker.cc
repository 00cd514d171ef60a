// SPDX-License-Identifier: Apache-2.0
#include "tools/run/worker.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/file_writer.h"
#include "tools/run/bench_inputs.h"
#include "tools/run/failure.h"
#include "tools/run/measurement.h"

namespace mxc::run {
namespace {

// The number of "run N", or 0.
int64_t Runs(const std::string& request) {
  long long count = 0;
  const int found = std::sscanf(request.c_str(), "run %lld", &count);
  return found == 1 && count > 0 && count <= 100'000'000 ? count : 0;
}

void AnswerRun(api::Executor& executor, int64_t count) {
  std::vector<int64_t> times(static_cast<size_t>(count));
  for (int64_t& time : times) time = TimeRun(executor);
  std::string line;
  for (const int64_t time : times) line += std::to_string(time) + ' ';
  if (!line.empty()) line.back() = '\n';
  std::fputs(line.c_str(), stdout);
}

void WriteFloats(const std::string& path, std::span<const float> values) {
  runtime::FileWriter file(path);
  file.Append(std::as_bytes(values));
  Require(file.Commit());
  std::fputs("ok\n", stdout);
}

// The losses of the first steps, by which trainers are compared.
std::vector<float> FirstLosses(const Session& session,
                               api::Executor& executor) {
  constexpr int kLosses = 4;
  std::vector<float> losses;
  const auto outputs = session.model.outputs(session.entry);
  const auto loss = static_cast<size_t>(
      std::ranges::find(outputs, MXC_USE_LOSS, &mxc_tensor::use) -
      outputs.begin());
  for (int step = 0; step < kLosses; ++step) {
    if (step > 0) executor.Run();
    losses.push_back(executor.Output<float>(loss)[0]);
  }
  return losses;
}

}  // namespace

void Serve(const Session& session, api::Executor& executor) {
  const double first = runtime::SecondsOf(TimeRun(executor));
  const bool training = IsTraining(session);
  const mxc_tensor first_output = session.model.outputs(session.entry).front();
  std::vector<float> losses;
  if (training) losses = FirstLosses(session, executor);
  std::printf(
      "ready {\"load_s\": %.6f, \"first_s\": %.6f, \"version\": \"%s\"}\n",
      session.open_seconds, first, MXC_VERSION);
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    if (const int64_t count = Runs(line)) {
      AnswerRun(executor, count);
    } else if (line.rfind("output ", 0) == 0) {
      WriteFloats(
          line.substr(7),
          training ? losses : OutputAsFloats(executor, first_output, 0));
    } else {
      throw Failure("the request '" + line +
                    "' is neither 'run N' nor 'output PATH'");
    }
    std::fflush(stdout);
  }
}

}  // namespace mxc::run
