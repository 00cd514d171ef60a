// SPDX-License-Identifier: Apache-2.0
// What a server says of an object, and a range of its bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "runtime/base/status.h"
#include "runtime/remote/location.h"
#include "runtime/remote/request.h"

namespace mxc::remote {

struct ObjectFacts {
  uint64_t bytes = 0;
  // Differs where the bytes do; empty: the server does not say.
  std::string version;
};

// More bytes than anybody has in one object.
inline constexpr uint64_t kMostObject = uint64_t{1} << 44;

runtime::StatusOr<ObjectFacts> AskAbout(const Location& location);

// The bytes [offset, offset + length) of this version of the object, asked for
// until they come (Session::AskPatiently); fine and undefined once nobody wants
// them.
runtime::StatusOr<std::vector<std::byte>> ReadRange(
    Session& session, const Location& location, const ObjectFacts& facts,
    uint64_t offset, uint64_t length, const std::atomic<bool>& unwanted);

}  // namespace mxc::remote
