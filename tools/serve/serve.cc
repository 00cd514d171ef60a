// SPDX-License-Identifier: Apache-2.0
// mxc-run serve: compiled networks over HTTP.
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>

#include "tools/run/output.h"
#include "tools/run/subcommand.h"
#include "tools/serve/application.h"
#include "tools/serve/folder_application.h"
#include "tools/serve/options.h"
#include "tools/serve/server.h"

namespace mxc::serve {
namespace {

constexpr uint64_t kSpareMemory = 16 << 20;  // for small bodies beside a large

void Announce(const Server& server, const ServeOptions& options) {
  run::PrintErr("serving on %s; Ctrl-C stops\n", server.url().c_str());
  if (server.open() && options.key_file.empty() && options.web.empty()) {
    run::PrintErr(
        "warning: other machines may ask, and nobody is asked who they are "
        "(--api-key-file)\n");
  }
}

// What answers, and what SIGHUP does to it.
struct Service {
  std::unique_ptr<Application> application;
  std::function<void()> reload = [] {};
};

Service ServiceOf(const ServeOptions& options, const MemoryBudget& memory,
                  std::function<size_t()> connections) {
  if (!options.web.empty()) {
    std::optional<std::string> log;
    if (!options.quiet || !options.log.empty()) log = options.log;
    return {std::make_unique<FolderApplication>(options.web, log)};
  }
  auto application = std::make_unique<ServeApplication>(options, memory,
                                                        std::move(connections));
  ServeApplication& networks = *application;
  return {std::move(application), [&networks] { networks.Reload(); }};
}

void WaitForHangUp(asio::signal_set& signals, const Service& service) {
  signals.async_wait([&](error_code error, int) {
    if (error) return;
    service.reload();
    WaitForHangUp(signals, service);
  });
}

void Serve(const ServeOptions& options) {
  signal(SIGPIPE, SIG_IGN);  // who is gone is no reason to end
  MemoryBudget memory(options.most_bytes + kSpareMemory);
  asio::io_context io(1);
  asio::signal_set stop(io, SIGINT, SIGTERM), hang_up(io, SIGHUP);
  std::optional<Server> server;
  Service service = ServiceOf(
      options, memory, [&] { return server ? server->connections() : 0; });
  ConnectionSite site{io, *service.application, memory, {}};
  site.limits.body_bytes = options.most_bytes;
  site.limits.request_seconds = options.request_seconds;
  server.emplace(site,
                 ServerOptions{options.host, options.port, RaiseSocketLimit(),
                               options.client_connections, options.certificate,
                               options.private_key});
  Announce(*server, options);
  WaitForHangUp(hang_up, service);
  stop.async_wait([&](error_code, int) {
    stop.clear();  // a second one ends it
    hang_up.cancel();
    server->Stop();
  });
  io.run();
  const auto answered = static_cast<long long>(service.application->answered());
  service.application.reset();  // the last lines of its log
  run::PrintErr("stopped; %lld requests were answered\n", answered);
}

}  // namespace
}  // namespace mxc::serve

namespace mxc::run {

Command AddServe(CLI::App& app, Reporting&) {
  const auto options = std::make_shared<serve::ServeOptions>();
  serve::DeclareServe(app, *options);
  app.parse_complete_callback([options] {
    if (options->session.artifact.empty() && options->web.empty()) {
      throw CLI::RequiredError("ARTIFACT");
    }
  });
  return [options] { serve::Serve(*options); };
}

}  // namespace mxc::run
