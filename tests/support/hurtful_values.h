// SPDX-License-Identifier: Apache-2.0
// Numbers that tend to hurt who reads them from a file: the ends of the types'
// ranges, and small ones that nearly fit.
#pragma once

#include <cstdint>

namespace mxc::test {

inline constexpr uint64_t kHurtfulValues[] = {
    0,          1,          2,          3,          5,          7,
    8,          64,         0xffff,     0x7fffffff, 0x80000000, 0xffffffff,
    1ull << 40, 1ull << 62, 1ull << 63, ~0ull};

}  // namespace mxc::test
