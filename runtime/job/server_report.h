// SPDX-License-Identifier: Apache-2.0
// What a server of a job tells while it serves: a line each second to who has
// started it, and its metrics over HTTP.
#pragma once

#include <optional>
#include <vector>

#include "runtime/job/job.h"
#include "runtime/job/metrics_server.h"
#include "runtime/job/status.h"
#include "runtime/kvstore/server.h"

namespace mxc::job {

class ServerReport {
 public:
  // Both must outlive it. Fails where it cannot listen.
  static StatusOr<std::unique_ptr<ServerReport>> Make(
      const Job& job, kvstore::Transport& transport);

  // Each time that the server has been pumped.
  void Pump(const kvstore::Server& server);
  // What there is to wait for beside the server's.
  std::vector<kvstore::Interest> interests() const;

 private:
  ServerReport(const Job& job, kvstore::Transport& transport)
      : job_(job), transport_(transport) {}

  const Job& job_;
  kvstore::Transport& transport_;
  std::unique_ptr<MetricsServer> metrics_;  // null: nobody asks
  kvstore::Time told_ = 0;
};

}  // namespace mxc::job
