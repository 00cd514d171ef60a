// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "runtime/api/handles.h"
#include "runtime/api/train/event_reporter.h"
#include "runtime/api/train/metric_function.h"
#include "runtime/fit/fit.h"
#include "runtime/fit/settings.h"
#include "runtime/mxc_train.h"
#include "runtime/train/state_names.h"

namespace data = mxc::data;
namespace fit = mxc::fit;
namespace runtime = mxc::runtime;
namespace train = mxc::train;
using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

struct mxc_trainer {
  std::atomic<int> stops = 0;
  mxc_train_events events = {};
  std::unique_ptr<fit::Fit> fit;
  bool trained = false;
  std::string saved, best;  // what results point to
};

namespace {

static_assert(std::atomic<bool>::is_always_lock_free);

// Exceptions of the standard library, of threads that do not start, end here.
template <class Body>
mxc_status* GuardedTraining(std::initializer_list<runtime::Needed> needed,
                            Body body) {
  return runtime::Guarded(needed, [&]() -> Status {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return Fail(StatusCode::kIo, "%s", error.what());
    }
  });
}

StatusOr<fit::Request> RequestOf(const mxc_trainer_options& options) {
  std::vector<fit::Setting> settings;
  for (size_t i = 0; i < options.setting_count; ++i) {
    const auto& [name, value] = options.settings[i];
    if (name == nullptr || value == nullptr) {
      return Fail(StatusCode::kInvalidArgument,
                  "setting %zu has no name or no value", i);
    }
    settings.emplace_back(name, value);
  }
  return fit::ReadRequest(settings);
}

// Where it lies: nobody frees it.
StatusOr<runtime::NamedArray> ToArray(const mxc_array& array,
                                      const char* name) {
  runtime::NamedArray named;
  named.name = array.name != nullptr ? array.name : name;
  if (array.values == nullptr || (array.dims == nullptr && array.rank > 0)) {
    return Fail(StatusCode::kInvalidArgument, "'%s' has no values or no dims",
                named.name.c_str());
  }
  if (array.dtype < 0 || mxc_dtype_size(array.dtype) == 0) {
    return Fail(StatusCode::kInvalidArgument, "'%s' has an unknown dtype",
                named.name.c_str());
  }
  named.array.type = static_cast<runtime::ElementType>(array.dtype);
  named.array.shape.assign(array.dims, array.dims + array.rank);
  if (!runtime::ArrayBytes(named.array.type, named.array.shape)) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s' has a shape that no memory could hold",
                named.name.c_str());
  }
  auto* const bytes = static_cast<std::byte*>(const_cast<void*>(array.values));
  named.array.storage = {std::shared_ptr<void>(), bytes};
  return named;
}

StatusOr<std::shared_ptr<const data::Arrays>> ArraysOf(
    const mxc_samples& samples) {
  auto arrays = std::make_shared<data::Arrays>();
  for (size_t i = 0; i < samples.data_count; ++i) {
    MXC_RT_ASSIGN(auto array, ToArray(samples.data[i], "data"));
    arrays->data.push_back(std::move(array));
  }
  for (size_t i = 0; i < samples.label_count; ++i) {
    MXC_RT_ASSIGN(auto array, ToArray(samples.labels[i], "label"));
    arrays->labels.push_back(std::move(array));
  }
  return std::shared_ptr<const data::Arrays>(std::move(arrays));
}

// The samples that a program gives take the place of a source.
Status TakeSamples(const mxc_samples* given, const char* setting,
                   std::string& source,
                   std::shared_ptr<const data::Arrays>& arrays) {
  if (given == nullptr) return {};
  if (!source.empty()) {
    return Fail(StatusCode::kInvalidArgument,
                "arrays are given, and '%s' names '%s'", setting,
                source.c_str());
  }
  source = "arrays";
  MXC_RT_ASSIGN(arrays, ArraysOf(*given));
  return {};
}

