// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/server.h"

#include <httplib.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/visible.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"
#include "tools/serve/task_queue.h"
#include "tools/usage/errors_json.h"

namespace mxc::serve {
namespace {

constexpr int kQuietSeconds = 5;  // a client that says nothing is left

void Answer(int status, const Json& json, httplib::Response& response) {
  const auto replace = Json::error_handler_t::replace;
  response.status = status;
  response.set_content(json.dump(-1, ' ', false, replace) + "\n",
                       "application/json");
}

void Refuse(int status, const std::string& message,
            httplib::Response& response) {
  Answer(status, ErrorsJson({message}), response);
}

// ?top=N
int TopOf(const httplib::Request& request) {
  if (!request.has_param("top")) return 0;
  const std::string text = request.get_param_value("top");
  int top = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), top);
  if (error != std::errc() || end != text.data() + text.size() || top < 1) {
    throw run::Failure("top: '" + text +
                       "' is not a whole number of at least 1");
  }
  return top;
}

// Those of a form, or the body.
std::vector<Predictor::Part> PartsOf(const httplib::Request& request) {
  if (!request.is_multipart_form_data()) return {{"", request.body}};
  std::vector<Predictor::Part> parts;
  for (const auto& [name, part] : request.files) {
    parts.push_back({name, part.content});
  }
  if (parts.empty()) throw run::Failure("the form has no parts");
  return parts;
}

void Predict(Predictor& predictor, const httplib::Request& request,
             httplib::Response& response) {
  try {
    Answer(200, predictor.Predict(PartsOf(request), TopOf(request)), response);
  } catch (const run::Failure& failure) {
    Answer(400, ErrorsJson(failure.messages()), response);
  } catch (const std::bad_alloc&) {
    Refuse(500, "out of memory", response);
  } catch (const std::exception& failure) {
    Refuse(500, failure.what(), response);
  }
}

// What no handler has answered.
void AnswerError(const httplib::Request& request,
                 const run::ServeOptions& options,
                 httplib::Response& response) {
  if (!response.body.empty()) return;
  const int status = response.status;
  if (status == 404) {
    Refuse(status,
           "there is no " + request.method + " " + request.path +
               "; there are GET /, GET /health and POST /predict",
           response);
  } else if (status == 413) {
    Refuse(status,
           "the body is larger than " + std::to_string(options.most_bytes) +
               " bytes",
           response);
  } else {
    Refuse(status, "this is no request that can be read", response);
  }
}

void SetRoutes(Predictor& predictor, const run::ServeOptions& options,
               httplib::Server& server) {
  server.Get("/", [&](const auto&, auto& response) {
    Answer(200, predictor.Describe(), response);
  });
  server.Get("/health", [](const auto&, auto& response) {
    response.set_content("ok\n", "text/plain");
  });
  server.Post("/predict", [&](const auto& request, auto& response) {
    Predict(predictor, request, response);
  });
  server.set_error_handler([&](const auto& request, auto& response) {
    AnswerError(request, options, response);
  });
}

void SetLimits(const run::ServeOptions& options, httplib::Server& server) {
  server.new_task_queue = [workers = options.workers] {
    return new BoundedQueue(workers);
  };
  server.set_payload_max_length(options.most_bytes);
  server.set_read_timeout(kQuietSeconds);
  server.set_write_timeout(kQuietSeconds);
  server.set_keep_alive_timeout(1);
  server.set_tcp_nodelay(true);
  // The library would let two servers share a port.
  server.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

int Bind(const run::ServeOptions& options, httplib::Server& server) {
  errno = 0;
  if (options.port == 0) {
    const int port = server.bind_to_any_port(options.host);
    if (port > 0) return port;
  } else if (server.bind_to_port(options.host, options.port)) {
    return options.port;
  }
  const std::string why =
      errno != 0 ? std::strerror(errno) : "no such address here";
  throw run::Failure("cannot listen on " + options.host + ":" +
                     std::to_string(options.port) + ": " + why);
}

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

void Serve(Predictor& predictor, const run::ServeOptions& options) {
  httplib::Server server;
  std::atomic<int64_t> answered = 0;
  SetRoutes(predictor, options, server);
  SetLimits(options, server);
  server.set_logger([&](const auto& request, const auto& response) {
    ++answered;
    if (options.quiet) return;
    run::PrintErr("%s %s  %d\n", runtime::Visible(request.method).c_str(),
                  runtime::Visible(request.path).c_str(), response.status);
  });
  const int port = Bind(options, server);
  const sigset_t signals = StopSignals();
  // Those that are started from now on inherit it.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread listener([&] { server.listen_after_bind(); });
  run::PrintErr("serving on http://%s:%d; Ctrl-C stops\n", options.host.c_str(),
                port);
  int signal = 0;
  sigwait(&signals, &signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // a second one ends it
  server.stop();
  listener.join();
  run::PrintErr("stopped; %lld requests were answered\n",
                static_cast<long long>(answered));
}

}  // namespace mxc::serve
