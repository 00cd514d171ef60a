// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/device_function.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "codegen/cuda/emulated_thread.h"
#include "codegen/cuda/gpu_machine.h"
#include "codegen/cuda/stage_layout.h"
#include "ir/support/check.h"
#include "runtime/abi/parameters.h"

namespace mxc {
namespace {

using llvm::Value;

// Returns whether its operands stand in a table, not in parameters.
bool HasTable(int operands) { return operands > MXC_MOST_PARAMETERS; }

// Of an emulated device, those of the processor on which it runs.
Instructions InstructionsOf(const Target& target) {
  Instructions all = HostInstructions(target);
  all.of_words = true;
  if (!GpuMachineOf(target).emulated) {
    all.convert_halves = all.convert_brains = true;
  }
  return all;
}

llvm::Function& DeclareDeviceKernel(llvm::Module& module,
                                    const std::string& name, int operands) {
  llvm::LLVMContext& context = module.getContext();
  const std::vector<llvm::Type*> pointers(
      HasTable(operands) ? 1 : static_cast<size_t>(operands) + 1,
      llvm::PointerType::get(context, kGlobalMemory));
  llvm::Function* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), pointers, false),
      llvm::Function::ExternalLinkage, name, module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return *function;
}

// "{$0,$1,…}".
std::string RegistersOf(int sums) {
  std::string text;
  for (int i = 0; i < sums; ++i) text += fmt::format(",${}", i);
  return fmt::format("{{{}}}", text.substr(1));
}

// What changes the sums, and takes `more` besides.
std::string ConstraintsOf(int sums, std::string_view more) {
  std::string text;
  for (int i = 0; i < sums; ++i) text += "=f,";
  text += more;
  for (int i = 0; i < sums; ++i) text += fmt::format(",{}", i);
  return text;
}

DeviceCall ProductCall(std::string_view type, int columns, size_t field) {
  const int sums = columns / 2;
  return {ConstraintsOf(sums, "l,l,n,n") + ",~{memory}",
          fmt::format("wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1} "
                      "{2}, ${3}, ${4}, 1, 1, 1, ${5}, ${6};",
                      columns, type, RegistersOf(sums), sums, sums + 1,
                      sums + 2, sums + 3),
          field};
}

DeviceCall WaitCall(int columns, size_t field) {
  const int sums = columns / 2;
  return {ConstraintsOf(sums, "n") + ",~{memory}",
          fmt::format("wgmma.wait_group.sync.aligned ${};", sums), field};
}

const std::vector<DeviceCall>& DeviceCalls() {
  static const std::vector<DeviceCall> calls = {
#define MXC_DEVICE_CALL(method, field, constraints, ptx) \
  {constraints, ptx, offsetof(mxc_emulated_thread, field)},
#define MXC_DEVICE_PRODUCT(field, type, columns) \
  ProductCall(#type, columns, offsetof(mxc_emulated_thread, field)),
#define MXC_DEVICE_WAIT(field, columns) \
  WaitCall(columns, offsetof(mxc_emulated_thread, field)),
#include "codegen/cuda/primitives.def"
  };
  return calls;
}

// Its outputs come first: "=f", "=r".
llvm::Type* ResultOf(llvm::IRBuilder<>& builder, std::string_view constraints) {
  std::vector<llvm::Type*> types;
  while (constraints.starts_with('=')) {
    types.push_back(constraints[1] == 'f' ? builder.getFloatTy()
                                          : builder.getInt32Ty());
    constraints.remove_prefix(3);
  }
  if (types.empty()) return builder.getVoidTy();
  if (types.size() == 1) return types[0];
  return llvm::StructType::get(builder.getContext(), types);
}

}  // namespace

const DeviceCall* FindDeviceCall(std::string_view ptx) {
  for (const DeviceCall& call : DeviceCalls()) {
    if (call.ptx == ptx) return &call;
  }
  return nullptr;
}

