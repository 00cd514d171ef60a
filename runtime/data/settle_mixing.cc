// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/settle_mixing.h"

#include "runtime/data/classes.h"

namespace mxc::data {
namespace {

// Of what probabilities labels are to be given, where the source has numbers of
// classes; 0: labels stay as they are.
StatusOr<int64_t> ClassesToMix(const Source& source,
                               const IteratorOptions& open,
                               const MixOptions& mix) {
  const Provides provides = source.sample_fields(0);
  const bool one = provides.labels.size() == 1 && source.buckets() == 1 &&
                   !source.continues();
  const bool number = one && HasOneNumber(source);
  const int64_t taken = open.label_classes.value_or(0);
  if (!mix.any() || taken > 0) return number ? taken : 0;
  const std::string option = mix.name();
  if (!one) {
    return Status(StatusCode::kInvalidArgument,
                  option +
                      ": expected one label for each sample, the number "
                      "of its class");
  }
  if (open.label_classes) {
    return Status(StatusCode::kInvalidArgument,
                  option +
                      ": the network was compiled for labels that are "
                      "numbers of classes; mxc train MODEL.json compiles "
                      "it for mixed ones");
  }
  if (!number || open.before_compiling) return int64_t{0};
  const int64_t classes = std::ssize(source.label_names());
  if (classes > 1) return classes;
  return Status(StatusCode::kInvalidArgument,
                option +
                    ": neither the network nor the data say how many "
                    "classes there are");
}

}  // namespace

Status SettleMixing(const Source& source, const IteratorOptions& open,
                    const CommonOptions& common, LoaderOptions& options) {
  const auto classes = ClassesToMix(source, open, common.mix);
  if (!classes.ok()) return classes.status();
  options.classes = *classes;
  options.mix = common.mix;
  if (!common.mix.any()) return {};
  const std::string option = common.mix.name();
  if (common.batch_size < 2) {
    return {StatusCode::kInvalidArgument,
            option + ": a batch of one sample has none to mix it with"};
  }
  if (common.mix.cutmix == 0) return {};
  const Provides provides = source.sample_fields(0);
  const auto axes =
      AxesOf(provides.data[0].shape, source.preprocessing().layout);
  if (provides.data.size() != 1 || !axes) {
    return {StatusCode::kInvalidArgument,
            "cutmix: samples of shape " + SettingText(provides.data[0].shape) +
                " are no pictures"};
  }
  options.axes = *axes;
  return {};
}

}  // namespace mxc::data
