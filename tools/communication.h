// SPDX-License-Identifier: Apache-2.0
// When a worker of a job sends which gradient, and how long its parameter may
// stay away: the schedule of an entry GRAD.
#pragma once

#include "tools/overview.h"

namespace mxc {

// A line for each parameter, with a bar: the step's work from its beginning to
// its end, and `=` where the exchange may be under way beside it.
void PrintCommunication(const Overview& overview);

Json CommunicationToJson(const Overview& overview);

}  // namespace mxc
