// SPDX-License-Identifier: Apache-2.0
#include "ir/program/quarter_sums.h"

#include <doctest/doctest.h>

namespace mxc {

// Quarter (i, j) of a product is Σ_k (i, k) (k, j), and nothing else.
TEST_CASE("quarter sums: 7 products make the 8 that there are") {
  for (int c = 0; c < kQuarters; ++c) {
    for (int a = 0; a < kQuarters; ++a) {
      for (int b = 0; b < kQuarters; ++b) {
        CAPTURE(c);
        CAPTURE(a);
        CAPTURE(b);
        double times = 0;
        for (int p = 0; p < kQuarterProducts; ++p) {
          times += kOutputQuarters[c * kQuarterProducts + p] *
                   kDataQuarters[p * kQuarters + a] *
                   kWeightQuarters[p * kQuarters + b];
        }
        const bool in_product =
            a / 2 == c / 2 && b % 2 == c % 2 && a % 2 == b / 2;
        CHECK(times == (in_product ? 1 : 0));
      }
    }
  }
}

}  // namespace mxc
