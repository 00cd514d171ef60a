// SPDX-License-Identifier: Apache-2.0
// What a server tells its launcher each second: a line among those that it
// says, which the launcher keeps to itself.
#pragma once

#include <optional>
#include <string>

#include "runtime/kvstore/facts.h"

namespace mxc::job {

// Without its end.
std::string EncodeStatus(const kvstore::ServerFacts& facts);
// None: another line.
std::optional<kvstore::ServerFacts> DecodeStatus(const std::string& line);

}  // namespace mxc::job
