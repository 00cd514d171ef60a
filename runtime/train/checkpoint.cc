// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/checkpoint.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "runtime/base/checksum.h"
#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"
#include "runtime/formats/ndarray_list.h"
#include "runtime/train/checkpoint_record.h"
#include "runtime/train/specification.h"

namespace mxc::train {
namespace {

namespace fs = std::filesystem;

using runtime::Bytes;
using runtime::FileWriter;
using runtime::MappedFile;

constexpr const char* kExtensions[] = {"mxc", "params", "states"};

std::string_view TextOf(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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
      checksum.Add(Bytes(piece).first(static_cast<size_t>(size)));
    } else if (errno != EINTR) {
      return Fail(StatusCode::kIo, "cannot read '%s': %s", path.c_str(),
                  std::strerror(errno));
    }
  }
}

std::string HashText(uint64_t hash) {
  return Format("%016llx", static_cast<unsigned long long>(hash));
}

// Where the file of a hash lies.
std::string PathOf(const CheckpointName& name, const std::string& kind) {
  return kind == "symbol" ? name.SymbolPath() : name.Path(kind.c_str());
}

Status CheckHashes(const CheckpointName& name, const CheckpointRecord& record) {
  for (const auto& [kind, expected] : record.hashes) {
    if (kind != "symbol" && kind != "params" && kind != "states") {
      return DamagedCheckpoint(name.Path("mxc"),
                               "it hashes a file of another kind");
    }
    const std::string path = PathOf(name, kind);
    const StatusOr<uint64_t> found = HashFile(path);
    if (!found.ok()) return found.status();
    if (HashText(*found) != expected) {
      return DamagedCheckpoint(path, "it is not the one that was saved");
    }
  }
  return {};
}

// Writes the symbol unless it is there already.
Status WriteSymbol(const std::string& path, const std::string& symbol) {
  const StatusOr<MappedFile> present = MappedFile::Open(path);
  if (present.ok() && TextOf(present->bytes()) == symbol) return {};
  FileWriter file(path);
  file.Append(symbol);
  return file.Commit();
}

Status WriteRecord(const CheckpointName& name, const Checkpoint& checkpoint,
                   const std::vector<std::string>& kinds) {
  FileWriter file(name.Path("mxc"));
  runtime::RunningChecksum checksum;
  file.Follow(&checksum);
  file.Append(std::string(kCheckpointTitle) + "\n");
  file.Append(Format("step %lld\nepoch %lld\n",
                     static_cast<long long>(checkpoint.step),
                     static_cast<long long>(checkpoint.epoch)));
  for (const std::string& kind : kinds) {
    const StatusOr<uint64_t> hash = HashFile(PathOf(name, kind));
    if (!hash.ok()) return hash.status();
    file.Append("hash " + kind + " " + HashText(*hash) + "\n");
  }
  for (const auto& [word, line] : checkpoint.notes) {
    file.Append("note " + word + " " + line + "\n");
  }
  file.Append(std::string(kArraysLine) + "\n");
  runtime::AppendNdarrayList(file, checkpoint.states);
  file.Follow(nullptr);
  file.AppendScalar(checksum.value());
  return file.Commit();
}

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

