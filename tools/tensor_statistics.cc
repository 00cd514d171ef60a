// SPDX-License-Identifier: Apache-2.0
#include "tools/tensor_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/formats/convert.h"

namespace mxc {
namespace {

using runtime::ElementType;

// Calls `look` with pieces of the elements as doubles.
template <class Look>
void ForPieces(DType dtype, std::span<const std::byte> elements, Look look) {
  constexpr size_t kPiece = 4096;
  std::array<double, kPiece> values;
  const auto size = static_cast<size_t>(SizeOf(dtype));
  for (size_t at = 0; at + size <= elements.size();) {
    const size_t count = std::min(kPiece, (elements.size() - at) / size);
    const std::span<double> piece(values.data(), count);
    runtime::ConvertElements(static_cast<ElementType>(dtype),
                             elements.subspan(at, count * size),
                             ElementType::kF64, std::as_writable_bytes(piece));
    look(std::span<const double>(piece));
    at += count * size;
  }
}

// ElementSums of what is finite and not zero: zeros may be padding.
struct ElementSums {
  int64_t zeros = 0, not_finite = 0, others = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  double sum = 0, squares = 0;

  void Add(std::span<const double> values) {
    for (const double value : values) {
      if (value == 0) {
        ++zeros;
      } else if (!std::isfinite(value)) {
        ++not_finite;
      } else {
        ++others;
        least = std::min(least, value);
        most = std::max(most, value);
        sum += value;
        squares += value * value;
      }
    }
  }
};

void FillBars(std::span<const std::byte> elements, TensorStatistics& of) {
  const double width = of.most - of.least;
  if (!(width > 0) || !std::isfinite(width)) return;
  const double scale = static_cast<double>(of.bars.size()) / width;
  ForPieces(of.type.dtype, elements, [&](std::span<const double> values) {
    for (const double value : values) {
      if (value == 0 || !std::isfinite(value)) continue;
      const auto bar = static_cast<size_t>((value - of.least) * scale);
      ++of.bars[std::min(bar, of.bars.size() - 1)];
    }
  });
  if (of.zeros == 0) return;
  const auto bar = static_cast<size_t>(-of.least * scale);
  of.bars[std::min(bar, of.bars.size() - 1)] += of.zeros;
}

}  // namespace

TensorStatistics StatisticsOf(std::string name, const TensorType& type,
                              std::span<const std::byte> elements) {
  TensorStatistics of;
  of.name = std::move(name);
  of.type = type;
  ElementSums sums;
  ForPieces(type.dtype, elements,
            [&](std::span<const double> values) { sums.Add(values); });
  const int64_t there = sums.zeros + sums.not_finite + sums.others;
  const int64_t padding =
      std::clamp<int64_t>(there - type.shape.elements(), 0, sums.zeros);
  of.count = there - padding;
  of.zeros = sums.zeros - padding;
  of.not_finite = sums.not_finite;
  const int64_t finite = of.count - of.not_finite;
  if (finite == 0) return of;
  of.least = of.zeros > 0 ? std::min(sums.least, 0.0) : sums.least;
  of.most = of.zeros > 0 ? std::max(sums.most, 0.0) : sums.most;
  const auto number = static_cast<double>(finite);
  of.mean = sums.sum / number;
  of.deviation =
      std::sqrt(std::max(0.0, sums.squares / number - of.mean * of.mean));
  FillBars(elements, of);
  return of;
}

}  // namespace mxc
