// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/tile_unit.h"

#include <algorithm>
#include <utility>

#include "codegen/llvm/llvm.h"
#include "ir/support/check.h"
#include "ir/support/division.h"

namespace mxc::contraction {
namespace {

constexpr int64_t kTileRowBytes = 64;
constexpr int64_t kTileSumBytes = 4, kWordBytes = 4;
// The first register of data, of weights; sums are in front.
constexpr int64_t kFirstDataTile = 4, kFirstWeightTile = 6;

// 0: there is none.
llvm::Intrinsic::ID IntrinsicOf(const ProductUnit& unit) {
#define MXC_TILE_UNIT(unit_name, intrinsic) \
  if (unit.name == unit_name) return llvm::Intrinsic::intrinsic;
#include "codegen/cpu/contraction/tile_units.def"
#undef MXC_TILE_UNIT
  return 0;
}

// The stack where the function begins, so that loops do not take more of it.
llvm::Value* TileMemory(KernelFunction& kernel, int64_t bytes) {
  llvm::BasicBlock& entry = kernel.function()->getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.begin());
  auto* memory = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), bytes));
  memory->setAlignment(llvm::Align(kTileRowBytes));
  return memory;
}

// Columns that two tiles of data hold: halves of a wide tile.
int64_t FirstTileWidth(int64_t width) {
  return width > kTilePixels ? DivideUp(width, kDataTiles) : width;
}

}  // namespace

bool IsTileUnit(const ProductUnit& unit) { return IntrinsicOf(unit) != 0; }

const ProductUnit& TileUnitOf(const CpuMachine& machine,
                              const ContractionTypes& types) {
  const auto unit =
      std::ranges::find_if(machine.products, [&](const ProductUnit& each) {
        return IsTileUnit(each) &&
               each.Takes(types.data, types.weight, types.sum);
      });
  MXC_CHECK(unit != machine.products.end(), "no unit takes tiles");
  return *unit;
}

std::vector<TileRun> SplitForTiles(int64_t rows, int64_t columns) {
  const bool narrow = columns <= kTilePixels;
  std::vector<TileRun> runs = SplitPixels(
      rows, columns,
      static_cast<int>(narrow ? columns : kDataTiles * kTilePixels));
  for (TileRun& run : runs) {
    run.rows = narrow ? std::min<int64_t>(rows, kDataTiles) : 1;
  }
  return runs;
}

// Palette 1: bytes of a row from byte 16 on, two for each register, and rows
// from byte 48 on.
void ConfigureTiles(KernelFunction& kernel, int64_t width) {
  std::vector<uint8_t> bytes(kTileRowBytes, 0);
  bytes[0] = 1;
  const auto set = [&](int64_t tile, int64_t rows) {
    bytes[16 + 2 * tile] = kTileRowBytes;
    bytes[48 + tile] = static_cast<uint8_t>(rows);
  };
  const int64_t first = FirstTileWidth(width);
  const int64_t counts[] = {first, width > first ? width - first : first};
  for (int64_t a = 0; a < kDataTiles; ++a) {
    for (int64_t v = 0; v < 2; ++v) set(2 * a + v, counts[a]);
    set(kFirstDataTile + a, counts[a]);
    set(kFirstWeightTile + a, kTileRowBytes / kWordBytes);
  }
  auto& b = kernel.b();
  llvm::Value* memory = TileMemory(kernel, kTileRowBytes);
  b.CreateAlignedStore(llvm::ConstantDataVector::get(kernel.context(), bytes),
                       memory, llvm::Align(kTileRowBytes));
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::x86_ldtilecfg, {memory});
}

void ReleaseTiles(KernelFunction& kernel) {
  auto& b = kernel.b();
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::x86_tilerelease, {});
}

TileUnit::TileUnit(KernelFunction& kernel, const Nest& nest, int64_t width,
                   int64_t rows, int vectors)
    : kernel_(kernel), nest_(nest), pixels_(width * rows), vectors_(vectors) {
  const int64_t first = FirstTileWidth(width);
  data_.push_back({0, first, 0});
  if (width > first) {
    data_.push_back({first, width - first, first * nest.columns.data_stride});
  }
  if (rows > 1) data_.push_back({width, width, nest.rows.data_stride});
  MXC_CHECK(std::ssize(data_) <= kDataTiles && rows <= kDataTiles &&
            vectors <= 2);
}

llvm::Value* TileUnit::At(llvm::Value* base, int64_t elements) {
  return kernel_.ElementAddress(base, kernel_.Int(elements),
                                SizeOf(nest_.unit.data));
}

llvm::Value* TileUnit::Tile(int64_t number) {
  return kernel_.b().getInt8(static_cast<uint8_t>(number));
}

void TileUnit::Emit(unsigned intrinsic, std::vector<llvm::Value*> arguments) {
  kernel_.b().CreateIntrinsic(kernel_.b().getVoidTy(), intrinsic, arguments);
}

void TileUnit::Zero() {
  for (int64_t a = 0; a < std::ssize(data_); ++a) {
    for (int v = 0; v < vectors_; ++v) {
      Emit(llvm::Intrinsic::x86_tilezero, {Tile(2 * a + v)});
    }
  }
}

void TileUnit::Add(llvm::Value* data, llvm::Value* weight) {
  constexpr auto kLoadTile = llvm::Intrinsic::x86_tileloadd64;
  // A word for each output of the panel.
  const int64_t size = SizeOf(nest_.unit.data);
  const int64_t row = nest_.panel_width() * kWordBytes;
  for (int v = 0; v < vectors_; ++v) {
    Emit(kLoadTile,
         {Tile(kFirstWeightTile + v),
          At(weight, kWordBytes / size * v * nest_.lanes), kernel_.Int(row)});
  }
  const int64_t pixel = nest_.columns.data_stride * size;
  for (int64_t a = 0; a < std::ssize(data_); ++a) {
    Emit(kLoadTile, {Tile(kFirstDataTile + a), At(data, data_[a].offset),
                     kernel_.Int(pixel)});
    for (int v = 0; v < vectors_; ++v) {
      Emit(IntrinsicOf(nest_.unit), {Tile(2 * a + v), Tile(kFirstDataTile + a),
                                     Tile(kFirstWeightTile + v)});
    }
  }
}

std::vector<llvm::Value*> TileUnit::Sums() {
  auto& b = kernel_.b();
  const int64_t row = vectors_ * kTileRowBytes;
  llvm::Value* memory = TileMemory(kernel_, pixels_ * row);
  const auto at = [&](int64_t pixel, int v) {
    return kernel_.ElementAddress(
        memory, kernel_.Int(pixel * row + v * kTileRowBytes), 1);
  };
  for (int64_t a = 0; a < std::ssize(data_); ++a) {
    for (int v = 0; v < vectors_; ++v) {
      Emit(llvm::Intrinsic::x86_tilestored64,
           {Tile(2 * a + v), at(data_[a].first, v), kernel_.Int(row)});
    }
  }
  llvm::Type* type =
      kernel_.VectorOf(kernel_.ValueType(nest_.types.sum), nest_.lanes);
  std::vector<llvm::Value*> sums;
  for (int64_t pixel = 0; pixel < pixels_; ++pixel) {
    for (int v = 0; v < vectors_; ++v) {
      sums.push_back(
          b.CreateAlignedLoad(type, at(pixel, v), llvm::Align(kTileSumBytes)));
    }
  }
  return sums;
}

}  // namespace mxc::contraction
