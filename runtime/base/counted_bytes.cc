// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/counted_bytes.h"

#include <algorithm>
#include <cstring>

namespace mxc::runtime {

CountedBytes::CountedBytes(std::span<const int64_t> dims,
                           std::span<const CountedAxis> axes,
                           size_t element_bytes)
    : run_(element_bytes), whole_(element_bytes), counted_(element_bytes) {
  for (size_t k = dims.size(); k-- > 0;) {
    const auto open =
        std::ranges::find(axes, static_cast<int>(k), &CountedAxis::axis);
    if (open == axes.end()) {
      Add(dims[k], dims[k]);
      continue;
    }
    const int64_t sequences = dims[k] / (open->most * open->inner);
    Add(open->inner, open->inner);
    Add(open->most, open->length);
    Add(sequences, sequences);
  }
}

void CountedBytes::Add(int64_t most, int64_t count) {
  const auto all = static_cast<size_t>(most);
  const auto some = static_cast<size_t>(count);
  if (run_ == whole_) {
    run_ *= some;
  } else if (all > 1) {
    loops_.push_back({some, whole_, counted_});
  }
  whole_ *= all;
  counted_ *= some;
}

template <class Copy>
void CountedBytes::Visit(size_t loop, size_t whole, size_t counted,
                         const Copy& copy) const {
  if (loop == 0) return copy(whole, counted);
  const Loop& l = loops_[loop - 1];
  for (size_t i = 0; i < l.count; ++i) {
    Visit(loop - 1, whole + i * l.whole, counted + i * l.counted, copy);
  }
}

void CountedBytes::Gather(const std::byte* from, std::byte* to) const {
  Visit(loops_.size(), 0, 0, [&](size_t whole, size_t counted) {
    std::memcpy(to + counted, from + whole, run_);
  });
}

void CountedBytes::Scatter(const std::byte* from, std::byte* to) const {
  Visit(loops_.size(), 0, 0, [&](size_t whole, size_t counted) {
    std::memcpy(to + whole, from + counted, run_);
  });
}

}  // namespace mxc::runtime
