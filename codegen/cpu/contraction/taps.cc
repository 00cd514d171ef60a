// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/taps.h"

#include <algorithm>
#include <numeric>

#include "ir/program/steps/contraction.h"

namespace mxc::contraction {
namespace {

// Smaller ones waste little, and have other algorithms.
constexpr int64_t kLeastClippedKernel = 4;

int64_t FloorDivide(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

Taps PlainTaps(const Contraction& c, size_t s) {
  Taps taps;
  taps.outputs = c.output[s];
  taps.first_data = -c.pad[s];
  taps.data_per_output = c.stride[s];
  taps.data_per_tap = c.dilate[s];
  taps.count = c.kernel[s];
  taps.first_weight = c.flip ? c.kernel[s] - 1 : 0;
  taps.weight_step = c.flip ? -1 : 1;
  return taps;
}

// Outputs phase, phase + spread …: of the positions w, counted in the order in
// which data advance, those meet elements that divide phase − pad + w · dilate.
Taps PhaseTaps(const Contraction& c, size_t s, int64_t phase) {
  const int64_t spread = c.data_dilate[s], dilate = c.dilate[s];
  const int64_t period = spread / std::gcd(spread, dilate);
  Taps taps;
  taps.first_output = phase;
  taps.output_step = spread;
  taps.outputs = (c.output[s] - phase + spread - 1) / spread;
  taps.data_per_tap = dilate * period / spread;
  taps.count = 0;
  for (int64_t w = 0; w < std::min(period, c.kernel[s]); ++w) {
    const int64_t at = phase - c.pad[s] + w * dilate;
    if (at % spread != 0) continue;
    taps.first_data = at / spread;
    taps.count = (c.kernel[s] - w + period - 1) / period;
    taps.first_weight = c.flip ? c.kernel[s] - 1 - w : w;
    taps.weight_step = c.flip ? -period : period;
  }
  return taps;
}

// Kernel positions that meet data at output `i`: low ≤ w < high.
struct TapWindow {
  int64_t low = 0, high = 0;
};

TapWindow TapWindowAt(const Contraction& c, size_t s, int64_t i) {
  return {std::max<int64_t>(0, c.pad[s] - i),
          std::min(c.kernel[s], c.input[s] + c.pad[s] - i)};
}

// Returns whether outputs of a large kernel on few rows of data are phases by
// the part of the kernel that they meet, since most of its products would be
// with zeros beside the data. Never columns: those lie in tiles.
bool ClipsWindows(const Contraction& c, size_t s) {
  if (s + 1 >= c.kernel.size() || c.kernel[s] < kLeastClippedKernel) {
    return false;
  }
  if (c.data_axes[0] != Role::kBatch || c.pad[s] < 0) return false;
  if (c.data_dilate[s] * c.stride[s] * c.dilate[s] != 1) return false;
  int64_t met = 0;
  for (int64_t i = 0; i < c.output[s]; ++i) {
    const TapWindow window = TapWindowAt(c, s, i);
    if (window.low >= window.high) return false;
    met += window.high - window.low;
  }
  return 4 * c.output[s] * c.kernel[s] >= 5 * met;
}

// Outputs side by side that meet the same positions are one phase.
std::vector<Taps> ClippedPhases(const Contraction& c, size_t s) {
  std::vector<Taps> phases;
  TapWindow last;
  for (int64_t i = 0; i < c.output[s]; ++i) {
    const TapWindow window = TapWindowAt(c, s, i);
    if (i > 0 && window.low == last.low && window.high == last.high) {
      ++phases.back().outputs;
      continue;
    }
    last = window;
    Taps taps = PlainTaps(c, s);
    taps.first_output = i;
    taps.outputs = 1;
    taps.first_data = i - c.pad[s] + window.low;
    taps.count = window.high - window.low;
    taps.first_weight += window.low * taps.weight_step;
    phases.push_back(taps);
  }
  return phases;
}

int64_t CountTaps(const std::vector<Taps>& axes) {
  int64_t count = 1;
  for (const Taps& taps : axes) count *= taps.count;
  return count;
}

}  // namespace

bool HasPhases(const Contraction& c) {
  for (size_t s = 0; s < c.kernel.size(); ++s) {
    if (c.data_dilate[s] > 1 && c.stride[s] != 1) return false;
  }
  return true;
}

std::vector<Taps> PhasesOf(const Contraction& c, size_t axis) {
  if (ClipsWindows(c, axis)) return ClippedPhases(c, axis);
  if (c.data_dilate[axis] == 1) return {PlainTaps(c, axis)};
  std::vector<Taps> phases;
  const int64_t count = std::min(c.data_dilate[axis], c.output[axis]);
  for (int64_t p = 0; p < count; ++p) phases.push_back(PhaseTaps(c, axis, p));
  return phases;
}

std::vector<std::vector<Taps>> PhasesOf(const Contraction& c) {
  std::vector<std::vector<Taps>> all = {{}};
  for (size_t s = 0; s < c.kernel.size(); ++s) {
    std::vector<std::vector<Taps>> longer;
    for (const std::vector<Taps>& outer : all) {
      for (const Taps& taps : PhasesOf(c, s)) {
        longer.push_back(outer);
        longer.back().push_back(taps);
      }
    }
    all = std::move(longer);
  }
  std::ranges::stable_sort(all, std::greater{}, CountTaps);
  return all;
}

int64_t HaloLow(const Contraction& c, size_t axis) {
  if (ClipsWindows(c, axis)) return 0;
  return std::max<int64_t>(0, FloorDivide(c.pad[axis], c.data_dilate[axis]));
}

int64_t HaloHigh(const Contraction& c, size_t axis) {
  if (ClipsWindows(c, axis)) return 0;
  const int64_t last = (c.output[axis] - 1) * c.stride[axis] +
                       (c.kernel[axis] - 1) * c.dilate[axis] - c.pad[axis];
  return std::max<int64_t>(
      0, FloorDivide(last, c.data_dilate[axis]) - (c.input[axis] - 1));
}

}  // namespace mxc::contraction
