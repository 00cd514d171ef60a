// SPDX-License-Identifier: Apache-2.0
// What a process of a job says on stderr, where `mxc launch` reads it.
#pragma once

#include <string>

namespace mxc::job {

// Writes a line; what could talk to a terminal is made visible.
void Tell(const std::string& line);

}  // namespace mxc::job
