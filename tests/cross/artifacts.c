/* SPDX-License-Identifier: Apache-2.0
 * usage: artifacts
 * Runs artifacts by this processor's runtime, usually under an emulator, for a test
 * program of another one (tests/cases/other_machine.h). A line on stdin,
 *
 *   FOLDER THREADS RUNS
 *
 * is one, FOLDER/net.mxa, with its inputs one after the other in FOLDER/inputs. Its
 * outputs of each run, and then the states that FOLDER/states names, a line each, go to
 * FOLDER/results, and "done" to stdout; or a sentence that says why not.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mxc.h"

static char* folder;

static FILE* open_file(const char* name, const char* how) {
  char* path = NULL;
  FILE* file =
      asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : fopen(path, how);
  free(path);
  if (file == NULL) {
    perror(name);
    exit(1);
  }
  return file;
}

static void* room_for(uint64_t bytes) {
  void* room = malloc(bytes + 1);
  if (room == NULL) abort();
  return room;
}

static mxc_status* set_inputs(mxc_model* model, mxc_executor* executor,
                              size_t count) {
  FILE* file = open_file("inputs", "rb");
  mxc_status* status = NULL;
  for (size_t k = 0; k < count && status == NULL; ++k) {
    mxc_tensor input;
    status = mxc_model_input(model, 0, k, &input);
    if (status != NULL) break;
    void* values = room_for(input.bytes);
    if (fread(values, 1, input.bytes, file) != input.bytes) abort();
    status = mxc_set_input(executor, input.name, values, input.bytes);
    free(values);
  }
  fclose(file);
  return status;
}

static mxc_status* write_outputs(mxc_model* model, mxc_executor* executor,
                                 size_t count, FILE* results) {
  mxc_status* status = NULL;
  for (size_t k = 0; k < count && status == NULL; ++k) {
    mxc_tensor output;
    status = mxc_model_output(model, 0, k, &output);
    if (status != NULL) break;
    void* values = room_for(output.bytes);
    status = mxc_read_output(executor, k, values, output.bytes);
    fwrite(values, 1, output.bytes, results);
    free(values);
  }
  return status;
}

/* The state of that name, whose bytes the model says. */
static mxc_status* write_state(mxc_model* model, mxc_executor* executor,
                               const char* name, FILE* results) {
  for (size_t k = 0; k < mxc_model_state_count(model); ++k) {
    mxc_tensor state;
    mxc_status* status = mxc_model_state(model, k, &state);
    if (status != NULL) return status;
    if (strcmp(state.name, name) != 0) continue;
    void* values = room_for(state.bytes);
    status = mxc_read_state(executor, name, values, state.bytes);
    fwrite(values, 1, state.bytes, results);
    free(values);
    return status;
  }
  abort();
}

static mxc_status* write_states(mxc_model* model, mxc_executor* executor,
                                FILE* results) {
  FILE* names = open_file("states", "r");
  mxc_status* status = NULL;
  char* line = NULL;
  size_t room = 0;
  while (status == NULL && getline(&line, &room, names) > 0) {
    line[strcspn(line, "\n")] = '\0';
    status = write_state(model, executor, line, results);
  }
  free(line);
  fclose(names);
  return status;
}

static mxc_status* run(mxc_model* model, mxc_executor* executor, int runs) {
  mxc_entry_summary entry;
  mxc_status* status = mxc_model_entry(model, 0, &entry);
  if (status == NULL) status = set_inputs(model, executor, entry.input_count);
  FILE* results = open_file("results", "wb");
  for (int i = 0; i < runs && status == NULL; ++i) {
    status = mxc_run(executor);
    if (status == NULL) {
      status = write_outputs(model, executor, entry.output_count, results);
    }
  }
  if (status == NULL) status = write_states(model, executor, results);
  fclose(results);
  return status;
}

static mxc_status* run_artifact(int threads, int runs) {
  char* path = NULL;
  if (asprintf(&path, "%s/net.mxa", folder) < 0) abort();
  mxc_model* model = NULL;
  mxc_executor* executor = NULL;
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.threads = threads;
  mxc_status* status = mxc_model_open(path, NULL, &model);
  if (status == NULL) status = mxc_bind(model, &options, &executor);
  if (status == NULL) status = run(model, executor, runs);
  mxc_executor_close(executor);
  mxc_model_close(model);
  free(path);
  return status;
}

int main(void) {
  char* line = NULL;
  size_t room = 0;
  while (getline(&line, &room, stdin) > 0) {
    folder = strtok(line, " ");
    const char *threads = strtok(NULL, " "), *runs = strtok(NULL, " ");
    if (runs == NULL) return 2;
    mxc_status* status = run_artifact(atoi(threads), atoi(runs));
    puts(status == NULL ? "done" : mxc_status_message(status));
    mxc_status_release(status);
    fflush(stdout);
  }
  free(line);
  return 0;
}
