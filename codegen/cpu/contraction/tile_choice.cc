// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/tile_choice.h"

#include <fmt/format.h>

#include "ir/support/check.h"

namespace mxc::contraction {

KernelChoice MakeChoice(std::string_view algorithm, const TileChoice& tile) {
  return {std::string(algorithm),
          {tile.lanes, tile.tile.pixels, tile.tile.vectors}};
}

TileChoice TileOf(const KernelChoice& choice) {
  MXC_CHECK(choice.numbers.size() == 3, "{} numbers of '{}'",
            choice.numbers.size(), choice.algorithm);
  const auto number = [&](size_t i) {
    return static_cast<int>(choice.numbers[i]);
  };
  return {number(0), {number(1), number(2)}};
}

std::string Describe(const KernelChoice& choice) {
  return fmt::format("{} {}c", choice.algorithm, TileOf(choice).lanes);
}

std::string NameOf(const KernelCandidate& kernel) {
  const RegisterTile tile = TileOf(kernel.choice).tile;
  std::string name = fmt::format("{} {}x{}", Describe(kernel.choice),
                                 tile.pixels, tile.vectors);
  if (kernel.data_block == 1) name += " row-major";
  if (kernel.parts > 1) name += fmt::format(" {} parts", kernel.parts);
  return name;
}

}  // namespace mxc::contraction
