// SPDX-License-Identifier: Apache-2.0
// An object of a server into a file, in ranges that are asked for side by side.
//
// At most 32 MiB are on their way at once. A range that fails for a while is
// asked for again, with pauses that double; one that takes much longer than
// others is asked for once more meanwhile, and the first answer counts. Every
// range must have the length that was asked for, and be of the same object.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/status.h"
#include "runtime/remote/location.h"

namespace mxc::remote {

struct ObjectFacts {
  uint64_t bytes = 0;
  // Differs where the bytes do; empty: the server does not say.
  std::string version;
};

runtime::StatusOr<ObjectFacts> AskAbout(const Location& location);

// Writes the object into the file of this descriptor, whose length it sets.
runtime::Status Download(const Location& location, const ObjectFacts& facts,
                         int file, const std::string& path);

}  // namespace mxc::remote
