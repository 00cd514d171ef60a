// SPDX-License-Identifier: Apache-2.0
// mxc-run serve: compiled networks over HTTP.
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <memory>
#include <optional>

#include "tools/run/output.h"
#include "tools/run/subcommand.h"
#include "tools/serve/application.h"
#include "tools/serve/options.h"
#include "tools/serve/server.h"

namespace mxc::serve {
namespace {

constexpr uint64_t kSpareMemory = 16 << 20;  // for small bodies beside a large

void WaitForHangUp(asio::signal_set& signals, ServeApplication& application) {
  signals.async_wait([&](error_code error, int) {
    if (error) return;
    application.Reload();
    WaitForHangUp(signals, application);
  });
}

void Announce(const Server& server, const ServeOptions& options) {
  run::PrintErr("serving on %s; Ctrl-C stops\n", server.url().c_str());
  if (server.open() && options.key_file.empty()) {
    run::PrintErr(
        "warning: other machines may ask, and nobody is asked who they are "
        "(--api-key-file)\n");
  }
}

void Serve(const ServeOptions& options) {
  signal(SIGPIPE, SIG_IGN);  // who is gone is no reason to end
  MemoryBudget memory(options.most_bytes + kSpareMemory);
  asio::io_context io(1);
  asio::signal_set stop(io, SIGINT, SIGTERM), hang_up(io, SIGHUP);
  std::optional<Server> server;
  std::optional<ServeApplication> application;
  application.emplace(options, memory,
                      [&] { return server ? server->connections() : 0; });
  ConnectionSite site{io, *application, memory, {}};
  site.limits.body_bytes = options.most_bytes;
  site.limits.request_seconds = options.request_seconds;
  server.emplace(site,
                 ServerOptions{options.host, options.port, RaiseSocketLimit(),
                               options.client_connections, options.certificate,
                               options.private_key});
  Announce(*server, options);
  WaitForHangUp(hang_up, *application);
  stop.async_wait([&](error_code, int) {
    stop.clear();  // a second one ends it
    hang_up.cancel();
    server->Stop();
  });
  io.run();
  const auto answered = static_cast<long long>(application->answered());
  application.reset();  // the last lines of its log
  run::PrintErr("stopped; %lld requests were answered\n", answered);
}

}  // namespace
}  // namespace mxc::serve

namespace mxc::run {

Command AddServe(CLI::App& app, Reporting&) {
  const auto options = std::make_shared<serve::ServeOptions>();
  serve::DeclareServe(app, *options);
  return [options] { serve::Serve(*options); };
}

}  // namespace mxc::run
