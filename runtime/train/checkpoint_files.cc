// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/checkpoint_files.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/base/checksum.h"
#include "runtime/base/file.h"
#include "runtime/base/remote_files.h"
#include "runtime/train/pieces.h"
#include "runtime/train/specification.h"

namespace mxc::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtensions[] = {"mxc", "params", "states", "ema.params",
                                       kPieces};
constexpr auto kRecord = std::span(kExtensions).first<1>();

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

// The sets of which there is a file with one of the extensions, by number.
StatusOr<std::vector<CheckpointName>> SetsOfKind(
    const std::string& prefix, std::span<const char* const> extensions) {
  const std::string stem = fs::path(prefix).filename().string();
  std::set<int64_t> numbers;
  MXC_RT_ASSIGN(const auto files, runtime::FilesBeginningWith(prefix));
  for (const std::string& file : files) {
    for (const char* extension : extensions) {
      const auto number = NumberOf(file, stem, std::string(".") + extension);
      if (number) numbers.insert(*number);
    }
  }
  std::vector<CheckpointName> sets;
  for (const int64_t number : numbers) sets.push_back({prefix, number});
  return sets;
}

// Those after epochs, then those within.
StatusOr<std::vector<CheckpointName>> SetsOfBothKinds(
    const std::string& prefix, std::span<const char* const> extensions) {
  MXC_RT_ASSIGN(auto sets, SetsOfKind(prefix, extensions));
  MXC_RT_ASSIGN(const auto within,
                SetsOfKind(StepCheckpoint(prefix, 0).prefix, extensions));
  sets.insert(sets.end(), within.begin(), within.end());
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

std::string BestPath(const std::string& prefix, const char* extension) {
  return prefix + "-best." + extension;
}

std::string WorkerPrefix(const std::string& prefix, int64_t rank) {
  return Format("%s.worker-%lld", prefix.c_str(), static_cast<long long>(rank));
}

std::string LockPath(const std::string& prefix) { return prefix + ".lock"; }

fs::path FolderOf(const std::string& prefix) {
  const fs::path folder = fs::path(prefix).parent_path();
  return folder.empty() ? "." : folder;
}

StatusOr<std::vector<CheckpointName>> SetsOf(const std::string& prefix) {
  return SetsOfBothKinds(prefix, kRecord);
}

StatusOr<std::vector<CheckpointName>> AllSetsOf(const std::string& prefix) {
  return SetsOfBothKinds(prefix, kExtensions);
}

std::vector<std::string> PiecesOf(const CheckpointName& name) {
  std::vector<std::string> files = {name.Path(kPieces)};
  const auto present = runtime::FilesBeginningWith(name.Path("piece-"));
  if (!present.ok()) return files;
  for (const std::string& file : *present) {
    files.push_back((fs::path(name.prefix).parent_path() / file).string());
  }
  return files;
}

std::vector<std::string> FilesOf(const CheckpointName& name) {
  std::vector<std::string> files;
  for (const char* extension : kExtensions) {
    files.push_back(name.Path(extension));
  }
  const auto pieces = PiecesOf(name);
  files.insert(files.end(), pieces.begin() + 1, pieces.end());
  std::ranges::reverse(files);
  return files;
}

StatusOr<std::vector<std::string>> FilesOfSeries(const std::string& prefix) {
  MXC_RT_ASSIGN(const auto present, runtime::FilesBeginningWith(prefix));
  const std::string best = fs::path(BestPath(prefix, "")).filename().string();
  std::vector<std::string> files;
  const auto add = [&](const std::string& file) {
    files.push_back((fs::path(prefix).parent_path() / file).string());
  };
  for (const char* extension : kExtensions) {
    for (const std::string& kind : {prefix, StepCheckpoint(prefix, 0).prefix}) {
      const std::string stem = fs::path(kind).filename().string();
      for (const std::string& file : present) {
        if (NumberOf(file, stem, std::string(".") + extension)) add(file);
      }
    }
    if (std::ranges::binary_search(present, best + extension)) {
      add(best + extension);
    }
  }
  for (const CheckpointName& name :
       {EpochCheckpoint(prefix, 0), StepCheckpoint(prefix, 0)}) {
    const std::string stem = fs::path(name.prefix).filename().string();
    for (const std::string& file : present) {
      const size_t piece = file.rfind(".piece-");
      if (piece == file.npos) continue;
      if (NumberOf(file, stem, file.substr(piece))) add(file);
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
  MXC_RT_ASSIGN(const auto files, FilesOfSeries(prefix));
  if (files.empty()) return {};
  return Fail(StatusCode::kInvalidArgument,
              "'%s' is the prefix of an earlier run: %s; --resume goes on with "
              "it, --overwrite replaces it",
              prefix.c_str(), ListFiles(files).c_str());
}

// Piece by piece: a mapping of a large file would count as memory.
StatusOr<uint64_t> HashFile(const std::string& path) {
  const StatusOr<runtime::Descriptor> file = runtime::OpenFile(path);
  if (!file.ok()) return file.status();
  runtime::RunningChecksum checksum;
  std::vector<std::byte> piece(1 << 20);
  while (true) {
    const ssize_t size = read(file->get(), piece.data(), piece.size());
    if (size == 0) return checksum.value();
    if (size > 0) {
      checksum.Add(runtime::Bytes(piece).first(static_cast<size_t>(size)));
    } else if (errno != EINTR) {
      return Fail(StatusCode::kIo, "cannot read '%s': %s", path.c_str(),
                  std::strerror(errno));
    }
  }
}

Status RemoveFiles(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    MXC_RT_RETURN_IF_ERROR(runtime::RemoveFile(file));
  }
  return {};
}

void RemoveAbandoned(const std::string& prefix) {
  const auto place = runtime::PlaceOf(prefix);
  if (!place.ok() || place->remote != nullptr) return;
  const auto files = runtime::FilesBeginningWith(place->path);
  if (!files.ok()) return;
  const std::string stem = fs::path(prefix).filename().string();
  for (const std::string& file : *files) {
    std::error_code error;
    if (AbandonedBy(file, stem)) fs::remove(FolderOf(prefix) / file, error);
  }
}

}  // namespace mxc::train
