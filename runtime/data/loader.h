// SPDX-License-Identifier: Apache-2.0
// The iterator over any source: reads batches ahead on threads, row by row, and
// hands them over in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/data/mixing.h"
#include "runtime/data/order.h"
#include "runtime/data/read_ahead.h"
#include "runtime/data/source.h"

namespace mxc::data {

struct LoaderOptions {
  OrderOptions order;
  OnBadRecord on_bad_record = OnBadRecord::kSkip;
  int64_t threads = 1, prefetch = 4;
  bool has_held_out = false;
  BadRecords damage;  // met already; sentences of SampleName
  // Labels, numbers of classes, are given as probabilities of so many; 0: as the
  // source has them.
  int64_t classes = 0;
  MixOptions mix;    // then labels are probabilities
  PictureAxes axes;  // for CutMix
  std::string name;  // of the source, for messages: "mnist:/data"
};

class Loader : public Iterator {
 public:
  // The order must have passed Order::Check.
  Loader(std::unique_ptr<Source> source, std::vector<Members> buckets,
         const LoaderOptions& options);
  ~Loader() override;

  // Whether a batch of every bucket has a size that memory can have.
  static Status Check(const Source& source, int64_t batch_size,
                      int64_t classes);

  std::string summary() const override;
  int buckets() const override { return static_cast<int>(provides_.size()); }
  int64_t bucket_key(int bucket) const override;
  const Provides& provides(int bucket) const override;
  int64_t samples() const override { return order_.samples(); }
  int64_t workers() const override { return options_.order.workers; }
  int64_t batches(int64_t epoch) const override;
  const std::vector<std::string>& label_names() const override {
    return label_names_;
  }
  StatusOr<int64_t> CountClasses() const override;
  bool has_held_out() const override { return options_.has_held_out; }
  const char* mixes() const override {
    return options_.mix.any() ? options_.mix.name() : "";
  }
  std::string preprocessing() const override {
    return PreprocessingText(source_->preprocessing());
  }
  std::string remark() const override;
  std::string SampleName(int64_t sample) const override;
  StatusOr<bool> Next(Batch& batch) override;
  Cursor cursor() const override { return next_; }
  Status Seek(const Cursor& cursor) override;
  const BadRecords& bad_records() const override { return bad_records_; }

 private:
  // A batch that is being read, or waits to be handed over.
  struct Slot {
    Batch batch;
    Rows rows;
    Cursor place;
    int64_t dealt = 0, finished = 0;  // rows
    bool ready = false;
    // By row, so that they are reported in an order that threads do not decide.
    std::vector<std::pair<int64_t, std::string>> bad;
    std::vector<std::pair<int64_t, Status>> failures;
    Status status;  // once it is finished

    int64_t Size() const { return static_cast<int64_t>(rows.rows.size()); }
  };
  using Lock = std::unique_lock<std::mutex>;

  void Run();
  // Deals some rows to the calling thread and reads them without the lock;
  // false when there is nothing to deal.
  bool ReadSome(Lock& lock);
  Slot* SlotWithRows();
  // Tells the source what comes behind a row that is dealt.
  void TellAhead(const Slot& slot, int64_t row);
  void Open(Slot* slot);
  Status PrepareArrays(const Rows& rows, Batch* batch) const;
  void ReadRow(Slot* slot, int64_t row);
  Status ReadSample(const Row& from, Batch* batch, int64_t row) const;
  // A slot whose rows are all read, without the lock: what came of them.
  void Complete(Slot* slot) const;
  // Of which none failed.
  void Mix(Slot* slot) const;
  void Report(const Slot& slot);

  const std::unique_ptr<Source> source_;
  const LoaderOptions options_;
  std::vector<Provides> provides_;
  std::vector<std::string> label_names_;
  BadRecords bad_records_;
  Cursor next_;  // of the caller

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_, ready_, idle_;
  Order order_;
  Cursor deal_;  // of the next slot to open
  // The row of which the source has not been told, and what it was told of.
  Cursor tell_;
  int64_t tell_row_ = 0;
  Rows told_rows_;
  ReadAhead ahead_;
  std::deque<std::unique_ptr<Slot>> open_, free_;
  int64_t busy_ = 0;  // threads that read rows
  bool end_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mxc::data
