// SPDX-License-Identifier: Apache-2.0
// TileChoice: what the numbers of a KernelChoice are to the kernels of this
// folder.
#pragma once

#include <string>
#include <string_view>

#include "codegen/cpu/contraction/tiling.h"
#include "ir/program/kernel_catalog.h"

namespace mxc::contraction {

struct TileChoice {
  int lanes = 1;  // the channel block of data and output
  RegisterTile tile;
};

KernelChoice MakeChoice(std::string_view algorithm, const TileChoice& tile);
// Of one that the catalog offered.
TileChoice TileOf(const KernelChoice& choice);

// "winograd4 16c"
std::string Describe(const KernelChoice& choice);
// "winograd4 16c 14x2", with "row-major" where data are and "4 parts".
std::string NameOf(const KernelCandidate& kernel);

}  // namespace mxc::contraction
