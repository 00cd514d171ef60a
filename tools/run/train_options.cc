// SPDX-License-Identifier: Apache-2.0
#include "tools/run/train_options.h"

#include "tools/run/option_fields.h"
#include "tools/run/session.h"
#include "tools/usage/functions_option.h"
#include "tools/usage/source_help.h"
#include "tools/usage/values.h"

namespace mxc::run {

void DeclareSamples(CLI::App& app, fit::SampleRequest& samples) {
  OptionFields fields(app);
  samples.Describe(fields);
  app.get_option("--data")->required();
  OfferSourceHelp(app, {{"--data", samples.data, samples.settings}});
}

void DeclareTrain(CLI::App& app, TrainOptions& options, Reporting& reporting) {
  app.add_option("ARTIFACT", options.artifacts,
                 "an .mxa file with an entry 'train'; of a network in stages "
                 "one for each, in their order")
      ->required();
  fit::Request& request = options.request;
  OptionFields fields(app);
  request.Describe(fields);
  app.get_option("--data")->required();
  app.get_option("--resume")->needs("--save");
  app.get_option("--log-norms")->needs("--log-dir");
  OfferSourceHelp(app,
                  {{"--data", request.samples.data, request.samples.settings},
                   {"--val", request.validation, request.validation_settings}});
  app.option_defaults()->group("Execution");
  DeclareCheck(app, options.check_weights);
  DeclareFunctions(app);
  options.requirement.Declare(app);
  app.option_defaults()->group("Report");
  app.add_option("--report-every", options.report_every,
                 "steps between lines of --json")
      ->check(AtLeast(1))
      ->capture_default_str();
  app.add_flag("--quiet", options.quiet, "say nothing but warnings and errors");
  app.add_flag("--json", reporting.json, "one object a line");
}

}  // namespace mxc::run
