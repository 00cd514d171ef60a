// SPDX-License-Identifier: Apache-2.0
// The samples of `mxc train`, opened before anything is compiled: for their
// shapes, and for what is wrong with them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "runtime/data/iterator.h"
#include "runtime/train/checkpoint.h"

namespace mxc {

struct DataRequest {
  std::string source;                 // --data
  std::vector<std::string> settings;  // --data-opt
  int64_t batch_size = 64;
  // As mxc-run will be told: they decide the order of the samples.
  uint64_t seed = 0;
  bool shuffle = true;
  std::vector<data::Field> takes;  // data::IteratorOptions::takes
};

// What was learned on other data goes on with their numbers of labels, and with
// pictures that are treated as theirs.
Result<std::unique_ptr<data::Iterator>> OpenData(
    const DataRequest& request, const train::Provenance& learned);

// Refuses what mxc-run could not validate on. `trained` is of OpenData.
Status RequireValidation(const std::string& source,
                         const std::vector<std::string>& settings,
                         const DataRequest& request,
                         const data::Iterator& trained);

}  // namespace mxc
