// SPDX-License-Identifier: Apache-2.0
// Which sample stands in which row of which batch of which epoch: a pure
// function, so that any place can be returned to.
//
// Without buckets the samples of all epochs, each in its own order, make one
// endless stream. `round` and `roll_over` cut it into batches as it is: an
// epoch ends with the batch that takes its last sample, or before it. `pad` and
// `discard` begin anew with every epoch.
//
// Workers share an order by turns: their batches of one number together are a
// batch of batch_size * workers rows, of which worker w has the rows w,
// w + workers, … So all have as many batches, of the same buckets, and read
// what a single process with such batches reads, whatever stands beside what.
//
// Where the members' classes are known, an epoch has as many positions as ever,
// but every class has equally many of them, up to one: the draws of all epochs
// are dealt to the classes by turns. A class gives its members one after the
// other and then begins again, so that those of a small class stand in an epoch
// several times, and those of a large one in one epoch or a later one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/data/iterator.h"

namespace mxc::data {

// Samples by number: a range, or a list.
struct Members {
  int64_t first = 0, count = 0;
  std::vector<int64_t> list;  // used when it is not empty
  // The members of every class by their places here, [0, count), where classes
  // are to be drawn equally often (classes.h); none of them is empty.
  std::vector<std::vector<uint32_t>> classes = {};

  int64_t At(int64_t i) const {
    return list.empty() ? first + i : list[static_cast<size_t>(i)];
  }
};

struct OrderOptions {
  int64_t batch_size = 1;
  uint64_t seed = 0;
  bool shuffle = false;
  LastBatch last_batch = LastBatch::kRound;
  int64_t epoch_batches = 0;  // 0: as many as the samples make
  int64_t worker = 0, workers = 1;

  int64_t whole_batch() const { return batch_size * workers; }
};

struct Row {
  int64_t epoch = 0;     // whose order it was taken from
  int64_t position = 0;  // in that order, within the bucket
  int64_t sample = 0;
};

struct Rows {
  int bucket = 0;
  int64_t pad = 0;
  std::vector<Row> rows;
};

// Keeps the shuffled orders of two epochs at a time: not for several threads.
class Order {
 public:
  // Every bucket's samples; fewer than 2^32 in all, and at least one batch
  // where what does not fill one is left out (Check).
  Order(std::vector<Members> buckets, const OrderOptions& options);

  // Says why there would be nothing to read.
  static Status Check(const std::vector<Members>& buckets,
                      const OrderOptions& options);

  int64_t samples() const { return samples_; }
  int64_t Batches(int64_t epoch) const;
  // Replaces `rows`; batch < Batches(epoch).
  void Read(int64_t epoch, int64_t batch, Rows* rows);
  // The row `steps` further in the same epoch and bucket, around its end.
  Row After(const Row& row, int bucket, int64_t steps);
  // Differs where another order is possible; alike for workers that share one.
  uint64_t fingerprint() const { return fingerprint_; }

  // Epochs up to here can be asked for.
  static constexpr int64_t kMostEpochs = int64_t{1} << 30;

 private:
  struct Start {
    int bucket;
    int64_t position;
  };
  struct Epoch {
    int64_t epoch = -1;
    // The member in each position of each bucket; empty: in their order.
    std::vector<std::vector<uint32_t>> positions;
    std::vector<Start> starts;  // of each batch, where there are buckets
  };

  bool streams() const;
  int64_t BatchesOf(int64_t count) const;
  const Epoch& Prepare(int64_t epoch);
  std::vector<uint32_t> DrawClasses(const Members& members,
                                    int64_t epoch) const;
  Row At(int64_t epoch, int bucket, int64_t position);
  void ReadStream(int64_t first, int64_t end, Rows* rows);
  void ReadEpoch(int64_t epoch, int64_t batch, Rows* rows);

  std::vector<Members> buckets_;
  OrderOptions options_;
  int64_t samples_ = 0;
  uint64_t fingerprint_ = 0;
  std::array<Epoch, 2> epochs_;  // by the epoch's parity
};

}  // namespace mxc::data
