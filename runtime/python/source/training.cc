// SPDX-License-Identifier: Apache-2.0
#include "runtime/python/source/training.h"

#include <nanobind/stl/string.h>

#include <optional>

#include "runtime/python/source/element.h"
#include "runtime/python/source/error.h"
#include "runtime/python/source/gil.h"

namespace mxc::python {
namespace {

// Arrays as the C API takes them, as long as the samples live.
struct CSamples {
  std::vector<mxc_array> arrays;
  mxc_samples samples = {};
};

mxc_dtype DtypeOf(const std::string& name, nb::dlpack::dtype type) {
  const int flag = TypeFlag(type);
  if (flag < 0) {
    Raise(PyExc_TypeError, "'" + name + "' holds no numbers of a known type");
  }
  return static_cast<mxc_dtype>(flag);
}

CSamples ToC(const TrainingSamples& given) {
  CSamples c;
  for (const auto* arrays : {&given.data, &given.labels}) {
    for (const auto& [name, array] : *arrays) {
      c.arrays.push_back({.name = name.c_str(),
                          .dtype = DtypeOf(name, array.dtype()),
                          .dims = array.shape_ptr(),
                          .rank = array.ndim(),
                          .values = array.data()});
    }
  }
  c.samples = {.data = c.arrays.data(),
               .data_count = given.data.size(),
               .labels = c.arrays.data() + given.data.size(),
               .label_count = given.labels.size()};
  return c;
}

nb::dict ToPython(const mxc_metric* metrics, size_t count) {
  nb::dict values;
  for (size_t i = 0; i < count; ++i) {
    values[metrics[i].name] = metrics[i].value;
  }
  return values;
}

nb::dict ToPython(const mxc_epoch_report& report) {
  nb::dict epoch;
  epoch["step"] = report.step;
  epoch["epoch"] = report.epoch;
  epoch["epochs"] = report.epochs;
  epoch["loss"] = report.loss;
  epoch["lr"] = report.learning_rate;
  epoch["samples_per_second"] = report.samples_per_second;
  epoch["seconds"] = report.seconds;
  epoch["metrics"] = ToPython(report.metrics, report.metric_count);
  nb::dict validation;
  if (report.validated != 0) {
    validation["loss"] = report.validation_loss;
    validation.update(
        ToPython(report.validation_metrics, report.validation_metric_count));
  }
  epoch["validation"] = validation;
  return epoch;
}

// A copy: what a call keeps, it keeps.
nb::object ToPython(const mxc_floats& floats) {
  size_t count = 1;
  nb::list shape;
  for (size_t i = 0; i < floats.rank; ++i) {
    count *= static_cast<size_t>(floats.dims[i]);
    shape.append(floats.dims[i]);
  }
  const nb::object numpy = nb::module_::import_("numpy");
  const nb::bytes bytes(reinterpret_cast<const char*>(floats.values),
                        count * sizeof(float));
  return numpy.attr("frombuffer")(bytes, numpy.attr("float32"))
      .attr("reshape")(shape);
}

}  // namespace

template <class Result, class Call>
Result Training::Guarded(Result otherwise, const Call& call) {
  const GilTaken taken;
  if (raised_) return otherwise;
  try {
    return call();
  } catch (...) {
    raised_ = std::current_exception();
    mxc_trainer_stop(handle_.get());
    return otherwise;
  }
}

mxc_train_events Training::EventsOf() {
  mxc_train_events events = {};
  events.user_data = this;
  if (!calls_.learning_rate.is_none()) {
    events.learning_rate = [](void* self, int64_t step) {
      auto& training = *static_cast<Training*>(self);
      return training.Guarded(0.0, [&] {
        return nb::cast<double>(
            nb::float_(training.calls_.learning_rate(step)));
      });
    };
  }
  // Each step gives signals their chance: Ctrl-C ends training.
  events.wants_step = [](void* self, int64_t step) {
    auto& training = *static_cast<Training*>(self);
    return training.Guarded(0, [&] {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return nb::cast<bool>(training.calls_.wants_step(step)) ? 1 : 0;
    });
  };
  events.on_step = [](void* self, const mxc_step_report* report) {
    auto& training = *static_cast<Training*>(self);
    training.Guarded(0, [&] {
      training.calls_.on_step(report->epoch, report->epochs, report->batch,
                              report->batches, report->loss);
      return 0;
    });
  };
  events.on_epoch = [](void* self, const mxc_epoch_report* report) {
    auto& training = *static_cast<Training*>(self);
    return training.Guarded(1, [&] {
      return nb::cast<bool>(training.calls_.on_epoch(ToPython(*report))) ? 1
                                                                         : 0;
    });
  };
  events.say = [](void* self, const char* sentence, int warning) {
    auto& training = *static_cast<Training*>(self);
    training.Guarded(0, [&] {
      training.calls_.say(sentence, warning != 0);
      return 0;
    });
  };
  return events;
}

Training::Training(
    mxc_model* model, Executor* share,
    const std::vector<std::pair<std::string, std::string>>& settings,
    const TrainingSamples* samples, const TrainingSamples* validation,
    TrainingCalls calls)
    : calls_(std::move(calls)) {
  std::vector<mxc_setting> given;
  for (const auto& [name, value] : settings) {
    given.push_back({name.c_str(), value.c_str()});
  }
  std::vector<mxc_metric_function> metrics;
  for (const auto& [name, function] : calls_.metrics) {
    functions_.push_back(std::make_unique<Function>(Function{this, function}));
    metrics.push_back(
        {name.c_str(),
         [](void* data, const mxc_floats* label, const mxc_floats* output) {
           auto& one = *static_cast<Function*>(data);
           return one.training->Guarded(0.0, [&] {
             return nb::cast<double>(
                 nb::float_(one.value(ToPython(*label), ToPython(*output))));
           });
         },
         functions_.back().get()});
  }
  std::optional<CSamples> trained, scored;
  if (samples != nullptr) trained = ToC(*samples);
  if (validation != nullptr) scored = ToC(*validation);
  mxc_trainer_options options = MXC_TRAINER_OPTIONS;
  options.settings = given.data();
  options.setting_count = given.size();
  options.samples = trained ? &trained->samples : nullptr;
  options.validation = scored ? &scored->samples : nullptr;
  options.share = share != nullptr ? share->handle() : nullptr;
  options.metrics = metrics.data();
  options.metric_count = metrics.size();
  options.events = EventsOf();
  mxc_trainer* trainer = nullptr;
  mxc_status* status = nullptr;
  {
    const GilReleased released;
    status = mxc_trainer_open(model, &options, &trainer);
  }
  Check(status);
  handle_.reset(trainer);
}

nb::dict Training::Fit() {
  mxc_train_result result = MXC_TRAIN_RESULT;
  mxc_status* status = nullptr;
  {
    const GilReleased released;
    status = mxc_trainer_fit(handle_.get(), &result);
  }
  if (raised_) {
    mxc_status_release(status);
    std::rethrow_exception(std::exchange(raised_, nullptr));
  }
  nb::dict told;
  told["steps"] = result.steps;
  told["epochs"] = result.epochs;
  told["interrupted"] = result.interrupted != 0;
  told["diverged"] = nb::none();
  if (result.diverged != 0) {
    told["diverged"] = mxc_status_message(status);
    mxc_status_release(status);
  } else {
    Check(status);
  }
  return told;
}

nb::bytes Training::ReadState(const std::string& name, size_t size) const {
  std::string values(size, '\0');
  Check(
      mxc_trainer_read_state(handle_.get(), name.c_str(), values.data(), size));
  return nb::bytes(values.data(), size);
}

void Training::WriteState(const std::string& name, nb::bytes values) {
  Check(mxc_trainer_write_state(handle_.get(), name.c_str(), values.c_str(),
                                values.size()));
}

nb::bytes Training::ReadAverage(const std::string& name,
                                size_t elements) const {
  std::vector<float> values(elements);
  Check(mxc_trainer_read_average(handle_.get(), name.c_str(), values.data(),
                                 values.size()));
  return nb::bytes(values.data(), values.size() * sizeof(float));
}

}  // namespace mxc::python
