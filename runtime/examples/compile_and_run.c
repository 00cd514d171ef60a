/* SPDX-License-Identifier: Apache-2.0
 *
 * A C99 program against the installed libraries. Usage:
 *   compile_and_run MODEL.json OUT.mxa
 * compiles the network with made-up parameters, runs it on zeros and prints the
 * shape of its first output.
 */
#include <mxc/mxc.h>
#include <mxc/mxc_compile.h>
#include <stdio.h>

/* Reports a failure; null is none. */
static int Failed(mxc_status* status) {
  if (status == NULL) return 0;
  fprintf(stderr, "error: %s\n", mxc_status_message(status));
  mxc_status_release(status);
  return 1;
}

static int Compile(const char* model, const char* artifact) {
  mxc_compile_options options;
  mxc_compile_options_init(&options, sizeof options);
  options.model = model;
  options.init = "xavier";
  mxc_compilation* compilation = mxc_compile(&options);
  const int done = mxc_compilation_ok(compilation) &&
                   mxc_compilation_save(compilation, artifact) == 0;
  for (size_t i = 0; i < mxc_compilation_diagnostic_count(compilation); ++i) {
    fprintf(stderr, "error: %s\n",
            mxc_compilation_diagnostic(compilation, i)->message);
  }
  mxc_compilation_release(compilation);
  return done;
}

/* The executor's memory of an input is zeros until somebody writes to it. */
static int TakeZeros(const mxc_model* model, mxc_executor* executor) {
  const size_t row = mxc_executor_entry(executor);
  mxc_entry_summary entry;
  if (Failed(mxc_model_entry(model, row, &entry))) return 0;
  for (size_t i = 0; i < entry.input_count; ++i) {
    mxc_tensor input;
    void* memory;
    size_t size;
    if (Failed(mxc_model_input(model, row, i, &input)) ||
        Failed(mxc_map_input(executor, input.name, &memory, &size)) ||
        Failed(mxc_unmap(executor, memory))) {
      return 0;
    }
  }
  return 1;
}

int main(int argc, char** argv) {
  mxc_model* model = NULL;
  mxc_executor* executor = NULL;
  mxc_tensor output;
  if (argc != 3 || !Compile(argv[1], argv[2])) return 1;
  mxc_model_options open = MXC_MODEL_OPTIONS;
  mxc_bind_options bind = MXC_BIND_OPTIONS;
  if (Failed(mxc_model_open(argv[2], &open, &model)) ||
      Failed(mxc_bind(model, &bind, &executor)) ||
      !TakeZeros(model, executor) || Failed(mxc_run(executor)) ||
      Failed(mxc_model_output(model, 0, 0, &output))) {
    return 1;
  }
  printf("%s:", output.name);
  for (int a = 0; a < output.rank; ++a) {
    printf(" %lld", (long long)output.dims[a]);
  }
  printf("\n");
  mxc_executor_close(executor);
  mxc_model_close(model);
  return 0;
}
