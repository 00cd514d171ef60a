// SPDX-License-Identifier: Apache-2.0
// Caffe's solvers as options of `mxc train`.
#include "frontend/caffe/solver.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/shared.h"
#include "tests/support/temporary_folder.h"

namespace mxc {
namespace {

constexpr const char* kNet = R"(
    layer { name: "d" type: "Data" top: "data" top: "label"
            include { phase: TRAIN }
            transform_param { scale: 0.5 mirror: true crop_size: 4
                              mean_value: 1 mean_value: 2 mean_value: 3 }
            data_param { source: "train_db" batch_size: 8 backend: LMDB } }
    layer { name: "d" type: "Data" top: "data" top: "label"
            include { phase: TEST }
            transform_param { crop_size: 4 }
            data_param { source: "test_db" batch_size: 5 backend: LMDB } }
    layer { name: "fc" type: "InnerProduct" bottom: "data" top: "fc"
            inner_product_param { num_output: 2 } }
    layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label"
            top: "loss" })";

class SolverIn {
 public:
  explicit SolverIn(const std::string& net = kNet) : folder_("caffe-solver") {
    std::ofstream(folder_.File("net.prototxt")) << net;
  }

  // The net lies beside the solver, wherever it was when that was written.
  Result<caffe::SolverCommand> Read(const std::string& text,
                                    bool names_net = true) const {
    std::ofstream(folder_.File("s.prototxt"))
        << (names_net ? "net: 'examples/net.prototxt' " : "") << text;
    const auto file = NetworkSource::Open(folder_.File("s.prototxt"));
    REQUIRE(file.ok());
    CHECK(caffe::IsSolver(**file));
    return caffe::CommandOf(**file);
  }
  std::string Wrong(const std::string& text, bool names_net = true) const {
    const auto command = Read(text, names_net);
    REQUIRE_FALSE(command.ok());
    return command.errors()[0].message;
  }
  const test::TemporaryFolder& folder() const { return folder_; }

 private:
  const test::TemporaryFolder folder_;
};

// "--lr 1 --opt momentum=0.9", without what `but` begins with.
std::string Words(const caffe::SolverCommand& command) {
  std::string words;
  for (const auto& [name, value] : command.options) {
    words += (words.empty() ? "" : " ") + name;
    if (!value.empty()) words += " " + value;
  }
  return words;
}

