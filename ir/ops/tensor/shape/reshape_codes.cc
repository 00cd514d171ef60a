// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/shape/reshape_codes.h"

#include <algorithm>

#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

class ReshapeWalk {
 public:
  ReshapeWalk(TypeInference& t, const Shape& in, const Extents& target,
              int label)
      : t_(t), in_(in), target_(target), label_(label) {}

  // False once a constraint is violated.
  bool Run() {
    for (size_t i = 0; i < target_.size(); ++i) {
      if (!Take(i)) return false;
    }
    return true;
  }

  Extents out;
  int inferred = -1;  // position in `out`

 private:
  bool Take(size_t& i) {
    switch (target_[i]) {
      case kCopyExtent:
        return Copy();
      case kInferExtent:
        return Infer();
      case kCopyRest:
        return CopyRest();
      case kMergeTwo:
        return Merge();
      case kSplitInTwo:
        return Split(i);
      case kDropUnit:
        return Drop();
    }
    if (!t_.Require(target_[i] > 0, "C{}: shape {} has the unknown code {}",
                    label_, ToString(target_), target_[i])) {
      return false;
    }
    out.push_back(target_[i]);
    ++next_;
    return true;
  }

  bool Need(int axes) {
    return t_.Require(next_ + axes <= in_.rank(),
                      "C{}: shape {} asks for more axes than the {} of the "
                      "input {}",
                      label_, ToString(target_), in_.rank(), ToString(in_));
  }

  bool Copy() {
    if (!Need(1)) return false;
    out.push_back(in_[next_++]);
    return true;
  }

  bool Infer() {
    if (!t_.Require(inferred < 0, "C{}: shape {} infers more than one extent",
                    label_, ToString(target_))) {
      return false;
    }
    inferred = static_cast<int>(out.size());
    out.push_back(Shape::kUnknownDim);
    ++next_;
    return true;
  }

  bool CopyRest() {
    while (next_ < in_.rank()) out.push_back(in_[next_++]);
    return true;
  }

  bool Merge() {
    if (!Need(2)) return false;
    const auto merged = RequireProduct(t_, in_[next_], in_[next_ + 1]);
    if (!merged) return false;
    out.push_back(*merged);
    next_ += 2;
    return true;
  }

  bool Split(size_t& i) {
    if (!Need(1)) return false;
    if (!t_.Require(i + 2 < target_.size(),
                    "C{}: shape {} lacks the two factors of a split", label_,
                    ToString(target_))) {
      return false;
    }
    const int64_t whole = in_[next_++];
    int64_t a = target_[++i], b = target_[++i];
    const bool legal = (a > 0 && b > 0) || (a > 0 && b == kInferExtent) ||
                       (a == kInferExtent && b > 0);
    if (whole != Shape::kUnknownDim && legal) {
      if (a == kInferExtent) a = whole / b;
      if (b == kInferExtent) b = whole / a;
    }
    const bool divides =
        legal && (whole == Shape::kUnknownDim ||
                  CheckedProduct({a, b}) == std::optional(whole));
    out.push_back(a);
    out.push_back(b);
    return t_.Require(divides, "C{}: factors {} and {} do not split extent {}",
                      label_ + 1, a, b, whole);
  }

  bool Drop() {
    if (!Need(1)) return false;
    const int64_t extent = in_[next_++];
    return t_.Require(extent == 1 || extent == Shape::kUnknownDim,
                      "C{}: shape {} drops an extent of {}, expected 1", label_,
                      ToString(target_), extent);
  }

  TypeInference& t_;
  const Shape& in_;
  const Extents& target_;
  int label_;
  int next_ = 0;  // axis of the input
};

// The factor that `known`, the product of the other extents, leaves over.
std::optional<int64_t> Quotient(const Shape& whole, Extents others) {
  const auto elements = CheckedProduct(whole.dims());
  const auto known = CheckedProduct(others);
  if (!elements || !known || *known <= 0) return std::nullopt;
  return *elements % *known == 0 ? std::optional(*elements / *known)
                                 : std::nullopt;
}

Extents Without(Extents extents, int position) {
  extents.erase(extents.begin() + position);
  return extents;
}

bool HasUnknown(const Extents& extents) {
  return std::ranges::find(extents, Shape::kUnknownDim) != extents.end();
}

// In reverse, a split stands after its two factors: move it before them.
void TurnAround(Shape& in, Extents& target) {
  Extents dims = in.dims();
  std::ranges::reverse(dims);
  in = Shape(dims);
  std::ranges::reverse(target);
}

}  // namespace

Shape ReshapeByCodes(TypeInference& t, Shape in, Extents target, bool reverse,
                     int first_label) {
  if (!in.known_rank()) return {};
  if (reverse) TurnAround(in, target);
  ReshapeWalk walk(t, in, target, first_label);
  if (!walk.Run()) return {};
  Extents out = walk.out;
  if (walk.inferred >= 0 && in.known()) {
    const Extents others = Without(out, walk.inferred);
    if (!HasUnknown(others)) {
      const auto extent = Quotient(in, others);
      if (!t.Require(extent.has_value(),
                     "C{}: no extent in place of -1 gives {} the elements of "
                     "{}",
                     first_label + 2, ToString(target), ToString(in))) {
        return {};
      }
      out[walk.inferred] = *extent;
    }
  }
  if (reverse) std::ranges::reverse(out);
  return Shape(std::move(out));
}

Shape SolveInput(const Shape& in, const Shape& out) {
  if (!in.known_rank() || !out.known()) return in;
  if (std::ranges::count(in.dims(), Shape::kUnknownDim) != 1) return in;
  const auto at = std::ranges::find(in.dims(), Shape::kUnknownDim);
  const int axis = static_cast<int>(at - in.dims().begin());
  const auto extent = Quotient(out, Without(in.dims(), axis));
  Shape solved = in;
  if (extent) solved[axis] = *extent;
  return solved;
}

}  // namespace mxc
