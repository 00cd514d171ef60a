// SPDX-License-Identifier: Apache-2.0
#include "tools/communication.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace mxc {
namespace {

constexpr int kBar = 40;

// The column of a bar at which each step begins, and the bar's end: by its
// work, which is its bytes where it has no FLOP.
std::vector<int> ColumnsOf(const Overview& overview) {
  std::vector<double> begins = {0};
  for (const StepRow& step : overview.steps) {
    begins.push_back(begins.back() + double(std::max(step.flops, step.bytes)));
  }
  std::vector<int> columns;
  for (const double begin : begins) {
    const double share = begins.back() > 0 ? begin / begins.back() : 0;
    columns.push_back(static_cast<int>(share * kBar));
  }
  return columns;
}

std::string BarOf(const ExchangeRow& exchange,
                  const std::vector<int>& columns) {
  const auto column = [&](int step) {
    return columns[std::min<size_t>(static_cast<size_t>(step),
                                    columns.size() - 1)];
  };
  const auto back = static_cast<size_t>(column(exchange.needed));
  const auto leaves = static_cast<size_t>(column(exchange.ready + 1));
  std::string bar(kBar, ' ');
  std::fill_n(bar.begin(), back, '=');
  std::fill(bar.begin() + static_cast<ptrdiff_t>(leaves), bar.end(), '=');
  return bar;
}

std::string StepName(const Overview& overview, int step) {
  if (step >= std::ssize(overview.steps)) return "the end";
  return overview.steps[static_cast<size_t>(step)].name;
}

}  // namespace

void PrintCommunication(const Overview& overview) {
  if (overview.exchanges.empty()) {
    PrintOut("  nothing is exchanged: no entry 'grad'\n");
    return;
  }
  const std::vector<int> columns = ColumnsOf(overview);
  PrintOut("  {:<24} {:>10} {:>6}  {:<24} {:>6}  {:<24} {}\n", "parameter",
           "bytes", "leaves", "after", "needed", "by", "urgency");
  int64_t bytes = 0;
  for (const ExchangeRow& exchange : overview.exchanges) {
    bytes += exchange.bytes;
    PrintOut("  {:<24} {:>10} {:>6}  {:<24} {:>6}  {:<24} {:>7}  |{}|\n",
             Shorten(exchange.parameter, 24), FormatBytes(exchange.bytes),
             exchange.ready, Shorten(StepName(overview, exchange.ready), 24),
             exchange.needed, Shorten(StepName(overview, exchange.needed), 24),
             exchange.priority, BarOf(exchange, columns));
  }
  PrintOut("  {} each way and step, {}\n", FormatBytes(bytes),
           Count(std::ssize(overview.exchanges), "parameter"));
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
