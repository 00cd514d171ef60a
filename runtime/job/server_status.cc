// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/server_status.h"

#include <sstream>
#include <string_view>

namespace mxc::job {
namespace {

constexpr std::string_view kMark = "mxc-status 2 ";

}  // namespace

std::string EncodeStatus(const kvstore::ServerFacts& facts) {
  std::ostringstream line;
  line << kMark << static_cast<int>(facts.role) << ' ' << facts.term << ' '
       << facts.paired << ' ' << facts.rounds << ' ' << facts.received << ' '
       << facts.sent;
  for (const kvstore::WorkerFacts& worker : facts.workers) {
    line << ' ' << static_cast<int>(worker.state) << ' ' << worker.rounds << ' '
         << worker.silence;
  }
  return line.str();
}

std::optional<kvstore::ServerFacts> DecodeStatus(const std::string& line) {
  if (!line.starts_with(kMark)) return std::nullopt;
  std::istringstream words(line.substr(kMark.size()));
  kvstore::ServerFacts facts;
  int role = 0;
  words >> role >> facts.term >> facts.paired;
  constexpr int kLastRole = static_cast<int>(kvstore::PairRole::kPrimary);
  if (role < 0 || role > kLastRole) return std::nullopt;
  facts.role = static_cast<kvstore::PairRole>(role);
  words >> facts.rounds >> facts.received >> facts.sent;
  int state = 0;
  constexpr int kLast = static_cast<int>(kvstore::WorkerState::kFinished);
  for (kvstore::WorkerFacts worker;
       words >> state >> worker.rounds >> worker.silence;) {
    if (state < 0 || state > kLast) return std::nullopt;
    worker.state = static_cast<kvstore::WorkerState>(state);
    facts.workers.push_back(worker);
  }
  return words.eof() ? std::optional(facts) : std::nullopt;
}

}  // namespace mxc::job
