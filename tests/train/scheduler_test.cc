// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/scheduler.h"

#include <cmath>

#include "tests/train/cases.h"

namespace mxc::train {
namespace {

TEST_CASE("scheduler: MXNet's rates, to the last bits" *
          doctest::test_suite("shared")) {
  for (const auto& row : TrainingCases("schedulers.jsonl")) {
    const std::string text = Spelled(row["scheduler"], row["kwargs"]);
    CAPTURE(text);
    const auto specification = ParseSpecification(text);
    REQUIRE(specification.ok());
    auto scheduler = MakeScheduler(*specification);
    REQUIRE(scheduler.ok());
    if (row.contains("optimizer_learning_rate")) {
      (*scheduler)->OverrideBase(row["optimizer_learning_rate"]);
    }
    for (size_t i = 0; i < row["lr"].size(); ++i) {
      const int64_t update = row["updates"].is_string()
                                 ? static_cast<int64_t>(i) + 1
                                 : row["updates"][i].get<int64_t>();
      CAPTURE(update);
      CHECK((*scheduler)->At(update) ==
            doctest::Approx(row["lr"][i].get<double>()).epsilon(1e-15));
    }
  }
}

TEST_CASE("scheduler: goes on from its state as if it had never stopped") {
  for (const char* text :
       {"constant", "factor:step=3:factor=0.5",
        "multifactor:step=4,9:factor=.1", "poly:max_update=10:warmup_steps=3",
        "cosine:max_update=10", "onecycle:max_update=16", "plateau:patience=1",
        "exp:gamma=0.9", "inv:gamma=0.5:power=0.75",
        "sigmoid:gamma=-0.5:step=4", "poly:max_update=10:first=0"}) {
    CAPTURE(text);
    for (int64_t stop = 1; stop < 15; ++stop) {
      auto first = ParseSchedule(text, 0.5), second = ParseSchedule(text, 0.5);
      for (int64_t update = 1; update <= stop; ++update) {
        (*first)->At(update);
      }
      REQUIRE((*second)->Restore((*first)->State()));
      auto uninterrupted = ParseSchedule(text, 0.5);
      for (int64_t update = 1; update <= stop; ++update) {
        (*uninterrupted)->At(update);
      }
      for (int64_t update = stop + 1; update < 20; ++update) {
        CHECK((*second)->At(update) == (*uninterrupted)->At(update));
      }
    }
  }
}

TEST_CASE("scheduler: the command line's rate is the base") {
  const auto rate = [](const char* text, double learning_rate, int64_t at) {
    return (*ParseSchedule(text, learning_rate))->At(at);
  };
  CHECK(rate("", 0.3, 7) == 0.3);
  CHECK(rate("poly:max_update=10:pwr=1", 0.5, 5) == 0.25);
  CHECK(rate("factor:step=2:warmup_steps=4", 0.8, 2) == 0.4);
  // As MXNet's optimizer: the rate wins over base_lr, but not in poly.
  CHECK(rate("factor:step=9:base_lr=0.1", 0.8, 1) == 0.8);
  CHECK(rate("poly:max_update=10:pwr=1:base_lr=0.1", 0.5, 5) == 0.05);
  CHECK((*ParseSchedule("constant", std::nullopt))->At(1) == 0.01);
}

TEST_CASE("scheduler: the run's length is what decays take") {
  const auto rate = [](const char* text, int64_t at) {
    return (*ParseSchedule(text, 0.5, RunLength{20, 5}))->At(at);
  };
  for (const int64_t at : {1, 7, 20}) {
    CHECK(rate("cosine", at) == rate("cosine:max_update=20", at));
    CHECK(rate("poly:pwr=1", at) == rate("poly:max_update=20:pwr=1", at));
    CHECK(rate("cosine:max_update=9", at) ==
          (*ParseSchedule("cosine:max_update=9", 0.5))->At(at));
    CHECK(rate("cosine:warmup_epochs=0.4", at) ==
          rate("cosine:warmup_steps=2", at));
  }
  CHECK(rate("constant:warmup_epochs=2", 5) == 0.25);
  CHECK_FALSE(
      ParseSchedule("constant:warmup_epochs=x", 0.5, RunLength{20, 5}).ok());
  CHECK_FALSE(ParseSchedule("constant:warmup_epochs=1:warmup_steps=3", 0.5,
                            RunLength{20, 5})
                  .ok());
}

// GetLearningRate of sgd_solver.cpp of BVLC/caffe, which counts iterations from 0.
TEST_CASE("scheduler: Caffe's policies") {
  const auto rate = [](const char* text, int64_t iteration) {
    return (*ParseSchedule(text, 0.01))->At(iteration + 1);
  };
  for (const int64_t iteration : {0, 1, 7, 99, 100, 250}) {
    CAPTURE(iteration);
    const auto i = static_cast<double>(iteration);
    CHECK(rate("exp:gamma=0.99", iteration) ==
          doctest::Approx(0.01 * std::pow(0.99, i)));
    CHECK(rate("inv:gamma=0.1:power=0.75", iteration) ==
          doctest::Approx(0.01 * std::pow(1 + 0.1 * i, -0.75)));
    CHECK(rate("sigmoid:gamma=-0.05:step=100", iteration) ==
          doctest::Approx(0.01 / (1 + std::exp(0.05 * (i - 100)))));
    CHECK(rate("poly:max_update=300:pwr=2:first=0", iteration) ==
          doctest::Approx(0.01 * std::pow(1 - i / 300, 2)));
    CHECK(rate("factor:step=100:factor=0.1:stop_factor_lr=0", iteration) ==
          doctest::Approx(0.01 * std::pow(0.1, iteration / 100)));
    const int passed = (iteration >= 7) + (iteration >= 100);
    CHECK(rate("multifactor:step=7,100:factor=0.1", iteration) ==
          doctest::Approx(0.01 * std::pow(0.1, passed)));
  }
}

TEST_CASE("scheduler: onecycle goes up to the rate and down again") {
  // torch.optim.lr_scheduler.OneCycleLR(max_lr=1, total_steps=10): its phases
  // end at steps 0.3·10 − 1 and 9.
  const auto made = ParseSchedule("onecycle:max_update=10", 1);
  const auto& cycle = *made;
  CHECK(cycle->At(1) == doctest::Approx(1.0 / 25));
  CHECK(cycle->At(2) == doctest::Approx((1.0 / 25 + 1) / 2));
  CHECK(cycle->At(3) == doctest::Approx(1));
  const double last = 1.0 / 25 / 1e4;
  CHECK(cycle->At(7) ==
        doctest::Approx(last + (1 - last) * (1 + std::cos(M_PI * 4 / 7)) / 2));
  CHECK(cycle->At(10) == doctest::Approx(last));
  CHECK(cycle->At(12) == doctest::Approx(last));
}

TEST_CASE("scheduler: plateau lowers the rate when epochs get no better") {
  const auto made =
      ParseSchedule("plateau:factor=0.5:patience=1:min_lr=0.2", 1);
  const auto& plateau = *made;
  std::vector<double> rates;
  for (const double loss : {3.0, 2.0, 2.0, 2.0, 1.0, 1.5, 1.5, 1.5, 1.5, 1.5}) {
    plateau->OnEpoch(loss);
    rates.push_back(plateau->At(1));
  }
  CHECK(rates == std::vector<double>{1, 1, 1, .5, .5, .5, .25, .25, .2, .2});
}

TEST_CASE("scheduler: refusals name what is wrong") {
  const auto message = [](const char* text) {
    const auto scheduler = ParseSchedule(text, 0.1);
    return scheduler.ok() ? std::string() : scheduler.status().message();
  };
  CHECK(message("cosinus").find("'cosinus' is unknown; nearest: cosine; "
                                "expected one of constant, factor") !=
        std::string::npos);
  CHECK(message("factor:step=3:faktor=1") ==
        "schedule 'factor' has no argument 'faktor'");
  CHECK(message("factor:step=x") ==
        "schedule 'factor': 'step' is 'x', but must be an integer");
  CHECK(message("factor:step=3:step=4") ==
        "schedule 'factor': 'step' is given twice");
  CHECK_FALSE(message("factor").empty());
  CHECK_FALSE(message("factor:step=1:factor=2").empty());
  CHECK_FALSE(message("multifactor:step=3,3").empty());
  CHECK_FALSE(message("multifactor:step=0,3").empty());
  CHECK_FALSE(message("poly:max_update=3:warmup_steps=3").empty());
  CHECK_FALSE(message("constant:warmup_begin_lr=1").empty());
  CHECK_FALSE(message("constant:warmup_mode=fast").empty());
  CHECK_FALSE(message("exp").empty());
  CHECK_FALSE(message("inv:gamma=1").empty());
  CHECK_FALSE(message("sigmoid:step=1").empty());
  CHECK_FALSE(message("poly:max_update=3:first=2").empty());
  CHECK_FALSE(message(":").empty());
}

}  // namespace
}  // namespace mxc::train
