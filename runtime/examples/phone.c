/* SPDX-License-Identifier: Apache-2.0
 * A network within a program of its own: no runtime, no file, no library but libc,
 * as for a phone, where a sandbox forbids to load code and to make any.
 *
 *   mxc compile lenet.json --target aarch64 --emit obj,header -o lenet.o
 *   aarch64-linux-gnu-gcc -O2 -static -I. phone.c lenet.o -o phone
 *   phone <digit.raw    28 x 28 bytes; prints how likely it is a 0, 1 … 9
 *
 * It computes in the strictest sandbox that Linux has, where a process may read,
 * write and end, and ask the system for nothing else.
 */
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <lenet.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/* The weights file, as it is. */
extern const unsigned char lenet_weights[];
__asm__(
    ".section .rodata\n"
    ".balign " TEXT(LENET_ALIGNMENT) "\n"
    ".global lenet_weights\n"
    "lenet_weights: .incbin \"lenet.weights\"\n"
    ".previous\n");

enum { kPixels = 28 * 28, kClasses = 10 };
static _Alignas(LENET_ALIGNMENT) unsigned char arena[LENET_INFER_ARENA_BYTES];

/* Without exit_group, which is one thing too many. */
static void end(int code) { syscall(SYS_exit, code); }

int main(void) {
  static unsigned char picture[kPixels];
  static float data[kPixels], likely[kClasses];
  /* An emulator may not have it. */
  const int is_closed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
  for (size_t got = 0; got < sizeof picture;) {
    const ssize_t more =
        read(STDIN_FILENO, picture + got, sizeof picture - got);
    if (more <= 0) end(1);
    got += (size_t)more;
  }
  for (int i = 0; i < kPixels; ++i) data[i] = (float)picture[i] / 255;
  lenet_infer(lenet_weights, arena, data, likely);
  char line[256];
  int length =
      snprintf(line, sizeof line, "%s\n", is_closed ? "closed" : "open");
  for (int k = 0; k < kClasses; ++k) {
    length += snprintf(line + length, sizeof line - (size_t)length, "%d %.6f\n",
                       k, (double)likely[k]);
  }
  end(write(STDOUT_FILENO, line, (size_t)length) == length ? 0 : 1);
  return 0;
}
