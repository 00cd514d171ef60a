// SPDX-License-Identifier: Apache-2.0
// Windows of signals, and the filters of their spectra.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "frontend/onnx/call.h"
#include "frontend/onnx/tensor_data.h"

namespace mxc::onnx {
namespace {

constexpr int64_t kMostMelFilter = int64_t{1} << 24;  // numbers

DType SignalType(Call& c) {
  const DType dtype = c.ElementType("output_datatype", DType::kF32);
  c.Require(dtype != DType::kBool, "output_datatype is BOOL");
  return dtype;
}

// Σ terms[i] · cos(2π i n / N), where N is the size, or one less.
void GiveWindow(Call& c, const std::vector<double>& terms) {
  const bool periodic = c.Flag("periodic", true);
  const DType dtype = SignalType(c);
  const int64_t size = c.NeedInt(0, "size");
  c.Require(size >= 0 && size <= (1 << 24), "its size is {}", size);
  std::byte* to = nullptr;
  Tensor window = Tensor::Allocate({dtype, Shape{size}}, &to);
  const auto turn = static_cast<double>(periodic ? size : size - 1);
  for (int64_t n = 0; n < size; ++n) {
    double value = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      value +=
          terms[i] * std::cos(2 * std::numbers::pi * static_cast<double>(i) *
                              static_cast<double>(n) / turn);
    }
    c.Require(!std::isnan(value), "a window of one element has no form");
    if (!IsFloat(dtype)) value = std::trunc(value);
    StoreElement(to + n * SizeOf(dtype), dtype, value);
  }
  c.Give(0, std::move(window));
}

}  // namespace

void ImportHannWindow(Call& c) { GiveWindow(c, {0.5, -0.5}); }
void ImportHammingWindow(Call& c) {
  constexpr double kAlpha = 25.0 / 46;
  GiveWindow(c, {kAlpha, kAlpha - 1});
}
void ImportBlackmanWindow(Call& c) { GiveWindow(c, {0.42, -0.5, 0.08}); }

// Triangles over bins of frequencies that are equally far apart in mel.
void ImportMelWeightMatrix(Call& c) {
  const DType dtype = SignalType(c);
  const int64_t bins = c.NeedInt(0, "num_mel_bins");
  const int64_t length = c.NeedInt(1, "dft_length");
  const int64_t rate = c.NeedInt(2, "sample_rate");
  const double low = c.NeedFloat(3, "lower_edge_hertz");
  const double high = c.NeedFloat(4, "upper_edge_hertz");
  c.Require(bins > 0 && bins <= 4096 && length > 0 && length <= (1 << 20) &&
                rate > 0 && low >= 0 && high >= low,
            "{} bins of a transform of {} at {} Hz from {} to {} Hz", bins,
            length, rate, low, high);
  const int64_t rows = length / 2 + 1;
  c.Require(rows * bins <= kMostMelFilter, "it has {} by {} elements", rows,
            bins);
  const auto mel = [](double hertz) {
    return 2595 * std::log10(1 + hertz / 700);
  };
  const double first = mel(low);
  const double step = (mel(high) - first) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double at = first + step * static_cast<double>(i);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    const double bin = std::floor(static_cast<double>(length + 1) * hertz /
                                  static_cast<double>(rate));
    c.Require(bin < static_cast<double>(rows) || i == bins + 1,
              "the frequency {} Hz is beyond half of {} Hz", hertz, rate);
    edges.push_back(
        static_cast<int64_t>(std::min(bin, static_cast<double>(rows))));
  }
  std::byte* to = nullptr;
  Tensor matrix = Tensor::Allocate({dtype, Shape{rows, bins}}, &to);
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t left = edges[i], peak = edges[i + 1], right = edges[i + 2];
    const auto set = [&](int64_t row, double value) {
      if (row >= rows) return;
      if (!IsFloat(dtype)) value = std::trunc(value);
      StoreElement(to + (row * bins + i) * SizeOf(dtype), dtype, value);
    };
    const auto share = [](int64_t part, int64_t whole) {
      return static_cast<double>(part) / static_cast<double>(whole);
    };
    if (peak == left) set(peak, 1);
    for (int64_t j = left; peak > left && j <= peak; ++j) {
      set(j, share(j - left, peak - left));
    }
    for (int64_t j = peak; j < right; ++j) {
      set(j, share(right - j, right - peak));
    }
  }
  c.Give(0, std::move(matrix));
}

}  // namespace mxc::onnx
