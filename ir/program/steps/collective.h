// SPDX-License-Identifier: Apache-2.0
// The step kind Collective: devices exchange tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/program/step_values.h"

namespace mxc {

// What the devices of a group, on each of which this program runs, do together
// with each input: as many outputs, dense and row-major, are what each has then
// (runtime/abi/collectives.def). The interpreter is the first of `members`
// devices; the inputs of the others are zeros. Of what goes one way there is one
// output.
struct Collective {
  std::string operation;  // "all_reduce"
  // The devices that it is for; 0: any number. Of what goes one way the number
  // of the other device.
  int64_t members = 0;

  static constexpr Work kWork = Work::kFunction;
  // All devices run it, in the order of the program. What goes one way also says
  // when others go on: steps stay on their side of it.
  bool IsPure() const;
  // It waits for the others, so it runs only where they do.
  static constexpr bool kFails = true;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;
};

}  // namespace mxc
