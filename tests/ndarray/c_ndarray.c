/* SPDX-License-Identifier: Apache-2.0
 *
 * A plain C99 program against mxc_ndarray.h and mxc_autograd.h alone, linked with
 * libmxc_ndarray: what a user's would look like. With a number as argument it
 * prints nanoseconds of as many calls of a + b of 4x4, and of a recorded product,
 * its sum and their gradient.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tools/imperative/mxc_autograd.h"
#include "tools/imperative/mxc_ndarray.h"

static void Check(mxc_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", mxc_status_message(status));
  mxc_status_release(status);
  exit(1);
}

static void Measure(mxc_ndarray_op* add, long calls) {
  static const int64_t dims[] = {4, 4};
  mxc_ndarray *pair[2], *sum = NULL;
  double best = 1e9;
  int round;
  Check(mxc_ndarray_create(MXC_F32, dims, 2, NULL, &pair[0]));
  Check(mxc_ndarray_create(MXC_F32, dims, 2, NULL, &pair[1]));
  for (round = 0; round < 7; ++round) {
    const clock_t begin = clock();
    double each;
    long i;
    for (i = 0; i < calls; ++i) {
      mxc_ndarray_release(sum);
      sum = NULL;
      Check(mxc_ndarray_op_call(add, pair, 2, &sum, 1, 0));
    }
    Check(mxc_ndarray_wait(sum));
    each = (double)(clock() - begin) / CLOCKS_PER_SEC * 1e9 / (double)calls;
    if (each < best) best = each;
  }
  printf("%.0f ns\n", best);
  mxc_ndarray_release(pair[0]);
  mxc_ndarray_release(pair[1]);
  mxc_ndarray_release(sum);
}

/* Records x * y and its sum, and asks for the gradient of x. */
static void MeasureGradient(long calls) {
  static const int64_t dims[] = {4, 4};
  mxc_ndarray *x, *y, *gradient, *pair[2], *product = NULL, *sum = NULL;
  mxc_ndarray_op *mul, *add_up;
  double best = 1e9;
  int round;
  Check(mxc_ndarray_create(MXC_F32, dims, 2, NULL, &x));
  Check(mxc_ndarray_create(MXC_F32, dims, 2, NULL, &y));
  Check(mxc_ndarray_create(MXC_F32, dims, 2, NULL, &gradient));
  Check(mxc_ndarray_op_find("broadcast_mul", NULL, NULL, 0, &mul));
  Check(mxc_ndarray_op_find("sum", NULL, NULL, 0, &add_up));
  Check(mxc_autograd_mark(x, gradient, MXC_GRADIENT_WRITE));
  pair[0] = x;
  pair[1] = y;
  for (round = 0; round < 7; ++round) {
    const clock_t begin = clock();
    double each;
    long i;
    for (i = 0; i < calls; ++i) {
      mxc_autograd_set_recording(1);
      Check(mxc_ndarray_op_call(mul, pair, 2, &product, 1, 0));
      Check(mxc_ndarray_op_call(add_up, &product, 1, &sum, 1, 0));
      mxc_autograd_set_recording(0);
      Check(mxc_autograd_backward(&sum, NULL, 1, 0));
      mxc_ndarray_release(product);
      mxc_ndarray_release(sum);
      product = sum = NULL;
    }
    Check(mxc_ndarray_wait(gradient));
    each = (double)(clock() - begin) / CLOCKS_PER_SEC * 1e9 / (double)calls;
    if (each < best) best = each;
  }
  printf("%.0f ns with a gradient\n", best);
  mxc_ndarray_release(x);
  mxc_ndarray_release(y);
  mxc_ndarray_release(gradient);
  mxc_ndarray_op_release(mul);
  mxc_ndarray_op_release(add_up);
}

int main(int argc, char** argv) {
  static const int64_t dims[] = {2, 2};
  static const float x[] = {1, 2, 3, 4}, y[] = {10, 20, 30, 40};
  mxc_ndarray *pair[2], *sum = NULL;
  mxc_ndarray_op* add;
  float z[4];
  Check(mxc_ndarray_create(MXC_F32, dims, 2, x, &pair[0]));
  Check(mxc_ndarray_create(MXC_F32, dims, 2, y, &pair[1]));
  Check(mxc_ndarray_op_find("broadcast_add", NULL, NULL, 0, &add));
  Check(mxc_ndarray_op_call(add, pair, 2, &sum, 1, 0));
  Check(mxc_ndarray_read(sum, z, sizeof z));
  printf("%g %g %g %g\n", z[0], z[1], z[2], z[3]);
  if (argc > 1) {
    Measure(add, atol(argv[1]));
    MeasureGradient(atol(argv[1]) / 10);
  }
  mxc_ndarray_release(pair[0]);
  mxc_ndarray_release(pair[1]);
  mxc_ndarray_release(sum);
  mxc_ndarray_op_release(add);
  return 0;
}
