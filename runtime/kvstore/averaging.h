// SPDX-License-Identifier: Apache-2.0
// Workers that train by themselves and meet every few steps: what they have in
// common lives on servers, and follows them by the sum of what they push.
//
//   elastic averaging (Zhang, Choromanska, LeCun, arXiv 1412.6651; Torch's
//   AllReduceEA): every `period` steps δ_r = α·(x_r − c), x_r ← x_r − δ_r, and
//   c ← c + Σ_r δ_r. It settles for α < 2 / (N + 1)
//   block momentum (Chen, Huo, ICASSP 2016; CNTK's BMUF): after each block of
//   `period` steps s ← η·s + (1 − η)·ζ·Σ_r (w − x_r), w ← w − s, and x_r ← w
//
// Whoever has finished is not waited for, and pulls at nothing any more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kvstore/shelf.h"

namespace mxc::kvstore {

struct Averaging {
  enum class Rule { kElastic, kBlockMomentum };
  Rule rule = Rule::kElastic;
  uint32_t period = 10;  // steps
  double alpha = 0;      // α; 0: 0.9 / N
  double momentum = -1;  // η in [0, 1); negative: 1 − 1 / N
  double rate = 1;       // ζ

  // Its numbers for so many workers, checked.
  StatusOr<Averaging> For(uint32_t workers) const;
  // Equal for equal ones, to be compared and read.
  std::string text() const;
};

// "allreduce_ea", "block_momentum"; nothing: it averages no parameters.
inline std::optional<Averaging::Rule> ParseRule(std::string_view kvstore) {
  if (kvstore == "allreduce_ea") return Averaging::Rule::kElastic;
  if (kvstore == "block_momentum") return Averaging::Rule::kBlockMomentum;
  return std::nullopt;
}

// What the workers have in common, of each key. Block momentum's s of a key is
// the value of the key of its group that is not trained, where there is one.
std::unique_ptr<Shelf> MakeAveragingShelf(const KeyTable& keys,
                                          const Averaging& averaging);

// A worker's part of a meeting: what it pushes, of what it has and what they
// had in common. An elastic one moves `own` towards that.
void Meet(const Averaging& averaging, std::span<float> own,
          std::span<const float> common, std::span<float> push);

}  // namespace mxc::kvstore
