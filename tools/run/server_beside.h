// SPDX-License-Identifier: Apache-2.0
// The server of a job that has nobody who starts servers: a process beside
// worker 0, which ends with it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "tools/run/job.h"

namespace mxc::run {

class ServerBeside {
 public:
  // Listens where the job's worker 0 hosts its server, and runs `serve` in
  // another process; before there are threads. Throws a Failure.
  ServerBeside(const Job& job, const std::function<void(const Job&)>& serve);
  // Of a worker that has failed: the server has a moment to tell the others.
  ~ServerBeside();
  ServerBeside(const ServerBeside&) = delete;

  // Until all workers have finished. Throws a Failure.
  void Await();

 private:
  pid_t id_ = 0;  // 0: it has ended
};

}  // namespace mxc::run
