// SPDX-License-Identifier: Apache-2.0
// One process of a job, connected with the others.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/job/job.h"
#include "runtime/job/job_options.h"
#include "runtime/job/lines.h"
#include "runtime/job/server_report.h"
#include "runtime/job/status.h"
#include "runtime/kvstore/averaging.h"
#include "runtime/kvstore/collective/introduction.h"
#include "runtime/kvstore/server.h"
#include "runtime/kvstore/transport/tls.h"
#include "runtime/kvstore/worker.h"
#include "runtime/train/step/artifact_keys.h"

namespace mxc::job {

// Used by one thread.
class JobNode {
 public:
  // `order`: as in Settings. `plan`: what else all nodes must have alike, to be read
  // in a message. `job` and `keys` must outlive the node.
  static StatusOr<std::unique_ptr<JobNode>> Make(
      const Job& job, const JobOptions& options,
      const train::ArtifactKeys& keys, const std::string& order,
      const std::string& plan);

  // Of a job that averages, with its numbers settled.
  const kvstore::Averaging& averaging() const { return averaging_; }
  std::unique_ptr<kvstore::Worker> MakeWorker() const;
  // Of keys that end with AddMeshKeys; once, and waits for the other workers.
  // `most_early`: as in MeshOptions.
  StatusOr<std::unique_ptr<kvstore::Mesh>> MakeMesh(
      kvstore::Worker& worker, uint64_t most_early = kvstore::kMostEarly) const;
  // Until all workers have finished. A server of a pair may begin again.
  using MakeShelf = std::function<StatusOr<std::unique_ptr<kvstore::Shelf>>()>;
  Status Serve(const MakeShelf& make_shelf) const;

 private:
  JobNode(const Job& job, const train::ArtifactKeys& keys)
      : job_(job), keys_(keys) {}

  Status Settle(const JobOptions& options, const std::string& plan);
  Status Connect();
  kvstore::ServerOptions OptionsOfServer() const;
  StatusOr<bool> ServeOnce(kvstore::Listener& listener, kvstore::Shelf& shelf,
                           ServerReport& report, Lines& terms) const;

  const Job& job_;
  const train::ArtifactKeys& keys_;
  kvstore::Averaging averaging_;
  kvstore::Settings settings_;
  std::unique_ptr<kvstore::Transport> transport_;
  std::unique_ptr<kvstore::Tls> tls_;
  std::unique_ptr<kvstore::Tls> partner_tls_;  // of a server of a pair
};

}  // namespace mxc::job
