// SPDX-License-Identifier: Apache-2.0
#include "tools/manual/words.h"

#include <algorithm>
#include <iterator>

#include "ir/graph/operator.h"
#include "ir/optimizers/optimizer.h"

namespace mxc::manual {
namespace {

using Words = std::vector<std::string>;

Words Initializers() {
  return {
#define MXC_INITIALIZER(function, name) name,
#include "runtime/train/initializers.def"
#undef MXC_INITIALIZER
  };
}

Words Metrics() {
  return {
#define MXC_METRIC(function, name) name,
#include "runtime/train/metrics.def"
#undef MXC_METRIC
  };
}

Words Schedules() {
  return {
#define MXC_SCHEDULER(name) #name,
#include "runtime/train/schedulers.def"
#undef MXC_SCHEDULER
  };
}

Words Optimizers() {
  Words names;
  for (const Optimizer* optimizer : AllOptimizers()) {
    names.emplace_back(optimizer->name);
  }
  return names;
}

Words Operators() {
  Words names;
  for (const Operator* op : AllOperators()) {
    if (!op->internal) names.emplace_back(op->name);
  }
  return names;
}

struct Row {
  std::string_view option;
  Words (*words)();
};

constexpr Row kRows[] = {{"--init", Initializers},
                         {"--metric", Metrics},
                         {"--lr-schedule", Schedules},
                         {"--optimizer", Optimizers},
                         {"ops NAME", Operators}};

}  // namespace

Words WordsOf(std::string_view option) {
  const auto row = std::ranges::find(kRows, option, &Row::option);
  return row == std::end(kRows) ? Words() : row->words();
}

}  // namespace mxc::manual
