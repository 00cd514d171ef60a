// SPDX-License-Identifier: Apache-2.0
// Logs requests without making the server wait. Any thread may add lines.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "runtime/base/log_file.h"
#include "tools/serve/message.h"

namespace mxc::serve {

// A line for each request, written by a thread of its own: who does not read
// what the server says cannot stop it. Lines that find no room are counted.
//
//   2026-11-27T14:30:27.123Z 127.0.0.1 POST /predict 200 1.24ms 114B id
class AccessLog {
 public:
  // To stderr, or behind what stands in the file. Throws a run::Failure.
  explicit AccessLog(const std::string& file);
  ~AccessLog();  // what waits is written, as far as that goes at once

  void Add(const Request& request, int status, uint64_t bytes);

 private:
  void Write();
  bool WriteLine(const std::string& line);

  std::optional<runtime::LogFile> file_;  // nothing: stderr
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  uint64_t left_out_ = 0;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace mxc::serve
