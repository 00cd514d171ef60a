// SPDX-License-Identifier: Apache-2.0
// What the threads of this process did when, for Perfetto: spans of time in one
// row for each thread. Until Start nothing is recorded, and a span costs one
// load.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

class Trace {
 public:
  // From now on, without what was recorded before.
  static void Start();
  static void Stop();
  static bool on() { return on_.load(std::memory_order_relaxed); }

  // What the row of the calling thread is called: "worker 1". To be called before
  // its first span; 31 bytes are kept, and nothing is allocated.
  static void NameThread(std::string_view name);

  // On the calling thread, in Nanoseconds(). Spans of one name that follow each
  // other at once are one. Each thread keeps a million spans; the file says how
  // many more there were.
  static void Add(std::string_view name, const char* category, int64_t begin,
                  int64_t end);
  // The same in a row of its own, below the thread's: spans of one thread that
  // overlap.
  static void AddBeside(std::string_view name, const char* category,
                        int64_t begin, int64_t end);

  // Chrome's trace events from process `pid` on, separated by commas:
  // microseconds since Start.
  static std::string Events(int pid, std::string_view process);
  // A file of such events, which Perfetto opens.
  static Status WriteFile(const std::string& path, const std::string& events);

 private:
  static std::atomic<bool> on_;
};

// From here to the end of the block. The name must live as long.
class TraceSpan {
 public:
  // Inline, for kernels of less than a microsecond have spans: without a trace
  // each costs one load.
  TraceSpan(const char* name, const char* category)
      : name_(name),
        category_(category),
        begin_(Trace::on() ? Nanoseconds() : 0) {}
  ~TraceSpan() {
    if (begin_ != 0) Trace::Add(name_, category_, begin_, Nanoseconds());
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  const char* name_;
  const char* category_;
  int64_t begin_;  // 0: not recorded
};

}  // namespace mxc::runtime
