// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/server_report.h"

#include "runtime/job/metrics.h"
#include "runtime/job/server_status.h"
#include "runtime/job/tell.h"

namespace mxc::job {

StatusOr<std::unique_ptr<ServerReport>> ServerReport::Make(
    const Job& job, kvstore::Transport& transport) {
  std::unique_ptr<ServerReport> report(new ServerReport(job, transport));
  if (!job.metrics_place.empty()) {
    MXC_RT_ASSIGN(report->metrics_,
                  MetricsServer::Listen(transport, job.metrics_place));
  }
  return report;
}

void ServerReport::Pump(const kvstore::Server& server) {
  const kvstore::Time now = transport_.Now();
  if (now - told_ >= kvstore::kSecond) {
    told_ = now;
    const kvstore::ServerFacts facts = server.facts();
    if (job_.tells_status) Tell(EncodeStatus(facts));
    if (metrics_) metrics_->Publish(MetricsOf(job_.rank, facts));
  }
  if (metrics_) metrics_->Pump();
}

std::vector<kvstore::Interest> ServerReport::interests() const {
  return metrics_ ? metrics_->interests() : std::vector<kvstore::Interest>();
}

}  // namespace mxc::job
