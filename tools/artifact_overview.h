// SPDX-License-Identifier: Apache-2.0
// An artifact as inspect shows it; its code is not loaded, so that it may be
// one for another machine.
#pragma once

#include <string>
#include <vector>

#include "ir/support/result.h"
#include "tools/artifact_check.h"
#include "tools/overview.h"
#include "tools/tensor_statistics.h"

namespace mxc {

struct InspectedArtifact {
  std::vector<Overview> entries;
  std::string manifest;  // "key: value" lines
  std::string symbol;    // the network's JSON as it came
  ArtifactFindings findings;
  std::vector<TensorStatistics> weights;  // and initial states; if asked for
};

// InspectedArtifact::manifest; a key of several lines becomes an array.
Json ManifestToJson(const std::string& manifest);

// By its first bytes.
bool IsArtifact(const std::string& path);

struct ReadOptions {
  runtime::Approval approve;  // of the file, before anything in it is believed
  bool check = false;         // fills InspectedArtifact::findings
  bool weights = false;       // fills InspectedArtifact::weights
};

// Reads the file, and runs nothing of it.
Result<InspectedArtifact> ReadArtifact(const std::string& path,
                                       const ReadOptions& options = {});

}  // namespace mxc
