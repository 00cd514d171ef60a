// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/entry_function.h"

#include <algorithm>
#include <unordered_map>

#include "codegen/llvm/session.h"

namespace mxc {
namespace {

class EntryEmitter {
 public:
  EntryEmitter(llvm::Module& module, const EntryFunction& entry,
               const EntryForm& form)
      : module_(module),
        entry_(entry),
        form_(form),
        builder_(module.getContext()),
        pointer_(builder_.getPtrTy()),
        first_tensor_(entry.has_states ? 3 : 2) {}

  void Run() {
    const size_t parameters =
        first_tensor_ + entry_.inputs.size() + entry_.outputs.size();
    std::vector<llvm::Type*> types(parameters, pointer_);
    if (form_.by_range) types.resize(parameters + 2, builder_.getInt32Ty());
    auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), types, false);
    function_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                       entry_.symbol, module_);
    builder_.SetInsertPoint(
        llvm::BasicBlock::Create(module_.getContext(), "entry", function_));
    unsigned parameter = static_cast<unsigned>(first_tensor_);
    for (const auto* list : {&entry_.inputs, &entry_.outputs}) {
      for (const int buffer : *list) {
        parameters_.try_emplace(buffer, parameter++);
      }
    }
    operands_ = builder_.CreateAlloca(
        llvm::ArrayType::get(pointer_, MostOperands(entry_.calls)));
    if (form_.by_range) {
      EmitRange(entry_.calls);
    } else {
      EmitAll(entry_.calls);
    }
    builder_.CreateRet(builder_.getInt32(0));
  }

 private:
  using Call = EntryFunction::Call;

  static size_t MostOperands(const std::vector<Call>& calls) {
    size_t most = 1;
    for (const Call& call : calls) {
      most = std::max({most, call.operands.size(), MostOperands(call.body),
                       MostOperands(call.other)});
    }
    return most;
  }

  void EmitAll(std::span<const Call> calls) {
    for (const Call& call : calls) {
      if (call.turns > 0) {
        EmitLoop(call);
      } else if (call.condition) {
        EmitBranch(call);
      } else {
        Emit(call);
      }
    }
  }

  // From the call that the first of the last two parameters counts to that before
  // the second's.
  void EmitRange(std::span<const Call> calls) {
    llvm::Value* last = function_->getArg(function_->arg_size() - 1);
    llvm::BasicBlock* after = Block("after");
    std::vector<llvm::BasicBlock*> blocks;
    for (size_t i = 0; i < calls.size(); ++i) blocks.push_back(Block("step"));
    blocks.push_back(after);
    auto* enter =
        builder_.CreateSwitch(function_->getArg(function_->arg_size() - 2),
                              after, static_cast<unsigned>(calls.size()));
    for (uint32_t i = 0; i < calls.size(); ++i) {
      enter->addCase(builder_.getInt32(i), blocks[i]);
      builder_.SetInsertPoint(blocks[i]);
      EmitAll(calls.subspan(i, 1));
      builder_.CreateCondBr(
          builder_.CreateICmpSGT(last, builder_.getInt32(i + 1)), blocks[i + 1],
          after);
    }
    builder_.SetInsertPoint(after);
  }

  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(module_.getContext(), name, function_);
  }

  llvm::Value* Load(const EntryFunction::Element& element) {
    const auto bits = static_cast<unsigned>(8 * SizeOf(element.dtype));
    return builder_.CreateLoad(builder_.getIntNTy(bits), Address(element.at));
  }

  // Whether a bit is set; the sign of a float says nothing.
  llvm::Value* IsTrue(const EntryFunction::Element& condition) {
    llvm::Value* value = Load(condition);
    if (IsFloat(condition.dtype)) value = builder_.CreateShl(value, 1);
    return builder_.CreateIsNotNull(value);
  }

  void EmitBranch(const Call& branch) {
    llvm::BasicBlock* then = Block("then");
    llvm::BasicBlock* otherwise = Block("else");
    llvm::BasicBlock* after = Block("after");
    builder_.CreateCondBr(IsTrue(branch.condition), then, otherwise);
    builder_.SetInsertPoint(then);
    EmitAll(branch.body);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(otherwise);
    EmitAll(branch.other);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  // How many turns there are at most.
  llvm::Value* TurnsOf(const Call& loop) {
    auto* i64 = builder_.getInt64Ty();
    llvm::Value* most = builder_.getInt64(static_cast<uint64_t>(loop.turns));
    if (!loop.count) return most;
    llvm::Value* count = builder_.CreateSExt(Load(loop.count), i64);
    count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count,
                                           builder_.getInt64(0));
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, most);
  }

  void EmitLoop(const Call& loop) {
    llvm::Value* most = builder_.getInt64(static_cast<uint64_t>(loop.turns));
    llvm::Value* turns = TurnsOf(loop);
    llvm::Value* zero = builder_.getInt64(0);
    llvm::Value* first = loop.last ? builder_.CreateSub(most, turns) : zero;
    llvm::Value* end = loop.last ? most : turns;
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* test = Block("test");
    llvm::BasicBlock* body = Block("turn");
    llvm::BasicBlock* after = Block("after");
    builder_.CreateBr(test);
    builder_.SetInsertPoint(test);
    llvm::PHINode* turn = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    llvm::Value* more = builder_.CreateICmpSLT(turn, end);
    if (loop.condition) {
      more = builder_.CreateAnd(more, IsTrue(loop.condition));
    }
    builder_.CreateCondBr(more, body, after);
    builder_.SetInsertPoint(body);
    turns_.push_back(turn);
    EmitAll(loop.body);
    turns_.pop_back();
    turn->addIncoming(first, before);
    turn->addIncoming(builder_.CreateAdd(turn, builder_.getInt64(1)),
                      builder_.GetInsertBlock());
    builder_.CreateBr(test);
    builder_.SetInsertPoint(after);
  }

  llvm::Value* At(llvm::Value* base, int64_t offset) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base,
                                               offset);
  }

  // The parameter that the buffer's offset counts from.
  static unsigned BaseOf(BufferKind kind) {
    if (kind == BufferKind::kConstant) return 0;
    return kind == BufferKind::kState ? 2 : 1;
  }

  llvm::Value* Address(int buffer) {
    if (const auto found = parameters_.find(buffer);
        found != parameters_.end()) {
      return function_->getArg(found->second);
    }
    return At(function_->getArg(BaseOf(entry_.kinds[buffer])),
              entry_.offsets[buffer]);
  }

  llvm::Value* Address(const EntryFunction::Operand& operand) {
    llvm::Value* address = At(Address(operand.buffer), operand.bytes);
    for (size_t k = 0; k < operand.advances.size(); ++k) {
      if (operand.advances[k] == 0) continue;
      auto* advance =
          builder_.getInt64(static_cast<uint64_t>(operand.advances[k]));
      address = builder_.CreateGEP(builder_.getInt8Ty(), address,
                                   builder_.CreateMul(turns_[k], advance));
    }
    return address;
  }

  void Emit(const Call& call) {
    for (size_t i = 0; i < call.operands.size(); ++i) {
      builder_.CreateStore(
          Address(call.operands[i]),
          builder_.CreateConstInBoundsGEP1_64(pointer_, operands_, i));
    }
    auto* i64 = builder_.getInt64Ty();
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(),
                                         {pointer_, i64, i64, pointer_}, false);
    auto* kernel = llvm::cast<llvm::Function>(
        module_.getOrInsertFunction(call.kernel, type).getCallee());
    kernel->setVisibility(llvm::GlobalValue::HiddenVisibility);
    llvm::Value* scratch = At(function_->getArg(1), entry_.scratch_offset);
    if (call.uses_scratch) {
      builder_.CreateStore(builder_.getInt64(0), scratch);  // MXC_SCRATCH_NOTE
    }
    llvm::Value* tasks = builder_.getInt64(static_cast<uint64_t>(call.tasks));
    if (form_.dealer.empty() || call.tasks == 1) {
      builder_.CreateCall(kernel,
                          {operands_, builder_.getInt64(0), tasks, scratch});
    } else {
      builder_.CreateCall(Dealer(), {kernel, operands_, tasks, scratch});
    }
  }

  llvm::FunctionCallee Dealer() {
    return module_.getOrInsertFunction(
        form_.dealer,
        llvm::FunctionType::get(
            builder_.getVoidTy(),
            {pointer_, pointer_, builder_.getInt64Ty(), pointer_}, false));
  }

  llvm::Module& module_;
  const EntryFunction& entry_;
  const EntryForm& form_;
  llvm::IRBuilder<> builder_;
  llvm::Type* pointer_;
  size_t first_tensor_;                           // the parameter
  std::unordered_map<int, unsigned> parameters_;  // by buffer
  llvm::Function* function_ = nullptr;
  llvm::Value* operands_ = nullptr;
  std::vector<llvm::Value*> turns_;  // of the loops around what is emitted
};

}  // namespace

std::string EmitEntryFunctions(std::span<const EntryFunction> entries,
                               const Target& target, const EntryForm& form) {
  return CompileModule(target, "mxc_entries", [&](llvm::Module& module) {
    for (const EntryFunction& entry : entries) {
      EntryEmitter(module, entry, form).Run();
    }
  });
}

}  // namespace mxc
