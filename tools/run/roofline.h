// SPDX-License-Identifier: Apache-2.0
// The least time that a machine could need for some arithmetic and some bytes
// (Williams, Waterman, Patterson: Roofline, 2009).
#pragma once

#include <cstdint>
#include <vector>

namespace mxc::run {

struct Roofline {
  // What is read again and again, and how fast, ascending by size.
  struct Level {
    uint64_t bytes = 0;
    double gbytes_per_second = 0;
  };

  // f32 multiply-adds, two operations each; 0: nothing was measured.
  double gflops = 0;
  std::vector<Level> levels;

  double ComputeNanoseconds(double flops) const { return flops / gflops; }
  // As fast as a working set of so many bytes is read.
  double MemoryNanoseconds(double bytes) const;
};

// Of `threads` threads together, measured now: about a fifth of a second.
Roofline MeasureRoofline(int threads);

}  // namespace mxc::run
