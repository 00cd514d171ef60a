// SPDX-License-Identifier: Apache-2.0
#include "tools/train_labels.h"

#include "ir/graph/graph.h"
#include "runtime/train/judge.h"
#include "tools/driver/loss_heads.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {

std::vector<train::Head> HeadsOf(const LoadedNetwork& network,
                                 const CompileRequest& request) {
  Specialization of = request.For(0);
  if (!request.buckets.empty()) of.shapes = request.buckets.back().shapes;
  Result<Model> model = network.Draft(of);
  if (!model.ok()) return {};
  if (!InferTypes(model->graph, /*complete=*/false).ok()) return {};
  return FindLossHeads(model->graph, LabelInputs(model->graph));
}

Status RequireMetrics(const std::string& names,
                      const std::vector<train::Head>& heads) {
  const auto metrics = train::MetricList::Parse(names);
  if (!metrics.ok()) return UnplacedError(metrics.status().message());
  const train::Status fit = train::RequireFit(*metrics, heads);
  if (!fit.ok()) return UnplacedError(fit.message());
  return Done{};
}

}  // namespace mxc
