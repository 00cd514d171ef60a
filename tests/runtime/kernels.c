/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels for the runtime's tests, in C instead of generated: a shared object
 * as runtime/abi wants it. A task of an elementwise kernel is kBlock elements.
 */
#include "runtime/abi/abi.h"

enum { kBlock = 16 };

/* For a test that wants to see whether kernels run. */
#ifndef MXC_TEST_LEAVE_MARK
#define MXC_TEST_LEAVE_MARK()
#endif

/* out = in * 2 + 1 */
static void Scale(void* const* operands, int64_t begin, int64_t end,
                  void* scratch) {
  const float* in = operands[0];
  float* out = operands[1];
  (void)scratch;
  MXC_TEST_LEAVE_MARK();
  for (int64_t i = begin * kBlock; i < end * kBlock; ++i) {
    out[i] = in[i] * 2 + 1;
  }
}

/* out = a + b */
static void Add(void* const* operands, int64_t begin, int64_t end,
                void* scratch) {
  const float *a = operands[0], *b = operands[1];
  float* out = operands[2];
  (void)scratch;
  for (int64_t i = begin * kBlock; i < end * kBlock; ++i) out[i] = a[i] + b[i];
}

/* out[0] = the sum of 1024 elements, by one task */
static void Sum(void* const* operands, int64_t begin, int64_t end,
                void* scratch) {
  const float* in = operands[0];
  float* out = operands[1];
  float sum = 0;
  (void)scratch;
  if (begin >= end) return;
  for (int64_t i = 0; i < 1024; ++i) sum += in[i];
  out[0] = sum;
}

/* Reverses each block by way of the scratch, slowly enough that two threads
 * with one scratch would be seen. */
static void Reverse(void* const* operands, int64_t begin, int64_t end,
                    void* scratch) {
  const float* in = operands[0];
  float* out = operands[1];
  volatile float* block = scratch;
  for (int64_t t = begin; t < end; ++t) {
    for (int i = 0; i < kBlock; ++i) block[i] = in[t * kBlock + i];
    for (volatile int delay = 0; delay < 200; ++delay) {
    }
    for (int i = 0; i < kBlock; ++i) {
      out[t * kBlock + i] = block[kBlock - 1 - i];
    }
  }
}

/* out = (in + a subnormal number) * 1e38, which is 0 for in = 0 on a thread
 * that takes subnormal numbers for zero */
static void AddSmallest(void* const* operands, int64_t begin, int64_t end,
                        void* scratch) {
  const float* in = operands[0];
  float* out = operands[1];
  const volatile float smallest = 1e-40f;
  (void)scratch;
  for (int64_t i = begin * kBlock; i < end * kBlock; ++i) {
    out[i] = (in[i] + smallest) * 1e38f;
  }
}

/* out[0] = half the squared distance of 1024 elements, by one task */
static void Distance(void* const* operands, int64_t begin, int64_t end,
                     void* scratch) {
  const float *data = operands[0], *weight = operands[1];
  float* out = operands[2];
  float sum = 0;
  (void)scratch;
  if (begin >= end) return;
  for (int64_t i = 0; i < 1024; ++i) {
    sum += (weight[i] - data[i]) * (weight[i] - data[i]) / 2;
  }
  out[0] = sum;
}

/* next = weight - rate * (weight - data), one step down that distance */
static void Descend(void* const* operands, int64_t begin, int64_t end,
                    void* scratch) {
  const float *data = operands[0], *weight = operands[1];
  const double* rate = operands[2];
  float* next = operands[3];
  (void)scratch;
  for (int64_t i = begin * kBlock; i < end * kBlock; ++i) {
    next[i] = weight[i] - (float)rate[0] * (weight[i] - data[i]);
  }
}

/* next = count + 1 */
static void Count(void* const* operands, int64_t begin, int64_t end,
                  void* scratch) {
  const int64_t* count = operands[0];
  int64_t* next = operands[1];
  (void)scratch;
  if (begin < end) next[0] = count[0] + 1;
}

/* out = in */
static void Copy(void* const* operands, int64_t begin, int64_t end,
                 void* scratch) {
  const float* in = operands[0];
  float* out = operands[1];
  (void)scratch;
  for (int64_t i = begin * kBlock; i < end * kBlock; ++i) out[i] = in[i];
}

/* out[0] = whether the first element is below 100 */
static void Below(void* const* operands, int64_t begin, int64_t end,
                  void* scratch) {
  const float* in = operands[0];
  int64_t* out = operands[1];
  (void)scratch;
  if (begin < end) out[0] = in[0] < 100;
}

extern const mxc_kernel mxc_kernels[];
const mxc_kernel mxc_kernels[] = {Scale,       Add,      Sum,     Reverse,
                                  AddSmallest, Distance, Descend, Count,
                                  Copy,        Below};

/* The test that writes a file finds these numbers and puts the true ones. */
extern const mxc_code_header mxc_abi;
const mxc_code_header mxc_abi = {0x51525354u, 0x55565758u, 0x61626364656667ull,
                                 0, 0};
extern const mxc_kernel_limits mxc_limits[10];
const mxc_kernel_limits mxc_limits[10] = {{.tasks = 0x71727374757677}};
extern const mxc_operand_limits mxc_operands[32];
const mxc_operand_limits mxc_operands[32] = {{.bytes = 0x81828384858687}};
