/* SPDX-License-Identifier: Apache-2.0
 *
 * Training whole: epochs over samples, validation, metrics, schedules of the
 * learning rate, checkpoints and resuming, several devices, jobs of several
 * processes: what `mxc train` does, with the same bytes. C99; link with
 * libmxc_train, which is libmxc_runtime and this, in place of libmxc_runtime.
 * Conventions are those of mxc.h: a call that can fail returns a status, null
 * for success, and no exception leaves the library.
 *
 *   const mxc_setting settings[] = {{"data", "digits"}, {"val", "digits"},
 *                                   {"epochs", "2"},    {"lr", "0.1"},
 *                                   {"seed", "7"},      {"save", "lenet"}};
 *   mxc_trainer_options options = MXC_TRAINER_OPTIONS;
 *   options.settings = settings;
 *   options.setting_count = 6;
 *   mxc_model* model;
 *   status = mxc_model_open("lenet-train.mxa", NULL, &model);
 *   mxc_trainer* trainer;
 *   status = mxc_trainer_open(model, &options, &trainer);
 *   mxc_train_result result = MXC_TRAIN_RESULT;
 *   status = mxc_trainer_fit(trainer, &result);
 *   mxc_trainer_close(trainer);
 *
 * Settings are those of `mxc train` without their dashes, as text;
 * mxc_trainer_settings lists them. "data-opt" and "val-opt" may stand there
 * several times.
 *
 * Jobs: a process that `mxc launch`, torchrun, Slurm or MPI started finds in
 * its environment which one of the job it is. Where it is a server,
 * mxc_trainer_fit serves until all workers have finished; nothing else differs,
 * so that one program is all of them. Worker 0 of a job without a server forks
 * one when it opens its trainer: do that before the program has threads.
 */
#ifndef MXC_RUNTIME_MXC_TRAIN_H_
#define MXC_RUNTIME_MXC_TRAIN_H_

#include "runtime/mxc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mxc_trainer mxc_trainer;

typedef struct mxc_setting {
  const char* name;  /* "epochs" */
  const char* value; /* "2"; of one that is on or off "1" or "0" */
} mxc_setting;

typedef struct mxc_metric {
  const char* name; /* "accuracy" */
  double value;
} mxc_metric;

/* What is told of a run; pointers hold until the callback returns. Losses are
 * means over samples, rates count this process's samples. */
typedef struct mxc_step_report {
  size_t struct_size;     /* of the library's mxc_step_report */
  int64_t step;           /* updates made in all */
  int64_t epoch, epochs;  /* the current one, from 1; of how many */
  int64_t batch, batches; /* done of the epoch; of how many */
  double loss;            /* since the last report */
  double learning_rate;
  double samples_per_second, seconds_left;
  const mxc_metric* metrics; /* of the epoch so far */
  size_t metric_count;
} mxc_step_report;

typedef struct mxc_epoch_report {
  size_t struct_size;    /* of the library's mxc_epoch_report */
  int64_t step;          /* updates made in all */
  int64_t epoch, epochs; /* the one that is over, from 1; of how many */
  double loss;
  double learning_rate; /* of its last step */
  double samples_per_second, seconds;
  const mxc_metric* metrics;
  size_t metric_count;
  int validated; /* 0: nothing was scored, and what follows is empty */
  double validation_loss;
  const mxc_metric* validation_metrics;
  size_t validation_metric_count;
} mxc_epoch_report;

/* Each may be null. They are called on the thread that called mxc_trainer_fit,
 * and may call mxc_trainer_stop and nothing else of the trainer; on_epoch also
 * mxc_trainer_read_state and mxc_trainer_write_state. */
typedef struct mxc_train_events {
  /* The learning rate of a step, from 1, in place of the settings "lr" and
   * "lr-schedule"; a number of at least 0. Asked once for each step. */
  double (*learning_rate)(void* user_data, int64_t step);
  /* Whether on_step is to be called after this step. */
  int (*wants_step)(void* user_data, int64_t step);
  void (*on_step)(void* user_data, const mxc_step_report* report);
  /* Once the epoch is saved. It may run executors that share the trainer's
   * states, and change those. Not 0: training ends as if this epoch were the
   * last one. */
  int (*on_epoch)(void* user_data, const mxc_epoch_report* report);
  /* A sentence: "resumed from …"; of what may be wrong, `warning` is 1. */
  void (*say)(void* user_data, const char* sentence, int warning);
  void* user_data;
} mxc_train_events;

/* Floats, dense, row-major. */
typedef struct mxc_floats {
  const float* values;
  const int64_t* dims;
  size_t rank;
} mxc_floats;

/* A metric of the program's own: the mean over samples of what `value` says of
 * a batch's label and output, without those that fill a batch up. */
typedef struct mxc_metric_function {
  const char* name;
  double (*value)(void* user_data, const mxc_floats* label,
                  const mxc_floats* output);
  void* user_data;
} mxc_metric_function;

