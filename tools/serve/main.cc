// SPDX-License-Identifier: Apache-2.0
// mxc-serve: what `mxc-run serve` becomes. It is a program of its own because
// its HTTP library needs others, and mxc-run nothing but libc.
#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "runtime/base/standard_streams.h"
#include "runtime/base/visible.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"
#include "tools/run/serve_options.h"
#include "tools/serve/server.h"
#include "tools/usage/usage.h"
#include "tools/version/version.h"

namespace mxc::serve {
namespace {

int Report(const std::vector<std::string>& messages) {
  for (const std::string& message : messages) {
    run::PrintErr("error: %s\n", runtime::Visible(message).c_str());
  }
  return 1;
}

int Run(run::ServeOptions& options) {
  try {
    Predictor predictor(
        run::OpenSession(options.session.artifact, options.session),
        std::move(options.pictures));
    Serve(predictor, options);
    return 0;
  } catch (const run::Failure& failure) {
    return Report(failure.messages());
  } catch (const std::bad_alloc&) {
    return Report({"out of memory: the network is too large for this machine"});
  } catch (const std::exception& failure) {
    return Report({failure.what()});
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Serves a compiled network over HTTP.", "mxc serve");
  app.set_version_flag(
      "-V,--version", [] { return VersionText("mxc-serve", VersionReport()); });
  SettleHelp(app);
  run::ServeOptions options;
  run::DeclareServe(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(app, error, argc, argv);
  }
  return Run(options);
}

}  // namespace
}  // namespace mxc::serve

int main(int argc, char** argv) {
  mxc::runtime::ReserveStandardStreams();
  return mxc::runtime::FinishStandardOutput(mxc::serve::Main(argc, argv));
}
