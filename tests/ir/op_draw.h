// SPDX-License-Identifier: Apache-2.0
// Random attributes, shapes and values of operators.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// How wild what is drawn may be: nearly always illegal or extreme, or mostly
// what a network would say (small numbers, lists of one length, first shapes
// that fit these lists), or that with some of the numbers and shapes as nobody
// means them: 0, negative, near the ends of their types, of many axes.
enum class Manner { kWild, kTame, kExtreme };

class Draw {
 public:
  explicit Draw(uint32_t seed, Manner manner = Manner::kWild)
      : engine_(seed),
        tame_(manner != Manner::kWild),
        axes_(static_cast<int>(Number(1, 3))),
        extreme_(manner == Manner::kExtreme ? Number(2, 40) : 0) {}

  int64_t Number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  template <class T>
  const T& Of(const std::vector<T>& list) {
    return list[Number(0, static_cast<int64_t>(list.size()) - 1)];
  }

  std::string Integer();
  std::string Fraction();
  std::string List(const std::string& none);

  // Now and then a number that nobody means, else `tame`.
  int64_t MaybeExtreme(int64_t tame);

  Extents SmallShape();
  // Of input 0.
  Extents FirstShape();
  bool tame() const { return tame_; }
  double Real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  // Some of them extreme, infinite or NaN.
  Tensor Values(const Shape& shape);

 private:
  std::mt19937 engine_;
  const bool tame_;
  const int axes_;         // the length of tame lists
  const int64_t extreme_;  // one number in so many is; 0: none
};

// Attributes, legal or nearly so.
std::vector<AttrText> DrawAttrs(const Operator& op, Draw& draw);

// How many inputs the operator has with these attributes; -1 if they are bad,
// or the inputs too many.
int CountInputs(const Operator& op, const std::vector<AttrText>& attrs);

// Shapes that often agree: each repeats the first, or is drawn anew, or is left
// to be inferred.
std::vector<Shape> DrawShapes(Draw& draw, int count);

}  // namespace mxc
