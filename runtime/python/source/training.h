// SPDX-License-Identifier: Apache-2.0
// A trainer of mxc_train.h as a Python object.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/mxc_train.h"
#include "runtime/python/source/executor.h"

namespace mxc::python {

// Samples in memory: arrays by name, the data's, then the labels'.
struct TrainingSamples {
  using ReadArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
  std::vector<std::pair<std::string, ReadArray>> data, labels;
};

// What is called while it trains; None: nothing is.
struct TrainingCalls {
  nb::object learning_rate;  // (step) -> float
  nb::object wants_step;     // (step) -> bool
  nb::object on_step;        // (epoch, epochs, batch, batches, loss)
  nb::object on_epoch;       // (dict) -> bool: whether training is to end
  nb::object say;            // (sentence, warning)
  // (name, (label, output) -> float)
  std::vector<std::pair<std::string, nb::object>> metrics;
};

class Training {
 public:
  // `share`: whose states are trained, or null. All must outlive this.
  Training(mxc_model* model, Executor* share,
           const std::vector<std::pair<std::string, std::string>>& settings,
           const TrainingSamples* samples, const TrainingSamples* validation,
           TrainingCalls calls);
  Training(const Training&) = delete;

  // {"steps": …, "epochs": …, "interrupted": …, "diverged": sentence or None}.
  // The GIL is released but for the calls. What one of them raises ends
  // training after its step, and is raised here.
  nb::dict Fit();
  // Of so many bytes, which it has.
  nb::bytes ReadState(const std::string& name, size_t size) const;
  void WriteState(const std::string& name, nb::bytes values);
  // Float32 as bytes, of so many elements.
  nb::bytes ReadAverage(const std::string& name, size_t elements) const;
  bool speaks() const { return mxc_trainer_speaks(handle_.get()) != 0; }
  bool serves() const { return mxc_trainer_serves(handle_.get()) != 0; }

 private:
  struct Close {
    void operator()(mxc_trainer* trainer) const { mxc_trainer_close(trainer); }
  };
  struct Function {
    Training* training;
    nb::object value;
  };

  mxc_train_events EventsOf();
  // Calls Python with the GIL taken; `otherwise` where that raises, which is
  // kept.
  template <class Result, class Call>
  Result Guarded(Result otherwise, const Call& call);

  const TrainingCalls calls_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::unique_ptr<mxc_trainer, Close> handle_;
  std::exception_ptr raised_;
};

}  // namespace mxc::python
