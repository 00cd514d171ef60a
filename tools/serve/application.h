// SPDX-License-Identifier: Apache-2.0
// Answers requests.
//
//   GET  /         what the network takes and gives, as JSON
//   GET  /health   "ok", while it serves
//   GET  /metrics  for Prometheus
//   POST /predict  the body is a .npy, a JPEG, a PNG, a form of them, or JSON;
//                  the answer JSON: all outputs, with ?top=N the N best classes
//                  of the first one
//   POST /reload   opens the files of all networks anew
//   /models/NAME…  the same of each network; /v2/…: KServe's protocol v2
//
// What is wrong with a request is {"errors": [{"message": …}], "count": 1}.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "tools/serve/access_log.h"
#include "tools/serve/batch_queue.h"
#include "tools/serve/gate.h"
#include "tools/serve/metrics.h"
#include "tools/serve/model_set.h"
#include "tools/serve/options.h"
#include "tools/serve/reloader.h"

namespace mxc::serve {

class ServeApplication final : public Application {
 public:
  // `connections` tells how many are open.
  ServeApplication(const ServeOptions& options, const MemoryBudget& memory,
                   std::function<size_t()> connections);

  std::optional<Response> Refuse(const Request& head) override;
  void Handle(std::shared_ptr<const Request> request, Respond respond) override;
  void Finished(const Request& request, int status, uint64_t sent) override;

  void Reload() { reloader_.Begin(); }
  bool asks_for_key() const { return gate_.asks(); }
  int64_t answered() const override { return metrics_.answered(); }

 private:
  std::optional<Response> RefuseStranger(const Request& head) const;
  Response MetricsNow() const;
  void Reload(Respond respond);
  void Predict(std::shared_ptr<Predictor> model,
               std::shared_ptr<const Request> request, Respond respond);

  const MemoryBudget& memory_;
  const std::function<size_t()> connections_;
  ModelSet models_;
  Gate gate_;
  Metrics metrics_;
  std::optional<AccessLog> log_;
  // The last members: their threads use the others.
  Reloader reloader_;
  BatchQueue queue_;
};

}  // namespace mxc::serve
