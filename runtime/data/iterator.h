// SPDX-License-Identifier: Apache-2.0
// Batches of samples, for training and for scoring.
//
//   IteratorOptions options;
//   options.batch_size = 64;
//   options.settings = {{"shuffle", "1"}};          // --data-opt shuffle=1
//   StatusOr<std::unique_ptr<Iterator>> opened = Open("mnist:/data", options);
//   Iterator& iterator = **opened;
//   Batch batch;                    // kept: its memory serves again
//   StatusOr<bool> more = iterator.Next(batch);  // false: an epoch is over
//
// Everything that an iterator gives is a pure function of its options, the
// seed, the epoch and the number of the batch: the same on every machine, for
// any number of threads, and after Seek. So two integers are all that a
// checkpoint has to keep.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/formats/array.h"

namespace mxc::data {

using runtime::Array;
using runtime::ElementType;
using runtime::NamedArray;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

// One array of every batch; the first axis of `shape` is the batch.
struct Field {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;

  bool operator==(const Field&) const = default;
};

struct Provides {
  std::vector<Field> data, labels;
};

struct Batch {
  std::vector<NamedArray> data, labels;  // as Provides says, in its order
  // The last `pad` rows repeat samples to fill the batch. They are to be
  // trained on like any other, and not to be counted when scoring.
  int64_t pad = 0;
  std::vector<int64_t> index;  // the sample in each row
  int bucket = 0;              // whose shapes these are
  // Row r goes on where row r of the batch before ended (running text): a
  // recurrent network may carry its state over.
  bool continues = false;

  int64_t rows() const {
    return data.empty() || data[0].array.shape.empty() ? 0
                                                       : data[0].array.shape[0];
  }
};

// What happens to the samples that do not fill a batch at the end of an epoch.
enum class LastBatch {
  kRound,    // filled with the first samples of the next epoch, which then
             // begins behind them (ImageRecordIter's and CSVIter's round_batch)
  kPad,      // filled with the first samples of this epoch (NDArrayIter's pad)
  kDiscard,  // left out
  kRollOver,  // kept for the beginning of the next epoch (NDArrayIter)
};

enum class OnBadRecord {
  kSkip,  // the record's place is taken by the next one of the epoch
  kStop,  // Next returns the error
};

// --data-opt k=v
using Settings = std::vector<std::pair<std::string, std::string>>;

// Samples in memory, one in each row of every array; of equal numbers of rows.
struct Arrays {
  std::vector<NamedArray> data, labels;
};

struct IteratorOptions {
  int64_t batch_size = 1;
  uint64_t seed = 0;     // of shuffling, augmentation and generated samples
  bool shuffle = false;  // running text keeps its order all the same
  LastBatch last_batch = LastBatch::kRound;  // kPad for scoring
  OnBadRecord on_bad_record = OnBadRecord::kSkip;
  // The samples kept for validation instead of those to train on: MNIST's t10k
  // files, CIFAR-10's test batch, other digits, the end of a text, or the share
  // that `held_out` of the settings names.
  bool held_out = false;
  // Of the workers of a job this one: it reads the positions worker, worker +
  // workers, … of the order that all have alike (order.h). Settings that name
  // num_parts cut the samples instead.
  int64_t worker = 0, workers = 1;
  int threads = 1;   // that read ahead; 0: Next itself reads
  int prefetch = 4;  // batches that may be ready or being read
  // The names of labels that a model was trained with (Iterator::label_names):
  // classes of folders and characters of a text get their numbers from here.
  std::vector<std::string> label_names;
  // What was done to the samples that a model was trained on
  // (Iterator::preprocessing): pictures are treated likewise where the settings
  // say nothing else.
  std::string preprocessing;
  // The arrays that the network takes. A source that can make several shapes
  // makes theirs where the settings name none. Empty: they are not known.
  std::vector<Field> takes;
  // Of how many classes the network takes the probabilities as its label, which
  // labels that are numbers of classes then become; 0: it takes labels as the
  // source has them. None: it is not known.
  std::optional<int64_t> label_classes;
  // The network that the samples are for is yet to be compiled, and nothing is
  // read: labels are told as the source has them, even those to be mixed.
  bool before_compiling = false;
  // What the source "arrays" has.
  std::shared_ptr<const Arrays> arrays;
  // Options of the source, and any of: shuffle, seed, last_batch, round_batch,
  // part_index, num_parts, even_parts, held_out, epoch_batches,
  // preprocess_threads, prefetch_buffer, data_name, label_name. They win over
  // the fields above.
  Settings settings;
  // Options that were meant for another source, to train on: those that this one
  // knows hold where `settings` says nothing else, but none that draws something
  // about the samples (a crop, a turn).
  Settings offered;
};

// The place of the next batch.
struct Cursor {
  int64_t epoch = 0;
  int64_t batch = 0;   // within the epoch
  uint64_t order = 0;  // fingerprint of all that decides the order of samples