DeviceFunction::DeviceFunction(llvm::Module& module, const std::string& name,
                               int operands, const Target& target,
                               const llvm::TargetMachine& machine)
    : KernelFunction(DeclareDeviceKernel(module, name, operands), target,
                     InstructionsOf(target), machine) {
  Annotate("kernel", 1);
  const bool table = HasTable(operands);
  for (int i = 0; i <= operands; ++i) {
    global_.push_back(table ? InTable(i) : function()->getArg(i));
    operands_.push_back(
        b().CreateAddrSpaceCast(global_.back(), b().getPtrTy()));
  }
  scratch_ = operands_.back();
  operands_.pop_back();
}

llvm::Value* DeviceFunction::InTable(int i) {
  llvm::Value* table = function()->getArg(0);
  auto* load = b().CreateLoad(
      table->getType(),
      b().CreateConstInBoundsGEP1_64(table->getType(), table, i));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(context(), {}));
  return load;
}

void DeviceFunction::Annotate(const char* key, int value) {
  auto* notes = module().getOrInsertNamedMetadata("nvvm.annotations");
  notes->addOperand(llvm::MDNode::get(
      context(), {llvm::ValueAsMetadata::get(function()),
                  llvm::MDString::get(context(), key),
                  llvm::ValueAsMetadata::get(b().getInt32(value))}));
}

void DeviceFunction::SetAlignment(int operand, int bytes) {
  if (auto* argument = llvm::dyn_cast<llvm::Argument>(global_[operand])) {
    argument->addAttr(
        llvm::Attribute::getWithAlignment(context(), llvm::Align(bytes)));
    return;
  }
  auto* alignment = llvm::ConstantAsMetadata::get(Int(bytes));
  llvm::cast<llvm::LoadInst>(global_[operand])
      ->setMetadata(llvm::LLVMContext::MD_align,
                    llvm::MDNode::get(context(), alignment));
}

void DeviceFunction::SetBlock(int threads) {
  if (block_ == nullptr) Annotate("maxntidx", threads);
}

void DeviceFunction::WithOperands(const std::vector<int>& operands,
                                  const std::function<void()>& body) {
  std::vector<Value*> values, global;
  for (const int operand : operands) {
    values.push_back(operands_[operand]);
    global.push_back(global_[operand]);
  }
  std::swap(operands_, values);
  std::swap(global_, global);
  body();
  std::swap(operands_, values);
  std::swap(global_, global);
}

void DeviceFunction::WithBlock(Value* block,
                               const std::function<void()>& body) {
  std::swap(block_, block);
  body();
  std::swap(block_, block);
}

void DeviceFunction::EachTask(int64_t tasks, int block_threads,
                              int64_t scratch_bytes,
                              const std::function<void()>& body) {
  SetBlock(block_threads);
  Value* number =
      b().CreateAdd(b().CreateMul(Block(), Word(block_threads)), Thread());
  begin_ = b().CreateZExt(number, b().getInt64Ty());
  end_ = b().CreateAdd(begin_, Int(1), "", true, true);
  if (scratch_bytes > 0) {
    scratch_ = b().CreateInBoundsGEP(b().getInt8Ty(), scratch_,
                                     b().CreateMul(begin_, Int(scratch_bytes)));
  }
  If(b().CreateICmpULT(number, Word(tasks)), body);
}

llvm::ConstantInt* DeviceFunction::Word(int64_t value) {
  return b().getInt32(static_cast<uint32_t>(value));
}

llvm::Value* DeviceFunction::Wide(Value* word) {
  return b().CreateZExt(word, b().getInt64Ty());
}

llvm::Value* DeviceFunction::Next(Value*& number, int64_t extent) {
  Value* coordinate = b().CreateURem(number, Word(extent));
  number = b().CreateUDiv(number, Word(extent));
  return coordinate;
}

