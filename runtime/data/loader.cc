// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/loader.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/base/start_thread.h"
#include "runtime/base/trace.h"
#include "runtime/data/classes.h"
#include "runtime/data/files/watched_file.h"
#include "runtime/data/number_check.h"
#include "runtime/data/random.h"

namespace mxc::data {
namespace {

constexpr int64_t kMostBadInARow = 1000;
constexpr int64_t kMostBatchBytes = int64_t{1} << 34;
constexpr uint64_t kMixKey = 0x6d697865730a;

void AddBatchAxis(int64_t batch_size, std::vector<Field>* fields) {
  for (Field& field : *fields) {
    field.shape.insert(field.shape.begin(), batch_size);
  }
}

Provides BatchFields(const Source& source, int bucket, int64_t batch_size,
                     int64_t classes) {
  Provides provides = source.sample_fields(bucket);
  if (classes > 0) provides.labels[0].shape = {classes};
  AddBatchAxis(batch_size, &provides.data);
  AddBatchAxis(batch_size, &provides.labels);
  return provides;
}

// Memory that the caller still holds elsewhere is left to him.
Status PrepareArray(const Field& field, NamedArray* array) {
  array->name = field.name;
  if (array->array.type == field.type && array->array.shape == field.shape &&
      array->array.storage.use_count() == 1) {
    return {};
  }
  array->array = Array();
  StatusOr<Array> allocated = Array::Allocate(field.type, field.shape);
  if (!allocated.ok()) return allocated.status();
  array->array = std::move(*allocated);
  return {};
}

// Of the class that the label says, all of it.
Status WriteProbabilities(float label, std::span<float> classes) {
  const auto count = static_cast<float>(classes.size());
  if (!(label >= 0 && label < count) || label != std::floor(label)) {
    return BadRecord(runtime::Format("label %g is none of the classes 0 to %zu",
                                     static_cast<double>(label),
                                     classes.size() - 1));
  }
  std::fill(classes.begin(), classes.end(), 0.0f);
  classes[static_cast<size_t>(label)] = 1;
  return {};
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text;
  for (size_t i = 1; i < shape.size(); ++i) {
    text += (i > 1 ? "x" : "") + std::to_string(shape[i]);
  }
  return text.empty() ? "number" : text;
}

}  // namespace

Status Loader::Check(const Source& source, int64_t batch_size,
                     int64_t classes) {
  for (int bucket = 0; bucket < source.buckets(); ++bucket) {
    const Provides provides = BatchFields(source, bucket, batch_size, classes);
    int64_t total = 0;
    for (const auto* fields : {&provides.data, &provides.labels}) {
      for (const Field& field : *fields) {
        const auto bytes = runtime::ArrayBytes(field.type, field.shape);
        if (!bytes || *bytes > kMostBatchBytes - total) {
          return runtime::Fail(StatusCode::kInvalidArgument,
                               "a batch of %lld samples exceeds 16 GiB",
                               static_cast<long long>(batch_size));
        }
        total += *bytes;
      }
    }
  }
  return {};
}

Loader::Loader(std::unique_ptr<Source> source, std::vector<Members> buckets,
               const LoaderOptions& options)
    : source_(std::move(source)),
      options_(options),
      label_names_(source_->label_names()),
      bad_records_(options.damage),
      order_(std::move(buckets), options.order) {
  for (int bucket = 0; bucket < source_->buckets(); ++bucket) {
    provides_.push_back(BatchFields(*source_, bucket, options_.order.batch_size,
                                    options_.classes));
  }
  for (std::string& sentence : bad_records_.sentences) {
    sentence = options_.name + ": " + sentence;
  }
  next_.order = deal_.order = tell_.order = order_.fingerprint();
  for (int64_t i = 0; i < std::max<int64_t>(options_.prefetch, 1); ++i) {
    free_.push_back(std::make_unique<Slot>());
  }
  for (int64_t i = 0; i < options_.threads; ++i) {
    try {
      threads_.push_back(
          runtime::StartThread("reads samples", [this] { Run(); }));
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;
      break;  // fewer read the same
    }
  }
}

Loader::~Loader() {
  {
    const Lock lock(mutex_);
    end_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

int64_t Loader::bucket_key(int bucket) const {
  return source_->bucket_key(bucket);
}

const Provides& Loader::provides(int bucket) const {
  return provides_[static_cast<size_t>(bucket)];
}

int64_t Loader::batches(int64_t epoch) const { return order_.Batches(epoch); }

std::string Loader::summary() const {
  const Provides& largest = provides_.back();
  std::string text =
      options_.name + ": " + std::to_string(samples()) + " samples";
  for (const Field& field : largest.data) {
    text += ", " + field.name + " " + ShapeText(field.shape);
  }
  if (buckets() > 1) text += ", " + std::to_string(buckets()) + " buckets";
  if (!label_names_.empty()) {
    text += ", " + std::to_string(label_names_.size()) +
            (source_->continues() || buckets() > 1 ? " symbols" : " classes");
  }
  const std::string remark = source_->remark();
  if (!remark.empty()) text += "; " + remark;
  return text;
}

StatusOr<int64_t> Loader::CountClasses() const {
  if (!label_names_.empty()) return std::ssize(label_names_);
  const StatusOr<int64_t> classes = data::CountClasses(*source_);
  if (classes.ok()) return classes;
  return Status(classes.status().code(),
                options_.name + ": " + classes.status().message());
}

std::string Loader::remark() const {
  const std::string remark = source_->remark();
  return remark.empty() ? "" : options_.name + ": " + remark;
}

std::string Loader::SampleName(int64_t sample) const {
  return options_.name + ": " + source_->SampleName(sample);
}

StatusOr<bool> Loader::Next(Batch& batch) {
  if (next_.batch >= order_.Batches(next_.epoch)) {
    if (next_.epoch + 1 >= Order::kMostEpochs) {
      return runtime::Fail(StatusCode::kInvalidArgument,
                           "%s: the epochs are over", options_.name.c_str());
    }
    next_ = {next_.epoch + 1, 0, next_.order};
    return false;
  }
  Lock lock(mutex_);
  const auto is_ready = [this] { return !open_.empty() && open_[0]->ready; };
  if (threads_.empty()) {
    while (!is_ready()) ReadSome(lock);
  } else {
    ready_.wait(lock, is_ready);
  }
  Slot* slot = open_.front().get();
  if (!slot->status.ok()) return slot->status;
  std::swap(batch, slot->batch);
  Report(*slot);
  free_.push_back(std::move(open_.front()));
  open_.pop_front();
  ++next_.batch;
  lock.unlock();
  work_.notify_all();
  return true;
}

Status Loader::Seek(const Cursor& cursor) {
  if (cursor.order != next_.order) {
    return runtime::Fail(
        StatusCode::kInvalidArgument,
        "%s: this cursor belongs to other samples, another batch size, seed or "
        "order",
        options_.name.c_str());
  }
  if (cursor.epoch < 0 || cursor.epoch >= Order::kMostEpochs ||
      cursor.batch < 0 || cursor.batch > order_.Batches(cursor.epoch)) {
    return runtime::Fail(StatusCode::kInvalidArgument,
                         "%s: there is no batch %lld in epoch %lld",
                         options_.name.c_str(),
                         static_cast<long long>(cursor.batch),
                         static_cast<long long>(cursor.epoch));
  }
  Lock lock(mutex_);
  // No row is dealt any more once every slot is as if dealt.
  for (const auto& slot : open_) slot->dealt = slot->Size();
  std::deque<std::unique_ptr<Slot>> unused;
  unused.swap(free_);
  idle_.wait(lock, [this] { return busy_ == 0; });
  for (auto* slots : {&open_, &unused}) {
    for (auto& slot : *slots) free_.push_back(std::move(slot));
    slots->clear();
  }
  next_ = deal_ = tell_ = cursor;
  tell_row_ = 0;
  ahead_.Clear();
  lock.unlock();
  work_.notify_all();
  return {};
}

void Loader::Run() {
  runtime::Trace::NameThread("data");
  Lock lock(mutex_);
  while (!end_) {
    if (!ReadSome(lock)) work_.wait(lock);
  }
}

bool Loader::ReadSome(Lock& lock) {
  Slot* slot = SlotWithRows();
  if (slot == nullptr) return false;
  // A few portions for each thread, so that none waits long for another.
  const int64_t portion = std::max<int64_t>(
      1, slot->Size() / (4 * std::max<int64_t>(options_.threads, 1)));
  const int64_t begin = slot->dealt;
  const int64_t end = std::min(begin + portion, slot->Size());
  slot->dealt = end;
  if (slot->status.ok()) {
    TellAhead(*slot, begin);
    ++busy_;
    lock.unlock();
    {
      const runtime::TraceSpan span("read samples", "data");
      for (int64_t row = begin; row < end; ++row) ReadRow(slot, row);
    }
    lock.lock();
    --busy_;
  }
  slot->finished += end - begin;
  if (slot->finished == slot->Size()) {
    ++busy_;
    lock.unlock();
    Complete(slot);
    lock.lock();
    --busy_;
    slot->ready = true;
    ready_.notify_all();
  }
  if (busy_ == 0) idle_.notify_all();
  return true;
}

Loader::Slot* Loader::SlotWithRows() {
  if (!open_.empty()) {
    Slot* last = open_.back().get();
    if (last->dealt < last->Size()) return last;
  }
  if (free_.empty()) return nullptr;
  while (deal_.batch >= order_.Batches(deal_.epoch)) {
    if (deal_.epoch + 1 >= Order::kMostEpochs) return nullptr;
    deal_ = {deal_.epoch + 1, 0, deal_.order};
  }
  open_.push_back(std::move(free_.front()));
  free_.pop_front();
  Open(open_.back().get());
  return open_.back().get();
}

void Loader::TellAhead(const Slot& slot, int64_t row) {
  constexpr int kMostBatches = 64;  // at a time: the others wait
  if (source_->complete()) return;
  const ReadAhead::Place at{slot.place.epoch, slot.place.batch, row};
  ahead_.Pass(at);
  // What is larger than what may be told is read untold.
  if (ReadAhead::Place{tell_.epoch, tell_.batch, tell_row_} < at) {
    tell_ = slot.place;
    tell_row_ = row;
  }
  for (int batches = 0; batches < kMostBatches; ++batches) {
    while (tell_.batch >= order_.Batches(tell_.epoch)) {
      // The order keeps those of two epochs.
      if (tell_.epoch > deal_.epoch || tell_.epoch + 1 >= Order::kMostEpochs) {
        return;
      }
      tell_ = {tell_.epoch + 1, 0, tell_.order};
    }
    order_.Read(tell_.epoch, tell_.batch, &told_rows_);
    const int64_t rows = std::ssize(told_rows_.rows);
    for (; tell_row_ < rows; ++tell_row_) {
      const Row& from = told_rows_.rows[static_cast<size_t>(tell_row_)];
      if (!ahead_.Tell(*source_, from.sample,
                       {tell_.epoch, tell_.batch, tell_row_})) {
        return;
      }
    }
    tell_row_ = 0;
    ++tell_.batch;
  }
}

void Loader::Open(Slot* slot) {
  order_.Read(deal_.epoch, deal_.batch, &slot->rows);
  slot->place = deal_;
  slot->dealt = slot->finished = 0;
  slot->ready = false;
  slot->bad.clear();
  slot->failures.clear();
  slot->status = PrepareArrays(slot->rows, &slot->batch);
  slot->batch.pad = slot->rows.pad;
  slot->batch.bucket = slot->rows.bucket;
  slot->batch.continues = source_->continues() && deal_.batch > 0;
  slot->batch.index.resize(slot->rows.rows.size());
  ++deal_.batch;
}

Status Loader::PrepareArrays(const Rows& rows, Batch* batch) const {
  const Provides& provides = this->provides(rows.bucket);
  batch->data.resize(provides.data.size());
  batch->labels.resize(provides.labels.size());
  for (size_t i = 0; i < provides.data.size(); ++i) {
    MXC_RT_RETURN_IF_ERROR(PrepareArray(provides.data[i], &batch->data[i]));
  }
  for (size_t i = 0; i < provides.labels.size(); ++i) {
    MXC_RT_RETURN_IF_ERROR(PrepareArray(provides.labels[i], &batch->labels[i]));
  }
  return {};
}

// A bad record's place is taken by the next one of the same epoch.
void Loader::ReadRow(Slot* slot, int64_t row) {
  Row from = slot->rows.rows[static_cast<size_t>(row)];
  for (int64_t steps = 0;; ++steps) {
    Status status = ReadSample(from, &slot->batch, row);
    if (status.ok()) {
      slot->batch.index[static_cast<size_t>(row)] = from.sample;
      return;
    }
    // Of this machine, not of this record: no other would do.
    if (status.code() == StatusCode::kOutOfMemory ||
        status.code() == StatusCode::kUnsupported) {
      const Lock lock(mutex_);
      slot->failures.emplace_back(row, std::move(status));
      return;
    }
    const std::string sentence =
        SampleName(from.sample) + ": " + status.message();
    const Lock lock(mutex_);
    if (options_.on_bad_record == OnBadRecord::kStop) {
      slot->failures.emplace_back(row, Status(status.code(), sentence));
      return;
    }
    slot->bad.emplace_back(row, sentence);
    if (steps + 1 >= std::min(kMostBadInARow, order_.samples())) {
      const std::string others =
          steps == 0
              ? ""
              : "; so are " + std::to_string(steps) + " others that were tried";
      slot->failures.emplace_back(row,
                                  Status(status.code(), sentence + others));
      return;
    }
    from = order_.After(slot->rows.rows[static_cast<size_t>(row)],
                        slot->rows.bucket, steps + 1);
  }
}

Status Loader::ReadSample(const Row& from, Batch* batch, int64_t row) const {
  std::vector<std::byte*> rows;
  rows.reserve(batch->data.size() + batch->labels.size());
  for (auto* arrays : {&batch->data, &batch->labels}) {
    for (NamedArray& named : *arrays) {
      const std::span<std::byte> bytes = named.array.bytes();
      const size_t row_bytes = bytes.size() / batch->index.size();
      rows.push_back(bytes.data() + static_cast<size_t>(row) * row_bytes);
    }
  }
  const uint64_t epoch_key =
      Key(options_.order.seed, static_cast<uint64_t>(from.epoch));
  float number = 0;
  std::byte* const label = rows.back();
  if (options_.classes > 0) rows.back() = reinterpret_cast<std::byte*>(&number);
  const SampleRequest request{
      from.sample, Key(epoch_key, static_cast<uint64_t>(from.sample)), rows};
  MXC_RT_RETURN_IF_ERROR(source_->Read(request));
  if (options_.classes > 0) {
    MXC_RT_RETURN_IF_ERROR(
        WriteProbabilities(number, {reinterpret_cast<float*>(label),
                                    static_cast<size_t>(options_.classes)}));
  }
  for (const auto* arrays : {&batch->data, &batch->labels}) {
    for (const NamedArray& named : *arrays) {
      MXC_RT_RETURN_IF_ERROR(
          CheckNumbers(named, static_cast<size_t>(row), batch->index.size()));
    }
  }
  return {};
}

void Loader::Mix(Slot* slot) const {
  const runtime::TraceSpan span("mix samples", "data");
  const uint64_t epoch_key =
      Key(options_.order.seed, static_cast<uint64_t>(slot->place.epoch));
  const uint64_t batch = static_cast<uint64_t>(slot->place.batch);
  MixBatch(options_.mix, options_.axes, Draws(Key(epoch_key ^ kMixKey, batch)),
           &slot->batch);
}

void Loader::Complete(Slot* slot) const {
  if (!slot->status.ok()) return;
  // Before what is wrong with rows, of which it may be the cause.
  Status files = CheckFiles();
  if (!files.ok()) slot->failures.emplace_back(-1, std::move(files));
  if (options_.mix.any() && slot->failures.empty()) Mix(slot);
  const auto by_row = [](const auto& a, const auto& b) {
    return a.first < b.first;
  };
  std::stable_sort(slot->bad.begin(), slot->bad.end(), by_row);
  if (slot->failures.empty()) return;
  slot->status =
      std::min_element(slot->failures.begin(), slot->failures.end(), by_row)
          ->second;
}

void Loader::Report(const Slot& slot) {
  for (const auto& [row, sentence] : slot.bad) {
    ++bad_records_.count;
    if (bad_records_.sentences.size() < BadRecords::kMostSentences) {
      bad_records_.sentences.push_back(sentence);
    }
  }
}

}  // namespace mxc::data
