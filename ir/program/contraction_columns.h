// SPDX-License-Identifier: Apache-2.0
// The sums of a contraction as the product of two matrices, for its
// interpreter: a row for each output channel, a column for each output position
// of each sample, their common axis the terms of a sum. Each sum is formed in
// the order of its terms, and so the same to the last bit as one after the
// other; where a position meets no data, zeros are added.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "ir/program/contraction_indices.h"
#include "ir/program/steps/contraction.h"
#include "ir/support/threads.h"

namespace mxc {

// Returns whether there are as many rows and columns as it takes to gather data
// first. The weights must be finite: 0 times infinity is not 0.
inline bool WorthColumns(const Contraction& c) {
  int64_t columns = c.batch;
  for (const int64_t output : c.output) columns *= output;
  return c.out >= 4 && columns >= 8;
}

// `Sum` is double or uint64_t.
template <class Sum>
class ContractionColumns {
 public:
  ContractionColumns(const Contraction& c, std::span<const Sum> data,
                     const RoleStrides& ds, std::span<const Sum> weight,
                     const RoleStrides& ws)
      : c_(c), sp_(SpatialOf(c)), data_(data), ds_(ds) {
    positions_ = sp_[0].output * sp_[1].output * sp_[2].output;
    taps_ = sp_[0].kernel * sp_[1].kernel * sp_[2].kernel;
    GatherRows(weight, ws);
  }

  // Into outputs of these strides.
  void Write(const RoleStrides& os, std::vector<Element>& out) const {
    const int64_t columns = c_.batch * positions_;
    const int64_t panels = (columns + kColumns - 1) / kColumns;
    const auto products = static_cast<double>(kColumns * c_.out * Terms());
    ForParts(c_.groups * panels, products, [&](int64_t begin, int64_t end) {
      std::vector<Sum> sums(static_cast<size_t>(RowsPadded() * kColumns));
      std::vector<Sum> panel(static_cast<size_t>(kTerms * kColumns));
      for (int64_t at = begin; at < end; ++at) {
        const int64_t g = at / panels, first = at % panels * kColumns;
        const int64_t count = std::min(kColumns, columns - first);
        AddUp(g, first, count, panel, sums);
        for (int64_t i = 0; i < count; ++i) {
          const int64_t to = OffsetOf(os, g, first + i);
          for (int64_t m = 0; m < c_.out; ++m) {
            out[static_cast<size_t>(to + m * os.out)] =
                sums[static_cast<size_t>(m * kColumns + i)];
          }
        }
      }
    });
  }

 private:
  // A tile of sums fits the registers of SSE2, a panel of data the first cache.
  static constexpr int64_t kTileRows = 4, kTileVectors = 2, kColumns = 16,
                           kTerms = 256;
  static constexpr int64_t kLanes = 2;
  using Vector [[gnu::vector_size(kLanes * sizeof(Sum))]] = Sum;

  // For each sum.
  int64_t Terms() const { return taps_ * c_.in; }
  int64_t RowsPadded() const {
    return (c_.out + kTileRows - 1) / kTileRows * kTileRows;
  }
  std::array<int64_t, 3> TapAt(int64_t tap) const {
    return {tap / (sp_[1].kernel * sp_[2].kernel),
            tap / sp_[2].kernel % sp_[1].kernel, tap % sp_[2].kernel};
  }

  // Terms of kTileRows rows side by side: group, tile, term, row in the tile.
  void GatherRows(std::span<const Sum> weight, const RoleStrides& ws) {
    rows_.resize(static_cast<size_t>(c_.groups * RowsPadded() * Terms()));
    for (int64_t row = 0; row < c_.groups * c_.out; ++row) {
      const int64_t g = row / c_.out, m = row % c_.out;
      const int64_t tile = (g * RowsPadded() + m) / kTileRows;
      int64_t to = tile * kTileRows * Terms() + m % kTileRows;
      for (int64_t tap = 0; tap < taps_; ++tap) {
        const auto w = TapAt(tap);
        int64_t from = g * ws.group + m * ws.out + w[0] * ws.spatial[0] +
                       w[1] * ws.spatial[1] + w[2] * ws.spatial[2];
        for (int64_t k = 0; k < c_.in; ++k, to += kTileRows, from += ws.in) {
          rows_[static_cast<size_t>(to)] = weight[static_cast<size_t>(from)];
        }
      }
    }
  }

