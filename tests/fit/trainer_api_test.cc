// SPDX-License-Identifier: Apache-2.0
// The C API of training, over an artifact that pulls its weight towards the
// data: its loss is their squared distance.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "runtime/mxc_train.h"
#include "tests/runtime/api.h"
#include "tests/runtime/test_artifact.h"

namespace mxc::test {
namespace {

constexpr int64_t kWidth = 1024;

struct TrainerClose {
  void operator()(mxc_trainer* trainer) const { mxc_trainer_close(trainer); }
};
using TrainerHandle = std::unique_ptr<mxc_trainer, TrainerClose>;

// What a run tells.
struct Log {
  std::vector<int64_t> rated;  // steps whose rate was asked for
  std::vector<double> losses;  // of epochs
  std::vector<std::string> warnings;
  std::map<std::string, double> metrics;  // of the last epoch
  int64_t last_epoch = 1000;              // after which it ends
  int64_t stop_at = 0;                    // step
  mxc_trainer* trainer = nullptr;
};

mxc_train_events EventsOf(Log& log) {
  mxc_train_events events = {};
  events.user_data = &log;
  events.learning_rate = [](void* data, int64_t step) {
    auto& to = *static_cast<Log*>(data);
    to.rated.push_back(step);
    if (step == to.stop_at) mxc_trainer_stop(to.trainer);
    return 0.25;
  };
  events.on_epoch = [](void* data, const mxc_epoch_report* report) {
    auto& to = *static_cast<Log*>(data);
    to.losses.push_back(report->loss);
    for (size_t i = 0; i < report->metric_count; ++i) {
      to.metrics[report->metrics[i].name] = report->metrics[i].value;
    }
    return report->epoch >= to.last_epoch ? 1 : 0;
  };
  events.say = [](void* data, const char* sentence, int warning) {
    if (warning != 0) static_cast<Log*>(data)->warnings.push_back(sentence);
  };
  return events;
}

// Samples of one value each.
struct Samples {
  explicit Samples(std::vector<float> of) {
    for (const float value : of) values.insert(values.end(), kWidth, value);
    dims[0] = static_cast<int64_t>(of.size());
  }
  mxc_samples Given() {
    array = {.name = "data",
             .dtype = MXC_F32,
             .dims = dims,
             .rank = 2,
             .values = values.data()};
    return {
        .data = &array, .data_count = 1, .labels = nullptr, .label_count = 0};
  }
  std::vector<float> values;
  int64_t dims[2] = {0, kWidth};
  mxc_array array = {};
};

using Settings = std::vector<mxc_setting>;

struct Opened {
  TrainerHandle trainer;
  std::string refusal;
};

Opened OpenTrainer(mxc_model* model, const Settings& settings,
                   const mxc_trainer_options& others = MXC_TRAINER_OPTIONS) {
  mxc_trainer_options options = others;
  options.settings = settings.data();
  options.setting_count = settings.size();
  mxc_trainer* trainer = nullptr;
  Opened opened;
  opened.refusal = Message(mxc_trainer_open(model, &options, &trainer));
  opened.trainer.reset(trainer);
  return opened;
}

ModelHandle OpenTrainModel() {
  return Open(WriteTemporary("trainer", TrainArtifact().File()));
}

float WeightOf(const mxc_trainer* trainer) {
  std::vector<float> weight(kWidth);
  CHECK(Message(mxc_trainer_read_state(trainer, "weight", weight.data(),
                                       kWidth * sizeof(float))) == "");
  return weight[7];
}

}  // namespace

TEST_CASE("arrays are trained on, and each step's rate is asked for once") {
  const ModelHandle model = OpenTrainModel();
  Samples samples({7, 7, 7});
  const mxc_samples given = samples.Given();
  Log log;
  mxc_trainer_options options = MXC_TRAINER_OPTIONS;
  options.samples = &given;
  options.events = EventsOf(log);
  const auto [trainer, refusal] =
      OpenTrainer(model.get(), {{"epochs", "3"}, {"metric", "none"}}, options);
  REQUIRE(refusal == "");
  CHECK(mxc_trainer_speaks(trainer.get()) == 1);
  CHECK(mxc_trainer_serves(trainer.get()) == 0);
  const float before = WeightOf(trainer.get());
  mxc_train_result result = MXC_TRAIN_RESULT;
  REQUIRE(Message(mxc_trainer_fit(trainer.get(), &result)) == "");
  CHECK(result.steps == 9);
  CHECK(result.epochs == 3);
  CHECK(result.interrupted == 0);
  CHECK(result.diverged == 0);
  CHECK(result.saved == nullptr);
  CHECK(log.rated == std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  REQUIRE(log.losses.size() == 3);
  CHECK(log.losses[2] < log.losses[0]);
  const float after = WeightOf(trainer.get());
  CHECK(after != before);
  CHECK(Message(mxc_trainer_fit(trainer.get(), nullptr))
            .starts_with("the trainer has trained"));
}

TEST_CASE("callbacks end training with an epoch, or within one") {
  const ModelHandle model = OpenTrainModel();
  Samples samples({7, 7, 7});
  const mxc_samples given = samples.Given();
  for (const bool within : {false, true}) {
    CAPTURE(within);
    Log log;
    mxc_trainer_options options = MXC_TRAINER_OPTIONS;
    options.samples = &given;
    options.events = EventsOf(log);
    auto [trainer, refusal] = OpenTrainer(
        model.get(), {{"epochs", "9"}, {"metric", "none"}}, options);
    REQUIRE(refusal == "");
    log.trainer = trainer.get();
    if (within) {
      log.stop_at = 5;
    } else {
      log.last_epoch = 2;
    }
    mxc_train_result result = MXC_TRAIN_RESULT;
    REQUIRE(Message(mxc_trainer_fit(trainer.get(), &result)) == "");
    CHECK(result.steps == (within ? 5 : 6));
    CHECK(result.interrupted == (within ? 1 : 0));
    CHECK(log.losses.size() == (within ? 1 : 2));
  }
}

TEST_CASE("an executor whose states are shared sees what is learned") {
  const ModelHandle model = OpenTrainModel();
  mxc_bind_options bind = MXC_BIND_OPTIONS;
  mxc_executor* bound = nullptr;
  REQUIRE(Message(mxc_bind(model.get(), &bind, &bound)) == "");
  const ExecutorHandle executor(bound);
  Samples samples({7});
  const mxc_samples given = samples.Given();
  Log log;
  mxc_trainer_options options = MXC_TRAINER_OPTIONS;
  options.samples = &given;
  options.share = executor.get();
  options.events = EventsOf(log);
  auto [trainer, refusal] =
      OpenTrainer(model.get(), {{"epochs", "2"}, {"metric", "none"}}, options);
  REQUIRE(refusal == "");
  std::vector<float> weight(kWidth, 3.0f);
  const size_t size = kWidth * sizeof(float);
  REQUIRE(Message(mxc_write_state(executor.get(), "weight", weight.data(),
                                  size)) == "");
  CHECK(WeightOf(trainer.get()) == 3);
  REQUIRE(Message(mxc_trainer_fit(trainer.get(), nullptr)) == "");
  REQUIRE(Message(mxc_read_state(executor.get(), "weight", weight.data(),
                                 size)) == "");
  CHECK(weight[7] == WeightOf(trainer.get()));
  CHECK(weight[7] > 3);
  CHECK(Message(mxc_trainer_read_average(trainer.get(), "weight", weight.data(),
                                         kWidth))
            .starts_with("there is no moving average"));
  CHECK(Message(mxc_trainer_write_state(trainer.get(), "weight", weight.data(),
                                        size - 1)) ==
        "'weight' has 4096 bytes, but 4095 are given");

  const ModelHandle other = OpenTrainModel();
  CHECK(OpenTrainer(other.get(), {}, options).refusal ==
        "the executor whose states are to be trained is of another model");
}

TEST_CASE("what is wrong with a request is told before it trains") {
  const ModelHandle model = OpenTrainModel();
  Samples samples({7});
  const mxc_samples given = samples.Given();
  mxc_trainer_options with = MXC_TRAINER_OPTIONS;
  with.samples = &given;
  CHECK(
      OpenTrainer(model.get(), {}).refusal.starts_with("nothing to train on"));
  CHECK(OpenTrainer(model.get(), {{"data", "digits"}}, with).refusal ==
        "arrays are given, and 'data' names 'digits'");
  CHECK(
      OpenTrainer(model.get(), {{"epochs", "0"}, {"lrs", "1"}}, with).refusal ==
      "epochs is '0', expected a whole number of at least 1; no setting "
      "'lrs'; nearest: lr");
  CHECK(OpenTrainer(model.get(), {{nullptr, "1"}}, with).refusal ==
        "setting 0 has no name or no value");
  CHECK(OpenTrainer(model.get(), {{"resume", "1"}}, with)
            .refusal.starts_with("'resume' goes on from what 'save' names"));
  CHECK(OpenTrainer(nullptr, {}, with).refusal == "'model' is null");
  mxc_trainer_options zeros = {};
  CHECK(OpenTrainer(model.get(), {}, zeros)
            .refusal.find("initialize options with MXC_MODEL_OPTIONS") !=
        std::string::npos);
  const mxc_metric_function nameless = {};
  mxc_trainer_options metrics = with;
  metrics.metrics = &nameless;
  metrics.metric_count = 1;
  CHECK(OpenTrainer(model.get(), {}, metrics).refusal ==
        "metric function 0 has no name or no 'value'");
  Samples wide({7});
  wide.dims[1] = 512;
  const mxc_samples narrow = wide.Given();
  with.samples = &narrow;
  auto [trainer, refusal] =
      OpenTrainer(model.get(), {{"metric", "none"}}, with);
  REQUIRE(refusal == "");
  CHECK(Message(mxc_trainer_fit(trainer.get(), nullptr)) ==
        "the network wants data float32 (1, 1024), the data give data float32 "
        "(1, 512)");
  CHECK(Message(mxc_trainer_fit(nullptr, nullptr)) == "'trainer' is null");
  CHECK(mxc_trainer_speaks(nullptr) == 0);
  mxc_trainer_stop(nullptr);
  mxc_trainer_close(nullptr);
}

TEST_CASE("a loss that is not finite ends training") {
  const ModelHandle model = OpenTrainModel();
  Samples samples({3e38f});
  const mxc_samples given = samples.Given();
  mxc_trainer_options options = MXC_TRAINER_OPTIONS;
  options.samples = &given;
  auto [trainer, refusal] =
      OpenTrainer(model.get(), {{"lr", "0.1"}, {"metric", "none"}}, options);
  REQUIRE(refusal == "");
  mxc_train_result result = MXC_TRAIN_RESULT;
  CHECK(Message(mxc_trainer_fit(trainer.get(), &result))
            .starts_with("the loss is inf at step 1 of epoch 1"));
  CHECK(result.diverged == 1);
}

}  // namespace mxc::test
