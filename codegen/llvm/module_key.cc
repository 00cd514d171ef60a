// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/module_key.h"

#include <array>
#include <string_view>

#include "codegen/llvm/objects.h"
#include "codegen/llvm/text_key.h"

namespace mxc {

std::string KeyOfModule(const llvm::Module& module, const Target& target) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  // Triple and CPU stand in the module.
  const std::array<std::string_view, 2> texts = {
      target.features, std::string_view(bitcode.data(), bitcode.size())};
  return KeyOfTexts(texts);
}

}  // namespace mxc
