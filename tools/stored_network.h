// SPDX-License-Identifier: Apache-2.0
// The network that an artifact was compiled from, as the artifact keeps it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "frontend/frontend.h"
#include "ir/support/result.h"

namespace mxc {

struct StoredNetwork {
  std::shared_ptr<const SourceFile> source;  // the symbol JSON as it came
  // Of the inputs of its first entry.
  std::map<std::string, Extents> shapes;
  // What training begins with. Empty unless the artifact trains: for inference
  // it keeps weights as its code reads them, folded and packed.
  std::shared_ptr<const ParameterArrays> parameters;
};

// Reads the file, and runs nothing of it.
Result<StoredNetwork> ReadStoredNetwork(const std::string& path);

}  // namespace mxc
