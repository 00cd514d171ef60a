// SPDX-License-Identifier: Apache-2.0
// What a training run leaves behind, for MXNet and for itself.
//
//   PREFIX-symbol.json    the network
//   PREFIX-NNNN.params    parameters ("arg:…") and auxiliary states ("aux:…")
//   PREFIX-NNNN.states    the optimizer's, by index, as MXNet pickles them
//   PREFIX-NNNN.mxc       everything else, and the hashes of the other three
//
// Every file appears whole or not at all, the .mxc last: a set is complete if
// its .mxc is there and the hashes agree. A set is never written over while it
// is the newest one.
// checkpoint_record.h describes the .mxc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/formats/array.h"
#include "runtime/formats/updater_states.h"
#include "runtime/train/status.h"

namespace mxc::train {

struct Checkpoint {
  int64_t step = 0;    // updates made
  int64_t epoch = 0;   // epochs finished
  std::string symbol;  // the network's JSON; empty: no file
  std::vector<runtime::NamedArray> parameters;
  runtime::UpdaterStates updater;
  // States without a place in MXNet's files: random numbers, counters.
  std::vector<runtime::NamedArray> states;
  // What the loop needs to go on, and "label_names"
  // (runtime/data/label_names.h) of what it was trained on: one word → one line
  // of text.
  std::map<std::string, std::string> notes;
};

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

Status WriteCheckpoint(const CheckpointName& name,
                       const Checkpoint& checkpoint);

// Refuses a set that is not complete.
StatusOr<Checkpoint> ReadCheckpoint(const CheckpointName& name);

// What the .mxc beside "PREFIX-NNNN.params" notes under `word`; empty where
// there is none, or where it does not belong to these parameters.
std::string NoteBeside(const std::string& params, const std::string& word);

// The complete set of the most steps among those of both kinds; nothing if
// there is none.
StatusOr<std::optional<CheckpointName>> FindNewestComplete(
    const std::string& prefix);

// Makes every set of the prefix incomplete by removing its .mxc: what an
// earlier run has left must not be taken for a later run's.
Status ForgetCheckpoints(const std::string& prefix);

// Leaves the newest `keep` sets within epochs, and removes what writers that
// were killed have left. Failures are silent: nothing depends on it.
void RemoveOutdated(const std::string& prefix, int keep);

}  // namespace mxc::train
