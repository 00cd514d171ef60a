// SPDX-License-Identifier: Apache-2.0
// What a training run leaves behind, for MXNet and for itself.
//
//   PREFIX-symbol.json    the network
//   PREFIX-NNNN.params    parameters ("arg:…") and auxiliary states ("aux:…")
//   PREFIX-NNNN.states    the optimizer's, by index, as MXNet pickles them
//   PREFIX-NNNN.ema.params  as .params the moving averages of them, where
//                         training keeps any
//   PREFIX-NNNN.mxc       everything else, and the hashes of the others
//   PREFIX-NNNN.pieces.json, PREFIX-NNNN.piece-K.safetensors
//                         what processes share, each its part (pieces.h): then
//                         .params and .states hold the rest, if there is any
//   PREFIX-best.params    .params of the best epoch once more, or its averages
//                         where those were validated, and
//   PREFIX-best.mxc       its .mxc
//
// A process that keeps no parameters writes the .mxc alone.
//
// Every file appears whole or not at all. While a set is written its .mxc says
// that it is unfinished; the whole one comes last. So a set is complete if its
// .mxc is whole and the hashes agree, and one without an .mxc is not ours. A set
// is never written over while it is the newest one.
// checkpoint_record.h describes the .mxc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/file_writer.h"
#include "runtime/formats/array.h"
#include "runtime/formats/updater_states.h"
#include "runtime/train/checkpoint_files.h"
#include "runtime/train/pieces.h"
#include "runtime/train/status.h"

namespace mxc::train {

struct Checkpoint {
  int64_t step = 0;    // updates made
  int64_t epoch = 0;   // epochs finished
  std::string symbol;  // the network's JSON; empty: no file
  std::vector<runtime::NamedArray> parameters, averages;
  runtime::UpdaterStates updater;
  // What processes share: of a set that is read, and of one that is written, whose
  // pieces are there.
  std::shared_ptr<const OpenPieces> pieces;
  std::optional<PieceIndex> index;
  // States without a place in MXNet's files: random numbers, counters.
  std::vector<runtime::NamedArray> states;
  // What the loop needs to go on, one word → one line of text, and for others
  //   run          the same for all sets of one run
  //   inputs       "data:64x1x28x28 softmax_label:64": the shapes of a batch
  //   label_names  runtime/data/label_names.h, of what it was trained on
  //   preprocess   runtime/data/preprocessing.h, of the same
  std::map<std::string, std::string> notes;
};

// Of sets and copies that are written without a sync, a crash of the system may
// leave any part: their hashes tell, and who writes them can train again.
using Sync = runtime::FileWriter::Sync;

// Until the whole record takes its place.
Status MarkUnfinished(const CheckpointName& name, Sync sync = Sync::kYes);
Status WriteCheckpoint(const CheckpointName& name, const Checkpoint& checkpoint,
                       Sync sync = Sync::kYes);
// That writing the set's symbol, this one, would take no other network's place.
Status RequireNoOtherSymbol(const CheckpointName& name,
                            const std::string& symbol);

// Makes PREFIX-best.params and .mxc copies of the set's, unless they are, of its
// averages if `averages` and it has any. Each appears whole; a record never
// stands beside other parameters than its own.
Status CopyAsBest(const CheckpointName& name, bool averages,
                  Sync sync = Sync::kYes);

// Removes sets, whole ones or not. Whoever is killed meanwhile leaves sets that
// are unfinished.
Status RemoveSets(const std::vector<CheckpointName>& names,
                  Sync sync = Sync::kYes);

// Refuses a set that is not complete.
StatusOr<Checkpoint> ReadCheckpoint(const CheckpointName& name);

// What is known of "PREFIX-NNNN.params" from the .mxc beside it.
struct Provenance {
  bool known = false;   // there is one
  std::string problem;  // why nothing it says can be believed; empty: nothing
  int64_t step = 0, epoch = 0;
  std::map<std::string, std::string> notes;  // Checkpoint's

  std::string Note(const std::string& word) const;  // empty: there is none
};
// Compares the parameters with their hash, so it reads them.
Provenance ProvenanceOf(const std::string& params);

// What is wrong with a set, as a sentence: a file that is missing or is not the
// one that was saved. kNotFound: there is no .mxc, so mxc has not saved it.
// Fine: it is complete, or unfinished.
Status CheckSet(const CheckpointName& name);

// The run that a set belongs to, by its "PREFIX-NNNN.mxc"; empty where there is
// none or it does not say.
std::string RunOf(const std::string& path);

struct NewestSet {
  CheckpointName name;
  std::string run;  // as RunOf
  int64_t step = 0, epoch = 0;
};
// The complete set of the most steps among those of both kinds whose steps are
// `wanted`, of the run `preferred` if there is one; nothing if there is none.
// `wanted` is asked from the newest on, and no more once one is found: it may
// look at other folders.
StatusOr<std::optional<NewestSet>> FindNewestComplete(
    const std::string& prefix, const std::string& preferred = "",
    const std::function<bool(int64_t steps)>& wanted = nullptr);

}  // namespace mxc::train
