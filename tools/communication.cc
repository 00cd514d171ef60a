// SPDX-License-Identifier: Apache-2.0
#include "tools/communication.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace mxc {
namespace {

constexpr int kBar = 40;

std::string BarOf(const ExchangeRow& exchange,
                  const std::vector<double>& begins) {
  const auto column = [&](int step) {
    const size_t at =
        std::min<size_t>(static_cast<size_t>(step), begins.size() - 1);
    return static_cast<int>(begins[at] * kBar);
  };
  const auto back = static_cast<size_t>(column(exchange.needed));
  const auto leaves = static_cast<size_t>(column(exchange.ready + 1));
  std::string bar(kBar, ' ');
  std::fill_n(bar.begin(), back, '=');
  std::fill(bar.begin() + static_cast<ptrdiff_t>(leaves), bar.end(), '=');
  return bar;
}

// "the optimizer keeps 16.2 MiB; with --shard-states a worker of 2 at most 8.2 MiB"
void PrintShares(const Overview& overview) {
  for (const auto& [workers, bytes] : overview.shares) {
    if (workers == 1) {
      PrintOut("  the optimizer keeps {}", FormatBytes(bytes));
    } else {
      PrintOut("{} {} at most {}",
               workers == 2 ? "; with --shard-states a worker of" : ", of",
               workers, FormatBytes(bytes));
    }
  }
  if (!overview.shares.empty()) PrintOut("\n");
}

}  // namespace

std::vector<double> BeginsOfSteps(const Overview& overview) {
  std::vector<double> begins = {0};
  for (const StepRow& step : overview.steps) {
    begins.push_back(begins.back() + double(std::max(step.flops, step.bytes)));
  }
  const double all = begins.back();
  for (double& begin : begins) begin = all > 0 ? begin / all : 0;
  return begins;
}

std::string StepName(const Overview& overview, int step) {
  if (step >= std::ssize(overview.steps)) return "the end";
  return overview.steps[static_cast<size_t>(step)].name;
}

void PrintCommunication(const Overview& overview) {
  if (overview.exchanges.empty()) {
    PrintOut("  nothing is exchanged: no entry 'grad'\n");
    return;
  }
  const std::vector<double> begins = BeginsOfSteps(overview);
  PrintOut("  {:<24} {:>10} {:>6}  {:<24} {:>6}  {:<24} {}\n", "parameter",
           "bytes", "leaves", "after", "needed", "by", "urgency");
  int64_t bytes = 0;
  for (const ExchangeRow& exchange : overview.exchanges) {
    bytes += exchange.bytes;
    PrintOut("  {:<24} {:>10} {:>6}  {:<24} {:>6}  {:<24} {:>7}  |{}|\n",
             Shorten(exchange.parameter, 24), FormatBytes(exchange.bytes),
             exchange.ready, Shorten(StepName(overview, exchange.ready), 24),
             exchange.needed, Shorten(StepName(overview, exchange.needed), 24),
             exchange.priority, BarOf(exchange, begins));
  }
  PrintOut("  {} each way and step, {}\n", FormatBytes(bytes),
           Count(std::ssize(overview.exchanges), "parameter"));
  PrintShares(overview);
}

Json CommunicationToJson(const Overview& overview) {
  Json list = Json::array();
  for (const ExchangeRow& exchange : overview.exchanges) {
    list.push_back({{"parameter", exchange.parameter},
                    {"bytes", exchange.bytes},
                    {"leaves_after_step", exchange.ready},
                    {"needed_by_step", exchange.needed},
                    {"priority", exchange.priority}});
  }
  return list;
}

}  // namespace mxc
