// SPDX-License-Identifier: Apache-2.0
// What runs beside other steps is waited for once, and until then its operands
// are left alone: nobody writes what it reads or uses what it writes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// Sees the steps of a program in their order. The program must outlive it.
class BesideCheck {
 public:
  explicit BesideCheck(const Program& program) : program_(program) {}

  // What is wrong with the step, which verifies by itself.
  std::optional<std::string> Check(const Step& step);
  // After the last step.
  std::optional<std::string> Finish() const;

 private:
  std::optional<std::string> CheckUses(const Step& step) const;
  std::optional<std::string> End(const Step& wait);

  const Program& program_;
  std::map<std::vector<int>, const Step*> starts_;  // by operands
  std::multiset<int> read_, written_;               // roots
};

}  // namespace mxc
