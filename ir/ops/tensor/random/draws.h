// SPDX-License-Identifier: Apache-2.0
// How an element of _philox_attempt, _philox_sample and _philox_thinned draws.
// Rejection takes the first of a fixed number of attempts that is accepted, so
// that an element stays a function of its index; that none is happens less than
// once in 10^9 draws. Which one it is, is a tensor of its own: in one
// expression it would stand in every word of the block that is drawn for it.
// Sources: Marsaglia and Tsang, A Simple Method for Generating Gamma Variables,
// 2000; Hörmann, The Transformed Rejection Method for Generating Poisson Random
// Variables (PTRS), 1993.
#pragma once

#include "ir/ops/tensor/random/philox.h"

namespace mxc {

// Where each kind of draw finds its attempts.
inline constexpr int64_t kGammaNormal = 0, kGammaUniform = 16, kGammaBoost = 32;
inline constexpr int64_t kPoissonEvents = 64, kPoissonKept = 128;
inline constexpr int64_t kDrawAttempts = 16;  // of both
// PTRS wants means of at least that; so many events or more at that mean have
// probability 10^-18.
inline constexpr double kPtrsMean = 10;
inline constexpr int64_t kMostPtrsEvents = 48;

// What one element draws.
class PhiloxDraws {
 public:
  PhiloxDraws(const PhiloxAttrs& attrs, const Definition& def)
      : state_(StateOf(def, attrs.stream)),
        position_(Definition::Flatten(def.Indices(), def.OutShape())) {}

  PhiloxBlock Block(const Expr& attempt) const {
    return BlockOf(state_, position_, attempt);
  }
  Expr Uniform(const Expr& attempt) const {
    return UnitInterval(Block(attempt).first);
  }
  Expr Normal(const Expr& attempt) const { return NormalOf(Block(attempt)); }

 private:
  PhiloxState state_;
  Expr position_;
};

// In (0, 1].
Expr PositivePart(const Expr& bits);

// Inputs from `first` on are parameters: f32[1], or f32[P…] for an output of
// shape (P…, S…). Reports what is neither as `label`.
void ParameterTypes(const PhiloxAttrs& attrs, int first, int count,
                    std::string_view label, TypeInference& t);
// Of the output's element.
Expr ParameterOf(const Definition& def, int input);

// Draws of scale 1: d · (1 + c·x)³ of a normal x that is accepted. A shape
// below 1 is raised by 1.
struct GammaDraw {
  explicit GammaDraw(const Expr& shape);
  Expr Cube(const Expr& x) const;
  Expr d, c;
};

// Draws of a mean that counts as kPtrsMean at least: Events(u) of a u in
// [-½, ½) that is accepted.
struct PoissonDraw {
  explicit PoissonDraw(const Expr& mean);
  static Expr Shifted(const PhiloxBlock& block);
  static Expr Distance(const Expr& u);
  Expr Events(const Expr& u) const;
  Expr mean, a, b;
};

}  // namespace mxc
