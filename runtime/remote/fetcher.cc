// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/fetcher.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "runtime/base/clock.h"
#include "runtime/base/start_thread.h"

namespace mxc::remote {
namespace {

using runtime::Status;
using runtime::StatusCode;

constexpr size_t kMostThreads = 48;
constexpr uint64_t kMostBytes = 30'000'000;
constexpr uint64_t kRangeBytes = 2 << 20;
// Objects of fewer bytes come whole.
constexpr uint64_t kWholeBytes = 4 << 20;
// A gap is read where it costs less than one more request.
constexpr uint64_t kGapBytes = 256 << 10;
// Until so many have come, nobody knows how long a range takes.
constexpr size_t kFirstTimes = 8;
constexpr int kMostAsked = 3;
constexpr int kMostInARow = 6;  // ranges at once
constexpr uint64_t kMostUnread = 60'000'000;
constexpr int64_t kFirstPatience = 2'000'000'000, kLeastPatience = 50'000'000;

}  // namespace

std::shared_ptr<Fetcher> Fetcher::Get() {
  static std::mutex mutex;
  static std::weak_ptr<Fetcher> shared;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Fetcher> fetcher = shared.lock();
  if (fetcher == nullptr) shared = fetcher = std::make_shared<Fetcher>();
  return fetcher;
}

Fetcher::~Fetcher() {
  {
    const Lock lock(mutex_);
    end_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

uint64_t Fetcher::Want(Fetchable& from, Span span) {
  const Lock lock(mutex_);
  if (!from.status.ok()) return 0;
  const uint64_t wanted = from.pieces.Want(span);
  if (wanted == 0) return 0;
  NoteReading(from);
  wishes_.push_back({&from, span});
  StartThread();
  return wanted;
}

Status Fetcher::Await(Fetchable& from, Span span) {
  Lock lock(mutex_);
  // There is room for others.
  if (from.pieces.Read(span)) work_.notify_one();
  if (from.pieces.AreThere(span)) return {};
  if (!from.status.ok()) return from.status;
  from.pieces.Want(span);
  wishes_.push_front({&from, span});
  StartThread();
  from.changed.wait(
      lock, [&] { return !from.status.ok() || from.pieces.AreThere(span); });
  return from.pieces.AreThere(span) ? Status() : from.status;
}

Status Fetcher::AwaitAll(Fetchable& from) {
  MXC_RT_RETURN_IF_ERROR(Await(from, {0, from.pieces.count()}));
  Lock lock(mutex_);
  if (from.pieces.count() == 0 && !from.finished) {
    ++from.working;
    Complete(from, lock);
    --from.working;
  }
  from.changed.wait(lock, [&] { return !from.status.ok() || from.finished; });
  return from.status;
}

Status Fetcher::StatusOf(Fetchable& from) {
  const Lock lock(mutex_);
  return from.status;
}

void Fetcher::Forget(Fetchable& from) {
  Lock lock(mutex_);
  if (from.status.ok()) Fail(from, {StatusCode::kBusy, "nobody reads it"});
  from.changed.wait(lock, [&] { return from.working == 0; });
}

// One more where none has nothing to do: there is always one that sees what takes
// long.
void Fetcher::StartThread() {
  work_.notify_one();
  if (idle_ > 0 || threads_.size() == kMostThreads) return;
  try {
    threads_.push_back(
        runtime::StartThread("reads an object", [this] { Work(); }));
    ++idle_;
  } catch (const std::system_error& failure) {
    while (threads_.empty() && !wishes_.empty()) {
      Fail(*wishes_.front().from, {StatusCode::kIo, failure.what()});
    }
  }
}

void Fetcher::Work() {
  const auto session = Session::Open();
  Lock lock(mutex_);
  while (!end_) {
    Range* const range = Next();
    if (range == nullptr) {
      WaitForWork(lock);
      continue;
    }
    --idle_;
    StartThread();
    lock.unlock();
    const Status status =
        session.ok() ? range->from->Fetch(**session, range->span, range->done)
                     : session.status();
    lock.lock();
    ++idle_;
    Finish(range, status, lock);
  }
}

// Nobody is woken by what takes long: one of those that wait looks for it.
void Fetcher::WaitForWork(Lock& lock) {
  if (ranges_.empty() || watched_) {
    work_.wait(lock);
    return;
  }
  watched_ = true;
  work_.wait_for(lock, std::chrono::milliseconds(20));
  watched_ = false;
}

Fetcher::Range* Fetcher::Next() {
  Range* range = LateRange();
  if (range == nullptr) range = RangeInARow();
  if (range == nullptr) range = WantedRange();
  if (range == nullptr) return nullptr;
  ++range->asking;
  ++range->asked;
  ++range->from->working;
  bytes_ += range->bytes();
  return range;
}

Fetcher::Range* Fetcher::LateRange() {
  const int64_t now = runtime::Nanoseconds();
  const int64_t wanted = wanted_times_.Patience(),
                in_a_row = in_a_row_times_.Patience();
  for (Range& range : ranges_) {
    if (!range.done && range.asking == 1 && range.asked < kMostAsked &&
        now - range.begun > (range.in_a_row ? in_a_row : wanted) &&
        bytes_ + range.bytes() <= kMostBytes) {
      return &range;
    }
  }
  return nullptr;
}

Fetcher::Range* Fetcher::Add(Fetchable& from, Span span) {
  Range& range = ranges_.emplace_back();
  range.from = &from;
  range.span = span;
  range.begun = runtime::Nanoseconds();
  return &range;
}

Fetcher::Range* Fetcher::WantedRange() {
  if (bytes_ + kWholeBytes > kMostBytes) return nullptr;
  while (!wishes_.empty()) {
    Wish& wish = wishes_.front();
    Fetchable& from = *wish.from;
    const uint64_t piece = from.pieces.FirstWanted(wish.span);
    wish.span.first = piece;
    if (piece == wish.span.end) {
      wishes_.pop_front();
      continue;
    }
    const Span object = from.ObjectOf(piece);
    if (object.count() * from.piece_bytes <= kWholeBytes) {
      from.pieces.TakeAll(object);
      return Add(from, object);
    }
    return Add(from,
               from.pieces.Take(piece, object, kRangeBytes / from.piece_bytes,
                                kGapBytes / from.piece_bytes));
  }
  return nullptr;
}

Fetcher::Range* Fetcher::RangeInARow() {
  const auto in_a_row = std::ranges::count_if(
      ranges_, [](const Range& range) { return range.in_a_row; });
  uint64_t unread = 0;
  for (const Fetchable* from : read_) {
    unread += from->pieces.unread() * from->piece_bytes;
  }
  if (in_a_row >= kMostInARow || bytes_ + kRangeBytes > kMostBytes ||
      unread + kRangeBytes > kMostUnread) {
    return nullptr;
  }
  for (Fetchable* from : read_) {
    if (from->in_a_row == from->pieces.count()) continue;
    const Span object = from->ObjectOf(from->in_a_row);
    // Small ones are asked for one by one, which is better done when it is known
    // that they are wanted.
    if (object.count() * from->piece_bytes <= kWholeBytes) continue;
    const Span span = from->pieces.Absent(from->in_a_row, object,
                                          kRangeBytes / from->piece_bytes);
    from->in_a_row = span.end;
    if (span.count() == 0) continue;
    from->pieces.TakeAll(span);
    Range* const range = Add(*from, span);
    range->in_a_row = true;
    std::ranges::rotate(read_, std::ranges::find(read_, from) + 1);
    return range;
  }
  return nullptr;
}

int64_t Fetcher::Times::Patience() const {
  const size_t known = std::min(count, last.size());
  if (known < kFirstTimes) return kFirstPatience;
  auto times = last;
  const auto late = times.begin() + static_cast<ptrdiff_t>(known * 95 / 100);
  std::nth_element(times.begin(), late,
                   times.begin() + static_cast<ptrdiff_t>(known));
  return std::max(kLeastPatience, *late + *late / 2);
}

void Fetcher::Finish(Range* range, const Status& status, Lock& lock) {
  Fetchable& from = *range->from;
  bool last = false;
  --range->asking;
  bytes_ -= range->bytes();
  if (!status.ok()) {
    // The other one that asks may do better.
    if (!range->done && range->asking == 0) Fail(from, status);
  } else if (!range->done.exchange(true)) {
    (range->in_a_row ? in_a_row_times_ : wanted_times_)
        .Add(runtime::Nanoseconds() - range->begun);
    from.pieces.Put(range->span);
    last = from.pieces.all_there();
  }
  if (range->asking == 0) {
    ranges_.remove_if([range](const Range& other) { return &other == range; });
  }
  from.changed.notify_all();
  if (last) Complete(from, lock);
  --from.working;
  from.changed.notify_all();
}

// Once nobody writes to the file any more.
void Fetcher::Complete(Fetchable& from, Lock& lock) {
  from.changed.wait(lock, [&] { return from.working <= 1; });
  if (!from.status.ok() || from.finished) return;
  lock.unlock();
  const Status status = from.Finish();
  lock.lock();
  std::erase(read_, &from);
  from.finished = true;
  if (from.status.ok()) from.status = status;
  from.changed.notify_all();
}

void Fetcher::NoteReading(Fetchable& from) {
  if (std::ranges::find(read_, &from) == read_.end()) read_.push_back(&from);
}

void Fetcher::Fail(Fetchable& from, const Status& status) {
  from.status = status;
  std::erase(read_, &from);
  std::erase_if(wishes_, [&](const Wish& wish) { return wish.from == &from; });
  for (Range& range : ranges_) {
    if (range.from == &from) range.done = true;
  }
  from.changed.notify_all();
}

}  // namespace mxc::remote
