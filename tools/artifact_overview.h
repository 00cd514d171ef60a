// SPDX-License-Identifier: Apache-2.0
// An artifact as inspect shows it; its code is not loaded, so that it may be
// one for another machine.
#pragma once

#include <string>
#include <vector>

#include "ir/support/result.h"
#include "tools/overview.h"

namespace mxc {

struct Artifact {
  std::vector<Overview> entries;
  std::string manifest;  // "key: value" lines
  std::string symbol;    // the network's JSON as it came
};

// By its first bytes.
bool IsArtifact(const std::string& path);

Result<Artifact> ReadArtifact(const std::string& path);

// Every checksum, those of the weights and of the network's JSON too.
Status CheckArtifact(const std::string& path);

}  // namespace mxc
