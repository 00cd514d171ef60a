/* SPDX-License-Identifier: Apache-2.0
 *
 * A plain C99 program, which is C++ as well, against mxc_compile.h alone: what
 * a user's would look like. Usage: c_compile OUT.mxa. Compiles a network in
 * memory with parameters of its own; prints what it hears, and what is wrong
 * with another network.
 */
#include <stdio.h>
#include <string.h>

#include "tools/driver/mxc_compile.h"

static const char kNetwork[] =
    "{\"mxc\": 1, \"inputs\": {\"data\": [\"N\", 3]}, \"nodes\": [\n"
    "  {\"op\": \"FullyConnected\", \"name\": \"fc\", \"num_hidden\": 2}]}\n";

static const char kWrong[] =
    "{\"mxc\": 1, \"inputs\": {\"data\": [1, 3]}, \"nodes\": [\n"
    "  {\"op\": \"FullyConected\", \"num_hidden\": 2},\n"
    "  {\"op\": \"Softmaks\"}]}\n";

static void PrintDiagnostics(const mxc_compilation* compilation) {
  const size_t count = mxc_compilation_diagnostic_count(compilation);
  for (size_t i = 0; i < count; ++i) {
    const mxc_diagnostic* d = mxc_compilation_diagnostic(compilation, i);
    printf("%s:%d:%d: %s\n", d->file, d->line, d->column, d->message);
  }
}

static void PrintPhase(void* context, const char* phase, const char* text,
                       double seconds) {
  (void)text;
  (void)seconds;
  ++*(int*)context;
  printf("phase %s\n", phase);
}

static void SetNetwork(mxc_compile_options* options, const char* text) {
  options->text = text;
  options->text_size = strlen(text);
  options->text_name = "net.json";
}

static int CompileWrong(void) {
  mxc_compile_options options;
  mxc_compilation* compilation;
  int ok;
  mxc_compile_options_init(&options, sizeof options);
  SetNetwork(&options, kWrong);
  options.target = "z80";
  compilation = mxc_compile(&options);
  ok = mxc_compilation_ok(compilation);
  PrintDiagnostics(compilation);
  mxc_compilation_release(compilation);
  return ok;
}

int main(int argc, char** argv) {
  static const float weight[] = {1, 2, 3, 4, 5, 6}, bias[] = {10, 20};
  static const int64_t weight_dims[] = {2, 3}, bias_dims[] = {2};
  static const int64_t batches[] = {1, 4};
  const mxc_compile_array arrays[] = {{"fc_weight", 0, 2, weight_dims, weight},
                                      {"fc_bias", 0, 1, bias_dims, bias}};
  mxc_compile_options options;
  mxc_compilation* compilation;
  size_t size = 0;
  int phases = 0, saved;
  if (argc != 2 || CompileWrong()) return 2;
  mxc_compile_options_init(&options, sizeof options);
  SetNetwork(&options, kNetwork);
  options.arrays = arrays;
  options.array_count = 2;
  options.batches = batches;
  options.batch_count = 2;
  options.progress = PrintPhase;
  options.progress_context = &phases;
  compilation = mxc_compile(&options);
  PrintDiagnostics(compilation);
  if (mxc_compilation_artifact(compilation, &size) == NULL || size == 0) {
    return 1;
  }
  saved = mxc_compilation_save(compilation, argv[1]);
  mxc_compilation_release(compilation);
  return saved == 0 && phases > 0 ? 0 : 1;
}
