// SPDX-License-Identifier: Apache-2.0
// Memory that is there and costs nothing until it is touched.
#pragma once

#include <cstddef>
#include <span>

namespace mxc::runtime {

// Gives the memory of all pages that lie within the bytes back. Zeroed memory
// straight from the system (memory.h) is zero again, a file's is read anew.
void ReleasePages(std::span<const std::byte> bytes);

// The same for what malloc keeps of what was freed, of the whole process; it takes
// milliseconds.
void ReleaseFreedMemory();

// From now on these pages come one by one: whoever touches what lies beside them
// touches none of them, as with a huge page that holds both.
void UseSmallPages(std::span<const std::byte> bytes);

}  // namespace mxc::runtime
