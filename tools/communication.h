// SPDX-License-Identifier: Apache-2.0
// When a worker of a job sends which gradient, and how long its parameter may
// stay away: the schedule of an entry GRAD.
#pragma once

#include <string>
#include <vector>

#include "tools/overview.h"

namespace mxc {

// A line for each parameter, with a bar: the step's work from its beginning to
// its end, and `=` where the exchange may be under way beside it.
void PrintCommunication(const Overview& overview);

Json CommunicationToJson(const Overview& overview);

// Where in the entry's work each step begins, from 0 on, and 1, its end. A step's
// work is its bytes where it has no FLOP.
std::vector<double> BeginsOfSteps(const Overview& overview);
// What step `step` is called, or that it is the end.
std::string StepName(const Overview& overview, int step);

}  // namespace mxc
