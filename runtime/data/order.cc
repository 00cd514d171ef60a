// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/order.h"

#include <algorithm>
#include <numeric>

#include "runtime/data/random.h"

namespace mxc::data {
namespace {

constexpr uint64_t kBatchesOfAllBuckets = ~uint64_t{0};
constexpr uint64_t kTurnsOfClasses = 0x636c61737365730a;

int64_t CeilingOf(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool LeavesOut(LastBatch last) {
  return last == LastBatch::kDiscard || last == LastBatch::kRollOver;
}

template <class T>
void Shuffle(uint64_t key, std::vector<T>* values) {
  Draws draws(key);
  for (size_t left = values->size(); left > 1; --left) {
    std::swap((*values)[left - 1], (*values)[draws.Below(left)]);
  }
}

uint64_t Fingerprint(const std::vector<Members>& buckets,
                     const OrderOptions& options) {
  uint64_t print = Key(options.seed, options.shuffle);
  print = Key(print, static_cast<uint64_t>(options.whole_batch()));
  print = Key(print, static_cast<uint64_t>(options.last_batch));
  print = Key(print, static_cast<uint64_t>(options.epoch_batches));
  for (const Members& members : buckets) {
    print = Key(print, static_cast<uint64_t>(members.count));
    if (members.count > 0) {
      print = Key(print, static_cast<uint64_t>(members.At(0)));
    }
    for (const std::vector<uint32_t>& of_class : members.classes) {
      print = Key(print, of_class.size());
    }
  }
  return print;
}

}  // namespace

Status Order::Check(const std::vector<Members>& buckets,
                    const OrderOptions& options) {
  int64_t most = 0, all = 0;
  for (const Members& members : buckets) {
    most = std::max(most, members.count);
    all += members.count;
  }
  if (all == 0) {
    return {StatusCode::kInvalidArgument, "there are no samples"};
  }
  if (all > int64_t{0xffffffff}) {
    return {StatusCode::kUnsupported,
            "more than 2^32 - 1 samples; use num_parts"};
  }
  if (LeavesOut(options.last_batch) && most < options.whole_batch()) {
    const std::string sharing =
        options.workers == 1
            ? ""
            : " for each of " + std::to_string(options.workers) + " workers";
    return runtime::Fail(StatusCode::kInvalidArgument,
                         "%lld samples do not fill a batch of %lld%s, and "
                         "last_batch leaves out what does not; use pad",
                         static_cast<long long>(most),
                         static_cast<long long>(options.batch_size),
                         sharing.c_str());
  }
  return {};
}

Order::Order(std::vector<Members> buckets, const OrderOptions& options)
    : buckets_(std::move(buckets)), options_(options) {
  for (const Members& members : buckets_) samples_ += members.count;
  fingerprint_ = Fingerprint(buckets_, options_);
}

// A round of less than one batch would leave epochs without any.
bool Order::streams() const {
  return buckets_.size() == 1 && samples_ >= options_.whole_batch() &&
         (options_.last_batch == LastBatch::kRound ||
          options_.last_batch == LastBatch::kRollOver);
}

int64_t Order::BatchesOf(int64_t count) const {
  const int64_t batch = options_.whole_batch();
  return LeavesOut(options_.last_batch) ? count / batch
                                        : CeilingOf(count, batch);
}

int64_t Order::Batches(int64_t epoch) const {
  if (options_.epoch_batches > 0) return options_.epoch_batches;
  if (streams()) {
    const int64_t begin = epoch * samples_, end = begin + samples_;
    return BatchesOf(end) - BatchesOf(begin);
  }
  int64_t batches = 0;
  for (const Members& members : buckets_) batches += BatchesOf(members.count);
  return batches;
}

void Order::Read(int64_t epoch, int64_t batch, Rows* rows) {
  rows->rows.clear();
  rows->pad = 0;
  rows->bucket = 0;
  const bool resized = options_.epoch_batches > 0;
  int64_t number = batch;  // since the first epoch, or in the epoch
  if (resized) number += epoch * options_.epoch_batches;
  if (streams()) {
    if (!resized) number += BatchesOf(epoch * samples_);
    const int64_t end = (epoch + 1) * samples_;
    ReadStream(number * options_.whole_batch(), resized ? -1 : end, rows);
    return;
  }
  if (resized) {
    int64_t batches = 0;
    for (const Members& members : buckets_) batches += BatchesOf(members.count);
    epoch = number / batches;
    number %= batches;
  }
  ReadEpoch(epoch, number, rows);
}

// The worker's rows from `first` of the stream on; those from `end` on are
// padding.
void Order::ReadStream(int64_t first, int64_t end, Rows* rows) {
  for (int64_t r = first + options_.worker; r < first + options_.whole_batch();
       r += options_.workers) {
    rows->rows.push_back(At(r / samples_, 0, r % samples_));
    if (end >= 0 && r >= end && options_.last_batch == LastBatch::kRound) {
      ++rows->pad;
    }
  }
}

void Order::ReadEpoch(int64_t epoch, int64_t batch, Rows* rows) {
  Start start{0, batch * options_.whole_batch()};
  if (buckets_.size() > 1) {
    start = Prepare(epoch).starts[static_cast<size_t>(batch)];
  }
  rows->bucket = start.bucket;
  const int64_t count = buckets_[static_cast<size_t>(start.bucket)].count;
  const int64_t end = start.position + options_.whole_batch();
  for (int64_t r = start.position + options_.worker; r < end;
       r += options_.workers) {
    rows->rows.push_back(At(epoch, start.bucket, r % count));
    if (r >= count) ++rows->pad;
  }
}

Row Order::After(const Row& row, int bucket, int64_t steps) {
  const int64_t count = buckets_[static_cast<size_t>(bucket)].count;
  return At(row.epoch, bucket, (row.position + steps) % count);
}

Row Order::At(int64_t epoch, int bucket, int64_t position) {
  const auto b = static_cast<size_t>(bucket);
  const std::vector<uint32_t>& positions = Prepare(epoch).positions[b];
  const int64_t member =
      positions.empty() ? position : positions[static_cast<size_t>(position)];
  return {epoch, position, buckets_[b].At(member)};
}

// Draw d of all epochs is of class d mod C, and the (d / C)-th of that class.
std::vector<uint32_t> Order::DrawClasses(const Members& members,
                                         int64_t epoch) const {
  const int64_t count = std::ssize(members.classes);
  const int64_t begin = epoch * members.count, end = begin + members.count;
  std::vector<uint32_t> drawn(static_cast<size_t>(members.count));
  for (int64_t k = 0; k < count; ++k) {
    const std::vector<uint32_t>& own = members.classes[static_cast<size_t>(k)];
    const int64_t size = std::ssize(own);
    std::vector<uint32_t> turn = own;
    int64_t shuffled = -1;  // for which time that all are drawn
    for (int64_t t = CeilingOf(begin - k, count); t * count + k < end; ++t) {
      if (options_.shuffle && t / size != shuffled) {
        shuffled = t / size;
        turn = own;
        const uint64_t key =
            Key(options_.seed ^ kTurnsOfClasses, static_cast<uint64_t>(k));
        Shuffle(Key(key, static_cast<uint64_t>(shuffled)), &turn);
      }
      drawn[static_cast<size_t>(t * count + k - begin)] =
          turn[static_cast<size_t>(t % size)];
    }
  }
  return drawn;
}

const Order::Epoch& Order::Prepare(int64_t epoch) {
  Epoch& prepared = epochs_[static_cast<size_t>(epoch % 2)];
  if (prepared.epoch == epoch) return prepared;
  prepared.epoch = epoch;
  prepared.positions.assign(buckets_.size(), {});
  prepared.starts.clear();
  const uint64_t key = Key(options_.seed, static_cast<uint64_t>(epoch));
  for (size_t b = 0; b < prepared.positions.size(); ++b) {
    std::vector<uint32_t>& positions = prepared.positions[b];
    if (!buckets_[b].classes.empty()) {
      positions = DrawClasses(buckets_[b], epoch);
    } else if (options_.shuffle) {
      positions.resize(static_cast<size_t>(buckets_[b].count));
      std::iota(positions.begin(), positions.end(), 0);
    }
    if (options_.shuffle) Shuffle(Key(key, b), &positions);
  }
  if (buckets_.size() == 1) return prepared;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    for (int64_t k = 0; k < BatchesOf(buckets_[b].count); ++k) {
      prepared.starts.push_back(
          {static_cast<int>(b), k * options_.whole_batch()});
    }
  }
  if (options_.shuffle) {
    Shuffle(Key(key, kBatchesOfAllBuckets), &prepared.starts);
  }
  return prepared;
}

}  // namespace mxc::data
