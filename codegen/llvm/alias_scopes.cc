// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/alias_scopes.h"

#include <map>

namespace mxc {

void SeparateByRoots(KernelFunction& kernel, std::span<const int> roots,
                     std::span<EmitOperand> operands) {
  llvm::MDBuilder metadata(kernel.context());
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  std::map<int, llvm::Metadata*> scopes;
  for (const int root : roots) {
    if (!scopes.contains(root)) {
      scopes[root] = metadata.createAnonymousAliasScope(domain);
    }
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<llvm::Metadata*> others;
    for (const auto& [root, scope] : scopes) {
      if (root != roots[i]) others.push_back(scope);
    }
    operands[i].alias_scope =
        llvm::MDNode::get(kernel.context(), {scopes[roots[i]]});
    operands[i].no_alias = llvm::MDNode::get(kernel.context(), others);
  }
}

}  // namespace mxc
