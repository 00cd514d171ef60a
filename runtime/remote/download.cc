// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/download.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/start_thread.h"
#include "runtime/remote/request.h"

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

constexpr uint64_t kRangeBytes = 4 << 20;
constexpr size_t kMostThreads = 8;
constexpr uint64_t kMostRefusal = 64 << 10;
constexpr uint64_t kMostObject = uint64_t{1} << 44;
constexpr int64_t kHedgeAfter = 2'000'000'000;  // ns, and thrice the usual

// "length":123 of WebHDFS' FileStatus; -1: there is none.
int64_t JsonNumber(std::string_view text, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\":";
  size_t at = text.find(key);
  if (at == text.npos) return -1;
  at += key.size();
  while (at < text.size() && text[at] == ' ') ++at;
  int64_t number = -1;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    if (number > INT64_MAX / 16) return -1;
    number = std::max<int64_t>(number, 0) * 10 + (text[at] - '0');
  }
  return number;
}

// The ranges of one object, dealt to threads.
class Ranges {
 public:
  Ranges(const Location& location, const ObjectFacts& facts, int file,
         const std::string& path)
      : location_(location),
        facts_(facts),
        file_(file),
        path_(path),
        parts_((facts.bytes + kRangeBytes - 1) / kRangeBytes) {}

  size_t count() const { return parts_.size(); }
  // On each of several threads.
  void Work();
  Status status() const { return status_; }

 private:
  struct Part {
    int64_t begun = 0;  // when; 0: it has not
    int asking = 0;     // threads
    std::unique_ptr<std::atomic<bool>> done =
        std::make_unique<std::atomic<bool>>(false);
  };

  std::optional<size_t> Take();
  Status Read(Session& session, size_t index);
  Status Check(const Answer& answer, uint64_t offset, uint64_t length) const;
  void Finish(size_t index, const Status& status);
  bool Over() const { return !status_.ok() || finished_ == parts_.size(); }

  const Location& location_;
  const ObjectFacts& facts_;
  const int file_;
  const std::string& path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Part> parts_;
  size_t next_ = 0, finished_ = 0;
  int64_t usual_ = 0;  // ns that a range takes
  Status status_;
};

// The next range, or one that has been asked for too long; waits for that.
std::optional<size_t> Ranges::Take() {
  std::unique_lock lock(mutex_);
  while (!Over()) {
    const int64_t now = runtime::Nanoseconds();
    if (next_ < parts_.size()) {
      Part& part = parts_[next_];
      part.begun = now;
      ++part.asking;
      return next_++;
    }
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      const int64_t patience = std::max(kHedgeAfter, 3 * usual_);
      if (*part.done || part.asking != 1 || now - part.begun < patience) {
        continue;
      }
      ++part.asking;
      return i;
    }
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  return std::nullopt;
}

Status Ranges::Check(const Answer& answer, uint64_t offset,
                     uint64_t length) const {
  if (!answer.whole()) return Refusal(location_, answer);
  const bool ranged =
      location_.kind == Location::Kind::kWebHdfs ||
      (answer.status == 206 &&
       answer.range_begin == static_cast<int64_t>(offset) &&
       answer.range_total == static_cast<int64_t>(facts_.bytes));
  const bool all = offset == 0 && length == facts_.bytes;
  if (!ranged && !(all && answer.status == 200)) {
    return Fail(StatusCode::kUnsupported,
                "'%s': the server gives no part of it, which was asked for",
                location_.shown.c_str());
  }
  if (answer.too_long) return Refusal(location_, answer);
  if (answer.body.size() != length) {
    return Fail(StatusCode::kIo,
                "'%s': the server sends %zu bytes, %llu were asked for",
                location_.shown.c_str(), answer.body.size(),
                static_cast<unsigned long long>(length));
  }
  const bool same = location_.kind == Location::Kind::kWebHdfs ||
                    facts_.version.empty() || answer.etag.empty() ||
                    answer.etag == facts_.version;
  if (same) return {};
  return Fail(StatusCode::kIo, "'%s' has changed while it was read",
              location_.shown.c_str());
}

