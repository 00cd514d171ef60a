// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/tile_loop_kernel.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "ir/program/in_place.h"
#include "ir/support/check.h"
#include "runtime/abi/abi.h"

namespace mxc {
namespace {

// What a tile's buffer counts from: an operand of the step, or the scratch.
struct TileAddress {
  int operand = -1;
  int64_t begin = 0, advance = 0;  // bytes
};

struct TileLoopKernel {
  struct Call {
    TileCall kernel;
    std::vector<TileAddress> operands;
  };
  std::vector<Call> calls;
  int64_t scratch_begin = 0;  // of the steps' own, behind the tile's buffers

  size_t most_operands() const {
    size_t most = 0;
    for (const Call& call : calls) most = std::max(most, call.operands.size());
    return most;
  }
};

int64_t Aligned(int64_t bytes) {
  return (bytes + MXC_ARENA_ALIGNMENT - 1) / MXC_ARENA_ALIGNMENT *
         MXC_ARENA_ALIGNMENT;
}

std::vector<TileAddress> AddressesOf(const Program& program, const Step& step) {
  const TileLoop& loop = *step.loop();
  const Program& tile = *loop.tile;
  const std::vector<int> operands = step.operands();
  std::vector<TileAddress> addresses;
  for (size_t i = 0; i < tile.buffers.size(); ++i) {
    if (i < operands.size()) {
      const auto bytes = BytesOf(loop.windows[i], program.buffers[operands[i]],
                                 tile.buffers[i]);
      MXC_CHECK(bytes, "window {} of step '{}'", i, step.name);
      addresses.push_back({static_cast<int>(i), bytes->begin, bytes->advance});
      continue;
    }
    const int root = tile.Root(static_cast<int>(i));
    const int64_t into = tile.BytesIntoRoot(static_cast<int>(i));
    TileAddress address;
    if (static_cast<size_t>(root) < operands.size()) {
      address = addresses[root];
    } else {
      address.begin = tile.buffers[root].offset;
    }
    address.begin += into;
    addresses.push_back(address);
  }
  return addresses;
}

class TileLoopEmitter {
 public:
  TileLoopEmitter(KernelFunction& kernel, const TileLoopKernel& loop)
      : kernel_(kernel), loop_(loop), b_(kernel.b()), pointer_(b_.getPtrTy()) {}

  void Emit() {
    operands_ =
        b_.CreateAlloca(llvm::ArrayType::get(pointer_, loop_.most_operands()));
    scratch_ = At(kernel_.scratch(), kernel_.Int(loop_.scratch_begin));
    kernel_.Loop(kernel_.begin(), kernel_.end(), 1, [&](llvm::Value* tile) {
      for (const TileLoopKernel::Call& call : loop_.calls) Emit(call, tile);
    });
  }

 private:
  llvm::Value* At(llvm::Value* base, llvm::Value* bytes) {
    return kernel_.ElementAddress(base, bytes, 1);
  }

  llvm::Value* Address(const TileAddress& address, llvm::Value* tile) {
    llvm::Value* base = address.operand < 0 ? kernel_.scratch()
                                            : kernel_.operand(address.operand);
    llvm::Value* bytes = kernel_.Int(address.begin);
    if (address.advance != 0) {
      bytes =
          b_.CreateAdd(bytes, b_.CreateMul(tile, kernel_.Int(address.advance)));
    }
    return At(base, bytes);
  }

  void Emit(const TileLoopKernel::Call& call, llvm::Value* tile) {
    for (size_t i = 0; i < call.operands.size(); ++i) {
      b_.CreateStore(Address(call.operands[i], tile),
                     b_.CreateConstInBoundsGEP1_64(pointer_, operands_, i));
    }
    auto* callee = llvm::cast<llvm::Function>(
        kernel_.module()
            .getOrInsertFunction(call.kernel.kernel,
                                 kernel_.function()->getFunctionType())
            .getCallee());
    callee->setVisibility(llvm::GlobalValue::HiddenVisibility);
    if (call.kernel.scratch_bytes > 0) {
      b_.CreateStore(b_.getInt64(0), scratch_);  // MXC_SCRATCH_NOTE
    }
    b_.CreateCall(callee, {operands_, kernel_.Int(0),
                           kernel_.Int(call.kernel.tasks), scratch_});
  }

  KernelFunction& kernel_;
  const TileLoopKernel& loop_;
  KernelFunction::Builder& b_;
  llvm::Type* pointer_;
  llvm::Value* operands_ = nullptr;
  llvm::Value* scratch_ = nullptr;
};

}  // namespace

KernelPlan PlanTileLoop(const Program& program, const Step& step,
                        std::span<const TileCall> calls) {
  const Program& tile = *step.loop()->tile;
  const std::vector<TileAddress> addresses = AddressesOf(program, step);
  auto loop = std::make_shared<TileLoopKernel>();
  loop->scratch_begin = Aligned(tile.arena_bytes);
  KernelPlan plan;
  plan.what = "tiles";
  plan.tasks = step.loop()->tiles;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].tasks == 0) continue;
    TileLoopKernel::Call call = {calls[i], {}};
    for (const int operand : tile.steps[i].operands()) {
      call.operands.push_back(addresses[operand]);
    }
    loop->calls.push_back(std::move(call));
    plan.scratch_bytes = std::max(plan.scratch_bytes, calls[i].scratch_bytes);
  }
  plan.scratch_bytes += loop->scratch_begin;
  plan.emit = [loop](KernelFunction& kernel) {
    TileLoopEmitter(kernel, *loop).Emit();
  };
  return plan;
}

}  // namespace mxc