/* Samples in memory: the first axis counts them. */
typedef struct mxc_array {
  const char* name; /* in messages; null: "data" or "label" */
  mxc_dtype dtype;
  const int64_t* dims;
  size_t rank;
  const void* values; /* dense, row-major, aligned to an element */
} mxc_array;

/* In place of a source's name, for the settings "data" and "val": arrays of
 * equal numbers of samples, the data's in the order of the network's inputs,
 * then the labels'. They are read where they lie, as long as the trainer is
 * open. */
typedef struct mxc_samples {
  const mxc_array* data;
  size_t data_count;
  const mxc_array* labels;
  size_t label_count;
} mxc_samples;

typedef struct mxc_trainer_options {
  size_t struct_size;
  const mxc_setting* settings;
  size_t setting_count;
  const mxc_samples* samples;    /* null: as "data" says */
  const mxc_samples* validation; /* null: as "val" says */
  /* An executor of the same model, on the setting "device", whose states
   * training changes; it outlives the trainer, and runs while that does not.
   * Null: the trainer's own states, which begin as the artifact has them. */
  mxc_executor* share;
  /* Beside those that "metric" names ("none": no others). */
  const mxc_metric_function* metrics;
  size_t metric_count;
  mxc_train_events events;
} mxc_trainer_options;

#define MXC_TRAINER_OPTIONS                                            \
  {                                                                    \
    sizeof(mxc_trainer_options), NULL, 0, NULL, NULL, NULL, NULL, 0, { \
      NULL, NULL, NULL, NULL, NULL, NULL                               \
    }                                                                  \
  }

typedef struct mxc_train_result {
  size_t struct_size;
  int64_t steps, epochs; /* in all, those of resumed runs included */
  int interrupted;       /* 1: by mxc_trainer_stop, before it was over */
  int diverged;          /* 1: it failed for a loss that was not finite */
  /* Files; null: none was written. They hold as long as the trainer is open. */
  const char* saved; /* the parameters of the last checkpoint of this run */
  const char* best;  /* those of the best epoch, where that is another */
} mxc_train_result;

#define MXC_TRAIN_RESULT {sizeof(mxc_train_result), 0, 0, 0, 0, NULL, NULL}

/* A line for each setting, with its default and what it does; a constant. */
MXC_API const char* mxc_trainer_settings(void);

/* Opens the samples, binds the network, and takes part in the job if there is
 * one; the model may be closed then. MXC_INVALID_ARGUMENT names every setting
 * that is wrong. */
MXC_API mxc_status* mxc_trainer_open(const mxc_model* model,
                                     const mxc_trainer_options* options,
                                     mxc_trainer** trainer);

/* Trains, once. `result` may be null; it is filled in after a failure, too. A
 * loss that is not finite ends training: MXC_INVALID_ARGUMENT with the step and
 * the tensor where it began, and the step has changed no state. */
MXC_API mxc_status* mxc_trainer_fit(mxc_trainer* trainer,
                                    mxc_train_result* result);

/* Asks mxc_trainer_fit to finish its step, save where "save" says, and return
 * with `interrupted`; the same settings and "resume" go on from there. From any
 * thread, and from a signal's handler. */
MXC_API void mxc_trainer_stop(mxc_trainer* trainer);

/* A state by its name, of `size` bytes: once the trainer is open, in on_epoch,
 * and after mxc_trainer_fit. What is written when it has just been opened is
 * what training begins with, unless "init", "params", "states" or "resume" say
 * otherwise; of several devices all get it. */
MXC_API mxc_status* mxc_trainer_read_state(const mxc_trainer* trainer,
                                           const char* name, void* values,
                                           size_t size);
MXC_API mxc_status* mxc_trainer_write_state(mxc_trainer* trainer,
                                            const char* name,
                                            const void* values, size_t size);

/* After mxc_trainer_fit with the setting "ema": the moving average of a
 * parameter or a moving statistic, float32, row-major; `count` is its elements.
 * MXC_NOT_FOUND where none is kept. */
MXC_API mxc_status* mxc_trainer_read_average(const mxc_trainer* trainer,
                                             const char* name, float* values,
                                             size_t count);

/* Whether this process speaks for all of its job: alone, or worker 0. Another
 * worker's epochs and sentences are not told, its warnings are. */
MXC_API int mxc_trainer_speaks(const mxc_trainer* trainer);

/* Whether this process is a server of its job: mxc_trainer_fit serves, and the
 * program has nothing to do afterwards. */
MXC_API int mxc_trainer_serves(const mxc_trainer* trainer);

/* Not during mxc_trainer_fit. Null is allowed. */
MXC_API void mxc_trainer_close(mxc_trainer* trainer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MXC_RUNTIME_MXC_TRAIN_H_ */