Status Ranges::Read(Session& session, size_t index) {
  const uint64_t offset = index * kRangeBytes;
  const uint64_t length = std::min(kRangeBytes, facts_.bytes - offset);
  Question question{.url = location_.url,
                    .most = std::max(length, kMostRefusal),
                    .unwanted = parts_[index].done.get()};
  if (location_.kind == Location::Kind::kWebHdfs) {
    question.url = location_.RangeUrl(offset, length);
  } else if (parts_.size() > 1) {
    question.headers.push_back("Range: bytes=" + std::to_string(offset) + "-" +
                               std::to_string(offset + length - 1));
  }
  const Answer answer = session.AskPatiently(location_, question);
  if (*parts_[index].done) return {};
  MXC_RT_RETURN_IF_ERROR(Check(answer, offset, length));
  size_t done = 0;
  while (done < length) {
    const ssize_t count =
        pwrite(file_, answer.body.data() + done, length - done,
               static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return runtime::SystemError("write", path_);
    done += static_cast<size_t>(count);
  }
  return {};
}

void Ranges::Finish(size_t index, const Status& status) {
  const std::lock_guard lock(mutex_);
  Part& part = parts_[index];
  --part.asking;
  if (!status.ok()) {
    // The other one that asks may do better.
    if (!*part.done && part.asking == 0 && status_.ok()) status_ = status;
  } else if (!part.done->exchange(true)) {
    ++finished_;
    usual_ = runtime::Nanoseconds() - part.begun;
  }
  if (!status_.ok()) {
    for (Part& other : parts_) *other.done = true;
  }
  changed_.notify_all();
}

void Ranges::Work() {
  const auto session = Session::Open();
  while (const auto index = Take()) {
    Finish(*index, session.ok() ? Read(**session, *index) : session.status());
  }
}

// What a server says that refuses to be asked about an object alone.
ObjectFacts FactsOf(const Answer& answer) {
  const int64_t bytes =
      answer.range_total >= 0 ? answer.range_total : answer.length;
  return {static_cast<uint64_t>(std::max<int64_t>(bytes, 0)), answer.etag};
}

}  // namespace

StatusOr<ObjectFacts> AskAbout(const Location& location) {
  MXC_RT_ASSIGN(const auto session, Session::Open());
  if (location.kind == Location::Kind::kWebHdfs) {
    const Answer answer = session->AskPatiently(
        location, {.url = location.UrlWith("op=GETFILESTATUS")});
    if (!answer.whole()) return Refusal(location, answer);
    const std::string_view text = TextOf(answer);
    const int64_t length = JsonNumber(text, "length");
    if (length < 0) return Refusal(location, answer);
    const int64_t changed = JsonNumber(text, "modificationTime");
    return ObjectFacts{static_cast<uint64_t>(length),
                       changed < 0 ? "" : std::to_string(changed)};
  }
  Answer answer =
      session->AskPatiently(location, {.url = location.url, .method = "HEAD"});
  // A refusal has no words without a body, and some servers know no HEAD.
  if (!answer.whole() || answer.length < 0) {
    Answer ranged = session->AskPatiently(
        location, {.url = location.url, .headers = {"Range: bytes=0-0"}});
    if (!ranged.whole() || ranged.range_total < 0) {
      return Refusal(location, ranged.whole() ? answer : ranged);
    }
    answer = std::move(ranged);
  }
  const ObjectFacts facts = FactsOf(answer);
  if (facts.bytes <= kMostObject) return facts;
  return Fail(
      StatusCode::kUnsupported, "'%s': the server says that it has %llu bytes",
      location.shown.c_str(), static_cast<unsigned long long>(facts.bytes));
}

Status Download(const Location& location, const ObjectFacts& facts, int file,
                const std::string& path) {
  const auto size = static_cast<off_t>(facts.bytes);
  // Room for all of it, before the first byte is asked for.
  const int error = size == 0 ? 0 : posix_fallocate(file, 0, size);
  if (error != 0) {
    errno = error;
    return runtime::SystemError("write", path);
  }
  Ranges ranges(location, facts, file, path);
  std::vector<std::thread> threads;
  const size_t count = std::min(kMostThreads, ranges.count());
  try {
    for (size_t i = 0; i < count; ++i) {
      threads.push_back(runtime::StartThread("reads an object",
                                             [&ranges] { ranges.Work(); }));
    }
  } catch (const std::system_error& failure) {
    if (threads.empty()) return {StatusCode::kIo, failure.what()};
  }
  for (std::thread& thread : threads) thread.join();
  return ranges.status();
}

}  // namespace mxc::remote
