/* SPDX-License-Identifier: Apache-2.0
 *
 * Training from plain C99 with runtime/mxc.h alone: bind, feed, step, read,
 * save. Usage: c_train FILE.mxa STEPS STATES
 *
 * Trains on one made-up batch, saves the states into the file STATES, spoils
 * them, loads them again and scores: the loss that was learned is still there.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mxc.h"

/* Reports a failure; null is none. */
static int Failed(mxc_status* status) {
  if (status == NULL) return 0;
  fprintf(stderr, "error: %s\n", mxc_status_message(status));
  mxc_status_release(status);
  return 1;
}

static int EndsWith(const char* text, const char* end) {
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Labels are classes 0 to 9, everything else lies between 0 and 1. */
static void MakeUp(const mxc_tensor* input, void* memory) {
  const uint64_t count = input->bytes / mxc_dtype_size(input->dtype);
  const int label = EndsWith(input->name, "label");
  uint32_t noise = 1;
  for (uint64_t i = 0; i < count; ++i) {
    noise = noise * 1664525u + 1013904223u;
    if (input->dtype == MXC_F32) {
      ((float*)memory)[i] =
          label ? (float)(i % 10) : (float)(noise >> 8) / (float)(1 << 24);
    }
  }
}

static int Feed(mxc_executor* executor, const mxc_model* model, double rate) {
  const size_t row = mxc_executor_entry(executor);
  mxc_entry_summary entry;
  if (Failed(mxc_model_entry(model, row, &entry))) return 0;
  for (size_t i = 0; i < entry.input_count; ++i) {
    mxc_tensor input;
    void* memory;
    size_t size;
    if (Failed(mxc_model_input(model, row, i, &input)) ||
        Failed(mxc_map_input(executor, input.name, &memory, &size))) {
      return 0;
    }
    if (strcmp(input.name, "learning_rate") == 0) {
      *(double*)memory = rate;
    } else {
      MakeUp(&input, memory);
    }
    if (Failed(mxc_unmap(executor, memory))) return 0;
  }
  return 1;
}

static int Loss(mxc_executor* executor, float* loss) {
  size_t index;
  return !Failed(mxc_run(executor)) &&
         !Failed(mxc_find_output(executor, "loss", &index)) &&
         !Failed(mxc_read_output(executor, index, loss, sizeof *loss));
}

/* Every state through `use`, which gets its bytes to keep or to fill. */
static int ForEachState(const mxc_model* model,
                        int (*use)(const mxc_tensor*, void*, mxc_executor*,
                                   FILE*),
                        mxc_executor* executor, FILE* file) {
  int good = 1;
  for (size_t i = 0; good && i < mxc_model_state_count(model); ++i) {
    mxc_tensor state;
    void* values;
    if (Failed(mxc_model_state(model, i, &state))) return 0;
    values = malloc(state.bytes > 0 ? state.bytes : 1);
    good = values != NULL && use(&state, values, executor, file);
    free(values);
  }
  return good;
}

static int SaveState(const mxc_tensor* state, void* values,
                     mxc_executor* executor, FILE* file) {
  return !Failed(mxc_read_state(executor, state->name, values, state->bytes)) &&
         fwrite(values, 1, state->bytes, file) == state->bytes;
}

static int LoadState(const mxc_tensor* state, void* values,
                     mxc_executor* executor, FILE* file) {
  return fread(values, 1, state->bytes, file) == state->bytes &&
         !Failed(mxc_write_state(executor, state->name, values, state->bytes));
}

static int Train(mxc_executor* train, int steps) {
  float first = 0, loss = 0;
  mxc_nonfinite wrong;
  for (int step = 0; step < steps; ++step) {
    if (!Loss(train, &loss)) return 0;
    if (step == 0) first = loss;
  }
  if (Failed(mxc_find_nonfinite(train, &wrong))) return 0;
  if (wrong.tensor != NULL) {
    fprintf(stderr, "error: '%s' is not finite\n", wrong.tensor);
    return 0;
  }
  printf("loss from %g to %g\n", (double)first, (double)loss);
  return 1;
}

static int SaveSpoilLoad(const mxc_model* model, mxc_executor* train,
                         const char* path) {
  FILE* file = fopen(path, "w+b");
  int good = file != NULL && ForEachState(model, SaveState, train, file) &&
             !Failed(mxc_reset_states(train)) &&
             fseek(file, 0, SEEK_SET) == 0 &&
             ForEachState(model, LoadState, train, file);
  if (file != NULL) good = fclose(file) == 0 && good;
  return good;
}

/* In the states of `train`. */
static int Score(mxc_model* model, mxc_executor* train) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  mxc_executor* score = NULL;
  float loss = 0;
  int good;
  options.entry = "score";
  options.share = train;
  good = !Failed(mxc_bind(model, &options, &score)) && Feed(score, model, 0) &&
         Loss(score, &loss);
  if (good) printf("scored %g\n", (double)loss);
  mxc_executor_close(score);
  return good;
}

int main(int argc, char** argv) {
  mxc_model* model = NULL;
  mxc_executor* train = NULL;
  mxc_bind_options options = MXC_BIND_OPTIONS;
  int good;
  if (argc != 4) {
    fprintf(stderr, "usage: %s FILE.mxa STEPS STATES\n", argv[0]);
    return 2;
  }
  if (Failed(mxc_model_open(argv[1], NULL, &model))) return 1;
  options.entry = "train";
  options.threads = 2;
  good = !Failed(mxc_bind(model, &options, &train)) &&
         Feed(train, model, /*rate=*/0.1) && Train(train, atoi(argv[2])) &&
         SaveSpoilLoad(model, train, argv[3]) && Score(model, train);
  mxc_executor_close(train);
  mxc_model_close(model);
  return good ? 0 : 1;
}
