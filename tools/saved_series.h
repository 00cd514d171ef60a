// SPDX-License-Identifier: Apache-2.0
// What `mxc train` must know of the checkpoints that mxc-run will write. The
// options that name them are mxc-run's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "runtime/base/file_lock.h"
#include "runtime/data/iterator.h"
#include "tools/driver/plan.h"
#include "tools/train/train_data.h"

namespace mxc {

struct SavedSeries {
  std::string prefix;  // --save; empty: nothing is saved
  bool resume = false, overwrite = false;
};

// Held until mxc-run takes its place: two that begin at once would both train.
// Refuses a prefix under which another training saves; holds nothing where this
// process saves nothing.
Result<runtime::FileLock> LockSeries(const SavedSeries& series);

// Refuses what mxc-run would refuse after the network has been compiled.
Status RequireRoom(const SavedSeries& series);
// The same of a checkpoint to go on from, which must be of the planned network
// and of its optimizer.
Status RequireStates(const SavedSeries& series, const CompileRequest& request,
                     const Plan& plan);
// And of the samples, which must be those that it stands among, in their order.
// `samples`, which `request` opened, then stands where it does.
Status RequireSamples(const SavedSeries& series, const DataRequest& request,
                      data::Iterator& samples);

// What training begins with. Where it is resumed, nothing is read that the
// checkpoint replaces, and where a series is written over, nothing of it. `anew`:
// nothing that merely lies beside the network.
Result<std::shared_ptr<const ParameterFile>> FirstParameters(
    const NetworkRequest& network, const SavedSeries& series, bool anew);

}  // namespace mxc
