// SPDX-License-Identifier: Apache-2.0
// A KVStore whose workers sum gradients among themselves: each has the values
// and makes the same updates, servers only have the first values.
#pragma once

#include <memory>

#include "runtime/kvstore/collective/all_reduce.h"
#include "runtime/kvstore/kvstore.h"

namespace mxc::kvstore {

// The shelf updates by a sum times `share`; all but `all_reduce` must outlive
// the store. All workers push the same keys in the same order; no key is sparse.
std::unique_ptr<KVStore> MakeReducingStore(
    const KeyTable& keys, Shelf& shelf, Worker& worker,
    std::unique_ptr<AllReduce> all_reduce, float share = 1);

}  // namespace mxc::kvstore
