// SPDX-License-Identifier: Apache-2.0
// When a step of training on several machines exchanges what. The order was
// compiled: it is that of the steps of an entry, which all workers of a job
// run alike.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/artifact/tables.h"

namespace mxc::runtime {

// A gradient that leaves and a parameter that comes back.
struct Exchange {
  uint32_t state = 0;   // the parameter's row in the tables
  uint32_t output = 0;  // the gradient, among the entry's outputs
  uint64_t bytes = 0;   // of either
  // The numbers of the rows that it has alone, among the outputs; -1: it has
  // all.
  int64_t rows = -1;
  // The step, by its row in the entry, after which the gradient is final and
  // nothing reads the parameter; the number of steps where that is the end.
  uint32_t ready = 0;
  // The step after which nothing reads the gradient, either, so that it may be
  // written over; not before `ready`.
  uint32_t settled = 0;
  // The step that may not begin before the parameter is back: the first that
  // reads it, or that writes where the gradient was sent from.
  uint32_t needed = 0;
  // In which order parameters are needed, from 0: what is urgent.
  uint32_t priority = 0;
};

// In the order in which the gradients are final, then of what is urgent.
std::vector<Exchange> ExchangesOf(const Tables& tables, const mxc_entry& entry);

// Steps of an entry, one behind the other, of which each reads or writes a state.
struct StateUse {
  uint32_t state = 0;            // its row in the tables
  uint32_t first = 0, last = 0;  // the steps' rows in the entry
};

// In the order of the first steps. A block is one step, as often as it runs.
std::vector<StateUse> StateUsesOf(const Tables& tables, const mxc_entry& entry);

}  // namespace mxc::runtime
