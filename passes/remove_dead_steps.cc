// SPDX-License-Identifier: Apache-2.0
// remove-dead-steps: what no output depends on is deleted, single outputs of a
// step too.
//
//   y, mean, var = bn(x)          y = bn(x)
//   z = f(x)                  ⇒
//   return y                      return y
#include "passes/dead_code.h"
#include "passes/passes.h"

namespace mxc {

Result<bool> RemoveDeadSteps(Program& program, PassContext&) {
  return RemoveDeadCode(program);
}

}  // namespace mxc
