/* SPDX-License-Identifier: Apache-2.0
 *
 * Trains an artifact as its settings say, which are those of `mxc train`:
 *   mxc compile models/lenet.json --entry train,score --batch 64 -o net.mxa
 *   ./train net.mxa data=digits val=digits epochs=2 lr=0.1 save=net
 */
#include <mxc/mxc_train.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { kMost = 64 };
static mxc_trainer* trainer;

static void OnInterrupt(int signal) {
  if (signal == SIGINT) mxc_trainer_stop(trainer);
}

static int OnEpoch(void* user_data, const mxc_epoch_report* report) {
  (void)user_data;
  printf("epoch %d: loss %.6f", (int)report->epoch, report->loss);
  if (report->validated) printf(", to validate %.6f", report->validation_loss);
  for (size_t i = 0; i < report->validation_metric_count; ++i) {
    printf(", %s %.4f", report->validation_metrics[i].name,
           report->validation_metrics[i].value);
  }
  printf("\n");
  return 0;
}

static void Say(void* user_data, const char* sentence, int warning) {
  (void)user_data;
  fprintf(stderr, "%s%s\n", warning ? "warning: " : "", sentence);
}

int main(int argc, char** argv) {
  mxc_setting list[kMost];
  mxc_trainer_options options = MXC_TRAINER_OPTIONS;
  options.settings = list;
  options.events = (mxc_train_events){.on_epoch = OnEpoch, .say = Say};
  for (int i = 2; i < argc && i < kMost; ++i) {
    char* value = strchr(argv[i], '=');
    if (value != NULL) *value++ = '\0';
    list[options.setting_count++] = (mxc_setting){argv[i], value ? value : "1"};
  }
  mxc_model* model = NULL;
  mxc_train_result result = MXC_TRAIN_RESULT;
  mxc_status* status = mxc_model_open(argc > 1 ? argv[1] : "", NULL, &model);
  if (status == NULL) status = mxc_trainer_open(model, &options, &trainer);
  signal(SIGINT, OnInterrupt);
  if (status == NULL) status = mxc_trainer_fit(trainer, &result);
  if (status != NULL) fprintf(stderr, "%s\n", mxc_status_message(status));
  if (result.saved != NULL) printf("saved %s\n", result.saved);
  const int code = status != NULL ? 1 : result.interrupted ? 130 : 0;
  mxc_status_release(status);
  mxc_trainer_close(trainer);
  mxc_model_close(model);
  return code;
}