Status TakeMetrics(const mxc_trainer_options& options,
                   train::TrainerOptions& trainer) {
  std::vector<mxc_metric_function> functions;
  for (size_t i = 0; i < options.metric_count; ++i) {
    functions.push_back(options.metrics[i]);
    if (functions[i].name != nullptr && functions[i].value != nullptr) continue;
    return Fail(StatusCode::kInvalidArgument,
                "metric function %zu has no name or no 'value'", i);
  }
  if (functions.empty()) return {};
  trainer.add_metrics = [functions](train::MetricList& metrics) {
    for (const mxc_metric_function& function : functions) {
      metrics.Add(std::make_unique<fit::FunctionMetric>(function));
    }
  };
  return {};
}

Status Open(const mxc_model& model, const mxc_trainer_options& options,
            mxc_trainer& trainer) {
  MXC_RT_ASSIGN(fit::Request request, RequestOf(options));
  MXC_RT_RETURN_IF_ERROR(TakeSamples(
      options.samples, "data", request.samples.data, request.samples.arrays));
  MXC_RT_RETURN_IF_ERROR(TakeSamples(options.validation, "val",
                                     request.validation,
                                     request.validation_arrays));
  if (request.samples.data.empty()) {
    return Fail(StatusCode::kInvalidArgument,
                "nothing to train on: neither the setting 'data' nor samples");
  }
  if (request.trainer.resume && request.trainer.save.empty()) {
    return Fail(StatusCode::kInvalidArgument,
                "'resume' goes on from what 'save' names, which is not set");
  }
  request.trainer.interrupted = &trainer.stops;
  trainer.events = options.events;
  MXC_RT_RETURN_IF_ERROR(TakeMetrics(options, request.trainer));
  if (options.events.learning_rate != nullptr) {
    request.trainer.rate = [events = options.events](int64_t step) {
      return events.learning_rate(events.user_data, step);
    };
  }
  const runtime::Executor* share = nullptr;
  if (options.share != nullptr) {
    share = options.share->executor.get();
    MXC_RT_RETURN_IF_ERROR(runtime::CheckIdle(*share));
    if (&share->model() != model.model.get()) {
      return Fail(StatusCode::kInvalidArgument,
                  "the executor whose states are to be trained is of another "
                  "model");
    }
  }
  MXC_RT_ASSIGN(
      trainer.fit,
      fit::Fit::Open({.model = model.model, .path = "", .share = share},
                     std::move(request)));
  return {};
}

Status Train(mxc_trainer& trainer, mxc_train_result* result) {
  if (trainer.trained) {
    return Fail(StatusCode::kInvalidArgument,
                "the trainer has trained; open another one to go on");
  }
  trainer.trained = true;
  fit::EventReporter reporter(trainer.events, trainer.fit->speaks());
  const auto run = trainer.fit->Run(reporter);
  const train::TrainResult trained = run.ok() ? *run : train::TrainResult();
  if (trained.saved) {
    trainer.saved =
        trained.saved->Path(trained.in_pieces ? train::kPieces : "params");
  }
  trainer.best = trained.best;
  const auto text = [](const std::string& path) {
    return path.empty() ? nullptr : path.c_str();
  };
  if (result == nullptr) return run.status();
  const mxc_train_result told = {.struct_size = result->struct_size,
                                 .steps = trained.step,
                                 .epochs = trained.epochs,
                                 .interrupted = trained.interrupted,
                                 .diverged = trainer.fit->diverged(),
                                 .saved = text(trainer.saved),
                                 .best = text(trainer.best)};
  std::memcpy(result, &told, std::min(result->struct_size, sizeof told));
  return run.status();
}

// A state of a step, which there may be none of, by its index, after a check of its
// name and size; `what` it is for messages.
StatusOr<size_t> FindState(train::TrainStep* step, const std::string& name,
                           size_t size, const char* what) {
  const size_t states = step != nullptr ? step->states().size() : 0;
  for (size_t i = 0; i < states; ++i) {
    if (step->states()[i].name != name) continue;
    const std::span<std::byte> state = step->State(i);
    if (state.size() == size) return i;
    return Fail(StatusCode::kInvalidArgument,
                "'%s' has %zu bytes, but %zu are given", name.c_str(),
                state.size(), size);
  }
  return Fail(StatusCode::kNotFound, "there is no %s '%s'", what, name.c_str());
}

