// SPDX-License-Identifier: Apache-2.0
// Counts of n-grams.
#include <algorithm>
#include <cmath>
#include <set>

#include "frontend/onnx/call.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc::onnx {
namespace {

struct NgramPools {
  // Of each length from 1 on, all numbers in a row.
  std::vector<Extents> pools;
  int64_t least = 1, most = 1, skips = 0;
};

NgramPools NgramPoolsOf(Call& c) {
  NgramPools n;
  n.least = c.Int("min_gram_length");
  n.most = c.Int("max_gram_length");
  n.skips = c.Int("max_skip_count");
  c.Require(!c.HasAttribute("pool_strings"), "its n-grams are strings");
  const Extents pool = c.Ints("pool_int64s").value_or(Extents());
  const Extents starts = c.Ints("ngram_counts").value_or(Extents());
  c.Require(n.least >= 1 && n.most >= n.least && n.most <= 64 && n.skips >= 0 &&
                n.skips <= 64,
            "its n-grams have {} to {} elements, {} skipped", n.least, n.most,
            n.skips);
  c.Require(!starts.empty() && static_cast<int64_t>(starts.size()) >= n.most,
            "it counts n-grams of {} lengths, expected {}", starts.size(),
            n.most);
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto all = static_cast<int64_t>(pool.size());
    const int64_t begin = starts[i];
    const int64_t end = i + 1 < starts.size() ? starts[i + 1] : all;
    const auto length = static_cast<int64_t>(i) + 1;
    c.Require(
        0 <= begin && begin <= end && end <= all && (end - begin) % length == 0,
        "its pool of {} numbers has no n-grams of {} from {} to {}", all,
        length, begin, end);
    n.pools.emplace_back(pool.begin() + begin, pool.begin() + end);
    std::set<Extents> grams;
    for (int64_t at = begin; at < end; at += length) {
      c.Require(
          grams.emplace(pool.begin() + at, pool.begin() + at + length).second,
          "an n-gram stands twice in its pool");
    }
  }
  return n;
}

// How often each n-gram of a pool stands in x [rows, length]: [rows, n-grams].
Value CountsOf(Call& c, Value x, const Extents& pool, int64_t length,
               int64_t skips) {
  const int64_t rows = x.shape()[0], extent = x.shape()[1];
  const auto grams = static_cast<int64_t>(pool.size()) / length;
  Value total = c.Zeros({DType::kF32, Shape{rows, grams}});
  for (int64_t distance = 1; distance <= (length == 1 ? 1 : skips + 1);
       ++distance) {
    const int64_t starts = extent - (length - 1) * distance;
    if (starts < 1) break;
    Value found;
    for (int64_t i = 0; i < length; ++i) {
      Extents wanted;
      for (int64_t g = 0; g < grams; ++g)
        wanted.push_back(pool[g * length + i]);
      const int64_t at = i * distance;
      const Value part =
          c.Reshape(c.SliceAxis(x, 1, at, at + starts), Shape{rows, starts, 1});
      const Value equal =
          c.Op<op::NpiEqual>({part, c.ConstantInts(wanted, "wanted")});
      found = found ? c.Op<op::BroadcastLogicalAnd>({found, equal}) : equal;
    }
    total = c.Add(total, c.Sum(c.Cast(found, DType::kF32), {1}));
  }
  return total;
}

}  // namespace

void ImportTfIdfVectorizer(Call& c) {
  enum { kTf, kIdf, kTfIdf };
  const int mode = c.OneOf("mode", {"TF", "IDF", "TFIDF"}, -1);
  c.Require(mode >= 0, "attribute 'mode' is missing");
  const NgramPools n = NgramPoolsOf(c);
  const Extents places = c.Ints("ngram_indexes").value_or(Extents());
  const auto weights = c.Floats("weights");
  int64_t grams = 0;
  for (size_t i = 0; i < n.pools.size(); ++i) {
    grams += static_cast<int64_t>(n.pools[i].size() / (i + 1));
  }
  c.Require(static_cast<int64_t>(places.size()) == grams &&
                (!weights || weights->size() == places.size()),
            "it has {} n-grams, {} places and {} weights", grams, places.size(),
            weights ? weights->size() : 0);
  int64_t size = 0;
  for (const int64_t place : places) {
    c.Require(place >= 0 && place < (1 << 24), "a place is {}", place);
    size = std::max(size, place + 1);
  }
  c.Require(size > 0, "it has no n-grams");
  const Shape& shape = c.ShapeOf(0);
  c.Require(shape.rank() == 1 || shape.rank() == 2,
            "its data have {} axes, expected 1 or 2", shape.rank());
  const int64_t rows = shape.rank() == 2 ? shape[0] : 1;
  const int64_t extent = shape[shape.rank() - 1];
  c.Require(extent > 0, "its data have no elements");
  const Value x = c.Reshape(c.Cast(c.In(0), DType::kI64), Shape{rows, extent});
  // Column `grams` of the counts is for places without an n-gram.
  std::vector<Value> counts;
  for (size_t i = 0; i < n.pools.size(); ++i) {
    const auto length = static_cast<int64_t>(i) + 1;
    const auto own = static_cast<int64_t>(n.pools[i].size()) / length;
    if (own == 0) continue;
    const bool counted = length >= n.least && length <= n.most;
    counts.push_back(counted ? CountsOf(c, x, n.pools[i], length, n.skips)
                             : c.Zeros({DType::kF32, Shape{rows, own}}));
  }
  counts.push_back(c.Zeros({DType::kF32, Shape{rows, 1}}));
  Value all = c.Concat(counts, 1);
  if (mode != kTf) {
    std::vector<float> factors(grams + 1, 1);
    if (weights) std::ranges::copy(*weights, factors.begin());
    const Value factor =
        c.Constant(Tensor::FromFloats(Shape{grams + 1}, factors), "weights");
    if (mode == kIdf) {
      all =
          c.Cast(c.Op<op::NpiGreaterScalar>({all}, {.scalar = 0}), DType::kF32);
    }
    all = c.Mul(all, factor);
  }
  Extents from(size, grams);
  for (int64_t g = 0; g < grams; ++g) {
    c.Require(from[places[g]] == grams, "two n-grams have the place {}",
              places[g]);
    from[places[g]] = g;
  }
  const Value y = c.Op<op::Take>({all, c.ConstantInts(from, "places")},
                                 {.axis = 1, .mode = IndexMode::kClip});
  c.Give(0, shape.rank() == 2 ? y : c.Reshape(y, Shape{size}));
}

}  // namespace mxc::onnx