fs::path FolderOf(const std::string& prefix) {
  const fs::path folder = fs::path(prefix).parent_path();
  return folder.empty() ? "." : folder;
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
std::vector<CheckpointName> SetsOf(const std::string& prefix) {
  const std::string stem = fs::path(prefix).filename().string();
  std::vector<CheckpointName> sets;
  for (const std::string& file : FilesBeside(prefix)) {
    if (const auto number = NumberOf(file, stem, ".mxc")) {
      sets.push_back({prefix, *number});
    }
  }
  return sets;
}

// Those after epochs, then those within.
std::vector<CheckpointName> AllSetsOf(const std::string& prefix) {
  std::vector<CheckpointName> sets = SetsOf(prefix);
  for (CheckpointName& name : SetsOf(StepCheckpoint(prefix, 0).prefix)) {
    sets.push_back(std::move(name));
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

Status WriteCheckpoint(const CheckpointName& name,
                       const Checkpoint& checkpoint) {
  std::error_code error;
  fs::create_directories(FolderOf(name.prefix), error);
  // From here on until the new .mxc is there this set is not complete.
  fs::remove(name.Path("mxc"), error);
  std::vector<std::string> kinds;
  if (!checkpoint.symbol.empty()) {
    MXC_RT_RETURN_IF_ERROR(WriteSymbol(name.SymbolPath(), checkpoint.symbol));
    kinds.push_back("symbol");
  }
  MXC_RT_RETURN_IF_ERROR(
      runtime::WriteNdarrayList(name.Path("params"), checkpoint.parameters));
  MXC_RT_RETURN_IF_ERROR(
      runtime::WriteUpdaterStates(name.Path("states"), checkpoint.updater));
  kinds.insert(kinds.end(), {"params", "states"});
  return WriteRecord(name, checkpoint, kinds);
}

StatusOr<Checkpoint> ReadCheckpoint(const CheckpointName& name) {
  const std::string path = name.Path("mxc");
  const StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  StatusOr<CheckpointRecord> record =
      ParseCheckpointRecord(file->bytes(), path);
  if (!record.ok()) return record.status();
  MXC_RT_RETURN_IF_ERROR(CheckHashes(name, *record));

  Checkpoint checkpoint;
  checkpoint.step = record->step;
  checkpoint.epoch = record->epoch;
  checkpoint.notes = std::move(record->notes);
  auto states = runtime::ParseNdarrayList(record->arrays);
  if (!states.ok()) return states.status();
  checkpoint.states = std::move(*states);
  auto parameters = runtime::ReadNdarrayList(name.Path("params"));
  if (!parameters.ok()) return parameters.status();
  checkpoint.parameters = std::move(*parameters);
  auto updater = runtime::ReadUpdaterStates(name.Path("states"));
  if (!updater.ok()) return updater.status();
  checkpoint.updater = std::move(*updater);
  if (record->hashes.contains("symbol")) {
    const auto symbol = MappedFile::Open(name.SymbolPath());
    if (!symbol.ok()) return symbol.status();
    checkpoint.symbol = TextOf(symbol->bytes());
  }
  return checkpoint;
}

std::string NoteBeside(const std::string& params, const std::string& word) {
  const std::string path = fs::path(params).replace_extension(".mxc").string();
  const StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return "";
  const StatusOr<CheckpointRecord> record =
      ParseCheckpointRecord(file->bytes(), path);
  if (!record.ok()) return "";
  const auto expected = record->hashes.find("params");
  const auto note = record->notes.find(word);
  if (expected == record->hashes.end() || note == record->notes.end()) {
    return "";
  }
  const StatusOr<uint64_t> found = HashFile(params);
  return found.ok() && HashText(*found) == expected->second ? note->second : "";
}

StatusOr<std::optional<CheckpointName>> FindNewestComplete(
    const std::string& prefix) {
  std::vector<std::pair<CheckpointRecord, CheckpointName>> found;
  for (const CheckpointName& name : AllSetsOf(prefix)) {
    const auto file = MappedFile::Open(name.Path("mxc"));
    if (!file.ok()) continue;
    auto record = ParseCheckpointRecord(file->bytes(), name.Path("mxc"));
    if (record.ok()) found.emplace_back(std::move(*record), name);
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
    return a.first.step > b.first.step;
  });
  for (const auto& [record, name] : found) {
    if (CheckHashes(name, record).ok()) return std::optional(name);
  }
  return std::optional<CheckpointName>();
}

Status ForgetCheckpoints(const std::string& prefix) {
  for (const CheckpointName& name : AllSetsOf(prefix)) {
    std::error_code error;
    fs::remove(name.Path("mxc"), error);
    if (error) {
      return Fail(StatusCode::kIo, "cannot remove '%s': %s",
                  name.Path("mxc").c_str(), error.message().c_str());
    }
  }
  return {};
}

void RemoveOutdated(const std::string& prefix, int keep) {
  std::error_code error;
  const std::string stem = fs::path(prefix).filename().string();
  for (const std::string& file : FilesBeside(prefix)) {
    if (AbandonedBy(file, stem)) fs::remove(FolderOf(prefix) / file, error);
  }
  std::vector<CheckpointName> sets = SetsOf(StepCheckpoint(prefix, 0).prefix);
  std::ranges::sort(sets, std::greater(), &CheckpointName::number);
  for (size_t i = static_cast<size_t>(std::max(keep, 1)); i < sets.size();
       ++i) {
    for (const char* extension : kExtensions) {
      fs::remove(sets[i].Path(extension), error);
    }
  }
}

}  // namespace mxc::train
