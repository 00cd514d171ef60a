// SPDX-License-Identifier: Apache-2.0
// Threads that fetch what is wanted of all objects that are being read: what
// somebody waits for first, then in the order in which it was wanted. What is
// wanted here and there of a large object may be anywhere in it: beside that its
// other parts are fetched in a row, while at most 60 MB are there unread.
//
// At most 30 MB are on their way at once, in ranges of up to 2 MiB. A range that
// fails for a while is asked for again, with pauses that grow; one that takes half
// as long again as 95 of 100 others is asked for once more meanwhile: the first
// answer counts, and the other one is given up.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/remote/pieces.h"
#include "runtime/remote/request.h"

namespace mxc::remote {

// What is fetched: pieces of a file. The Fetcher's lock guards its members.
class Fetchable {
 public:
  Fetchable(uint64_t count, uint64_t piece_bytes)
      : pieces(count), piece_bytes(piece_bytes) {}
  virtual ~Fetchable() = default;

  // The pieces of the object to which one belongs.
  virtual Span ObjectOf(uint64_t piece) const = 0;
  // Puts the bytes of these pieces into the file, or nothing once they are
  // unwanted. Without the lock.
  virtual runtime::Status Fetch(Session& session, Span span,
                                const std::atomic<bool>& unwanted) = 0;
  // All pieces are there. Without the lock.
  virtual runtime::Status Finish() = 0;

  Pieces pieces;
  const uint64_t piece_bytes;
  uint64_t in_a_row = 0;  // up to here nothing is absent
  bool finished = false;
  int working = 0;  // threads
  runtime::Status status;
  std::condition_variable changed;
};

class Fetcher {
 public:
  // The one that all share; it ends with the last who holds it.
  static std::shared_ptr<Fetcher> Get();
  ~Fetcher();

  // Returns how many pieces are asked for because of it.
  uint64_t Want(Fetchable& from, Span span);
  // Until these pieces are there.
  runtime::Status Await(Fetchable& from, Span span);
  // Until all are, and Finish has been called.
  runtime::Status AwaitAll(Fetchable& from);
  runtime::Status StatusOf(Fetchable& from);
  // Fetches nothing of it any more; waits for threads that do.
  void Forget(Fetchable& from);

 private:
  struct Wish {
    Fetchable* from = nullptr;
    Span span;
  };
  struct Range {
    Fetchable* from = nullptr;
    Span span;
    int64_t begun = 0;
    int asking = 0;  // threads
    int asked = 0;   // times
    bool in_a_row = false;
    std::atomic<bool> done = false;

    uint64_t bytes() const { return span.count() * from->piece_bytes; }
  };
  // How long the last ones took, in ns.
  struct Times {
    std::array<int64_t, 64> last = {};
    size_t count = 0;

    void Add(int64_t time) { last[count++ % last.size()] = time; }
    // How long nobody doubts that one comes.
    int64_t Patience() const;
  };
  using Lock = std::unique_lock<std::mutex>;

  void Work();
  void StartThread();
  void WaitForWork(Lock& lock);
  Range* Next();
  Range* LateRange();
  Range* WantedRange();
  Range* RangeInARow();
  Range* Add(Fetchable& from, Span span);
  void NoteReading(Fetchable& from);
  void Finish(Range* range, const runtime::Status& status, Lock& lock);
  void Complete(Fetchable& from, Lock& lock);
  void Fail(Fetchable& from, const runtime::Status& status);

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Wish> wishes_;
  std::vector<Fetchable*> read_;  // of which something was wanted
  std::list<Range> ranges_;       // on their way
  uint64_t bytes_ = 0;            // of them, twice where asked for twice
  Times wanted_times_, in_a_row_times_;
  size_t idle_ = 0;       // threads that fetch nothing
  bool watched_ = false;  // one of them looks for what takes long
  bool end_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mxc::remote
