// SPDX-License-Identifier: Apache-2.0
// The table of steps that `bench` prints.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace mxc::run {

class StepTable {
 public:
  // Time, share, GFLOP/s, bytes, GB/s, tasks, roof, bound. Where a terminal has
  // no room for all of them, the less telling ones are left out, and names of
  // steps lose their beginnings.
  static constexpr std::size_t kColumns = 8;
  using Row = std::array<std::string, kColumns>;

  StepTable();  // prints the titles
  void Print(const Row& row, const char* step) const;

 private:
  int least_rank_ = 1;    // of the columns that are shown
  int longest_name_ = 0;  // 0: any
};

}  // namespace mxc::run
