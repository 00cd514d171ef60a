// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/application.h"

#include <string_view>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/metric_text.h"
#include "tools/serve/routes.h"

namespace mxc::serve {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMillisecond = 1'000'000;

std::optional<Response> RefuseEncoding(const Request& request) {
  if (request.content_encoding.empty() ||
      request.content_encoding == "identity") {
    return std::nullopt;
  }
  Response response =
      ErrorResponse(415, {"the body is compressed (" +
                          request.content_encoding + "); send it as it is"});
  response.headers.emplace_back("Accept-Encoding", "identity");
  return response;
}

// By its address, which may be IPv4's in the words of IPv6.
bool IsThisMachine(std::string_view client) {
  constexpr std::string_view kMapped = "::ffff:";
  if (client.starts_with(kMapped)) client.remove_prefix(kMapped.size());
  return client == "::1" || client.starts_with("127.");
}

Json KserveServer() {
  return {
      {"name", "mxc"}, {"version", MXC_VERSION}, {"extensions", Json::array()}};
}

}  // namespace

ServeApplication::ServeApplication(const ServeOptions& options,
                                   const MemoryBudget& memory,
                                   std::function<size_t()> connections)
    : memory_(memory),
      connections_(std::move(connections)),
      models_(options),
      gate_(options.key_file, options.client_rate),
      reloader_(models_),
      queue_({.workers = options.workers,
              .most_waiting = options.most_waiting,
              .delay = options.batch_delay * kMillisecond,
              .patience = options.queue_seconds * kSecond}) {
  if (!options.quiet || !options.log.empty()) log_.emplace(options.log);
}

std::optional<Response> ServeApplication::Refuse(const Request& head) {
  const Routed routed = FindRoute(head);
  const bool open = routed.route != nullptr && routed.route->open;
  std::optional<Response> refusal;
  if (!open) refusal = gate_.RefuseKey(head);
  if (!open && !refusal) refusal = gate_.RefuseRate(head);
  if (!refusal) refusal = RefuseRoute(head, routed);
  if (!refusal) refusal = RefuseEncoding(head);
  if (!refusal && routed.route->action == Action::kReload) {
    refusal = RefuseStranger(head);
  }
  if (!refusal && !routed.model.empty() && !models_.Find(routed.model)) {
    std::string list;
    for (const std::string& name : models_.names()) {
      list += (list.empty() ? "'" : ", '") + name + "'";
    }
    refusal = ErrorResponse(
        404, {"no network is named '" + routed.model + "'; there are " + list});
  }
  return refusal;
}

// Work for the server that nobody on another machine may cause unasked.
std::optional<Response> ServeApplication::RefuseStranger(
    const Request& head) const {
  if (gate_.asks() || IsThisMachine(head.client)) return std::nullopt;
  return ErrorResponse(
      403, {head.path + " is for this machine alone, or for those who "
                        "have a key (--api-key-file)"});
}

void ServeApplication::Handle(std::shared_ptr<const Request> request,
                              Respond respond) {
  const Routed routed = FindRoute(*request);
  auto model =
      routed.model.empty() ? models_.first() : models_.Find(routed.model);
  if (model == nullptr) model = models_.first();  // it was there a moment ago
  switch (routed.route->action) {
    case Action::kDescribe:
      return respond(JsonResponse(model->Describe()));
    case Action::kHealth:
      return respond(
          {.body = "ok\n", .content_type = "text/plain", .headers = {}});
    case Action::kMetrics:
      return respond(MetricsNow());
    case Action::kReload:
      return Reload(std::move(respond));
    case Action::kPredict:
      return Predict(std::move(model), std::move(request), std::move(respond));
    case Action::kKserve:
      return respond(JsonResponse(KserveServer()));
    case Action::kKserveModel:
      return respond(JsonResponse(model->DescribeKserve()));
    case Action::kKserveReady:
      return respond(
          JsonResponse(Json{{"name", model->name()}, {"ready", true}}));
  }
}

Response ServeApplication::MetricsNow() const {
  Response response;
  response.content_type = runtime::kMetricsType;
  response.body = metrics_.Text(
      {.waiting = static_cast<double>(queue_.waiting()),
       .connections = static_cast<double>(connections_()),
       .body_bytes = static_cast<double>(memory_.taken()),
       .batches = static_cast<double>(queue_.batches()),
       .batched_requests = static_cast<double>(queue_.requests())});
  return response;
}

void ServeApplication::Reload(Respond respond) {
  reloader_.Begin([this, respond](const std::string& error) {
    if (!error.empty()) {
      return respond(
          ErrorResponse(409, {error + "; the networks stay as they are"}));
    }
    respond(JsonResponse(Json{{"networks", models_.names()}}));
  });
}

void ServeApplication::Predict(std::shared_ptr<Predictor> model,
                               std::shared_ptr<const Request> request,
                               Respond respond) {
  if (!queue_.Push({std::move(model), std::move(request), respond})) {
    respond(BusyResponse("as many requests wait as may (--queue)"));
  }
}

void ServeApplication::Finished(const Request& request, int status,
                                uint64_t sent) {
  const Routed routed = FindRoute(request);
  const int64_t lasted =
      request.begun == 0 ? 0 : runtime::Nanoseconds() - request.begun;
  metrics_.Add(
      routed.route == nullptr ? "other" : std::string(routed.route->path),
      status, lasted);
  if (log_) log_->Add(request, status, sent);
}

}  // namespace mxc::serve
