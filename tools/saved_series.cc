// SPDX-License-Identifier: Apache-2.0
#include "tools/saved_series.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "frontend/frontend.h"
#include "tools/run/job.h"
#include "tools/terminal.h"

namespace mxc {

SavedSeries SeriesAmong(const std::vector<std::string>& words) {
  constexpr std::string_view kSave = "--save", kSaveIs = "--save=";
  SavedSeries series;
  series.resume = run::JobResumes();
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == kSave && i + 1 < words.size()) series.prefix = words[i + 1];
    if (words[i].starts_with(kSaveIs)) {
      series.prefix = words[i].substr(kSaveIs.size());
    }
    series.resume = series.resume || words[i] == "--resume";
    series.overwrite = series.overwrite || words[i] == "--overwrite";
  }
  return series;
}

Status RequireRoom(const SavedSeries& series) {
  if (series.prefix.empty() || series.resume || series.overwrite) return Done{};
  const train::Status room = train::RequireNoSeries(series.prefix);
  if (!room.ok()) return UnplacedError(room.message());
  return Done{};
}

Result<std::shared_ptr<const ParameterFile>> FirstParameters(
    const NetworkRequest& network, const SavedSeries& series, bool anew) {
  if (!network.params.empty() || network.epoch) return ParametersFor(network);
  ParameterFile none;
  if (!series.prefix.empty() && series.resume) {
    const auto newest = train::FindNewestComplete(series.prefix);
    if (newest.ok() && newest->has_value()) {
      none.provenance = train::ProvenanceOf((*newest)->name.Path("params"));
    }
    return std::make_shared<const ParameterFile>(std::move(none));
  }
  if (anew) return std::make_shared<const ParameterFile>(std::move(none));
  if (series.prefix.empty()) return ParametersFor(network);
  const auto whole = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  const auto beside = ParameterFilesBeside(network.model);
  const bool replaced = std::ranges::any_of(beside, [&](const auto& file) {
    return whole(file.second).starts_with(whole(series.prefix) + "-");
  });
  if (!series.overwrite || !replaced) return ParametersFor(network);
  return std::make_shared<const ParameterFile>(std::move(none));
}

}  // namespace mxc
