// SPDX-License-Identifier: Apache-2.0
// Reads the size of a picture before it is decoded, so that its memory can be
// refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mxc::serve {

// Width times height that a JPEG or PNG states; nothing where its head does not
// say. Reads the head alone.
std::optional<uint64_t> StatedPixels(std::string_view picture);

}  // namespace mxc::serve
