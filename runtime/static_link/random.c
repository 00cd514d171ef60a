/* SPDX-License-Identifier: Apache-2.0
 *
 * libstdc++.a of GCC 12 draws the numbers of std::random_device by arc4random,
 * which came with glibc 2.36. Nothing of mxc draws them, but mold keeps the name
 * of a function that only removed sections call. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void);

/* As glibc's, it cannot fail. */
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
    if (errno != EINTR) abort();
  }
  return value;
}
