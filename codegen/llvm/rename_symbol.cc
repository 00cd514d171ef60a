// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/rename_symbol.h"

#include "codegen/llvm/llvm.h"
#include "ir/support/check.h"

namespace mxc {

std::string RenameSymbol(const std::string& object, const std::string& from,
                         const std::string& to) {
  auto parsed = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(object, from));
  MXC_CHECK(static_cast<bool>(parsed), "{}",
            llvm::toString(parsed.takeError()));
  llvm::objcopy::ConfigManager config;
  config.Common.SymbolsToRename[from] = to;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::Error error =
      llvm::objcopy::executeObjcopyOnBinary(config, **parsed, stream);
  MXC_CHECK(!error, "{}", llvm::toString(std::move(error)));
  return {bytes.begin(), bytes.end()};
}

}  // namespace mxc
