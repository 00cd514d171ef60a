// SPDX-License-Identifier: Apache-2.0
#include "tools/run/server_report.h"

#include "tools/run/launch/metrics.h"
#include "tools/run/launch/server_status.h"
#include "tools/run/output.h"

namespace mxc::run {

ServerReport::ServerReport(const Job& job, kvstore::Transport& transport)
    : job_(job), transport_(transport) {
  if (!job.metrics_place.empty()) {
    metrics_.emplace(transport, job.metrics_place);
  }
}

void ServerReport::Pump(const kvstore::Server& server) {
  const kvstore::Time now = transport_.Now();
  if (now - told_ >= kvstore::kSecond) {
    told_ = now;
    const kvstore::ServerFacts facts = server.facts();
    if (job_.tells_status) PrintErr("%s\n", EncodeStatus(facts).c_str());
    if (metrics_) metrics_->Publish(MetricsOf(job_.rank, facts));
  }
  if (metrics_) metrics_->Pump();
}

std::vector<kvstore::Interest> ServerReport::interests() const {
  return metrics_ ? metrics_->interests() : std::vector<kvstore::Interest>();
}

}  // namespace mxc::run
