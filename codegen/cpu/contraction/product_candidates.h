// SPDX-License-Identifier: Apache-2.0
// The candidates for products of matrices by vectors' multiply-adds, or by units
// that are as wide.
#pragma once

#include <vector>

#include "codegen/cpu/contraction/candidate_costs.h"

namespace mxc::contraction {

class ProductCandidates : private CandidateCosts {
 public:
  ProductCandidates(const Target& target, const ContractionTypes& types)
      : CandidateCosts(target, types) {}

  // The weight packed, or with its rows as they are.
  void AddGemm(const Contraction& c, std::vector<KernelCandidate>& out) const;
  // The weight in blocks of its rows, as other steps leave it, or as it is: its
  // outputs are the lanes, and the output is blocked so. Padded rows are wasted.
  void AddGemmByRows(const Contraction& c,
                     std::vector<KernelCandidate>& out) const;

 private:
  // Of whole panels.
  RegisterTile GemmTile(const Contraction& c, int panel_vectors) const;
  void AddGemmOfRows(const Contraction& c, const KernelCandidate& packed,
                     std::vector<KernelCandidate>& out) const;
  void AddGemmOfColumns(const Contraction& c,
                        std::vector<KernelCandidate>& out) const;
  // What rows of a weight that is not packed take, of the time of one that is.
  double RowsCost(const Contraction& c) const;
  void AddGemmOfDigits(const Contraction& c, const KernelCandidate& packed,
                       std::vector<KernelCandidate>& out) const;
  void AddDots(const Contraction& c, RegisterTile gemm, int panel_vectors,
               std::vector<KernelCandidate>& out) const;
  void TurnData(const Contraction& c, KernelCandidate& candidate) const;
};

}  // namespace mxc::contraction
