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

constexpr size_t kMostThreads = 24;
constexpr uint64_t kMostBytes = 30'000'000;
constexpr uint64_t kRangeBytes = 2 << 20;
// Objects of fewer bytes come whole.
constexpr uint64_t kWholeBytes = 4 << 20;
// A gap is read where it costs less than one more request.
constexpr uint64_t kGapBytes = 256 << 10;
// Until so many have come, nobody knows how long a range takes.
constexpr size_t kFirstTimes = 8;
constexpr int kMostAsked = 3;
constexpr int64_t kFirstPatience = 2'000'000'000, kLeastPatience = 100'000'000;

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
  wishes_.push_back({&from, span});
  StartThread();
  return wanted;
}

Status Fetcher::Await(Fetchable& from, Span span) {
  Lock lock(mutex_);
  if (from.pieces.AreThere(span)) return {};
  if (!from.status.ok()) return from.status;
  from.pieces.Want(span);
  wishes_.push_front({&from, span});
  StartThread();
  from.changed.wait(lock, [&] {
    return !from.status.ok() || from.pieces.AreThere(span);
  });
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
  from.changed.wait(lock,
                    [&] { return !from.status.ok() || from.finished; });
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
  if (range == nullptr) range = NewRange();
  if (range == nullptr) return nullptr;
  ++range->asking;
  ++range->asked;
  ++range->from->working;
  bytes_ += range->bytes();
  return range;
}

Fetcher::Range* Fetcher::LateRange() {
  const int64_t now = runtime::Nanoseconds(), patience = Patience();
  for (Range& range : ranges_) {
    if (!range.done && range.asking == 1 && range.asked < kMostAsked &&
        now - range.begun > patience &&
        bytes_ + range.bytes() <= kMostBytes) {
      return &range;
    }
  }
  return nullptr;
}

Fetcher::Range* Fetcher::NewRange() {
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
    Range& range = ranges_.emplace_back();
    range.from = &from;
    range.begun = runtime::Nanoseconds();
    const Span object = from.ObjectOf(piece);
    if (object.count() * from.piece_bytes <= kWholeBytes) {
      range.span = object;
      from.pieces.TakeAll(object);
    } else {
      range.span = from.pieces.Take(piece, object,
                                    kRangeBytes / from.piece_bytes,
                                    kGapBytes / from.piece_bytes);
    }
    return &range;
  }
  return nullptr;
}

// How long nobody doubts that a range comes.
int64_t Fetcher::Patience() const {
  const size_t count = std::min(timed_, times_.size());
  if (count < kFirstTimes) return kFirstPatience;
  std::array<int64_t, std::tuple_size_v<decltype(times_)>> times = times_;
  const auto late = times.begin() + static_cast<ptrdiff_t>(count * 95 / 100);
  std::nth_element(times.begin(), late,
                   times.begin() + static_cast<ptrdiff_t>(count));
  return std::max(kLeastPatience, 2 * *late);
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
    times_[timed_++ % times_.size()] = runtime::Nanoseconds() - range->begun;
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
  from.finished = true;
  if (from.status.ok()) from.status = status;
  from.changed.notify_all();
}

void Fetcher::Fail(Fetchable& from, const Status& status) {
  from.status = status;
  std::erase_if(wishes_,
                [&](const Wish& wish) { return wish.from == &from; });
  for (Range& range : ranges_) {
    if (range.from == &from) range.done = true;
  }
  from.changed.notify_all();
}

}  // namespace mxc::remote
