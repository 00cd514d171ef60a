// SPDX-License-Identifier: Apache-2.0
#include "tools/train/train_data.h"

#include <fmt/format.h>

#include <utility>

#include "tools/driver/plan.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

Result<data::Settings> ParseSettings(const char* option,
                                     const std::vector<std::string>& texts) {
  data::Settings settings;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == text.npos) {
      return UnplacedError(
          fmt::format("{} '{}' is not NAME=VALUE", option, text));
    }
    settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

Result<std::unique_ptr<data::Iterator>> OpenSource(
    const std::string& source, const data::IteratorOptions& options) {
  auto opened = data::Open(source, options);
  if (!opened.ok()) return UnplacedError(opened.status().message());
  return std::move(*opened);
}

}  // namespace

Result<std::unique_ptr<data::Iterator>> OpenData(
    const DataRequest& request, const train::Provenance& learned) {
  data::IteratorOptions options;
  options.label_names = LabelNamesOf(learned);
  options.preprocessing = learned.Note("preprocess");
  options.batch_size = request.batch_size;
  options.takes = request.takes;
  options.seed = request.seed;
  options.shuffle = request.shuffle;
  options.threads = 0;  // only shapes are asked for
  options.before_compiling = true;
  MXC_ASSIGN(options.settings, ParseSettings("--data-opt", request.settings));
  auto source = OpenSource(request.source, options);
  if (source.ok() || options.label_names.empty()) return source;
  options.label_names.clear();
  if (!OpenSource(request.source, options).ok()) return source;
  Diagnostics errors = source.errors();
  errors[0].message += "; --classes auto learns those of the data";
  return errors;
}

Status RequireValidation(const std::string& source,
                         const std::vector<std::string>& settings,
                         const DataRequest& request,
                         const data::Iterator& trained) {
  data::IteratorOptions options;
  options.label_names = trained.label_names();
  options.preprocessing = trained.preprocessing();
  options.batch_size = request.batch_size;
  options.takes = request.takes;
  options.threads = 0;
  options.last_batch = data::LastBatch::kPad;
  MXC_ASSIGN(options.settings, ParseSettings("--val-opt", settings));
  MXC_ASSIGN(options.offered, ParseSettings("--data-opt", request.settings));
  MXC_ASSIGN(const auto all, OpenSource(source, options));
  if (!all->has_held_out()) return Done{};
  options.held_out = true;
  MXC_ASSIGN(const auto held_out, OpenSource(source, options));
  return Done{};
}

}  // namespace mxc
