// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/checkpoint_record.h"

#include <utility>

#include "runtime/base/checksum.h"
#include "runtime/formats/byte_reader.h"
#include "runtime/train/specification.h"

namespace mxc::train {
namespace {

using runtime::Bytes;

// "word value" → the two; a line without a value has an empty one.
std::pair<std::string_view, std::string_view> SplitLine(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == line.npos) return {line, {}};
  return {line.substr(0, space), line.substr(space + 1)};
}

bool ReadRecordLine(std::string_view line, CheckpointRecord& record) {
  if (line == kUnfinishedLine) return record.unfinished = true;
  const auto [word, value] = SplitLine(line);
  if (word == "step") return ParseInteger(value, record.step);
  if (word == "epoch") return ParseInteger(value, record.epoch);
  const auto [name, rest] = SplitLine(value);
  if (name.empty()) return false;
  if (word == "hash") {
    record.hashes[std::string(name)] = rest;
  } else if (word == "note") {
    record.notes[std::string(name)] = rest;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Status DamagedCheckpoint(const std::string& path, const char* what) {
  return Fail(StatusCode::kCorrupt, "%s is damaged: %s", path.c_str(), what);
}

Status RequireFinished(const CheckpointRecord& record,
                       const std::string& path) {
  if (!record.unfinished) return {};
  return Fail(StatusCode::kCorrupt,
              "%s says that its set is not finished: the program that wrote it "
              "was stopped",
              path.c_str());
}

StatusOr<CheckpointRecord> ParseCheckpointRecord(Bytes bytes,
                                                 const std::string& path) {
  uint64_t hash = 0;
  if (bytes.size() < sizeof hash) {
    return DamagedCheckpoint(path, "it is too short");
  }
  const Bytes body = bytes.first(bytes.size() - sizeof hash);
  runtime::ByteReader(bytes.subspan(body.size())).Read(&hash);
  if (hash != runtime::Checksum(body)) {
    return DamagedCheckpoint(path, "its checksum is wrong");
  }
  CheckpointRecord record;
  std::string_view text{reinterpret_cast<const char*>(body.data()),
                        body.size()};
  for (bool first = true;; first = false) {
    const size_t end = text.find('\n');
    if (end == text.npos) {
      return DamagedCheckpoint(path, "its lines do not end");
    }
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line == kArraysLine && !first) break;
    if (first ? line != kCheckpointTitle : !ReadRecordLine(line, record)) {
      return DamagedCheckpoint(path, first ? "it is of another version"
                                           : "a line is not understood");
    }
  }
  if (!record.unfinished && (record.step < 0 || record.epoch < 0)) {
    return DamagedCheckpoint(path, "it has no step or no epoch");
  }
  record.arrays = body.subspan(body.size() - text.size());
  return record;
}

}  // namespace mxc::train
