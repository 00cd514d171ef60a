// SPDX-License-Identifier: Apache-2.0
// What the launcher tells an attendant, who runs one process of a job on
// another machine: an order in the first line, then signals for the process,
// lines that it hands on to it, and empty ones, which say that the launcher is
// there. The attendant ends the process when the lines end, or when none comes
// for a while: nobody is left behind.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mxc::run {

struct Order {
  std::string folder;  // where the command runs
  std::map<std::string, std::string> environment;
  std::string key;  // what the file that MXC_KEY names is to hold
  std::vector<std::string> command;
};

// One line, with its end.
std::string Encode(const Order& order);
// Without its end; throws a Failure.
Order DecodeOrder(const std::string& line);

std::string EncodeSignal(int signal);
// None: another line.
std::optional<int> DecodeSignal(const std::string& line);

inline constexpr int64_t kBeat = 1'000'000'000;      // ns between lines
inline constexpr int64_t kSilence = 30'000'000'000;  // ns, then it ends

}  // namespace mxc::run
