// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/application.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <span>
#include <string_view>

#include "runtime/base/nearest.h"
#include "runtime/base/visible.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"
#include "tools/serve/multipart.h"

namespace mxc::serve {
namespace {

struct Route {
  std::string_view path, method;
  std::vector<std::string_view> keys;  // of its query
};

const std::vector<Route>& Routes() {
  static const std::vector<Route> routes = {
      {"/", "GET", {}}, {"/health", "GET", {}}, {"/predict", "POST", {"top"}}};
  return routes;
}

const Route* RouteOf(const Request& request) {
  const auto found = std::ranges::find(Routes(), request.path, &Route::path);
  return found == Routes().end() ? nullptr : &*found;
}

bool Allows(const Route& route, std::string_view method) {
  return method == route.method || (route.method == "GET" && method == "HEAD");
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

Response WrongMethod(const Request& request, const Route& route) {
  std::string allowed(route.method);
  if (route.method == "GET") allowed += ", HEAD";
  Response response = ErrorResponse(
      405, {request.path + " takes " + allowed + ", not " + request.method});
  response.headers.emplace_back("Allow", allowed);
  return response;
}

std::optional<Response> WrongQuery(const Request& request, const Route& route) {
  for (const auto& [key, value] : request.query) {
    if (std::ranges::count(route.keys, key) > 0) continue;
    const auto nearest = runtime::Nearest(key, route.keys);
    return ErrorResponse(400,
                         {request.path + " has no '" + key + "' in its query" +
                          runtime::NearestNote(nearest)});
  }
  return std::nullopt;
}

// top=N
int TopOf(const Request& request) {
  int top = 0;
  for (const auto& [key, text] : request.query) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), top);
    if (error != std::errc() || end != text.data() + text.size() || top < 1) {
      throw run::Failure("top: '" + text +
                         "' is not a whole number of at least 1");
    }
  }
  return top;
}

// Those of a form, or the body.
std::vector<Predictor::Part> PartsOf(const Request& request) {
  if (!IsForm(request.content_type)) return {{"", request.body.view()}};
  std::vector<Predictor::Part> parts;
  for (const FormPart& part :
       run::Take(ParseForm(request.content_type, request.body.view()))) {
    parts.push_back({part.name, part.content});
  }
  return parts;
}

Response Answer(Predictor& predictor, const Request& request) {
  try {
    return JsonResponse(predictor.Predict(PartsOf(request), TopOf(request)));
  } catch (const run::Failure& failure) {
    return ErrorResponse(400, failure.messages());
  } catch (const std::bad_alloc&) {
    return ErrorResponse(500, {"out of memory"});
  } catch (const std::exception& failure) {
    return ErrorResponse(500, {failure.what()});
  }
}

}  // namespace

ServeApplication::ServeApplication(std::unique_ptr<Predictor> predictor,
                                   size_t workers, size_t most_waiting,
                                   bool quiet)
    : predictor_(std::move(predictor)),
      quiet_(quiet),
      queue_(workers, most_waiting) {}

std::optional<Response> ServeApplication::Refuse(const Request& head) {
  const Route* route = RouteOf(head);
  if (route == nullptr) return NotFound(head);
  if (!Allows(*route, head.method)) return WrongMethod(head, *route);
  if (!head.content_encoding.empty() && head.content_encoding != "identity") {
    Response response =
        ErrorResponse(415, {"the body is compressed (" + head.content_encoding +
                            "); send it as it is"});
    response.headers.emplace_back("Accept-Encoding", "identity");
    return response;
  }
  return WrongQuery(head, *route);
}

void ServeApplication::Handle(std::shared_ptr<const Request> request,
                              Respond respond) {
  if (request->path == "/predict") {
    Predict(std::move(request), std::move(respond));
  } else if (request->path == "/health") {
    respond({.body = "ok\n", .content_type = "text/plain", .headers = {}});
  } else {
    respond(JsonResponse(predictor_->Describe()));
  }
}

void ServeApplication::Predict(std::shared_ptr<const Request> request,
                               Respond respond) {
  const bool taken = queue_.Push(
      [this, request, respond] { respond(Answer(*predictor_, *request)); });
  if (!taken) respond(BusyResponse("as many requests wait as may (--queue)"));
}

void ServeApplication::Finished(const Request& request, int status, uint64_t) {
  ++answered_;
  if (quiet_) return;
  run::PrintErr("%s %s  %d\n", runtime::Visible(request.method).c_str(),
                runtime::Visible(request.path).c_str(), status);
}

}  // namespace mxc::serve
