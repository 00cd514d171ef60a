// SPDX-License-Identifier: Apache-2.0
// A source of samples: what stands behind each line of iterators.def. It knows
// its samples by number and reads any of them at any time; order, batches,
// threads and damage are the loader's affair (loader.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/data/mixing.h"
#include "runtime/data/preprocessing.h"
#include "runtime/data/settings.h"

namespace mxc::data {

struct SampleRequest {
  int64_t sample = 0;
  // Key of the random numbers of this sample in this epoch (Draws).
  uint64_t random = 0;
  // Where each array's row begins: the data's, then the labels', as
  // sample_fields lists them; aligned to the element.
  std::span<std::byte* const> rows;

  std::span<float> Floats(size_t array, size_t count) const {
    return {reinterpret_cast<float*>(rows[array]), count};
  }
};

class Source {
 public:
  virtual ~Source() = default;

  virtual int64_t size() const = 0;
  // Names, types and shapes of one sample: without the batch.
  virtual Provides sample_fields(int bucket) const = 0;

  // Fills every byte of the rows. Called by several threads at once. A failure
  // is a bad record, unless memory ran out; so is a value that is no number.
  virtual Status Read(const SampleRequest& request) const = 0;
  // Says that the sample will be read soon: what comes from a server is asked for.
  // Returns how many bytes that are. Any thread.
  virtual uint64_t WillRead(int64_t) const { return 0; }
  // All is there: nobody needs to call WillRead.
  virtual bool complete() const { return true; }
  // The one label of a sample, without reading more of it than that takes. As
  // Read otherwise; a source whose labels cannot be classes has none.
  virtual StatusOr<float> ReadLabel(int64_t sample) const;
  // "record 17 at byte 5120", for messages; the file stands before it.
  virtual std::string SampleName(int64_t sample) const;

  // Samples of equal shapes, by number; [0, size) for a single bucket.
  virtual int buckets() const { return 1; }
  virtual int64_t bucket_key(int) const { return 0; }
  virtual std::span<const int64_t> bucket_samples(int) const { return {}; }

  // The samples [first, second) of one part of several.
  virtual std::pair<int64_t, int64_t> Part(int64_t index, int64_t parts) const;

  virtual std::vector<std::string> label_names() const { return {}; }
  // The source itself looked at SourceRequest::held_out, part_index and
  // num_parts; the loader must not.
  virtual bool splits_itself() const { return false; }
  virtual bool parts_itself() const { return false; }
  // Returns whether there are samples held out, where it splits itself.
  virtual bool has_held_out() const { return false; }
  // Samples are the rows of consecutive batches of running text.
  virtual bool continues() const { return false; }
  // What the user should know: "3 lines of more than 60 symbols left out".
  virtual std::string remark() const { return ""; }
  // What Read does to a sample; of the default, nothing but its shape.
  virtual Preprocessing preprocessing() const;
  // What was damaged beyond being a sample, found when it was opened.
  virtual BadRecords damage() const { return {}; }
};

// Options of every source (--data-opt).
struct CommonOptions {
  int64_t batch_size = 1, seed = 0;
  bool shuffle = false;
  LastBatch last_batch = LastBatch::kRound;
  std::optional<bool> round_batch;
  int64_t worker = 0, workers = 1;  // as IteratorOptions has them: no settings
  int64_t part_index = 0;
  std::optional<int64_t> num_parts;
  bool even_parts = false, class_balanced = false;
  double held_out = 0;
  MixOptions mix;
  int64_t epoch_batches = 0;
  int64_t threads = 1, prefetch = 4;
  std::string data_name = "data", label_name = "softmax_label";

  int64_t parts() const { return num_parts.value_or(1); }
  // Rows of a batch of all workers.
  int64_t whole_batch() const { return batch_size * workers; }

  template <class Fields>
  void Describe(Fields& f) {
    f("shuffle", shuffle, "another order in every epoch");
    f("seed", seed, "of shuffling, augmentation and generated samples");
    f.Choice("last_batch", last_batch, {"round", "pad", "discard", "roll_over"},
             "samples that do not fill a batch");
    f("round_batch", round_batch, "MXNet's: 1 means round, 0 means pad");
    f("part_index", part_index, "which part of num_parts", kAtLeast0);
    f("num_parts", num_parts,
      "MXNet's: cut into so many parts in a row; without it workers of a job "
      "deal the samples by turns",
      kAtLeast1);
    f("even_parts", even_parts,
      "as many batches an epoch in every part as in the largest");
    f.Training("class_balanced", class_balanced,
               "draw every class equally often, however many samples it has");
    f.Training("mixup", mix.mixup,
               "samples of a batch, and their labels, are mixed two by two, in "
               "shares from Beta(mixup, mixup); 0: not",
               Range{0, 1000});
    f.Training("cutmix", mix.cutmix,
               "likewise, but a box of one picture is put into the other; with "
               "mixup, one of both for each batch",
               Range{0, 1000});
    f("held_out", held_out, "share of the samples kept for validation", kShare);
    f("epoch_batches", epoch_batches,
      "batches that make an epoch; 0: those that all samples make", kAtLeast0);
    f("preprocess_threads", threads, "threads that read ahead; 0: none",
      Range{0, 256});
    f("prefetch_buffer", prefetch, "batches that may be ready or being read",
      Range{1, 1024});
    f("data_name", data_name, "the network's input for data");
    f("label_name", label_name, "the network's input for labels");
  }
};

struct SourceRequest {
  std::string path;  // what follows "name:"
  CommonOptions common;
  bool held_out = false;
  const std::vector<std::string>& label_names;
  // IteratorOptions::preprocessing; null: it is not known.
  const Preprocessing* trained;
  const std::vector<Field>& takes;  // IteratorOptions::takes
  const Arrays* arrays;             // IteratorOptions::arrays
  SettingsReader& settings;

  // Of a sample, as the network's input for the data takes it; empty where that
  // is not known.
  Extents TakenShape() const;
  // Returns whether pictures are rows of pixels: what the settings say, else
  // whether the network takes them so.
  bool Flat(std::optional<bool> said, int64_t pixels) const {
    return said.value_or(TakenShape() == Extents{pixels});
  }

  // Reads the source's own options and refuses what nobody knows.
  template <class Options>
  Status ReadOptions(const char* name, Options* options) const {
    options->Describe(settings);
    return settings.Finish(name);
  }
};

// One line of iterators.def.
struct SourceKind {
  const char* name;  // "mnist"
  const char* form;  // "mnist:DIR"
  const char* doc;   // one line; empty: it is not for people to name
  bool takes_path;
  std::string (*options)();  // DescribeOptions of its options
  StatusOr<std::unique_ptr<Source>> (*open)(const SourceRequest&);
};

Field FloatField(std::string name, std::vector<int64_t> shape);
Status BadRecord(std::string message);

}  // namespace mxc::data
