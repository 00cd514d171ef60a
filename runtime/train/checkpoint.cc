// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/checkpoint.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/base/checksum.h"
#include "runtime/base/file.h"
#include "runtime/base/file_writer.h"
#include "runtime/base/remote_files.h"
#include "runtime/formats/ndarray_list.h"
#include "runtime/train/checkpoint_record.h"
#include "runtime/train/specification.h"

namespace mxc::train {
namespace {

constexpr const char* kAverages = "ema.params";

using runtime::Bytes;
using runtime::FileWriter;
using runtime::MappedFile;

std::string_view TextOf(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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
    if (kind != "symbol" && kind != "params" && kind != "states" &&
        kind != kAverages && kind != kPieces) {
      return DamagedCheckpoint(name.Path("mxc"),
                               "it hashes a file of another kind");
    }
    const std::string path = PathOf(name, kind);
    const StatusOr<uint64_t> found = HashFile(path);
    if (!found.ok()) return found.status();
    if (HashText(*found) != expected) {
      return DamagedCheckpoint(path, "it is not the one that was saved");
    }
    if (kind == kPieces) MXC_RT_RETURN_IF_ERROR(CheckPieces(path));
  }
  return {};
}

bool HasText(const std::string& path, const std::string& text) {
  const StatusOr<MappedFile> present = MappedFile::Open(path);
  return present.ok() && TextOf(present->bytes()) == text;
}

// Writes the symbol unless it is there already.
Status WriteSymbol(const std::string& path, const std::string& symbol,
                   Sync sync) {
  if (HasText(path, symbol)) return {};
  FileWriter file(path);
  file.Append(symbol);
  return file.Commit(sync);
}

Status WriteArrays(const std::string& path,
                   const std::vector<runtime::NamedArray>& arrays, Sync sync) {
  FileWriter file(path);
  runtime::AppendNdarrayList(file, arrays);
  return file.Commit(sync);
}

}  // namespace

Status MarkUnfinished(const CheckpointName& name, Sync sync) {
  FileWriter file(name.Path("mxc"));
  runtime::RunningChecksum checksum;
  file.Follow(&checksum);
  for (const std::string_view line :
       {kCheckpointTitle, kUnfinishedLine, kArraysLine}) {
    file.Append(std::string(line) + "\n");
  }
  file.Follow(nullptr);
  file.AppendScalar(checksum.value());
  return file.Commit(sync);
}

namespace {

Status WriteRecord(const CheckpointName& name, const Checkpoint& checkpoint,
                   const std::vector<std::string>& kinds, Sync sync) {
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
  return file.Commit(sync);
}

}  // namespace

Status WriteCheckpoint(const CheckpointName& name, const Checkpoint& checkpoint,
                       Sync sync) {
  MXC_RT_RETURN_IF_ERROR(MarkUnfinished(name, sync));
  std::vector<std::string> kinds;
  if (!checkpoint.symbol.empty()) {
    MXC_RT_RETURN_IF_ERROR(
        WriteSymbol(name.SymbolPath(), checkpoint.symbol, sync));
    kinds.push_back("symbol");
  }
  if (!checkpoint.parameters.empty()) {
    MXC_RT_RETURN_IF_ERROR(
        WriteArrays(name.Path("params"), checkpoint.parameters, sync));
    MXC_RT_RETURN_IF_ERROR(runtime::WriteUpdaterStates(
        name.Path("states"), checkpoint.updater, sync));
    kinds.insert(kinds.end(), {"params", "states"});
  } else {  // of a set of this number that was not in pieces
    MXC_RT_RETURN_IF_ERROR(
        RemoveFiles({name.Path("params"), name.Path("states")}));
  }
  if (checkpoint.index) {
    MXC_RT_RETURN_IF_ERROR(
        WritePieceIndex(name.Path(kPieces), *checkpoint.index, sync));
    kinds.emplace_back(kPieces);
  } else {
    MXC_RT_RETURN_IF_ERROR(RemoveFiles(PiecesOf(name)));
  }
  const std::string averages = name.Path(kAverages);
  if (checkpoint.averages.empty()) {
    MXC_RT_RETURN_IF_ERROR(RemoveFiles({averages}));  // of who was killed
  } else {
    MXC_RT_RETURN_IF_ERROR(WriteArrays(averages, checkpoint.averages, sync));
    kinds.emplace_back(kAverages);
  }
  return WriteRecord(name, checkpoint, kinds, sync);
}

