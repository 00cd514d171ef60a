// SPDX-License-Identifier: Apache-2.0
// ProgramEntry: what a program of an artifact is for. Its name is made here alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mxc {

// The tables of an artifact have these as numbers (mxc_entry_kind).
enum class Purpose : uint8_t {
  kOther,
  kInfer,
  kTrain,    // a step of training
  kScore,    // outputs and loss
  kGrad,     // outputs, loss and gradients
  kUpdate,   // the next value of `of`, by its gradient
  kPrepare,  // weights, once
};

struct ProgramEntry {
  Purpose purpose = Purpose::kOther;
  // Of the sequences that it is for, by name ("": the only one); none: any.
  std::map<std::string, int64_t> lengths = {};
  // kUpdate: the parameter, or the state of role kLossScale. kOther: the name.
  std::string of = {};

  // "infer", "train:32", "infer:S=512,T=128", "update:conv0_weight".
  std::string Name() const;
  // The entry of this name.
  static ProgramEntry Named(std::string_view name);

  friend bool operator==(const ProgramEntry&, const ProgramEntry&) = default;
};

// kOther where the word is none of "infer", "train" …
Purpose PurposeNamed(std::string_view word);

}  // namespace mxc
