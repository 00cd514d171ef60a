// SPDX-License-Identifier: Apache-2.0
// A job as objects of Kubernetes (1.29 or later): a Secret with the keys, a
// StatefulSet of servers behind a headless Service, an Indexed Job of workers,
// and who may reach the servers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mxc::run {

struct Deployment {
  std::string name;    // of the job; a DNS label
  std::string image;   // that has mxc
  std::string volume;  // a claim, mounted at /work; empty: a folder of each pod
  uint32_t workers = 1, servers = 1, port = 7400;
  uint32_t metrics = 0;   // the port where each server serves them; 0: none
  std::string on_loss;    // what servers do: abort, wait, shrink
  uint32_t restarts = 0;  // of each worker
  std::map<std::string, std::string> keys;  // by file, "worker-0.key"
  std::vector<std::string> command;
};

// YAML; throws a Failure where the name is none for Kubernetes.
std::string ManifestsOf(const Deployment& job);

}  // namespace mxc::run
