// SPDX-License-Identifier: Apache-2.0
#include "tools/run/samples.h"

#include "tools/run/failure.h"
#include "tools/source_help.h"
#include "tools/usage/values.h"

namespace mxc::run {
namespace {

data::Settings ParseSettings(const std::vector<std::string>& texts) {
  data::Settings settings;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      throw Failure("'" + text + "' is no option of a source: NAME=VALUE");
    }
    settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

data::IteratorOptions ToIteratorOptions(const SampleOptions& options,
                                        const train::TrainStep& step) {
  data::IteratorOptions result;
  const data::Provides needs = Take(step.needs(0));
  if (needs.data.empty() || needs.data[0].shape.empty()) {
    throw Failure("the network has no input that samples could fill");
  }
  result.batch_size = needs.data[0].shape[0];
  result.takes = needs.data;
  result.label_classes = 0;
  for (const train::Head& head : step.facts().heads) {
    if (head.kind == train::HeadKind::kDistribution) {
      result.label_classes = head.classes;
    }
  }
  result.seed = options.seed;
  result.label_names = step.facts().label_names;
  result.preprocessing =
      options.trained.empty() ? step.facts().preprocessing : options.trained;
  result.threads = options.threads;
  result.on_bad_record = options.on_bad_record == "stop"
                             ? data::OnBadRecord::kStop
                             : data::OnBadRecord::kSkip;
  result.settings = ParseSettings(options.settings);
  result.offered = ParseSettings(options.offered);
  return result;
}

// There must be a network for every length before the first one is met.
void RequireLengths(const data::Iterator& samples,
                    const train::TrainStep& step) {
  for (int bucket = 0; bucket < samples.buckets(); ++bucket) {
    Take(step.needs(samples.bucket_key(bucket)));
  }
}

}  // namespace

void DeclareSamples(CLI::App& app, SampleOptions& options) {
  app.option_defaults()->group("Data");
  app.add_option("--data", options.data,
                 "where the samples come from:\n" + data::SourcesHelp())
      ->required()
      ->type_name("SOURCE");
  app.add_option("--data-opt", options.settings,
                 "an option of the source (repeatable); help: list them")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  OfferSourceHelp(app, {{"--data", options.data, options.settings}});
  app.add_option(
         "--on-bad-record", options.on_bad_record,
         "what to do about damaged records, values that are no number, and "
         "labels that are no class (skip: they are told)")
      ->check(OneOf({"skip", "stop"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed,
                 "of shuffling, augmentation, generated samples and the "
                 "network's own random numbers")
      ->check(AtLeast(0))
      ->capture_default_str();
  app.add_option("--data-threads", options.threads,
                 "threads that read ahead; 0: none")
      ->check(Between(0, 256))
      ->capture_default_str();
}

std::unique_ptr<data::Iterator> OpenTraining(const SampleOptions& options,
                                             bool shuffle,
                                             const train::TrainStep& step) {
  data::IteratorOptions iterator = ToIteratorOptions(options, step);
  iterator.shuffle = shuffle;
  iterator.worker = options.worker;
  iterator.workers = options.workers;
  std::unique_ptr<data::Iterator> samples =
      Take(data::Open(options.data, iterator));
  RequireLengths(*samples, step);
  return samples;
}

std::unique_ptr<data::Iterator> OpenScoring(
    const SampleOptions& options, const std::vector<std::string>& label_names,
    const train::TrainStep& step) {
  data::IteratorOptions iterator = ToIteratorOptions(options, step);
  iterator.last_batch = data::LastBatch::kPad;
  if (iterator.label_names.empty()) iterator.label_names = label_names;
  std::unique_ptr<data::Iterator> all =
      Take(data::Open(options.data, iterator));
  RequireLengths(*all, step);
  if (!all->has_held_out()) return all;
  iterator.held_out = true;
  return Take(data::Open(options.data, iterator));
}

}  // namespace mxc::run