  int64_t OffsetOf(const RoleStrides& os, int64_t g, int64_t column) const {
    const auto o = PositionOf(column);
    return column / positions_ * os.batch + g * os.group +
           o[0] * os.spatial[0] + o[1] * os.spatial[1] + o[2] * os.spatial[2];
  }

  std::array<int64_t, 3> PositionOf(int64_t column) const {
    const int64_t at = column % positions_;
    return {at / (sp_[1].output * sp_[2].output),
            at / sp_[2].output % sp_[1].output, at % sp_[2].output};
  }

  // The first channel's element that a column meets at a tap; -1: none.
  int64_t DataAt(int64_t g, int64_t column, int64_t tap) const {
    const auto o = PositionOf(column), w = TapAt(tap);
    int64_t at = column / positions_ * ds_.batch + g * ds_.group;
    for (size_t i = 0; i < sp_.size(); ++i) {
      const int64_t position = sp_[i].DataAt(o[i], w[i]);
      if (position < 0) return -1;
      at += position * ds_.spatial[i];
    }
    return at;
  }

  // All sums of `count` columns.
  void AddUp(int64_t g, int64_t first, int64_t count, std::vector<Sum>& panel,
             std::vector<Sum>& sums) const {
    std::ranges::fill(sums, Sum{0});
    std::ranges::fill(panel, Sum{0});
    const int64_t tiles = RowsPadded() / kTileRows;
    for (int64_t begin = 0; begin < Terms(); begin += kTerms) {
      const int64_t end = std::min(Terms(), begin + kTerms);
      Gather(g, first, count, begin, end, panel);
      for (int64_t tile = 0; tile < tiles; ++tile) {
        const Sum* rows =
            rows_.data() + ((g * tiles + tile) * Terms() + begin) * kTileRows;
        Sum* of_tile = sums.data() + tile * kTileRows * kColumns;
        for (int64_t i = 0; i < kColumns; i += kTileVectors * kLanes) {
          AddTile(rows, panel.data() + i, end - begin, of_tile + i);
        }
      }
    }
  }

  // Data of the terms begin … end, kColumns for each.
  void Gather(int64_t g, int64_t first, int64_t count, int64_t begin,
              int64_t end, std::vector<Sum>& panel) const {
    for (int64_t term = begin; term < end;) {
      const int64_t tap = term / c_.in, k = term % c_.in;
      const int64_t same = std::min(end - term, c_.in - k);
      Sum* const to = panel.data() + (term - begin) * kColumns;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = DataAt(g, first + i, tap);
        for (int64_t next = 0; next < same; ++next) {
          to[next * kColumns + i] =
              at < 0 ? Sum{0}
                     : data_[static_cast<size_t>(at + (k + next) * ds_.in)];
        }
      }
      term += same;
    }
  }

  static void AddTile(const Sum* rows, const Sum* columns, int64_t terms,
                      Sum* sums) {
    Vector tile[kTileRows][kTileVectors];
    for (int64_t r = 0; r < kTileRows; ++r) {
      std::memcpy(tile[r], sums + r * kColumns, sizeof tile[r]);
    }
    for (int64_t t = 0; t < terms; ++t) {
      Vector data[kTileVectors];
      std::memcpy(data, columns + t * kColumns, sizeof data);
      for (int64_t r = 0; r < kTileRows; ++r) {
        const Sum weight = rows[t * kTileRows + r];
        for (int64_t v = 0; v < kTileVectors; ++v) {
          tile[r][v] += data[v] * weight;
        }
      }
    }
    for (int64_t r = 0; r < kTileRows; ++r) {
      std::memcpy(sums + r * kColumns, tile[r], sizeof tile[r]);
    }
  }

  const Contraction& c_;
  const std::array<Spatial, 3> sp_;
  std::span<const Sum> data_;
  RoleStrides ds_;
  int64_t positions_ = 0, taps_ = 0;
  std::vector<Sum> rows_;
};

}  // namespace mxc
