// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/options.h"

#include <algorithm>
#include <thread>

#include "tools/run/subcommand.h"
#include "tools/usage/values.h"

namespace mxc::serve {

void DeclareServe(CLI::App& app, ServeOptions& options) {
  run::DeclareSession(app, options.session);
  run::DeclareCheck(app, options.session.check_weights);
  options.session.threads = 1;
  app.get_option("--threads")->description("of each request")->default_str("1");
  options.workers = std::max(1u, std::thread::hardware_concurrency());
  app.option_defaults()->group("Serving");
  app.add_option("--host", options.host,
                 "the address to listen on; 0.0.0.0 lets other machines in, "
                 "without encryption and without asking who they are")
      ->capture_default_str();
  app.add_option("--port", options.port, "0: any that is free")
      ->check(Between(0, 65535))
      ->capture_default_str();
  app.add_option("--workers", options.workers,
                 "requests at once (default: one for each processor)")
      ->check(Between(1, 512));
  app.add_option("--queue", options.most_waiting,
                 "requests that may wait for a worker; one more is told 503")
      ->check(AtLeast(1))
      ->capture_default_str();
  app.add_option("--max-body", options.most_bytes,
                 "the largest body of a request")
      ->transform(SizeInBytes())
      ->default_str("64MiB")
      ->type_name("SIZE");
  app.add_option("--request-timeout", options.request_seconds,
                 "seconds in which a request must be here as a whole")
      ->check(Between(1, 86400))
      ->capture_default_str();
  run::DeclarePictures(app, options.pictures);
  app.option_defaults()->group("Report");
  app.add_flag("--quiet", options.quiet, "no line for each request");
  app.footer(
      run::Footer("  mxc serve net.mxa --port 8080\n"
                  "  curl --data-binary @photo.jpg \\\n"
                  "      'localhost:8080/predict?top=5'\n"
                  "  curl -F x=@x.npy -F y=@y.npy localhost:8080/predict\n"
                  "  curl localhost:8080/\n"));
}

}  // namespace mxc::serve
