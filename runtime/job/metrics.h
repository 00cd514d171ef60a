// SPDX-License-Identifier: Apache-2.0
// How a job is doing, in Prometheus' text form (exposition format 0.0.4).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/job/status.h"
#include "runtime/kvstore/facts.h"

namespace mxc::job {

struct ProcessFacts {
  std::string role, machine;
  uint32_t rank = 0;
  bool up = false;
  uint32_t starts = 0;
  kvstore::ServerFacts server;  // of a server: what it has told last
};

struct JobFacts {
  std::string command;
  double began = 0;  // seconds since 1970
  int id = 0;        // of the launcher's process
  uint32_t restarts = 0;
  std::vector<ProcessFacts> processes;
};

std::string MetricsOf(const JobFacts& job);
// What a server knows by itself.
std::string MetricsOf(uint32_t server, const kvstore::ServerFacts& facts);

// name{label="value",…} number
struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};
// Fails where the text is not in that form.
StatusOr<std::vector<Sample>> ParseMetrics(const std::string& text);

// "there"
const char* NameOf(kvstore::WorkerState state);

}  // namespace mxc::job
