// SPDX-License-Identifier: Apache-2.0
#include "codegen/web/team_module.h"

#include <algorithm>
#include <vector>

#include "codegen/llvm/llvm.h"
#include "codegen/llvm/session.h"
#include "codegen/llvm/transforms.h"
#include "ir/program/memory.h"
#include "runtime/abi/abi.h"

namespace mxc {
namespace {

using llvm::Value;

// Looks at the phase before a worker sleeps: some tens of microseconds, longer
// than what one thread does between two steps.
constexpr uint32_t kLooks = 1 << 14;

// Words that threads share, a line each.
enum Word : uint8_t {
  kWorkers,
  kPhase,     // deals so far
  kNext,      // the first task that nobody has taken
  kDone,      // workers that found no task left in this phase
  kSleeping,  // workers that a new phase has to wake, or more
  kKernel,
  kOperands,
  kTasks,
  kWords
};

class TeamWriter {
 public:
  TeamWriter(llvm::Module& module, int64_t scratch_bytes)
      : module_(module),
        b_(module.getContext()),
        i32_(b_.getInt32Ty()),
        i64_(b_.getInt64Ty()),
        pointer_(b_.getPtrTy()),
        scratch_bytes_(
            AlignedBytes(std::max<int64_t>(scratch_bytes, MXC_SCRATCH_NOTE))),
        words_(Define("mxc_team", int64_t{kWords} * kLineBytes)),
        scratch_(Define("mxc_team_scratch", kMostWorkers * scratch_bytes_)) {
    Define(kWorkerStacks, kMostWorkers * kWorkerStackBytes);
  }

  void Write() {
    WriteTake();
    WriteDeal();
    WriteBegin();
    WriteWork();
  }

 private:
  llvm::Constant* Define(const char* name, int64_t bytes) {
    llvm::Type* type =
        llvm::ArrayType::get(b_.getInt8Ty(), static_cast<uint64_t>(bytes));
    auto* variable = new llvm::GlobalVariable(
        module_, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
        llvm::Constant::getNullValue(type), name);
    variable->setAlignment(llvm::Align(MXC_ARENA_ALIGNMENT));
    return variable;
  }

  llvm::Function* Begin(const char* name, std::vector<llvm::Type*> parameters,
                        bool exported) {
    function_ = llvm::Function::Create(
        llvm::FunctionType::get(b_.getVoidTy(), parameters, false),
        llvm::GlobalValue::ExternalLinkage, name, module_);
    if (exported) function_->addFnAttr("wasm-export-name", name);
    b_.SetInsertPoint(Block("entry"));
    return function_;
  }

  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(module_.getContext(), name, function_);
  }

