// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/transposed_tile.h"

#include <algorithm>
#include <bit>
#include <unordered_set>
#include <utility>

#include "codegen/schedule/free_variables.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

constexpr int kThreadsOfTile = 256;
// Of a row of a tile, which is a line of the caches.
constexpr int64_t kRowBytes = 128;
constexpr int64_t kMostRow = 64;
// Memory yields so much at once: shorter rows are as well read across.
constexpr int64_t kLeastRowBytes = 32;
constexpr int64_t kSharedBytes = 48 << 10;
// Rows begin in another bank each.
constexpr int64_t kBankBytes = 4;

// The loop along which an input is read element by element while the output
// jumps; -1: none.
int ReadAlong(const LoopNest& nest, const NestOperand& operand,
              const ExprNode& load) {
  const Affine at = ToAffine(load.args[0], nest.Ranges());
  const LoopDim& lane = nest.dims[nest.lane_dim];
  const int64_t stride = at.CoefficientOf(lane.var);
  if (at.HidesVar(lane.var) || stride == 0 || stride == 1) return -1;
  // Read whatever the rest of the expression says.
  const auto bounds = Bounds(at, nest.Ranges());
  if (!bounds || bounds->low < 0 || bounds->high >= operand.layout.reach()) {
    return -1;
  }
  for (size_t k = 0; k < nest.dims.size(); ++k) {
    const int var = nest.dims[k].var;
    if (!at.HidesVar(var) && at.CoefficientOf(var) == 1) {
      return static_cast<int>(k);
    }
  }
  return -1;
}

// Those loads are staged that run along the loop of most bytes.
void FindLoads(TransposedTile& tile) {
  const LoopNest& nest = tile.nest();
  std::vector<std::vector<StagedLoad>> along(nest.dims.size());
  std::unordered_set<const ExprNode*> seen;
  const auto visit = [&](const Expr& e, const auto& self) -> void {
    if (!seen.insert(e.get()).second) return;
    if (e->kind == ExprKind::kLoad) {
      const NestOperand& operand =
          tile.map->operands[static_cast<size_t>(e->index)];
      const int loop = ReadAlong(nest, operand, *e);
      if (loop < 0) return;
      auto& found = along[static_cast<size_t>(loop)];
      const auto same = [&](const StagedLoad& other) {
        return Equal(other.load, e);
      };
      if (std::ranges::none_of(found, same)) {
        found.push_back({e, operand.dtype, 0});
      }
      return;
    }
    for (const Expr& arg : e->args) self(arg, self);
  };
  for (const Expr& value : nest.values) visit(value, visit);
  const auto bytes = [](const std::vector<StagedLoad>& loads) {
    int64_t sum = 0;
    for (const StagedLoad& each : loads) sum += each.element_bytes();
    return sum;
  };
  const auto most = std::ranges::max_element(along, {}, bytes);
  if (most == along.end() || most->empty()) return;
  tile.across = static_cast<int>(most - along.begin());
  tile.loads = std::move(*most);
}

// Sizes of the tile; false where rows are too short for one.
bool ShapeTile(TransposedTile& tile) {
  const LoopNest& nest = tile.nest();
  int64_t narrowest = 8;
  for (const StagedLoad& each : tile.loads) {
    narrowest = std::min(narrowest, each.element_bytes());
  }
  for (const int output : nest.outputs) {
    narrowest = std::min<int64_t>(
        narrowest,
        SizeOf(tile.map->operands[static_cast<size_t>(output)].dtype));
  }
  const int64_t columns = tile.lane().extent, rows = tile.read().extent;
  if (std::min(columns, rows) * narrowest < kLeastRowBytes) return false;
  const bool vectors = columns % nest.lanes == 0 && rows % nest.lanes == 0;
  tile.lanes = vectors ? nest.lanes : 1;
  const auto edge = [&](int64_t extent) {
    const int64_t most = std::min(kMostRow, kRowBytes / narrowest);
    return std::min(most, static_cast<int64_t>(
                              std::bit_ceil(static_cast<uint64_t>(extent))));
  };
  tile.columns = edge(columns);
  tile.rows = edge(rows);
  for (StagedLoad& each : tile.loads) {
    // Elements of eight bytes are aligned to those.
    each.begin = DivideUp(tile.shared_bytes, int64_t{8}) * 8;
    tile.shared_bytes = each.begin + tile.columns * tile.pitch(each);
  }
  tile.blocks = DivideUp(columns, tile.columns) * DivideUp(rows, tile.rows);
  for (size_t k = 0; k < nest.dims.size(); ++k) {
    const int loop = static_cast<int>(k);
    if (loop == nest.lane_dim || loop == tile.across) continue;
    tile.blocks *= nest.dims[k].extent;
  }
  return tile.shared_bytes <= kSharedBytes && tile.blocks < int64_t{1} << 31;
}

bool IsElementwise(const LoopNest& nest) {
  const bool reduces = std::ranges::any_of(nest.values, [](const Expr& value) {
    return FreeVariables().Of(value).reduces;
  });
  return !reduces && nest.borders.empty() && nest.kept.empty();
}

}  // namespace

int64_t TransposedTile::pitch(const StagedLoad& load) const {
  return rows * load.element_bytes() +
         std::max(kBankBytes, load.element_bytes());
}

int TransposedTile::threads() const {
  return static_cast<int>(
      std::min<int64_t>(kThreadsOfTile, columns * rows / lanes));
}

std::optional<TransposedTile> TransposedTileOf(
    std::shared_ptr<const MapNests> map) {
  if (map->nests.size() != 1) return std::nullopt;
  const LoopNest& nest = map->nests[0];
  if (nest.lane_dim < 0 || !IsElementwise(nest)) return std::nullopt;
  TransposedTile tile;
  tile.map = std::move(map);
  FindLoads(tile);
  if (tile.across < 0 || !ShapeTile(tile)) return std::nullopt;
  return tile;
}

}  // namespace mxc
