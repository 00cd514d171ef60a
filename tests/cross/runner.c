/* SPDX-License-Identifier: Apache-2.0
 * usage: runner FILE ADDRESS BYTES
 * Runs kernels of this processor, usually under an emulator, for a test program of
 * another one (tests/codegen/other_processor.h), with which it shares the memory in
 * FILE at the same address. Each line on stdin is a command, answered by one:
 *
 *   load LIBRARY                              the number of its kernel
 *   protect ADDRESS BYTES ALLOWED             0; ALLOWED as mprotect's
 *   run KERNEL BEGIN END SCRATCH POINTER…     0
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void (*kernel_function)(void* const*, int64_t, int64_t, void*);

enum { kMostKernels = 1 << 16, kMostOperands = 256 };
static kernel_function kernels[kMostKernels];
static int kernel_count;

static uint64_t next_number(void) {
  const char* word = strtok(NULL, " ");
  return word == NULL ? 0 : strtoull(word, NULL, 0);
}

static int load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL || kernel_count == kMostKernels) {
    fprintf(stderr, "runner: %s\n", dlerror());
    exit(1);
  }
  *(void**)&kernels[kernel_count] = dlsym(library, "kernel");
  return kernel_count++;
}

static int run(void) {
  const kernel_function kernel = kernels[next_number()];
  const int64_t begin = (int64_t)next_number(), end = (int64_t)next_number();
  void* const scratch = (void*)(uintptr_t)next_number();
  void* operands[kMostOperands];
  int n = 0;
  for (const char* word; n < kMostOperands && (word = strtok(NULL, " "));) {
    operands[n++] = (void*)(uintptr_t)strtoull(word, NULL, 0);
  }
  kernel(operands, begin, end, scratch);
  return 0;
}

static int answer(char* line) {
  const char* command = strtok(line, " ");
  if (command == NULL) return -1;
  if (strcmp(command, "load") == 0) return load(strtok(NULL, " "));
  if (strcmp(command, "run") == 0) return run();
  void* address = (void*)(uintptr_t)next_number();
  const size_t bytes = next_number();
  return mprotect(address, bytes, (int)next_number());
}

int main(int count, char** words) {
  if (count != 4) return 2;
  const int file = open(words[1], O_RDWR);
  void* const address = (void*)(uintptr_t)strtoull(words[2], NULL, 0);
  const void* mapped =
      mmap(address, strtoull(words[3], NULL, 0), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_FIXED, file, 0);
  if (file < 0 || mapped == MAP_FAILED) {
    perror("runner");
    return 1;
  }
  static char line[1 << 14];
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    printf("%d\n", answer(line));
    fflush(stdout);
  }
  return 0;
}