  bool operator==(const Cursor&) const = default;
};

// One line of text for a checkpoint, and back.
std::string CursorText(const Cursor& cursor);
StatusOr<Cursor> ParseCursor(std::string_view text);

struct BadRecords {
  int64_t count = 0;
  std::vector<std::string> sentences;  // the first kMostSentences of them
  static constexpr size_t kMostSentences = 20;
};

// Used by one thread at a time. Reads ahead on threads of its own, which end
// with it.
class Iterator {
 public:
  virtual ~Iterator() = default;

  // "mnist: 60000 samples, data 1x28x28, 10 classes"
  virtual std::string summary() const = 0;
  // Batches of one bucket have the same shapes. There is one bucket unless
  // lines of text are sorted by length; the last one is the largest.
  virtual int buckets() const = 0;
  virtual int64_t bucket_key(int bucket) const = 0;  // the length
  virtual const Provides& provides(int bucket) const = 0;
  const Provides& provides() const { return provides(buckets() - 1); }

  // That an epoch reads; all workers together, where they share an order.
  virtual int64_t samples() const = 0;
  // How many share it (IteratorOptions::workers).
  virtual int64_t workers() const { return 1; }
  virtual int64_t batches(int64_t epoch) const = 0;
  // The name of label k at [k]: classes, characters. Empty: they have none.
  virtual const std::vector<std::string>& label_names() const = 0;
  // How many classes the labels number, from 0: as many as have names, else one
  // more than the largest label of any sample. Refuses labels that are no
  // classes, and arrays of several labels.
  virtual StatusOr<int64_t> CountClasses() const = 0;
  // Returns whether Open with `held_out` finds other samples than without.
  virtual bool has_held_out() const = 0;
  // The option that mixes the samples of a batch, "mixup"; empty: none does.
  virtual const char* mixes() const { return ""; }

  // What the user should know about the samples as a whole, in a sentence that
  // names the source; empty: nothing.
  virtual std::string remark() const { return ""; }
  // What is done to samples, as one line (preprocessing.h).
  virtual std::string preprocessing() const { return ""; }
  // "y.csv: line 18", for messages about Batch::index.
  virtual std::string SampleName(int64_t sample) const {
    return "record " + std::to_string(sample);
  }

  // Fills `batch`, in its own memory where the shapes agree and nobody else
  // holds it. False when an epoch is over: `batch` is as it was, and the next
  // call begins the next epoch. After an error the iterator stands where it
  // stood; only Seek leads on.
  virtual StatusOr<bool> Next(Batch& batch) = 0;

  // Where Next will read.
  virtual Cursor cursor() const = 0;
  // To a cursor of an iterator that was opened with the same options; any other
  // is refused.
  virtual Status Seek(const Cursor& cursor) = 0;
  // To the beginning of an epoch.
  Status SeekEpoch(int64_t epoch) {
    return Seek({epoch, 0, this->cursor().order});
  }

  // Those met so far, in the order of the batches that Next has given.
  virtual const BadRecords& bad_records() const = 0;
};

// `spec` is "digits", "mnist:DIR", … (iterators.def). A wrong source, path or
// setting ends in one status that names every mistake and what is legal.
StatusOr<std::unique_ptr<Iterator>> Open(const std::string& spec,
                                         const IteratorOptions& options);

// "x.npy" and "y.npy" of the source "npy:x.npy,y.npy".
std::vector<std::string> FilesOfSource(const std::string& spec);

// Every source in one line each: "mnist:DIR   the MNIST digits …".
std::string SourcesHelp();
// The options of one source and those common to all; `spec` may be the bare
// name. Empty for an unknown source.
std::string SourceHelp(std::string_view spec, bool shuffles = false);

}  // namespace mxc::data
