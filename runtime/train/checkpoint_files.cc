// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/checkpoint_files.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/train/specification.h"

namespace mxc::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtensions[] = {"mxc", "params", "states"};

// NNNN of "stem-NNNN.extension", if that is what the file is called.
std::optional<int64_t> NumberOf(std::string_view file, std::string_view stem,
                                std::string_view extension) {
  if (!file.starts_with(stem)) return std::nullopt;
  file.remove_prefix(stem.size());
  if (!file.starts_with('-') || !file.ends_with(extension) ||
      file.size() < 5 + extension.size()) {
    return std::nullopt;
  }
  file = file.substr(1, file.size() - extension.size() - 1);
  int64_t number = -1;
  if (file.find_first_not_of("0123456789") != file.npos ||
      !ParseInteger(file, number)) {
    return std::nullopt;
  }
  return number;
}

std::vector<std::string> FilesBeside(const std::string& prefix) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(FolderOf(prefix), error), end;
       !error && it != end; it.increment(error)) {
    files.push_back(it->path().filename().string());
  }
  std::ranges::sort(files);
  return files;
}

// The sets of which there is an .mxc.
std::vector<CheckpointName> SetsOfKind(const std::string& prefix) {
  const std::string stem = fs::path(prefix).filename().string();
  std::vector<CheckpointName> sets;
  for (const std::string& file : FilesBeside(prefix)) {
    if (const auto number = NumberOf(file, stem, ".mxc")) {
      sets.push_back({prefix, *number});
    }
  }
  return sets;
}

// The process whose unfinished file this is: FileWriter's "NAME.PID.0xRANDOM".
std::optional<int64_t> AbandonedBy(std::string_view file,
                                   std::string_view stem) {
  const size_t address = file.rfind(".0x");
  if (!file.starts_with(stem) || address == file.npos) return std::nullopt;
  const size_t dot = file.rfind('.', address - 1);
  int64_t process = 0;
  if (dot == file.npos || dot < stem.size() ||
      !ParseInteger(file.substr(dot + 1, address - dot - 1), process) ||
      process < 1 || process > INT32_MAX) {
    return std::nullopt;
  }
  const bool runs = kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
  return runs ? std::nullopt : std::optional(process);
}

}  // namespace

std::string CheckpointName::Path(const char* extension) const {
  return Format("%s-%04lld.%s", prefix.c_str(), static_cast<long long>(number),
                extension);
}

std::string CheckpointName::SymbolPath() const {
  return prefix + "-symbol.json";
}

CheckpointName EpochCheckpoint(const std::string& prefix, int64_t epoch) {
  return {prefix, epoch};
}

CheckpointName StepCheckpoint(const std::string& prefix, int64_t step) {
  return {prefix + "-step", step};
}

std::string WorkerPrefix(const std::string& prefix, int64_t rank) {
  return Format("%s.worker-%lld", prefix.c_str(), static_cast<long long>(rank));
}

fs::path FolderOf(const std::string& prefix) {
  const fs::path folder = fs::path(prefix).parent_path();
  return folder.empty() ? "." : folder;
}

std::vector<CheckpointName> SetsOf(const std::string& prefix) {
  std::vector<CheckpointName> sets = SetsOfKind(prefix);
  for (CheckpointName& name : SetsOfKind(StepCheckpoint(prefix, 0).prefix)) {
    sets.push_back(std::move(name));
  }
  return sets;
}

std::vector<std::string> FilesOfSeries(const std::string& prefix) {
  std::vector<std::string> files;
  for (const char* extension : kExtensions) {
    for (const std::string& kind : {prefix, StepCheckpoint(prefix, 0).prefix}) {
      const std::string stem = fs::path(kind).filename().string();
      for (const std::string& file : FilesBeside(kind)) {
        if (!NumberOf(file, stem, std::string(".") + extension)) continue;
        files.push_back((fs::path(kind).parent_path() / file).string());
      }
    }
  }
  return files;
}

std::string ListFiles(const std::vector<std::string>& files) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < files.size() && i < kShown; ++i) {
    text += (i > 0 ? ", " : "") +
            std::filesystem::path(files[i]).filename().string();
  }
  if (files.size() <= kShown) return text;
  return text + Format(" and %zu more", files.size() - kShown);
}

Status RequireNoSeries(const std::string& prefix) {
  const std::vector<std::string> files = FilesOfSeries(prefix);
  if (files.empty()) return {};
  return Fail(StatusCode::kInvalidArgument,
              "'%s' is the prefix of an earlier run: %s; --resume goes on with "
              "it, --overwrite replaces it",
              prefix.c_str(), ListFiles(files).c_str());
}

Status RemoveFiles(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code error;
    fs::remove(file, error);
    if (!error) continue;
    return Fail(StatusCode::kIo, "cannot remove '%s': %s", file.c_str(),
                error.message().c_str());
  }
  return {};
}

void RemoveOutdated(const std::string& prefix, int keep) {
  std::error_code error;
  const std::string stem = fs::path(prefix).filename().string();
  for (const std::string& file : FilesBeside(prefix)) {
    if (AbandonedBy(file, stem)) fs::remove(FolderOf(prefix) / file, error);
  }
  std::vector<CheckpointName> sets =
      SetsOfKind(StepCheckpoint(prefix, 0).prefix);
  std::ranges::sort(sets, std::greater(), &CheckpointName::number);
  for (size_t i = static_cast<size_t>(std::max(keep, 1)); i < sets.size();
       ++i) {
    for (const char* extension : kExtensions) {
      fs::remove(sets[i].Path(extension), error);
    }
  }
}

}  // namespace mxc::train
