/* SPDX-License-Identifier: Apache-2.0
 *
 * A plain C99 program against runtime/mxc.h alone: what a user's would look
 * like. Usage: c_program FILE.mxa; fills every input with ones, runs, and
 * prints the shape and the first value of every output.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/mxc.h"

/* Reports a failure; null is none. */
static int Failed(mxc_status* status) {
  if (status == NULL) return 0;
  fprintf(stderr, "error: %s\n", mxc_status_message(status));
  mxc_status_release(status);
  return 1;
}

static int FillInputs(mxc_executor* executor, const mxc_model* model,
                      const mxc_entry_summary* entry, size_t row) {
  for (size_t i = 0; i < entry->input_count; ++i) {
    mxc_tensor input;
    void* memory;
    size_t size;
    if (Failed(mxc_model_input(model, row, i, &input)) ||
        Failed(mxc_map_input(executor, input.name, &memory, &size))) {
      return 0;
    }
    for (size_t k = 0; input.dtype == MXC_F32 && k < size / sizeof(float);
         ++k) {
      ((float*)memory)[k] = 1;
    }
    if (Failed(mxc_unmap(executor, memory))) return 0;
  }
  return 1;
}

static int PrintOutputs(mxc_executor* executor, const mxc_model* model,
                        const mxc_entry_summary* entry, size_t row) {
  for (size_t i = 0; i < entry->output_count; ++i) {
    mxc_tensor output;
    const void* memory;
    size_t size;
    if (Failed(mxc_model_output(model, row, i, &output)) ||
        Failed(mxc_map_output(executor, i, &memory, &size))) {
      return 0;
    }
    printf("%s (", output.name);
    for (int a = 0; a < output.rank; ++a) {
      printf(a > 0 ? ", %lld" : "%lld", (long long)output.dims[a]);
    }
    printf(") %s", mxc_dtype_name(output.dtype));
    if (output.dtype == MXC_F32 && size > 0) {
      printf(": %g", (double)*(const float*)memory);
    }
    printf("\n");
    if (Failed(mxc_unmap(executor, memory))) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  mxc_model* model = NULL;
  mxc_executor* executor = NULL;
  mxc_entry_summary entry;
  mxc_bind_options options = MXC_BIND_OPTIONS;
  int good;
  if (argc != 2) {
    fprintf(stderr, "usage: %s FILE.mxa\n", argv[0]);
    return 2;
  }
  options.threads = 2;
  if (Failed(mxc_model_open(argv[1], NULL, &model))) return 1;
  good = !Failed(mxc_bind(model, &options, &executor));
  if (good) {
    const size_t row = mxc_executor_entry(executor);
    good = !Failed(mxc_model_entry(model, row, &entry)) &&
           FillInputs(executor, model, &entry, row) &&
           !Failed(mxc_run(executor)) &&
           PrintOutputs(executor, model, &entry, row);
  }
  mxc_executor_close(executor);
  mxc_model_close(model);
  return good ? 0 : 1;
}
