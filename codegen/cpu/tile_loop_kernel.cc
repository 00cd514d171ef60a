// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/tile_loop_kernel.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "ir/program/in_place.h"
#include "ir/program/memory.h"
#include "ir/program/steps/tile_loop.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

// What a tile's buffer counts from: an operand of the step, or the scratch.
struct TileAddress {
  int operand = -1;
  WindowBytes bytes = {};
};

struct TileLoopKernel {
  struct Call {
    InnerCall kernel;
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
      addresses.push_back({static_cast<int>(i), *bytes});
      continue;
    }
    const int root = tile.Root(static_cast<int>(i));
    const int64_t into = tile.BytesIntoRoot(static_cast<int>(i));
    TileAddress address;
    if (static_cast<size_t>(root) < operands.size()) {
      address = addresses[root];
    } else {
      address.bytes.begin = tile.buffers[root].offset;
    }
    address.bytes.begin += into;
    addresses.push_back(address);
  }
  return addresses;
}

class TileLoopEmitter {
 public:
  TileLoopEmitter(KernelFunction& kernel, const TileLoopKernel& loop)
      : kernel_(kernel),
        loop_(loop),
        caller_(kernel, loop.most_operands(), loop.scratch_begin) {}

  void Emit() {
    kernel_.Loop(kernel_.begin(), kernel_.end(), 1, [&](llvm::Value* tile) {
      for (const TileLoopKernel::Call& call : loop_.calls) {
        std::vector<llvm::Value*> operands;
        for (const TileAddress& address : call.operands) {
          operands.push_back(Address(address, tile));
        }
        caller_.Call(call.kernel, operands);
      }
    });
  }

 private:
  llvm::Value* Address(const TileAddress& address, llvm::Value* tile) {
    llvm::Value* base = address.operand < 0 ? kernel_.scratch()
                                            : kernel_.operand(address.operand);
    auto& b = kernel_.b();
    llvm::Value* bytes = kernel_.Int(address.bytes.begin);
    for (const Slide& slide : address.bytes.slides) {
      llvm::Value* part = tile;
      if (slide.repeats > 1) {
        part = b.CreateUDiv(part, kernel_.Int(slide.repeats));
      }
      if (slide.period > 0) {
        part = b.CreateURem(part, kernel_.Int(slide.period));
      }
      bytes = b.CreateAdd(bytes, b.CreateMul(part, kernel_.Int(slide.advance)));
    }
    return caller_.At(base, bytes);
  }

  KernelFunction& kernel_;
  const TileLoopKernel& loop_;
  InnerCaller caller_;
};

}  // namespace

FunctionPlan PlanTileLoop(const Program& program, const Step& step,
                          std::span<const InnerCall> calls) {
  const Program& tile = *step.loop()->tile;
  const std::vector<TileAddress> addresses = AddressesOf(program, step);
  auto loop = std::make_shared<TileLoopKernel>();
  loop->scratch_begin = AlignedBytes(tile.arena_bytes());
  FunctionPlan plan;
  plan.tasks = step.loop()->tiles;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].tasks == 0) continue;
    TileLoopKernel::Call call = {calls[i], {}};
    for (const int operand : tile.steps[i].operands()) {
      call.operands.push_back(addresses[operand]);
    }
    loop->calls.push_back(std::move(call));
  }
  plan.scratch_bytes = loop->scratch_begin + ScratchOf(calls);
  plan.emit = [loop](KernelFunction& kernel) {
    TileLoopEmitter(kernel, *loop).Emit();
  };
  return plan;
}

}  // namespace mxc
