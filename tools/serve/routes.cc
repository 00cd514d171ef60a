// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/routes.h"

#include <algorithm>

#include "runtime/base/nearest.h"

namespace mxc::serve {
namespace {

constexpr std::string_view kModel = "{model}";

const std::vector<Route>& Routes() {
  static const std::vector<Route> routes = {
      {Action::kDescribe, "GET", "/", false, {}},
      {Action::kHealth, "GET", "/health", true, {}},
      {Action::kMetrics, "GET", "/metrics", false, {}},
      {Action::kPredict, "POST", "/predict", false, {"top"}},
      {Action::kReload, "POST", "/reload", false, {}},
      {Action::kDescribe, "GET", "/models/{model}", false, {}},
      {Action::kPredict, "POST", "/models/{model}/predict", false, {"top"}},
      {Action::kKserve, "GET", "/v2", false, {}},
      {Action::kHealth, "GET", "/v2/health/live", true, {}},
      {Action::kHealth, "GET", "/v2/health/ready", true, {}},
      {Action::kKserveModel, "GET", "/v2/models/{model}", false, {}},
      {Action::kKserveReady, "GET", "/v2/models/{model}/ready", false, {}},
      {Action::kPredict, "POST", "/v2/models/{model}/infer", false, {}},
  };
  return routes;
}

// Returns whether the path is of the pattern, and whose model it names.
bool Matches(std::string_view pattern, std::string_view path,
             std::string& model) {
  const size_t at = pattern.find(kModel);
  if (at == pattern.npos) return pattern == path;
  const std::string_view rest = pattern.substr(at + kModel.size());
  if (path.size() <= at + rest.size() ||
      !path.starts_with(pattern.substr(0, at)) || !path.ends_with(rest)) {
    return false;
  }
  model = path.substr(at, path.size() - at - rest.size());
  return model.find('/') == model.npos;
}

Response NotFound(const Request& request) {
  std::string list;
  for (const Route& route : Routes()) {
    if (!list.empty()) list += &route == &Routes().back() ? " and " : ", ";
    list.append(route.method).append(" ").append(route.path);
  }
  return ErrorResponse(404, {"there is no " + request.method + " " +
                             request.path + "; there are " + list});
}

}  // namespace

Routed FindRoute(const Request& request) {
  for (const Route& route : Routes()) {
    Routed routed = {&route, ""};
    if (Matches(route.path, request.path, routed.model)) return routed;
  }
  return {};
}

std::optional<Response> RefuseRoute(const Request& request,
                                    const Routed& routed) {
  if (routed.route == nullptr) return NotFound(request);
  const Route& route = *routed.route;
  const bool gets = route.method == "GET";
  if (request.method != route.method && !(gets && request.method == "HEAD")) {
    const std::string allowed = gets ? "GET, HEAD" : std::string(route.method);
    Response response = ErrorResponse(
        405, {request.path + " takes " + allowed + ", not " + request.method});
    response.headers.emplace_back("Allow", allowed);
    return response;
  }
  for (const auto& [key, value] : request.query) {
    if (std::ranges::count(route.keys, key) > 0) continue;
    return ErrorResponse(
        400, {request.path + " has no '" + key + "' in its query" +
              runtime::NearestNote(runtime::Nearest(key, route.keys))});
  }
  for (const auto& [key, value] : request.query) {
    const auto same = [&](const auto& other) { return other.first == key; };
    if (std::ranges::count_if(request.query, same) == 1) continue;
    return ErrorResponse(400, {"'" + key + "' is in the query more than once"});
  }
  return std::nullopt;
}

}  // namespace mxc::serve
