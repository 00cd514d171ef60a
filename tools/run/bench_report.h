// SPDX-License-Identifier: Apache-2.0
// What a benchmark found, for people and for scripts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/mxc.hpp"
#include "tools/run/measurement.h"
#include "tools/run/roofline.h"

namespace mxc::run {

struct BenchResult {
  std::string artifact;
  std::string entry;
  int64_t batch = 1;
  int threads = 1;
  double open_seconds = 0, first_seconds = 0;
  Measurement runs;
  std::vector<mxc_step_summary> steps;
  std::vector<int64_t> step_ns;  // of each step
  // "direct 16c" of each step; empty: the artifact does not say.
  std::vector<std::string> algorithms;
  Roofline roofline;  // of the machine, with as many threads

  double Throughput() const;  // samples a second
};

nlohmann::ordered_json ToJson(const BenchResult& result);

// The steps one after another, each with its median time, as Chrome's trace
// events of a process, separated by commas; times in microseconds.
std::string MedianEvents(const BenchResult& result, int process);
void PrintLatency(const BenchResult& result);
void PrintSteps(const BenchResult& result);
void PrintSideBySide(const BenchResult& a, const BenchResult& b);

// What looks wrong, and what to do about it: sentences.
std::vector<std::string> Advice(const BenchResult& result);
void PrintAdvice(const BenchResult& result);

}  // namespace mxc::run
