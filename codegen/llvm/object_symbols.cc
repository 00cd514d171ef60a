// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/object_symbols.h"

#include "codegen/llvm/objects.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

// As objcopy with this configuration; what we emitted can be copied.
std::string Copy(const std::string& object,
                 const llvm::objcopy::ConfigManager& config) {
  auto parsed = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(object, "object"));
  MXC_CHECK(static_cast<bool>(parsed), "{}",
            llvm::toString(parsed.takeError()));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::Error error =
      llvm::objcopy::executeObjcopyOnBinary(config, **parsed, stream);
  MXC_CHECK(!error, "{}", llvm::toString(std::move(error)));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string RenameSymbol(const std::string& object, const std::string& from,
                         const std::string& to) {
  llvm::objcopy::ConfigManager config;
  config.Common.SymbolsToRename[from] = to;
  return Copy(object, config);
}

std::string HideSymbolsBut(std::span<const std::string> names,
                           const std::string& object) {
  llvm::objcopy::ConfigManager config;
  for (const std::string& name : names) {
    auto pattern = llvm::objcopy::NameOrPattern::create(
        name, llvm::objcopy::MatchStyle::Literal,
        [](llvm::Error error) { return error; });
    MXC_CHECK(static_cast<bool>(pattern), "{}",
              llvm::toString(pattern.takeError()));
    llvm::Error added =
        config.Common.SymbolsToKeepGlobal.addMatcher(std::move(pattern));
    MXC_CHECK(!added, "{}", llvm::toString(std::move(added)));
  }
  return Copy(object, config);
}

}  // namespace mxc
