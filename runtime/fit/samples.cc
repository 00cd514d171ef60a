// SPDX-License-Identifier: Apache-2.0
#include "runtime/fit/samples.h"

#include <utility>

namespace mxc::fit {
namespace {

StatusOr<data::Settings> ParseSettings(const std::vector<std::string>& texts) {
  data::Settings settings;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      return Fail(StatusCode::kInvalidArgument,
                  "'%s' is no option of a source: NAME=VALUE", text.c_str());
    }
    settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

StatusOr<data::IteratorOptions> OptionsFor(const SampleRequest& request,
                                           const train::TrainStep& step) {
  data::IteratorOptions options;
  MXC_RT_ASSIGN(const data::Provides needs, step.needs(0));
  if (needs.data.empty() || needs.data[0].shape.empty()) {
    return Fail(StatusCode::kInvalidArgument,
                "the network has no input that samples could fill");
  }
  options.batch_size = needs.data[0].shape[0];
  options.takes = needs.data;
  options.label_classes = 0;
  for (const train::Head& head : step.facts().heads) {
    if (head.kind == train::HeadKind::kDistribution) {
      options.label_classes = head.classes;
    }
  }
  options.arrays = request.arrays;
  options.seed = request.seed;
  options.label_names = step.facts().label_names;
  options.preprocessing =
      request.trained.empty() ? step.facts().preprocessing : request.trained;
  options.threads = request.threads;
  options.on_bad_record = request.on_bad_record == "stop"
                              ? data::OnBadRecord::kStop
                              : data::OnBadRecord::kSkip;
  MXC_RT_ASSIGN(options.settings, ParseSettings(request.settings));
  MXC_RT_ASSIGN(options.offered, ParseSettings(request.offered));
  return options;
}

// There must be a network for every length before the first one is met.
StatusOr<std::unique_ptr<data::Iterator>> Open(
    const SampleRequest& request, const data::IteratorOptions& options,
    const train::TrainStep& step) {
  auto samples = data::Open(request.data, options);
  if (!samples.ok()) return samples;
  for (int bucket = 0; bucket < (*samples)->buckets(); ++bucket) {
    const auto needs = step.needs((*samples)->bucket_key(bucket));
    if (!needs.ok()) return needs.status();
  }
  return samples;
}

}  // namespace

StatusOr<std::unique_ptr<data::Iterator>> OpenTraining(
    const SampleRequest& request, bool shuffle, const train::TrainStep& step) {
  MXC_RT_ASSIGN(data::IteratorOptions options, OptionsFor(request, step));
  options.shuffle = shuffle;
  options.worker = request.worker;
  options.workers = request.workers;
  return Open(request, options, step);
}

StatusOr<std::unique_ptr<data::Iterator>> OpenScoring(
    const SampleRequest& request, const std::vector<std::string>& label_names,
    const train::TrainStep& step) {
  MXC_RT_ASSIGN(data::IteratorOptions options, OptionsFor(request, step));
  options.last_batch = data::LastBatch::kPad;
  if (options.label_names.empty()) options.label_names = label_names;
  auto all = Open(request, options, step);
  if (!all.ok() || !(*all)->has_held_out()) return all;
  options.held_out = true;
  return data::Open(request.data, options);
}

}  // namespace mxc::fit
