// SPDX-License-Identifier: Apache-2.0
// The files of a series of checkpoints: what they are called, which are there. A
// prefix may be a URL ("s3://bucket/lenet"); whatever looks for files fails where
// nobody says which are there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/train/status.h"

namespace mxc::train {

// One set of files.
struct CheckpointName {
  std::string prefix;
  int64_t number = 0;

  std::string Path(const char* extension) const;  // "out/lenet-0003.params"
  std::string SymbolPath() const;
};

// Sets after epochs are numbered by them, as MXNet's are. Those within an epoch
// are numbered by steps and have a prefix of their own, "PREFIX-step", so that
// MXNet opens both and neither overwrites the other.
CheckpointName EpochCheckpoint(const std::string& prefix, int64_t epoch);
CheckpointName StepCheckpoint(const std::string& prefix, int64_t step);

// "PREFIX-best.params": a copy of the best epoch's parameters, with its .mxc as
// "PREFIX-best.mxc". It is no set to go on from.
std::string BestPath(const std::string& prefix, const char* extension);

// The prefix of what another worker of a job saves beside worker 0, who writes
// under `prefix` itself.
std::string WorkerPrefix(const std::string& prefix, int64_t rank);

// The file that a training holds while it saves under a prefix.
std::string LockPath(const std::string& prefix);

// Where the files of a prefix lie.
std::filesystem::path FolderOf(const std::string& prefix);

// The sets of which there is an .mxc: those after epochs, then those within.
StatusOr<std::vector<CheckpointName>> SetsOf(const std::string& prefix);
// And those of which there is any file.
StatusOr<std::vector<CheckpointName>> AllSetsOf(const std::string& prefix);

// The index of a set's pieces (pieces.h), and the pieces; none where nobody says
// which are there.
std::vector<std::string> PiecesOf(const CheckpointName& name);

// What a set may consist of, its record last: by that it is known until all of it
// is gone.
std::vector<std::string> FilesOf(const CheckpointName& name);

// Every .mxc, .params, .states and .ema.params of the prefix, whole sets or not
// and the best epoch's copy, by path in this order; without the symbol.
StatusOr<std::vector<std::string>> FilesOfSeries(const std::string& prefix);

// The checksum of a file (runtime/base/checksum.h), read piece by piece.
StatusOr<uint64_t> HashFile(const std::string& path);

// "lenet-0001.mxc, lenet-0001.params and 4 more": without their folder.
std::string ListFiles(const std::vector<std::string>& files);

// Fails, naming the files, where an earlier run has left some.
Status RequireNoSeries(const std::string& prefix);

// Removes those files, every .mxc first: at no moment is there a set that looks
// complete and is not.
Status RemoveFiles(const std::vector<std::string>& files);

// Removes what writers that were killed have left. Failures are silent: nothing
// depends on it.
void RemoveAbandoned(const std::string& prefix);

}  // namespace mxc::train
