// SPDX-License-Identifier: Apache-2.0
// What a server of a job tells while it serves: a line each second to who has
// started it, and its metrics over HTTP.
#pragma once

#include <optional>
#include <vector>

#include "runtime/kvstore/server.h"
#include "tools/run/job.h"
#include "tools/run/launch/metrics_server.h"

namespace mxc::run {

class ServerReport {
 public:
  // Both must outlive it. Throws a Failure where it cannot listen.
  ServerReport(const Job& job, kvstore::Transport& transport);

  // Each time that the server has been pumped.
  void Pump(const kvstore::Server& server);
  // What there is to wait for beside the server's.
  std::vector<kvstore::Interest> interests() const;

 private:
  const Job& job_;
  kvstore::Transport& transport_;
  std::optional<MetricsServer> metrics_;
  kvstore::Time told_ = 0;
};

}  // namespace mxc::run
