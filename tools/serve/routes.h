// SPDX-License-Identifier: Apache-2.0
// The paths that a server has.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/serve/message.h"

namespace mxc::serve {

enum class Action {
  kDescribe,
  kHealth,
  kMetrics,
  kPredict,
  kReload,
  kKserve,
  kKserveModel,
  kKserveReady,
};

struct Route {
  Action action;
  std::string_view method, path;       // {model} is any name
  bool open = false;                   // answered without a key
  std::vector<std::string_view> keys;  // of its query
};

struct Routed {
  const Route* route = nullptr;
  std::string model;  // "": the first one
};

// The route of that path and, where there are several, of that method; null: the
// server has no such path.
Routed FindRoute(const Request& request);

// 404, 405 or 400, where the request is not what the route takes.
std::optional<Response> RefuseRoute(const Request& request,
                                    const Routed& routed);

}  // namespace mxc::serve
