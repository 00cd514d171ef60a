// SPDX-License-Identifier: Apache-2.0
// Another processor that runs whole networks, under an emulator or in Node
// (tests/cross/artifacts.c, modules.mjs):
//
//   MXC_TEST_TARGET=aarch64                      compiles them for this target
//   MXC_TEST_NETWORKS='qemu-aarch64 … artifacts' and runs them so
//   MXC_TEST_LEAVES_OUT=1                        leaves out what ends that program
//
// tests/cross/operators sets both.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "ir/support/result.h"
#include "ir/target/target.h"
#include "tests/support/conversation.h"

namespace mxc::test {

class OtherMachine {
 public:
  // Null: networks run on this one.
  static OtherMachine* Get();

  struct Results {
    std::vector<std::vector<Tensor>> outputs;  // of each run
    std::vector<Tensor> states;                // after the last
  };
  // Inputs by name, the same for each run; zeros where there are none. A page has
  // one thread, whatever `threads` says.
  Result<Results> Run(const Program& program, const Target& target,
                      const std::map<std::string, Tensor>& inputs, int threads,
                      int runs);
  // After a run that failed: returns whether it does not count, as the program has
  // ended and that is known of it.
  bool LeavesOut() const;

 private:
  explicit OtherMachine(const std::string& command)
      : command_(command), runner_(command) {}
  Status Ask(const std::string& line);
  Result<Results> RunArtifact(const Program& program, const Target& target,
                              const std::map<std::string, Tensor>& inputs,
                              int threads, int runs);
  Result<Results> RunModule(const Program& program, const Target& target,
                            const std::map<std::string, Tensor>& inputs,
                            int runs);

  const std::string command_;
  std::optional<Conversation> runner_;
  bool ended_ = false;
};

}  // namespace mxc::test
