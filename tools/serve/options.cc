// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/options.h"

#include <algorithm>
#include <thread>

#include "tools/run/subcommand.h"
#include "tools/usage/values.h"

namespace mxc::serve {
namespace {

void DeclareAccess(CLI::App& app, ServeOptions& options) {
  app.option_defaults()->group("Access");
  app.add_option("--api-key-file", options.key_file,
                 "keys, one a line, in a file that is yours alone; requests "
                 "bring one: Authorization: Bearer KEY");
  CLI::Option* certificate =
      app.add_option("--tls-cert", options.certificate,
                     "HTTPS: the certificate and its chain, PEM");
  CLI::Option* key =
      app.add_option("--tls-key", options.private_key, "its key, PEM");
  certificate->needs(key);
  key->needs(certificate);
  app.add_option("--client-connections", options.client_connections,
                 "connections of one address; 0: any number")
      ->check(AtLeast(0))
      ->capture_default_str();
  app.add_option("--client-rate", options.client_rate,
                 "requests a second of one address; 0: any number")
      ->check(NotNegative())
      ->capture_default_str();
}

}  // namespace

void DeclareServe(CLI::App& app, ServeOptions& options) {
  run::DeclareSession(app, options.session);
  run::DeclareCheck(app, options.session.check_weights);
  CLI::Option* artifact = app.get_option("ARTIFACT")->required(false);
  options.session.threads = 1;
  app.get_option("--threads")->description("of each request")->default_str("1");
  options.workers = std::max(1u, std::thread::hardware_concurrency());
  app.option_defaults()->group("Serving");
  CLI::Option* web =
      app.add_option(
             "--web", options.web,
             "the page in this folder (mxc compile --emit web) instead of "
             "a network; browsers isolate it from others")
          ->type_name("FOLDER")
          ->excludes(artifact);
  app.add_option("--host", options.host,
                 "the address to listen on; 0.0.0.0 lets other machines in: "
                 "see --api-key-file and --tls-cert")
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
  app.add_option("--queue-timeout", options.queue_seconds,
                 "seconds that a request may wait; then it is told 503")
      ->check(Between(1, 86400))
      ->capture_default_str();
  app.add_option("--batch-delay", options.batch_delay,
                 "milliseconds that a request waits for others to run with, "
                 "where larger batches are compiled; those that wait for a "
                 "worker anyway run together without it")
      ->check(Between(0, 10000))
      ->capture_default_str();
  app.add_option("--model", options.models,
                 "NAME=FILE: another network, at /models/NAME/predict; may be "
                 "repeated. SIGHUP, or POST /reload, opens all "
                 "files anew")
      ->type_size(1)
      ->allow_extra_args(false);
  app.add_option("--max-body", options.most_bytes,
                 "the largest body of a request")
      ->transform(SizeInBytes())
      ->check(AtLeast(1))
      ->default_str("64MiB")
      ->type_name("SIZE");
  app.add_option("--request-timeout", options.request_seconds,
                 "seconds in which a request must be here as a whole")
      ->check(Between(1, 86400))
      ->capture_default_str();
  DeclareAccess(app, options);
  for (const char* of_networks :
       {"--model", "--api-key-file", "--client-rate"}) {
    web->excludes(app.get_option(of_networks));
  }
  run::DeclarePictures(app, options.pictures);
  app.option_defaults()->group("Report");
  app.add_option("--log", options.log,
                 "a line for each request goes to the end of this file "
                 "(default: stderr)");
  app.add_flag("--quiet", options.quiet, "no line for each request on stderr");
  app.footer(
      run::Footer("  mxc serve net.mxa --port 8080\n"
                  "  curl --data-binary @photo.jpg \\\n"
                  "      'localhost:8080/predict?top=5'\n"
                  "  curl -d '[[5.1, 3.5, 1.4, 0.2]]' localhost:8080/predict\n"
                  "  curl -F x=@x.npy -F y=@y.npy localhost:8080/predict\n"
                  "  curl localhost:8080/\n"
                  "  mxc serve --web page\n"));
}

}  // namespace mxc::serve
