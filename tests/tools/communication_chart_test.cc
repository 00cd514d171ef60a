// SPDX-License-Identifier: Apache-2.0
#include "tools/page/communication_chart.h"

#include <doctest/doctest.h>

#include <regex>
#include <string>
#include <vector>

#include "tools/communication.h"

namespace mxc {
namespace {

// Of the work, the first step does a quarter, the second three.
Overview TwoSteps() {
  Overview overview;
  for (const int64_t flops : {100, 300}) {
    StepRow& step = overview.steps.emplace_back();
    step.name = flops == 100 ? "first" : "<second>";
    step.flops = flops;
  }
  return overview;
}

TEST_CASE("a bar is as long as its parameter may stay away") {
  Overview overview = TwoSteps();
  overview.exchanges = {
      {"early", 4, /*ready=*/0, /*needed=*/1, /*priority=*/1},
      {"late", 8, /*ready=*/1, /*needed=*/2, /*priority=*/2},
      {"short", 8, /*ready=*/1, /*needed=*/0, /*priority=*/0}};
  const std::string chart = CommunicationChart(overview);
  const std::regex bar("<rect x=\"([0-9.]+)\" [^>]* width=\"([0-9.]+)\"");
  std::vector<double> begins, widths;
  for (std::sregex_iterator at(chart.begin(), chart.end(), bar), end; at != end;
       ++at) {
    begins.push_back(std::stod((*at)[1]));
    widths.push_back(std::stod((*at)[2]));
  }
  REQUIRE(widths.size() == 3);
  // Both leave in the first step; the first comes back after a whole step.
  CHECK(begins[1] > begins[0]);
  CHECK(begins[1] == begins[2]);
  const double step = widths[0];
  CHECK(begins[1] - begins[0] == doctest::Approx(0.75 * step));
  CHECK(widths[1] == doctest::Approx(step));
  CHECK(widths[2] < 2);  // seen, though there is no time
  CHECK(chart.find("&lt;second&gt;") != std::string::npos);
  CHECK(chart.find("<second>") == std::string::npos);
  CHECK(chart.find("needed by step 2, the end") != std::string::npos);
}

TEST_CASE("where a step begins in an entry's work") {
  CHECK(BeginsOfSteps(TwoSteps()) == std::vector<double>{0, 0.25, 1});
  CHECK(BeginsOfSteps({}) == std::vector<double>{0});
}

}  // namespace
}  // namespace mxc
