/* SPDX-License-Identifier: Apache-2.0
 *
 * A C99 program against the installed runtime: a KVStore in one process, as
 * MXNet's "local". Two devices have a half of the samples each and push
 * gradients of a line's slope and intercept; the store adds them up and updates
 * the values by the program's own rule. Prints what was learned. With
 * "dist_sync", `servers` and a `rank` the same calls train a job of processes
 * (mxc_kvstore.h).
 */
#include <mxc/mxc_kvstore.h>
#include <stdio.h>

enum { kDevices = 2, kSamples = 8, kSteps = 200 };

/* Reports a failure; null is none. */
static int Failed(mxc_status* status) {
  if (status == NULL) return 0;
  fprintf(stderr, "error: %s\n", mxc_status_message(status));
  mxc_status_release(status);
  return 1;
}

static void Descend(void* user_data, uint32_t key, uint64_t first,
                    uint64_t count, const float* gradient, float* value,
                    double learning_rate) {
  (void)user_data, (void)key, (void)first;
  for (uint64_t i = 0; i < count; ++i) {
    value[i] -= (float)learning_rate * gradient[i];
  }
}

/* Of half the squared distance to y = 3 x - 1, over this device's samples. */
static void Differentiate(int device, const float line[2], float gradient[2]) {
  gradient[0] = gradient[1] = 0;
  for (int i = device; i < kSamples; i += kDevices) {
    const float x = (float)i / kSamples;
    const float error = line[0] * x + line[1] - (3 * x - 1);
    gradient[0] += error * x;
    gradient[1] += error;
  }
}

static int Step(mxc_kvstore* store) {
  float lines[kDevices][2], gradients[kDevices][2];
  float* values[kDevices];
  const float* pushed[kDevices];
  for (int d = 0; d < kDevices; ++d) {
    values[d] = lines[d];
    pushed[d] = gradients[d];
  }
  if (Failed(mxc_kvstore_pull(store, 0, values, kDevices, 0)) ||
      Failed(mxc_kvstore_wait(store, 0))) {
    return 0;
  }
  for (int d = 0; d < kDevices; ++d) Differentiate(d, lines[d], gradients[d]);
  return !Failed(mxc_kvstore_push(store, 0, pushed, kDevices, 0)) &&
         !Failed(mxc_kvstore_wait(store, 0));
}

int main(void) {
  const mxc_kvstore_key keys[] = {{"line", 2}};
  const float zeros[2] = {0, 0};
  float line[2];
  float* const pulled = line;
  mxc_kvstore* store = NULL;
  mxc_kvstore_options options = MXC_KVSTORE_OPTIONS;
  options.kvstore = "local";
  options.keys = keys;
  options.key_count = 1;
  options.updater = Descend;
  if (Failed(mxc_kvstore_open(&options, &store))) return 1;
  mxc_kvstore_set_learning_rate(store, 0.2);
  int good = !Failed(mxc_kvstore_init(store, 0, zeros));
  for (int step = 0; good && step < kSteps; ++step) good = Step(store);
  good = good && !Failed(mxc_kvstore_pull(store, 0, &pulled, 1, 0)) &&
         !Failed(mxc_kvstore_wait(store, 0));
  if (good) printf("y = %.1f x %+.1f\n", (double)line[0], (double)line[1]);
  mxc_kvstore_close(store);
  return good ? 0 : 1;
}
