// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/lent_machine.h"

#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "codegen/llvm/optimize.h"
#include "codegen/llvm/transforms.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

// LLVM's containers allocate with malloc and would abort.
void OnBadAllocation(void*, const char*, bool) {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

template <void (*... parts)()>
void Begin() {
  (parts(), ...);
}

// The architectures that LLVM writes code for.
#define MXC_ARCHITECTURE(name)                                          \
  Begin<LLVMInitialize##name##TargetInfo, LLVMInitialize##name##Target, \
        LLVMInitialize##name##TargetMC, LLVMInitialize##name##AsmPrinter>
constexpr void (*kArchitectures[])() = {
    MXC_ARCHITECTURE(X86), MXC_ARCHITECTURE(AArch64), MXC_ARCHITECTURE(RISCV),
    MXC_ARCHITECTURE(WebAssembly), MXC_ARCHITECTURE(NVPTX)};
#undef MXC_ARCHITECTURE

void InitializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_bad_alloc_error_handler(OnBadAllocation);
    for (const auto begin : kArchitectures) begin();
  });
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> MakeTargetMachine(
    const std::string& triple, const std::string& cpu,
    const std::string& features) {
  InitializeTargets();
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  MXC_CHECK(found != nullptr, "{}", error);
  llvm::TargetOptions options;
  // Of RISC-V's calling conventions that of Linux; the others have one.
  if (llvm::Triple(triple).isRISCV()) options.MCOptions.ABIName = "lp64d";
  // A page's memory is one module's, whose addresses are constants.
  const llvm::Reloc::Model relocation =
      llvm::Triple(triple).isWasm() ? llvm::Reloc::Static : llvm::Reloc::PIC_;
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(triple, cpu, features, options, relocation,
                                 std::nullopt, llvm::CodeGenOptLevel::Default));
}

class LentMachine::Generator {
 public:
  explicit Generator(std::unique_ptr<llvm::TargetMachine> machine)
      : machine_(std::move(machine)), stream_(bytes_) {}

  llvm::TargetMachine& machine() const { return *machine_; }

  std::string ObjectOf(llvm::Module& module) {
    // Written by the passes of another one, a module of WebAssembly lacks
    // functions that it exports (LLVM 19).
    if (machine_->getTargetTriple().isWasm()) {
      return EmitFile(module, *machine_, llvm::CodeGenFileType::ObjectFile);
    }
    if (passes_ == nullptr) {
      passes_ = std::make_unique<llvm::legacy::PassManager>();
      AddPassesToEmit(*passes_, module, *machine_, stream_,
                      llvm::CodeGenFileType::ObjectFile);
    }
    bytes_.clear();
    passes_->run(module);
    return {bytes_.begin(), bytes_.end()};
  }

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_;
  std::unique_ptr<llvm::legacy::PassManager> passes_;  // to stream_
};

// Those that nobody has; as many as were in use at once.
struct LentMachine::Idle {
  std::mutex mutex;
  std::multimap<std::string, std::unique_ptr<Generator>> generators;
};

LentMachine::Idle& LentMachine::TheIdle() {
  static Idle idle;
  return idle;
}

LentMachine::LentMachine(const std::string& triple, const std::string& features)
    : kind_(triple + "\n" + features), exceptions_(std::uncaught_exceptions()) {
  {
    Idle& idle = TheIdle();
    const std::lock_guard lock(idle.mutex);
    if (auto found = idle.generators.extract(kind_)) {
      generator_ = std::move(found.mapped());
      return;
    }
  }
  generator_ = std::make_unique<Generator>(
      MakeTargetMachine(triple, /*cpu=*/"", features));
}

LentMachine::~LentMachine() {
  if (std::uncaught_exceptions() != exceptions_) return;
  Idle& idle = TheIdle();
  const std::lock_guard lock(idle.mutex);
  idle.generators.emplace(std::move(kind_), std::move(generator_));
}

llvm::TargetMachine& LentMachine::operator*() const {
  return generator_->machine();
}

std::string LentMachine::ObjectOf(llvm::Module& module) {
  return generator_->ObjectOf(module);
}

}  // namespace mxc