Status CopyAsBest(const CheckpointName& name, bool averages, Sync sync) {
  const std::string best = BestPath(name.prefix, "params");
  const std::string record = BestPath(name.prefix, "mxc");
  const auto new_record = MappedFile::Open(name.Path("mxc"));
  if (!new_record.ok()) return new_record.status();
  if (const auto present = MappedFile::Open(record);
      present.ok() && TextOf(present->bytes()) == TextOf(new_record->bytes()) &&
      ProvenanceOf(best).problem.empty()) {
    return {};
  }
  std::string source = name.Path(kAverages);
  MXC_RT_ASSIGN(const bool has_averages, runtime::FileExists(source));
  if (!averages || !has_averages) source = name.Path("params");
  MXC_RT_RETURN_IF_ERROR(runtime::RemoveFile(record));
  for (const auto& [from, to] :
       {std::pair(source, best), {name.Path("mxc"), record}}) {
    const auto file = MappedFile::Open(from);
    if (!file.ok()) return file.status();
    FileWriter copy(to);
    copy.Append(file->bytes());
    MXC_RT_RETURN_IF_ERROR(copy.Commit(sync));
  }
  return {};
}

Status RemoveSets(const std::vector<CheckpointName>& names, Sync sync) {
  for (const CheckpointName& name : names) {
    MXC_RT_ASSIGN(const bool exists, runtime::FileExists(name.Path("mxc")));
    if (exists) MXC_RT_RETURN_IF_ERROR(MarkUnfinished(name, sync));
  }
  for (const CheckpointName& name : names) {
    MXC_RT_RETURN_IF_ERROR(RemoveFiles(FilesOf(name)));
  }
  return {};
}

StatusOr<Checkpoint> ReadCheckpoint(const CheckpointName& name) {
  const std::string path = name.Path("mxc");
  const StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  StatusOr<CheckpointRecord> record =
      ParseCheckpointRecord(file->bytes(), path);
  if (!record.ok()) return record.status();
  MXC_RT_RETURN_IF_ERROR(RequireFinished(*record, path));
  MXC_RT_RETURN_IF_ERROR(CheckHashes(name, *record));

  Checkpoint checkpoint;
  checkpoint.step = record->step;
  checkpoint.epoch = record->epoch;
  checkpoint.notes = std::move(record->notes);
  auto states = runtime::ParseNdarrayList(record->arrays);
  if (!states.ok()) return states.status();
  checkpoint.states = std::move(*states);
  if (record->hashes.contains("params")) {
    auto parameters = runtime::ReadNdarrayList(name.Path("params"));
    if (!parameters.ok()) return parameters.status();
    checkpoint.parameters = std::move(*parameters);
  }
  if (record->hashes.contains(kPieces)) {
    MXC_RT_ASSIGN(OpenPieces pieces, OpenPieces::Open(name.Path(kPieces)));
    checkpoint.pieces = std::make_shared<const OpenPieces>(std::move(pieces));
  }
  if (record->hashes.contains(kAverages)) {
    auto averages = runtime::ReadNdarrayList(name.Path(kAverages));
    if (!averages.ok()) return averages.status();
    checkpoint.averages = std::move(*averages);
  }
  if (record->hashes.contains("states")) {
    auto updater = runtime::ReadUpdaterStates(name.Path("states"));
    if (!updater.ok()) return updater.status();
    checkpoint.updater = std::move(*updater);
  }
  if (record->hashes.contains("symbol")) {
    const auto symbol = MappedFile::Open(name.SymbolPath());
    if (!symbol.ok()) return symbol.status();
    checkpoint.symbol = TextOf(symbol->bytes());
  }
  return checkpoint;
}