llvm::Value* DeviceFunction::Shared() {
  const std::string name = function()->getName().str() + "_shared";
  if (auto* known = module().getNamedGlobal(name)) return known;
  auto* memory = new llvm::GlobalVariable(
      module(), llvm::ArrayType::get(b().getInt8Ty(), 0), false,
      llvm::GlobalValue::ExternalLinkage, nullptr, name, nullptr,
      llvm::GlobalValue::NotThreadLocal, kSharedMemory);
  memory->setAlignment(llvm::Align(StageLayout::kPatternBytes));
  return memory;
}

llvm::Value* DeviceFunction::FromLaneXor(Value* value, int mask) {
  llvm::Type* type = value->getType();
  const auto words = static_cast<unsigned>(type->getPrimitiveSizeInBits() / 32);
  auto* vector = llvm::FixedVectorType::get(b().getInt32Ty(), words);
  Value* from = b().CreateBitCast(value, vector);
  Value* to = llvm::PoisonValue::get(vector);
  for (uint64_t i = 0; i < words; ++i) {
    Value* word = ShuffleXor({b().CreateExtractElement(from, i), Word(mask)});
    to = b().CreateInsertElement(to, word, i);
  }
  return b().CreateBitCast(to, type);
}

llvm::Value* DeviceFunction::Lane() {
  return b().CreateAnd(Thread(), Word(kWarp - 1));
}

std::vector<Value*> DeviceFunction::Multiply(const WarpgroupProduct& product,
                                             const std::vector<Value*>& sums) {
  std::vector<Value*> arguments = {
      product.descriptors[0], product.descriptors[1],
      Word(product.turned[0] ? 1 : 0), Word(product.turned[1] ? 1 : 0)};
  arguments.insert(arguments.end(), sums.begin(), sums.end());
  return AskForSums(ProductCall(product.f16 ? "f16" : "bf16",
                                static_cast<int>(2 * sums.size()), 0),
                    arguments);
}

std::vector<Value*> DeviceFunction::WaitForProducts(
    const std::vector<Value*>& sums, int groups) {
  std::vector<Value*> arguments = {Word(groups)};
  arguments.insert(arguments.end(), sums.begin(), sums.end());
  return AskForSums(WaitCall(static_cast<int>(2 * sums.size()), 0), arguments);
}

std::vector<Value*> DeviceFunction::AskForSums(const DeviceCall& call,
                                               Arguments arguments) {
  MXC_CHECK(FindDeviceCall(call.ptx) != nullptr,
            "'{}' is no row of primitives.def", call.ptx);
  Value* answer = Ask(call, arguments);
  std::vector<Value*> sums;
  for (unsigned i = 0; i < answer->getType()->getStructNumElements(); ++i) {
    sums.push_back(b().CreateExtractValue(answer, i));
  }
  return sums;
}

llvm::Value* DeviceFunction::Ask(const DeviceCall& call, Arguments arguments) {
  std::vector<llvm::Type*> types;
  for (const Value* argument : arguments) types.push_back(argument->getType());
  auto* form = llvm::FunctionType::get(ResultOf(b(), call.constraints), types,
                                       /*isVarArg=*/false);
  auto* answer =
      b().CreateCall(llvm::InlineAsm::get(form, call.ptx, call.constraints,
                                          /*hasSideEffects=*/true),
                     arguments);
  answer->setConvergent();
  return answer;
}

#define MXC_DEVICE_NUMBER(method, intrinsic, field)                 \
  Value* DeviceFunction::method() {                                 \
    return b().CreateIntrinsic(llvm::Intrinsic::intrinsic, {}, {}); \
  }
#define MXC_DEVICE_CALL(method, field, constraints, ptx) \
  Value* DeviceFunction::method(Arguments arguments) {   \
    return Ask(*FindDeviceCall(ptx), arguments);         \
  }
#include "codegen/cuda/primitives.def"

}  // namespace mxc