// What `action` does to a state of `size` bytes, by its index, of the trainer's
// step.
template <typename Action>
mxc_status* WithState(const mxc_trainer* trainer, const char* name,
                      const void* values, size_t size, Action action) {
  return GuardedTraining({{trainer, "trainer"},
                          {name, "name"},
                          runtime::NeededArray(values, size, "values")},
                         [&]() -> Status {
                           train::TrainStep* const step = trainer->fit->step();
                           MXC_RT_ASSIGN(const size_t state,
                                         FindState(step, name, size, "state"));
                           return action(*step, state);
                         });
}

}  // namespace

const char* mxc_trainer_settings(void) {
  static const std::string text = fit::DescribeSettings();
  return text.c_str();
}

mxc_status* mxc_trainer_open(const mxc_model* model,
                             const mxc_trainer_options* options,
                             mxc_trainer** trainer) {
  return GuardedTraining(
      {{model, "model"}, {options, "options"}, {trainer, "trainer"}},
      [&]() -> Status {
        const mxc_trainer_options defaults = MXC_TRAINER_OPTIONS;
        const auto known = runtime::ReadOptions(options, defaults);
        if (!known.ok()) return known.status();
        auto opened = std::make_unique<mxc_trainer>();
        MXC_RT_RETURN_IF_ERROR(Open(*model, *known, *opened));
        *trainer = opened.release();
        return {};
      });
}

mxc_status* mxc_trainer_fit(mxc_trainer* trainer, mxc_train_result* result) {
  return GuardedTraining({{trainer, "trainer"}},
                         [&] { return Train(*trainer, result); });
}

mxc_status* mxc_trainer_read_state(const mxc_trainer* trainer, const char* name,
                                   void* values, size_t size) {
  return WithState(
      trainer, name, values, size,
      [&](train::TrainStep& step, size_t state) -> Status {
        if (step.Shares(state)) {
          return Fail(StatusCode::kUnsupported,
                      "this worker has its part of '%s' alone: all of it is in "
                      "the checkpoints",
                      name);
        }
        std::ranges::copy(step.State(state), static_cast<std::byte*>(values));
        return {};
      });
}

mxc_status* mxc_trainer_write_state(mxc_trainer* trainer, const char* name,
                                    const void* values, size_t size) {
  return WithState(trainer, name, values, size,
                   [&](train::TrainStep& step, size_t state) -> Status {
                     std::copy_n(static_cast<const std::byte*>(values), size,
                                 step.State(state).begin());
                     step.Filled(state);
                     return {};
                   });
}

mxc_status* mxc_trainer_read_average(const mxc_trainer* trainer,
                                     const char* name, float* values,
                                     size_t count) {
  return GuardedTraining(
      {{trainer, "trainer"},
       {name, "name"},
       runtime::NeededArray(values, count, "values")},
      [&]() -> Status {
        train::TrainStep* const averages = trainer->fit->averages();
        MXC_RT_ASSIGN(const size_t average,
                      FindState(averages, train::AverageOf(name),
                                count * sizeof(float), "moving average"));
        std::ranges::copy(averages->State(average),
                          reinterpret_cast<std::byte*>(values));
        return {};
      });
}

void mxc_trainer_stop(mxc_trainer* trainer) {
  if (trainer != nullptr) trainer->stops = 1;
}

int mxc_trainer_speaks(const mxc_trainer* trainer) {
  return trainer != nullptr && trainer->fit->speaks() ? 1 : 0;
}

int mxc_trainer_serves(const mxc_trainer* trainer) {
  return trainer != nullptr && trainer->fit->serves() ? 1 : 0;
}

void mxc_trainer_close(mxc_trainer* trainer) { delete trainer; }
