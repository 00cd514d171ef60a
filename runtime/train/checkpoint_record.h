// SPDX-License-Identifier: Apache-2.0
// The .mxc of a checkpoint: lines of text "word value", a line "arrays", then
// an NDArray list and the XXH3 of all before (u64). One that holds the line
// "unfinished" stands for a set whose other files are still being written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/train/status.h"

namespace mxc::train {

inline constexpr std::string_view kCheckpointTitle = "mxc-checkpoint 1";
inline constexpr std::string_view kArraysLine = "arrays";
inline constexpr std::string_view kUnfinishedLine = "unfinished";

// What the .mxc says, its arrays still as bytes.
struct CheckpointRecord {
  bool unfinished = false;  // then it says nothing else
  int64_t step = -1, epoch = -1;
  std::map<std::string, std::string> hashes;  // "params" → hexadecimal
  std::map<std::string, std::string> notes;
  runtime::Bytes arrays;
};

// `bytes` must outlive the record; `path` is for messages.
StatusOr<CheckpointRecord> ParseCheckpointRecord(runtime::Bytes bytes,
                                                 const std::string& path);

// Refuses a record that is of no whole set.
Status RequireFinished(const CheckpointRecord& record, const std::string& path);

// "PATH is damaged: WHAT".
Status DamagedCheckpoint(const std::string& path, const char* what);

}  // namespace mxc::train
