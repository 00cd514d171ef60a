// SPDX-License-Identifier: Apache-2.0
// LLVM's code generators. To make one, with its tables of a processor and its
// hundred passes, takes as long as the code of a small kernel, and what it writes
// does not depend on what it wrote before: who needs one borrows it.
#pragma once

#include <memory>
#include <string>

#include "codegen/llvm/llvm.h"

namespace mxc {

// For a triple, a model and features. One thread at a time.
std::unique_ptr<llvm::TargetMachine> MakeTargetMachine(
    const std::string& triple, const std::string& cpu,
    const std::string& features);

// One that goes back to where others find it. Any thread may borrow one.
class LentMachine {
 public:
  LentMachine(const std::string& triple, const std::string& features);
  LentMachine(const LentMachine&) = delete;
  LentMachine& operator=(const LentMachine&) = delete;
  ~LentMachine();

  llvm::TargetMachine& operator*() const;
  // A relocatable object; consumes the module, of the machine's triple.
  std::string ObjectOf(llvm::Module& module);

 private:
  class Generator;
  struct Idle;
  static Idle& TheIdle();

  std::string kind_;
  std::unique_ptr<Generator> generator_;
  const int exceptions_;  // that were under way: code that throws leaves passes
                          // halfway, which nobody else may get
};

}  // namespace mxc