Status RequireNoOtherSymbol(const CheckpointName& name,
                            const std::string& symbol) {
  const std::string path = name.SymbolPath();
  MXC_RT_ASSIGN(const bool exists, runtime::FileExists(path));
  if (!exists || HasText(path, symbol)) return {};
  return Fail(StatusCode::kInvalidArgument,
              "'%s' holds another network, which saving would write over; "
              "--overwrite allows it",
              path.c_str());
}

std::string Provenance::Note(const std::string& word) const {
  const auto note = notes.find(word);
  return note == notes.end() ? "" : note->second;
}

Provenance ProvenanceOf(const std::string& params) {
  Provenance result;
  const char* kind = "params";
  for (const char* other : {kAverages, kPieces}) {
    if (params.ends_with(std::string(".") + other)) kind = other;
  }
  if (!params.ends_with(std::string(".") + kind)) return result;  // not mxc's
  const std::string path =
      params.substr(0, params.size() - std::strlen(kind)) + "mxc";
  const StatusOr<MappedFile> file = MappedFile::Open(path);
  if (file.status().code() == StatusCode::kNotFound) return result;
  result.known = true;
  if (!file.ok()) {
    result.problem = file.status().message();
    return result;
  }
  StatusOr<CheckpointRecord> record =
      ParseCheckpointRecord(file->bytes(), path);
  const Status whole =
      record.ok() ? RequireFinished(*record, path) : record.status();
  if (!whole.ok()) {
    result.problem = whole.message();
    return result;
  }
  result.step = record->step;
  result.epoch = record->epoch;
  const StatusOr<uint64_t> found = HashFile(params);
  // PREFIX-best.params are either.
  const auto is_found = [&](const char* of) {
    const auto expected = record->hashes.find(of);
    return expected != record->hashes.end() && found.ok() &&
           HashText(*found) == expected->second;
  };
  if (!is_found("params") && !is_found(kAverages) && !is_found(kPieces)) {
    result.problem = params + " is not the one that " + path + " belongs to";
    return result;
  }
  result.notes = std::move(record->notes);
  return result;
}

Status CheckSet(const CheckpointName& name) {
  const std::string path = name.Path("mxc");
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  const auto record = ParseCheckpointRecord(file->bytes(), path);
  if (!record.ok()) return record.status();
  const Status same = CheckHashes(name, *record);
  if (same.code() != StatusCode::kNotFound) return same;
  return Fail(StatusCode::kCorrupt, "%s is damaged: %s",
              name.Path("mxc").c_str(), same.message().c_str());
}

std::string RunOf(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return "";
  const auto record = ParseCheckpointRecord(file->bytes(), path);
  if (!record.ok()) return "";
  const auto run = record->notes.find("run");
  return run == record->notes.end() ? "" : run->second;
}

StatusOr<std::optional<NewestSet>> FindNewestComplete(
    const std::string& prefix, const std::string& preferred,
    const std::function<bool(int64_t)>& wanted) {
  std::vector<std::pair<CheckpointRecord, CheckpointName>> found;
  MXC_RT_ASSIGN(const auto sets, SetsOf(prefix));
  for (const CheckpointName& name : sets) {
    const auto file = MappedFile::Open(name.Path("mxc"));
    if (!file.ok()) continue;
    auto record = ParseCheckpointRecord(file->bytes(), name.Path("mxc"));
    if (!record.ok() || record->unfinished) continue;
    found.emplace_back(std::move(*record), name);
  }
  const auto rank = [&](const CheckpointRecord& record) {
    const auto run = record.notes.find("run");
    const bool is_preferred = !preferred.empty() && run != record.notes.end() &&
                              run->second == preferred;
    return std::pair(is_preferred, record.step);
  };
  std::ranges::stable_sort(found, [&](const auto& a, const auto& b) {
    return rank(a.first) > rank(b.first);
  });
  for (auto& [record, name] : found) {
    if (wanted && !wanted(record.step)) continue;
    if (!CheckHashes(name, record).ok()) continue;
    return std::optional(NewestSet{name, std::move(record.notes["run"]),
                                   record.step, record.epoch});
  }
  return std::optional<NewestSet>();
}

}  // namespace mxc::train
