// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/access_log.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>
#include <span>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/start_thread.h"
#include "runtime/base/visible.h"
#include "tools/run/failure.h"

namespace mxc::serve {
namespace {

constexpr size_t kMostLines = 16384;
constexpr int kPatience = 200;  // milliseconds, when the server ends

std::string Now() {
  using Clock = std::chrono::system_clock;
  const auto now = Clock::now();
  const std::time_t seconds = Clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(
          now.time_since_epoch())
          .count() %
      1000;
  std::tm parts;
  gmtime_r(&seconds, &parts);
  char text[40];
  const size_t size = std::strftime(text, sizeof text, "%FT%T", &parts);
  return std::string(text, size) +
         runtime::Format(".%03dZ", static_cast<int>(milliseconds));
}

}  // namespace

AccessLog::AccessLog(const std::string& file) {
  if (!file.empty()) file_ = run::Take(runtime::LogFile::Continue(file));
  thread_ = runtime::StartThread("writes the access log", [this] { Write(); });
}

AccessLog::~AccessLog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AccessLog::Add(const Request& request, int status, uint64_t bytes) {
  const double milliseconds =
      request.begun == 0
          ? 0
          : static_cast<double>(runtime::Nanoseconds() - request.begun) * 1e-6;
  std::string line =
      Now() + " " + request.client + " " +
      runtime::Visible(request.method.empty() ? "-" : request.method) + " " +
      runtime::Visible(request.path.empty() ? "-" : request.path) + " " +
      runtime::Format("%d %.2fms %lluB ", status, milliseconds,
                      static_cast<unsigned long long>(bytes)) +
      request.id + "\n";
  {
    const std::lock_guard lock(mutex_);
    if (lines_.size() >= kMostLines) {
      ++left_out_;
      return;
    }
    lines_.push_back(std::move(line));
  }
  changed_.notify_one();
}

void AccessLog::Write() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !lines_.empty() || ended_; });
    if (lines_.empty()) return;
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    if (left_out_ > 0 && lines_.empty()) {
      line += runtime::Format("%llu lines were left out\n",
                              static_cast<unsigned long long>(left_out_));
      left_out_ = 0;
    }
    lock.unlock();
    const bool written = WriteLine(line);
    lock.lock();
    if (!written && ended_) return;
  }
}

// False where the server ends and nobody reads, or the file takes no more.
bool AccessLog::WriteLine(const std::string& line) {
  if (file_) return file_->Append(std::as_bytes(std::span(line))).ok();
  std::string_view rest = line;
  while (!rest.empty()) {
    pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, kPatience) == 0) {
      const std::lock_guard lock(mutex_);
      if (ended_) return false;
      continue;
    }
    // A pipe that is ready takes at least this much without waiting.
    const std::string_view piece = rest.substr(0, PIPE_BUF);
    const ssize_t count = write(STDERR_FILENO, piece.data(), piece.size());
    if (count < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (count > 0) rest.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace mxc::serve
