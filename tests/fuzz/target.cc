// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace mxc::fuzz {

void Touch(Bytes bytes) {
  uint8_t sum = 0;
  for (const std::byte byte : bytes) sum ^= static_cast<uint8_t>(byte);
  asm volatile("" : : "r"(sum));  // it is of use to nobody
}

void Wrong(const std::string& message) {
  std::fprintf(stderr, "wrong: %s\n", message.c_str());
  std::abort();
}

}  // namespace mxc::fuzz