std::string WordsFor(const std::string& text) {
  const auto command = SolverIn().Read(text + " max_iter: 100 base_lr: 0.5 ");
  REQUIRE_MESSAGE(command.ok(), Render(command.errors()));
  return Words(*command);
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("caffe solver: types") {
  const std::string fixed = "lr_policy: 'fixed' ";
  CHECK(Has(WordsFor(fixed + "momentum: 0.9 weight_decay: 0.001"),
            "--lr 0.5 --opt wd=0.001 --optimizer sgd --opt momentum=0.9 "
            "--steps"));
  CHECK(Has(WordsFor(fixed + "type: 'Adam' momentum: 0.9"),
            "--optimizer adam --opt beta1=0.9 --opt beta2=0.999 --opt "
            "epsilon=1e-08"));
  CHECK(Has(WordsFor(fixed + "type: 'Nesterov' momentum: 0.9"),
            "--optimizer caffe --opt type=Nesterov --opt momentum=0.9"));
  CHECK(Has(WordsFor(fixed + "solver_type: RMSPROP rms_decay: 0.5"),
            "--optimizer caffe --opt type=RMSProp --opt rms_decay=0.5 --opt "
            "delta=1e-08"));
  CHECK(Has(WordsFor(fixed + "type: 'AdaGrad' delta: 0.1"),
            "--optimizer caffe --opt type=AdaGrad --opt delta=0.1"));
  CHECK(Has(WordsFor(fixed + "type: 'AdaDelta' momentum: 0.95"),
            "--optimizer caffe --opt type=AdaDelta --opt momentum=0.95"));
  CHECK(Has(WordsFor(fixed + "regularization_type: 'L1' clip_gradients: 5"),
            "--optimizer caffe --opt type=SGD --opt regularization=L1 --opt "
            "clip_gradients=5 --opt momentum=0"));
}

TEST_CASE("caffe solver: policies") {
  CHECK_FALSE(Has(WordsFor("lr_policy: 'fixed'"), "--lr-schedule"));
  CHECK(Has(WordsFor("lr_policy: 'step' gamma: 0.1 stepsize: 30"),
            "--lr-schedule factor:step=30:factor=0.1:stop_factor_lr=0"));
  CHECK(Has(WordsFor("lr_policy: 'exp' gamma: 0.99"),
            "--lr-schedule exp:gamma=0.99"));
  CHECK(Has(WordsFor("lr_policy: 'inv' gamma: 0.0001 power: 0.75"),
            "--lr-schedule inv:gamma=0.0001:power=0.75"));
  CHECK(Has(WordsFor("lr_policy: 'multistep' gamma: 0.5 stepvalue: [3, 7]"),
            "--lr-schedule multifactor:step=3,7:factor=0.5"));
  CHECK(Has(WordsFor("lr_policy: 'poly' power: 2"),
            "--lr-schedule poly:max_update=100:pwr=2:first=0"));
  CHECK(Has(WordsFor("lr_policy: 'sigmoid' gamma: -5 stepsize: 9"),
            "--lr-schedule sigmoid:gamma=-5:step=9"));
}

TEST_CASE("caffe solver: tests, snapshots and sums of gradients") {
  const std::string words = WordsFor(
      "lr_policy: 'fixed' test_interval: 30 test_iter: 6 iter_size: 2 "
      "snapshot: 40 snapshot_prefix: 'p' random_seed: 3 display: 20");
  CHECK(Has(words,
            "--steps 100 --data-opt epoch_batches=60 --epochs 4 "
            "--accumulate 2 --report-every 20 --seed 3 --save p --save-caffe "
            "--keep-epochs 1 --save-every 40 --keep 3"));
  CHECK(Has(words, "--val-opt epoch_batches=0 --val-opt first=30"));
  CHECK_FALSE(Has(WordsFor("lr_policy: 'fixed'"), "--val "));
  CHECK_FALSE(Has(WordsFor("lr_policy: 'fixed' snapshot_after_train: false"),
                  "--save"));
}

TEST_CASE("caffe solver: data are as the net's layers of both phases say") {
  const SolverIn solver;
  const auto command = solver.Read(
      "base_lr: 1 lr_policy: 'fixed' max_iter: 1 test_interval: 1 "
      "test_iter: 2");
  REQUIRE_MESSAGE(command.ok(), Render(command.errors()));
  CHECK(command->net == solver.folder().File("net.prototxt"));
  CHECK(Words(*command).starts_with(
      "--batch-size 8 --data lmdb:train_db --data-opt scale=0.5 --data-opt "
      "crop_size=4 --data-opt mean_b=1 --data-opt mean_g=2 --data-opt mean_r=3 "
      "--data-opt rand_crop=1 --data-opt rand_mirror=1 --no-shuffle "
      "--val lmdb:test_db --val-opt mean_b=0 --val-opt mean_g=0 --val-opt "
      "mean_r=0 --val-opt scale=1 --val-opt epoch_batches=0 --val-opt "
      "first=10 --lr 1"));
}

TEST_CASE("caffe solver: what is wrong") {
  const SolverIn solver;
  const std::string fixed = "lr_policy: 'fixed' max_iter: 1 ";
  CHECK(Has(solver.Wrong("base_lr: 1", false), "names no net"));
  CHECK(solver.Wrong("lr_policy: 'sometimes' max_iter: 1")
            .starts_with("lr_policy 'sometimes', expected fixed"));
  CHECK(solver.Wrong(fixed + "type: 'Newton'").starts_with("type 'Newton'"));
  CHECK(Has(solver.Wrong(fixed + "type: 'SGD' solver_type: ADAM"),
            "expected one"));
  CHECK(Has(solver.Wrong(fixed + "base_rl: 1"), "nearest: base_lr"));
  CHECK(Has(solver.Wrong("lr_policy: 'fixed'"), "max_iter is 0"));
  CHECK(Has(solver.Wrong(fixed + "regularization_type: 'L3'"),
            "expected L1 or L2"));
  CHECK(Has(solver.Wrong(fixed + "net_param { name: 'n' }", false),
            "in the solver itself"));
}

TEST_SUITE("shared") {
  TEST_CASE("caffe solver: every solver becomes a command") {
    const std::string folder = SharedFolder();
    if (folder.empty()) {
      MESSAGE("skipped: no shared cases");
      return;
    }
    int solvers = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             folder + "/cases/caffe")) {
      const std::string path = entry.path();
      if (!path.ends_with("solver.prototxt")) continue;
      const auto file = NetworkSource::Open(path);
      REQUIRE(file.ok());
      CHECK(caffe::IsSolver(**file));
      const auto command = caffe::CommandOf(**file);
      CHECK_MESSAGE(command.ok(), path);
      ++solvers;
    }
    CHECK(solvers >= 4);
  }
}

}  // namespace
}  // namespace mxc
