// SPDX-License-Identifier: Apache-2.0
// Schedules, metrics and initializers as text.
#include "runtime/train/specification.h"

#include "runtime/train/initializer.h"
#include "runtime/train/metric.h"
#include "runtime/train/parameter_initializer.h"
#include "runtime/train/scheduler.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void RunSpecification(Bytes input) {
  const std::string_view text = TextOf(input);
  (void)train::ParseSpecification(text);
  (void)train::ParseJsonSpecification(text);
  (void)train::ParseInitializer(text);
  (void)train::ParameterInitializer::Parse(text);
  (void)train::ParseSchedule(text, 0.1);
  (void)train::MetricList::Parse(text);
}

std::vector<std::string> SpecificationSeeds() {
  return {"factor:step=3:factor=0.5",
          "multifactor:step=3,6,[9]:factor=0.1",
          "xavier:gaussian,in,2",
          "accuracy,top_5,perplexity:ignore_label=0",
          "[\"xavier\", {\"rnd_type\": \"gaussian\", \"magnitude\": 2.5}]",
          "[\"constant\", {\"value\": [[1, 2], [3, 4]]}]",
          ".*weight=xavier,.*=zero",
          "normal:0.01"};
}

}  // namespace

extern const Target specification;
const Target specification = {
    .run = RunSpecification,
    .seeds = SpecificationSeeds,
    .most_bytes = 96,
    .words = {"normal",   "uniform",         "xavier",   "msraprelu",
              "bilinear", "lstmbias",        "fusedrnn", "orthogonal",
              "constant", "sigma=",          "accuracy", "f1",
              "mse",      "top_k_accuracy:", "top_k=",   "null",
              "true",     "\\u00e4",         "1e999",    "nan",
              "-inf"}};

}  // namespace mxc::fuzz
