// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/mixing.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>

namespace mxc::data {
namespace {

// Normal, by Box and Muller.
double DrawNormal(Draws& draws) {
  const double radius = std::sqrt(-2 * std::log(1 - draws.Unit()));
  return radius * std::cos(2 * std::acos(-1.0) * draws.Unit());
}

// The logarithm of a draw from Gamma(alpha, 1), which for a small alpha may be
// less than any number but 0. By Marsaglia and Tsang, whose alpha is at least 1.
double DrawLogGamma(double alpha, Draws& draws) {
  if (alpha < 1) {
    const double log_unit = std::log(1 - draws.Unit());
    return DrawLogGamma(alpha + 1, draws) + log_unit / alpha;
  }
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = DrawNormal(draws), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - draws.Unit()) < x * x / 2 + d - d * v + d * std::log(v)) {
      return std::log(d * v);
    }
  }
}

template <class T>
T Mixed(double a, double b, double share) {
  const double value = share * a + (1 - share) * b;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::lrint(value));
  } else {
    return static_cast<T>(value);
  }
}

// Rows k and k + half of an array, both of them.
template <class T>
void MixPairs(double share, int64_t rows, std::span<std::byte> bytes) {
  auto* values = reinterpret_cast<T*>(bytes.data());
  const size_t row = bytes.size() / sizeof(T) / static_cast<size_t>(rows);
  const size_t half = static_cast<size_t>(rows / 2) * row;
  for (size_t i = 0; i < half; ++i) {
    const double a = values[i], b = values[half + i];
    values[i] = Mixed<T>(a, b, share);
    values[half + i] = Mixed<T>(b, a, share);
  }
}

void MixArray(double share, int64_t rows, Array* array) {
  switch (array->type) {
    case ElementType::kU8:
      return MixPairs<uint8_t>(share, rows, array->bytes());
    case ElementType::kI8:
      return MixPairs<int8_t>(share, rows, array->bytes());
    default:  // as sources give them (source.h)
      return MixPairs<float>(share, rows, array->bytes());
  }
}

// What lies in the box becomes the other's.
void SwapBoxes(const Box& box, const PictureAxes& axes, int64_t rows,
               Array* array) {
  const std::span<std::byte> bytes = array->bytes();
  const size_t row = bytes.size() / static_cast<size_t>(rows);
  const int64_t pixel = ElementBytes(array->type) * axes.channels;
  const int64_t line = pixel * axes.width;
  for (int64_t k = 0; k < rows / 2; ++k) {
    std::byte* const a = bytes.data() + static_cast<size_t>(k) * row;
    std::byte* const b = a + static_cast<size_t>(rows / 2) * row;
    for (int64_t plane = 0; plane < axes.planes; ++plane) {
      for (int64_t y = box.top; y < box.bottom; ++y) {
        const int64_t begin =
            (plane * axes.height + y) * line + box.left * pixel;
        const int64_t end = begin + (box.right - box.left) * pixel;
        std::swap_ranges(a + begin, a + end, b + begin);
      }
    }
  }
}

}  // namespace

std::optional<PictureAxes> AxesOf(const std::vector<int64_t>& shape,
                                  const std::string& layout) {
  if (shape.size() != 3) return std::nullopt;
  const auto channels = [](int64_t n) { return n == 1 || n == 3; };
  const bool last = layout.empty() ? !channels(shape[0]) && channels(shape[2])
                                   : layout == "NHWC";
  if (last) return PictureAxes{1, shape[0], shape[1], shape[2]};
  return PictureAxes{shape[0], shape[1], shape[2], 1};
}

double DrawBeta(double alpha, Draws& draws) {
  const double a = DrawLogGamma(alpha, draws), b = DrawLogGamma(alpha, draws);
  return 1 / (1 + std::exp(b - a));
}

Box DrawBox(double share, int64_t width, int64_t height, Draws& draws) {
  const double side = std::sqrt(share);
  const auto wide = static_cast<int64_t>(static_cast<double>(width) * side);
  const auto high = static_cast<int64_t>(static_cast<double>(height) * side);
  const auto x =
      static_cast<int64_t>(draws.Below(static_cast<uint64_t>(width)));
  const auto y =
      static_cast<int64_t>(draws.Below(static_cast<uint64_t>(height)));
  return {std::max<int64_t>(x - wide / 2, 0),
          std::max<int64_t>(y - high / 2, 0),
          std::min(x - wide / 2 + wide, width),
          std::min(y - high / 2 + high, height)};
}

void MixBatch(const MixOptions& options, const PictureAxes& axes, Draws draws,
              Batch* batch) {
  const bool both = options.mixup > 0 && options.cutmix > 0;
  const bool cuts = both ? draws.Flip() : options.cutmix > 0;
  double share = DrawBeta(cuts ? options.cutmix : options.mixup, draws);
  const int64_t rows = std::ssize(batch->index);
  if (cuts) {
    const Box box = DrawBox(1 - share, axes.width, axes.height, draws);
    share = 1 - static_cast<double>(box.area()) /
                    static_cast<double>(axes.width * axes.height);
    SwapBoxes(box, axes, rows, &batch->data[0].array);
  } else {
    for (NamedArray& named : batch->data) MixArray(share, rows, &named.array);
  }
  for (NamedArray& named : batch->labels) MixArray(share, rows, &named.array);
}

}  // namespace mxc::data
