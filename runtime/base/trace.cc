// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/trace.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/file_writer.h"
#include "runtime/base/visible.h"

namespace mxc::runtime {
namespace {

constexpr size_t kMostSpans = 1'000'000;  // of a thread
constexpr int64_t kAtOnce = 2'000;        // ns between spans that are one

struct Span {
  char name[56];  // the end of a longer one is cut
  const char* category;
  int64_t begin, end;
  bool beside;
};

// A thread may be named where nothing may be allocated, and is seldom recorded.
thread_local char own_name[32] = "main";

// One thread's spans, from its first on. It outlives the thread.
struct Log {
  std::mutex mutex;
  std::string name;
  std::vector<Span> spans;
  int64_t dropped = 0;
};

struct Recorder {
  std::mutex mutex;
  std::vector<std::shared_ptr<Log>> logs;
  int64_t start = 0;
};

Recorder& TheRecorder() {
  static Recorder* recorder = new Recorder;  // threads may end after main
  return *recorder;
}

Log& OwnLog() {
  thread_local const std::shared_ptr<Log> log = [] {
    auto made = std::make_shared<Log>();
    made->name = own_name;
    Recorder& recorder = TheRecorder();
    const std::lock_guard lock(recorder.mutex);
    recorder.logs.push_back(made);
    return made;
  }();
  return *log;
}

void AddSpan(std::string_view name, const char* category, int64_t begin,
             int64_t end, bool beside) {
  Log& log = OwnLog();
  const std::lock_guard lock(log.mutex);
  const std::string_view cut = name.substr(0, sizeof(Span::name) - 1);
  if (!beside && !log.spans.empty()) {
    Span& last = log.spans.back();
    if (!last.beside && cut == last.name && begin - last.end < kAtOnce &&
        begin >= last.end) {
      last.end = end;
      return;
    }
  }
  if (log.spans.size() == kMostSpans) {
    ++log.dropped;
    return;
  }
  Span& span = log.spans.emplace_back();
  std::memcpy(span.name, cut.data(), cut.size());
  span.name[cut.size()] = 0;
  span.category = category;
  span.begin = begin;
  span.end = end;
  span.beside = beside;
}

std::string Microseconds(int64_t nanoseconds) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.3f",
                static_cast<double>(nanoseconds) * 1e-3);
  return text;
}

std::string Metadata(const char* what, int pid, size_t row,
                     std::string_view name) {
  return "{\"name\":\"" + std::string(what) +
         "\",\"ph\":\"M\",\"pid\":" + std::to_string(pid) +
         ",\"tid\":" + std::to_string(row) +
         ",\"args\":{\"name\":" + JsonQuoted(name) + "}}";
}

// A span, or one beside others as a pair of events.
std::string EventOf(const Span& span, int pid, size_t row, size_t id,
                    int64_t start) {
  const std::string common =
      "{\"name\":" + JsonQuoted(span.name) + ",\"cat\":\"" + span.category +
      "\",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(row);
  const std::string at = ",\"ts\":" + Microseconds(span.begin - start);
  if (!span.beside) {
    return common + at +
           ",\"ph\":\"X\",\"dur\":" + Microseconds(span.end - span.begin) + "}";
  }
  const std::string which = ",\"id\":" + std::to_string(id);
  return common + which + at + ",\"ph\":\"b\"},\n" + common + which +
         ",\"ts\":" + Microseconds(span.end - start) + ",\"ph\":\"e\"}";
}

}  // namespace

std::atomic<bool> Trace::on_ = false;

void Trace::Start() {
  Recorder& recorder = TheRecorder();
  const std::lock_guard lock(recorder.mutex);
  for (const auto& log : recorder.logs) {
    const std::lock_guard own(log->mutex);
    log->spans.clear();
    log->dropped = 0;
  }
  recorder.start = Nanoseconds();
  on_.store(true, std::memory_order_relaxed);
}

void Trace::Stop() { on_.store(false, std::memory_order_relaxed); }

void Trace::NameThread(std::string_view name) {
  const size_t size = std::min(name.size(), sizeof(own_name) - 1);
  std::memcpy(own_name, name.data(), size);
  own_name[size] = 0;
}

void Trace::Add(std::string_view name, const char* category, int64_t begin,
                int64_t end) {
  AddSpan(name, category, begin, end, /*beside=*/false);
}

void Trace::AddBeside(std::string_view name, const char* category,
                      int64_t begin, int64_t end) {
  AddSpan(name, category, begin, end, /*beside=*/true);
}

std::string Trace::Events(int pid, std::string_view process) {
  Recorder& recorder = TheRecorder();
  const std::lock_guard lock(recorder.mutex);
  std::string text = Metadata("process_name", pid, 0, process);
  size_t row = 0, id = 0;
  for (const auto& log : recorder.logs) {
    const std::lock_guard own(log->mutex);
    ++row;
    if (log->spans.empty()) continue;
    std::string name = log->name;
    if (log->dropped > 0) {
      name += ", " + std::to_string(log->dropped) + " spans left out";
    }
    text += ",\n" + Metadata("thread_name", pid, row, name);
    for (const Span& span : log->spans) {
      if (span.end < recorder.start) continue;
      text += ",\n" + EventOf(span, pid, row, ++id, recorder.start);
    }
  }
  return text;
}

Status Trace::WriteFile(const std::string& path, const std::string& events) {
  FileWriter file(path);
  // No displayTimeUnit: Perfetto of 2020 takes times for nanoseconds where it is
  // "ns".
  file.Append("{\"traceEvents\":[\n" + events + "\n]}\n");
  return file.Commit();
}

}  // namespace mxc::runtime
