// SPDX-License-Identifier: Apache-2.0
// What `mxc train --dry-run` says: what would be trained, on what, by which
// rates. Nothing is compiled or written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "runtime/data/iterator.h"
#include "tools/driver/network.h"
#include "tools/terminal.h"
#include "tools/train/solver_words.h"

namespace mxc {

struct DryRun {
  std::optional<SolverWords> solver;  // that the command line named
  const LoadedNetwork* network = nullptr;
  CompileRequest request;
  // Null: they cannot be read here, which `unread` says.
  const data::Iterator* samples = nullptr;
  std::string unread;
  std::string validation;  // a source; empty: none
  int64_t batch_size = 0, accumulate = 1;
  std::optional<int64_t> epochs, steps;
  std::optional<double> rate;
  std::string schedule;
};

Status Show(const DryRun& run, const ReportStyle& style);

}  // namespace mxc
