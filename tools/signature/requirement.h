// SPDX-License-Identifier: Apache-2.0
// --require-signature PUBKEY: an artifact is opened only if it was signed with
// that key and is as it was then.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "runtime/artifact/container.h"
#include "runtime/base/status.h"

namespace mxc::signature {

class Requirement {
 public:
  void Declare(CLI::App& app);

  // Reads the key; an empty approval where none was named.
  runtime::StatusOr<runtime::Approval> Approval() const;

 private:
  std::string public_key_;  // a path
};

}  // namespace mxc::signature
