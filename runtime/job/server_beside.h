// SPDX-License-Identifier: Apache-2.0
// The server of a job that has nobody who starts servers: a process beside
// worker 0, which ends with it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

#include "runtime/job/job.h"
#include "runtime/job/status.h"

namespace mxc::job {

class ServerBeside {
 public:
  using Serve = std::function<Status(const Job&)>;

  // Listens where the job's worker 0 hosts its server, and runs `serve` in a
  // process that is forked from this one: call it before there are threads that
  // `serve` could wait for.
  static StatusOr<std::unique_ptr<ServerBeside>> Start(const Job& job,
                                                       const Serve& serve);
  // Of a worker that has failed: the server has a moment to tell the others.
  ~ServerBeside();
  ServerBeside(const ServerBeside&) = delete;

  // Until all workers have finished.
  Status Await();

 private:
  explicit ServerBeside(pid_t id) : id_(id) {}

  pid_t id_;  // 0: it has ended
};

}  // namespace mxc::job