  Value* At(Word word) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), words_,
                                         uint64_t{word} * kLineBytes);
  }

  Value* Look(Word word) {
    llvm::LoadInst* load = b_.CreateAlignedLoad(i32_, At(word), llvm::Align(4));
    load->setAtomic(llvm::AtomicOrdering::SequentiallyConsistent);
    return load;
  }

  void Set(Word word, uint32_t value) {
    llvm::StoreInst* store =
        b_.CreateAlignedStore(b_.getInt32(value), At(word), llvm::Align(4));
    store->setAtomic(llvm::AtomicOrdering::SequentiallyConsistent);
  }

  // What it was before.
  Value* Add(Word word, int32_t value) {
    return b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, At(word),
                              b_.getInt32(static_cast<uint32_t>(value)),
                              llvm::Align(4),
                              llvm::AtomicOrdering::SequentiallyConsistent);
  }

  llvm::FunctionType* KernelType() {
    return llvm::FunctionType::get(b_.getVoidTy(),
                                   {pointer_, i64_, i64_, pointer_}, false);
  }

  // void take(scratch): does tasks of this phase while there are any.
  void WriteTake() {
    take_ = Begin("mxc_take", {pointer_}, /*exported=*/false);
    take_->setLinkage(llvm::GlobalValue::InternalLinkage);
    Value* kernel = b_.CreateLoad(pointer_, At(kKernel));
    Value* operands = b_.CreateLoad(pointer_, At(kOperands));
    Value* tasks = b_.CreateLoad(i32_, At(kTasks));
    llvm::BasicBlock *next = Block("next"), *run = Block("run"),
                     *end = Block("end");
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
    Value* task = Add(kNext, 1);
    b_.CreateCondBr(b_.CreateICmpULT(task, tasks), run, end);
    b_.SetInsertPoint(run);
    Value* first = b_.CreateZExt(task, i64_);
    b_.CreateCall(KernelType(), kernel,
                  {operands, first, b_.CreateAdd(first, b_.getInt64(1)),
                   take_->getArg(0)});
    b_.CreateBr(next);
    b_.SetInsertPoint(end);
    b_.CreateRetVoid();
  }

  void WriteDeal() {
    llvm::Function* deal = Begin(kDealer, {pointer_, pointer_, i64_, pointer_},
                                 /*exported=*/false);
    Value *kernel = deal->getArg(0), *operands = deal->getArg(1),
          *tasks = deal->getArg(2), *scratch = deal->getArg(3);
    Value* workers = b_.CreateLoad(i32_, At(kWorkers));
    llvm::BasicBlock *alone = Block("alone"), *shared = Block("shared"),
                     *wake = Block("wake"), *take = Block("take"),
                     *wait = Block("wait"), *end = Block("end");
    b_.CreateCondBr(b_.CreateIsNull(workers), alone, shared);
    b_.SetInsertPoint(alone);
    b_.CreateCall(KernelType(), kernel,
                  {operands, b_.getInt64(0), tasks, scratch});
    b_.CreateRetVoid();
    b_.SetInsertPoint(shared);
    b_.CreateStore(kernel, At(kKernel));
    b_.CreateStore(operands, At(kOperands));
    b_.CreateStore(b_.CreateTrunc(tasks, i32_), At(kTasks));
    Set(kNext, 0);
    Set(kDone, 0);
    Add(kPhase, 1);
    b_.CreateCondBr(b_.CreateIsNull(Look(kSleeping)), take, wake);
    b_.SetInsertPoint(wake);
    b_.CreateIntrinsic(llvm::Intrinsic::wasm_memory_atomic_notify, {},
                       {At(kPhase), b_.getInt32(kMostWorkers)});
    b_.CreateBr(take);
    b_.SetInsertPoint(take);
    b_.CreateCall(take_, {scratch});
    b_.CreateBr(wait);
    b_.SetInsertPoint(wait);
    b_.CreateCondBr(b_.CreateICmpEQ(Look(kDone), workers), end, wait);
    b_.SetInsertPoint(end);
    b_.CreateRetVoid();
  }

  void WriteBegin() {
    llvm::Function* begin = Begin("mxc_begin", {i32_}, /*exported=*/true);
    b_.CreateStore(begin->getArg(0), At(kWorkers));
    b_.CreateRetVoid();
  }

  // A phase cannot end before every worker has been through it: none is missed.
  void WriteWork() {
    llvm::Function* work = Begin("mxc_work", {i32_}, /*exported=*/true);
    Value* scratch = b_.CreateInBoundsGEP(
        b_.getInt8Ty(), scratch_,
        b_.CreateMul(b_.CreateZExt(work->getArg(0), i64_),
                     b_.getInt64(static_cast<uint64_t>(scratch_bytes_))));
    llvm::BasicBlock *entry = b_.GetInsertBlock(), *idle = Block("idle"),
                     *look = Block("look"), *again = Block("again"),
                     *sleep = Block("sleep"), *take = Block("take");
    b_.CreateBr(idle);
    b_.SetInsertPoint(idle);
    llvm::PHINode* seen = b_.CreatePHI(i32_, 3);
    seen->addIncoming(b_.getInt32(0), entry);
    b_.CreateBr(look);
    b_.SetInsertPoint(look);
    llvm::PHINode* looks = b_.CreatePHI(i32_, 2);
    looks->addIncoming(b_.getInt32(0), idle);
    Value* phase = Look(kPhase);
    b_.CreateCondBr(b_.CreateICmpEQ(phase, seen), again, take);
    b_.SetInsertPoint(again);
    Value* more = b_.CreateAdd(looks, b_.getInt32(1));
    looks->addIncoming(more, again);
    b_.CreateCondBr(b_.CreateICmpULT(more, b_.getInt32(kLooks)), look, sleep);
    b_.SetInsertPoint(sleep);
    Add(kSleeping, 1);
    b_.CreateIntrinsic(llvm::Intrinsic::wasm_memory_atomic_wait32, {},
                       {At(kPhase), seen, b_.getInt64(~uint64_t{0})});
    Add(kSleeping, -1);
    seen->addIncoming(seen, sleep);
    b_.CreateBr(idle);
    b_.SetInsertPoint(take);
    b_.CreateStore(b_.getInt64(0), scratch);  // MXC_SCRATCH_NOTE
    b_.CreateCall(take_, {scratch});
    Add(kDone, 1);
    seen->addIncoming(phase, take);
    b_.CreateBr(idle);
  }

  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  llvm::Type *i32_, *i64_, *pointer_;
  int64_t scratch_bytes_;  // of each worker
  llvm::Constant *words_, *scratch_;
  llvm::Function *function_ = nullptr, *take_ = nullptr;
};

}  // namespace

std::string EmitTeamModule(int64_t scratch_bytes, const Target& target) {
  Target atomic = target;
  atomic.features += ",+atomics";
  return CompileModule(atomic, "mxc_team", [&](llvm::Module& module) {
    TeamWriter(module, scratch_bytes).Write();
  });
}

}  // namespace mxc
