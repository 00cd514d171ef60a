// SPDX-License-Identifier: Apache-2.0
// What a loop of training drives: a network that computes its own gradients and
// updates, and the states in which it keeps what it has learned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/train/checkpoint_files.h"
#include "runtime/train/head.h"
#include "runtime/train/label_check.h"
#include "runtime/train/metric.h"
#include "runtime/train/network_drawing.h"
#include "runtime/train/pieces.h"
#include "runtime/train/status.h"

namespace mxc::train {

// How the network was compiled to train.
struct TrainFacts {
  std::string network;    // "lenet"
  std::string optimizer;  // "sgd"
  // As they were given: ("momentum", "0.9").
  std::vector<std::pair<std::string, std::string>> optimizer_options;
  // One parameter's state as MXNet's .states files hold it, in Python's
  // notation: "None", "momentum", "(mean, var)". "momentum" stands for the
  // state "conv0_weight/momentum".
  std::string optimizer_state;
  // The same where a parameter of half precision has its value in single
  // precision as one more state, "weight_f32" (MXNet's multi_precision).
  std::string copied_state;
  double learning_rate = 0.01;  // where nobody says otherwise
  std::string label_smoothing;  // as it was given; empty: nobody did
  bool reports_loss = true;     // an entry for inference does not
  // Of what is kept from layer to layer.
  std::string precision = "float32";
  // States by name: what is trained, in the order of MXNet's update indices,
  // and what the network itself computes.
  std::vector<std::string> parameters, auxiliaries;
  // The same; empty where there is none: the scale of the loss in f16, and
  // whether there was an update.
  std::string loss_scale, begun;
  // States that other processes keep, by name: those of a pipeline's other
  // stages.
  std::set<std::string> elsewhere;
  // Labels that are numbers of classes.
  std::vector<ClassLabels> class_labels;
  // The outputs that are loss heads'; none where the artifact does not say.
  std::vector<Head> heads;
  // data::Iterator::preprocessing of what the network was compiled for; empty:
  // it is not known.
  std::string preprocessing;
  // data::Iterator::label_names of what the network was compiled for; empty:
  // it is not known.
  std::vector<std::string> label_names;
};

// Steps made in all, epochs finished, batches of the next one.
struct Position {
  int64_t steps = 0, epochs = 0, batches = 0;
};

// How many batches an epoch has.
using EpochLength = std::function<int64_t(int64_t epoch)>;

// Used by one thread at a time. Both kinds of run read the same states; Train
// alone changes them.
class TrainStep {
 public:
  virtual ~TrainStep() = default;

  virtual const TrainFacts& facts() const = 0;
  // The network's JSON as it came.
  virtual StatusOr<std::string> symbol() const = 0;
  // What it says, to be drawn; empty where nobody can tell.
  virtual std::vector<NetworkNode> network() const { return {}; }
  // The arrays that a batch must have whose sequences have this length
  // (Iterator::bucket_key; any where the network was compiled for one shape;
  // 0: the longest).
  virtual StatusOr<data::Provides> needs(int64_t length) const = 0;

  // Of a batch before the last of those that make one update: what Train does
  // without the update, which the next Train makes by the mean of all their
  // gradients, or by their sum where the optimizer was told rescale_grad.
  virtual StatusOr<float> Accumulate(const data::Batch&, int64_t) {
    return Fail(StatusCode::kUnsupported,
                "its updates follow one batch each, not several");
  }
  // One step of training, one forward pass: the loss. A loss that is not finite
  // has changed no state. The batch's memory is read where it lies, by
  // ExplainLoss once more.
  virtual StatusOr<float> Train(const data::Batch& batch, int64_t length,
                                double learning_rate) = 0;
  virtual StatusOr<float> Score(const data::Batch& batch, int64_t length) = 0;
  // Of the last run: the network's outputs, without the loss, where they are
  // floats of any size. Valid until the next run.
  virtual std::vector<FloatView> outputs() const = 0;

  // Of the last training step: the norm of each parameter's gradient, the
  // batch's mean, before it was clipped; in the order of
  // TrainFacts::parameters, NaN where one has none. Empty where the network was
  // not compiled to tell. Of several workers whose gradients are summed, of
  // this one's own.
  virtual std::vector<float> gradient_norms() const { return {}; }

  // Every state, row-major; "random" i64[2] = (seed, counter) among them where
  // the network draws numbers. What training carries from batch to batch, the
  // hidden state of a recurrent network, goes by the name of its input.
  virtual const std::vector<data::Field>& states() const = 0;
  virtual std::span<std::byte> State(size_t index) = 0;
  // After somebody has given a state another value than a step does, or what is
  // this process's own of it.
  virtual void Filled(size_t) {}
  virtual void FilledOwn(size_t) {}
  // What this process keeps of a state: where in it, and how many bytes.
  virtual std::vector<std::pair<uint64_t, uint64_t>> Own(size_t index) {
    return {{0, State(index).size()}};
  }

  // Before the first step, at `own`: where all are that train together.
  virtual StatusOr<Position> Begin(const Position& own, const EpochLength&) {
    return own;
  }
  // After the last step of an epoch, before anything is scored or saved.
  virtual Status EndEpoch() { return {}; }
  // Brings states here that somebody else keeps, for a checkpoint.
  virtual Status CollectStates() { return {}; }
  // What CollectStates has brought, as arrays that lie in files: states that are
  // elsewhere (TrainFacts), or of which others keep a part.
  virtual const std::vector<runtime::NamedArray>& collected() const {
    static const std::vector<runtime::NamedArray> none;
    return none;
  }
  // Writes this process's part of what it shares with others (Shares), as a piece
  // of the set (pieces.h), which is unfinished. All do it together; the first one
  // learns what all have written, the others nothing.
  virtual StatusOr<PieceIndex> SavePieces(const CheckpointName&,
                                          runtime::FileWriter::Sync) {
    return PieceIndex();
  }
  // After a step: returns whether training ends here, where this process alone
  // would have it so. Processes of which each needs the others decide together.
  virtual StatusOr<bool> EndsHere(bool own) { return own; }
  // From now until the next call somebody else reads and writes the states
  // where they lie.
  virtual Status LendStates() { return {}; }
  // Returns whether this process's checkpoints hold the state, by its index,
  // and whether one to go on from must.
  virtual bool Saves(size_t) const { return true; }
  virtual bool Requires(size_t index) const { return Saves(index); }
  // Returns whether it has a part of the state, and the first process saves the
  // whole.
  virtual bool Shares(size_t) const { return false; }
  // Returns whether what this process alone keeps of an earlier step than where
  // it begins is of use.
  virtual bool TakesEarlier() const { return true; }

  // After a loss that was not finite: which tensor of which step went wrong
  // first, as a sentence; empty if nothing did.
  virtual StatusOr<std::string> ExplainLoss() = 0;
};

}  // namespace mxc::train
