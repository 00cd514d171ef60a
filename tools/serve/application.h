// SPDX-License-Identifier: Apache-2.0
// The paths that a server has, and what answers them.
//
//   GET  /         what it takes and gives, as JSON
//   GET  /health   "ok", while it serves
//   POST /predict  the body is a .npy, a JPEG or a PNG, the answer JSON: all
//                  outputs, with ?top=N the N best classes of the first one
//
// What is wrong with a request is {"errors": [{"message": …}], "count": 1}.
#pragma once

#include <memory>
#include <optional>

#include "tools/serve/message.h"
#include "tools/serve/predictor.h"
#include "tools/serve/work_queue.h"

namespace mxc::serve {

class ServeApplication final : public Application {
 public:
  ServeApplication(std::unique_ptr<Predictor> predictor, size_t workers,
                   size_t most_waiting, bool quiet);

  std::optional<Response> Refuse(const Request& head) override;
  void Handle(std::shared_ptr<const Request> request, Respond respond) override;
  void Finished(const Request& request, int status, uint64_t sent) override;

  int64_t answered() const { return answered_; }

 private:
  void Predict(std::shared_ptr<const Request> request, Respond respond);

  const std::unique_ptr<Predictor> predictor_;
  const bool quiet_;
  int64_t answered_ = 0;
  WorkQueue queue_;  // the last member: its threads use the others
};

}  // namespace mxc::serve
