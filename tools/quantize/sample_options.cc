// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/sample_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/fit/samples.h"
#include "tools/driver/unplaced_error.h"
#include "tools/train/train_shapes.h"
#include "tools/usage/source_help.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

// The samples as mxc-run opens them: so many batches as have enough of them.
void TakeSamples(const SampleOptions& options, MeasuredRequest& request) {
  const int64_t batch = options.data.batch_size;
  request.samples.data = options.data.source;
  request.samples.settings = options.data.settings;
  request.samples.settings.push_back(fmt::format(
      "epoch_batches={}", std::max<int64_t>(1, options.samples / batch)));
  request.samples.seed = options.data.seed;
  request.validation.data =
      options.validation.empty() ? options.data.source : options.validation;
  request.validation.settings = options.validation.empty()
                                    ? options.data.settings
                                    : options.validation_options;
  request.validation.offered = options.data.settings;
  request.validation.seed = options.data.seed;
}

}  // namespace

void AddSampleOptions(CLI::App& app, SampleOptions& options) {
  const auto group = [](CLI::Option* option) { option->group("Data"); };
  group(app.add_option("--data", options.data.source,
                       "where the samples come from:\n" + data::SourcesHelp())
            ->type_name("SOURCE"));
  group(app.add_option("--data-opt", options.data.settings,
                       "an option of the source (repeatable)")
            ->type_name("NAME=VALUE")
            ->allow_extra_args(false));
  group(app.add_option("--samples", options.samples,
                       "how many of them the ranges are those of")
            ->check(Between(1, int64_t{1} << 40))
            ->capture_default_str());
  group(app.add_option("--val", options.validation,
                       "the samples that tell how good the network is "
                       "(default: those that --data holds out)")
            ->type_name("SOURCE"));
  group(app.add_option("--val-opt", options.validation_options,
                       "an option of --val (repeatable)")
            ->type_name("NAME=VALUE")
            ->allow_extra_args(false));
  group(app.add_option("--batch-size", options.data.batch_size,
                       "samples that are computed at once")
            ->check(Between(1, 1 << 20))
            ->capture_default_str());
  OfferSourceHelp(app,
                  {{"--data", options.data.source, options.data.settings},
                   {"--val", options.validation, options.validation_options}});
}

Result<MeasuredRequest> MeasuredOn(const SampleOptions& options,
                                   CompileRequest compile,
                                   const LoadedNetwork& network) {
  MeasuredRequest request;
  request.compile = std::move(compile);
  DataRequest data = options.data;
  data.takes = TakenBy(network, request.compile.For(0));
  MXC_ASSIGN(const auto source,
             OpenData(data, network.parameter_file().provenance));
  MXC_ASSIGN(const Model model,
             DraftForShapes(*source, network, request.compile.For(0)));
  if (source->buckets() != 1) {
    return UnplacedError(
        "the samples have several lengths; name one (--data-opt help)");
  }
  if (request.compile.label_names.empty()) {
    request.compile.label_names = source->label_names();
  }
  if (request.compile.preprocessing.empty()) {
    request.compile.preprocessing = source->preprocessing();
  }
  TakeShapes(*source, model, request.compile);
  TakeSamples(options, request);
  return request;
}

}  // namespace mxc
