// SPDX-License-Identifier: Apache-2.0
// mxc-run serve: compiled networks over HTTP.
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <memory>
#include <utility>

#include "tools/run/output.h"
#include "tools/run/subcommand.h"
#include "tools/serve/application.h"
#include "tools/serve/options.h"
#include "tools/serve/server.h"

namespace mxc::serve {
namespace {

constexpr uint64_t kSpareMemory = 16 << 20;  // for small bodies beside a large

void Serve(ServeOptions& options) {
  asio::io_context io(1);
  asio::signal_set signals(io, SIGINT, SIGTERM);
  MemoryBudget memory(options.most_bytes + kSpareMemory);
  ServeApplication application(
      std::make_unique<Predictor>(
          run::OpenSession(options.session.artifact, options.session),
          std::move(options.pictures)),
      options.workers, options.most_waiting, options.quiet);
  ConnectionSite site{io, application, memory, {}};
  site.limits.body_bytes = options.most_bytes;
  site.limits.request_seconds = options.request_seconds;
  Server server(site, {options.host, options.port, RaiseSocketLimit()});
  run::PrintErr("serving on %s; Ctrl-C stops\n", server.url().c_str());
  signals.async_wait([&](error_code, int) {
    signals.clear();  // a second one ends it
    server.Stop();
  });
  io.run();
  run::PrintErr("stopped; %lld requests were answered\n",
                static_cast<long long>(application.answered()));
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
