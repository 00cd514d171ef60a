/* SPDX-License-Identifier: Apache-2.0
 * usage: runner FILE ADDRESS BYTES
 * Runs kernels of this processor, usually under an emulator, for a test program of
 * another one (tests/codegen/other_processor.h), with which it shares the memory in
 * FILE at the same address. Each line on stdin is a command, answered by one:
 *
 *   load LIBRARY                                        the number of its kernel
 *   protect ADDRESS BYTES ALLOWED                       0; ALLOWED as mprotect's
 *   run KERNEL USED BEGIN END STEP SCRATCH POINTER…     0
 *
 * which calls it for |STEP| tasks at a time from BEGIN until END is reached; USED
 * bytes of the memory may be read and written.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void (*kernel_function)(void* const*, int64_t, int64_t, void*);

enum { kMostKernels = 1 << 16, kMostOperands = 1 << 12 };
static kernel_function kernels[kMostKernels];
static int kernel_count;

static void fail(const char* why) {
  fprintf(stderr, "runner: %s\n", why);
  exit(1);
}

// Two's complement, where it is negative.
static uint64_t next_number(void) {
  const char* word = strtok(NULL, " ");
  return word == NULL ? 0 : strtoull(word, NULL, 0);
}

static int load(const char* path) {
  if (kernel_count == kMostKernels) fail("too many kernels");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fail(dlerror());
  *(void**)&kernels[kernel_count] = dlsym(library, "kernel");
  return kernel_count++;
}

static int run(void) {
  const kernel_function kernel = kernels[next_number()];
  next_number();  // all of the memory is there
  const int64_t begin = (int64_t)next_number(), end = (int64_t)next_number();
  const int64_t step = (int64_t)next_number();
  void* const scratch = (void*)(uintptr_t)next_number();
  static void* operands[kMostOperands];
  int n = 0;
  for (const char* word; (word = strtok(NULL, " ")) != NULL;) {
    if (n == kMostOperands) fail("too many operands");
    operands[n++] = (void*)(uintptr_t)strtoull(word, NULL, 0);
  }
  for (int64_t task = begin; task != end; task += step) {
    kernel(operands, task, task + (step < 0 ? -step : step), scratch);
  }
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
  char* line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    line[strcspn(line, "\n")] = '\0';
    printf("%d\n", answer(line));
    fflush(stdout);
  }
  return 0;
}
