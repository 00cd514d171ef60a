// SPDX-License-Identifier: Apache-2.0
// Artifacts with blocks of steps, for tests.
#pragma once

#include <cstdint>

#include "tests/runtime/test_artifact.h"

namespace mxc::test {

inline constexpr int64_t kWide = 1024;  // elements of a row
inline constexpr int64_t kTurns = 7;    // of a scan
inline constexpr int64_t kOuter = 5, kInner = 3;

// h = first; for x of xs: h = h + x, y = 2 h + 1; last = h. Turns: as many as
// "count" says, until h[0] is no longer below 100.
TestArtifact ScanArtifact();

// sums[r] = the sum of x[r][c] over c, begun anew for each r, where x[r] is
// even in its first element; otherwise x[r][0].
TestArtifact NestedArtifact();

// a = 2 data + 1; result = a + bias + mirror(a), where the function
// "mxc_test_mirror" runs on the host, and a goes there beside a + bias. The bias
// is 16, 16.25 …, and lies on the host.
TestArtifact TravelArtifact();

}  // namespace mxc::test
