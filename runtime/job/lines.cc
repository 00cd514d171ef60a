// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>
#include <utility>

namespace mxc::job {
namespace {

// What has no end of its own gets one.
constexpr size_t kLongestLine = size_t{256} << 10;

// What ends a line on a terminal, as ssh writes it, is none of its text.
std::string Whole(std::string line) {
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

}  // namespace

Lines::Lines(runtime::Descriptor from) : from_(std::move(from)) {
  if (from_.get() >= 0) fcntl(from_.get(), F_SETFL, O_NONBLOCK);
}

bool Lines::Read(const std::function<void(const std::string&)>& take,
                 bool all) {
  if (from_.get() < 0) return false;
  char bytes[4096];
  ssize_t size = 0;
  while ((size = read(from_.get(), bytes, sizeof bytes)) > 0) {
    for (const char byte : std::string_view(bytes, static_cast<size_t>(size))) {
      if (byte != '\n') rest_ += byte;
      if (byte != '\n' && rest_.size() < kLongestLine) continue;
      take(Whole(std::exchange(rest_, {})));
    }
  }
  if (size == 0 || all) from_.Close();
  if (from_.get() < 0 && !rest_.empty()) take(Whole(std::exchange(rest_, {})));
  return from_.get() >= 0;
}

}  // namespace mxc::job
