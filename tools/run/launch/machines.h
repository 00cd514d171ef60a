// SPDX-License-Identifier: Apache-2.0
// Machines that processes of a job run on, other than the launcher's own.
#pragma once

#include <string>
#include <vector>

namespace mxc::run {

struct Machine {
  std::string name;     // as ssh or Slurm know it
  std::string address;  // as the other machines know it
};

// Those of the Slurm allocation that the launcher is in; throws a Failure where
// there is none.
std::vector<Machine> MachinesOfSlurm();
// "a,user@b": machines that ssh knows.
std::vector<Machine> MachinesOf(const std::string& names);

// What starts `mxc-run attend`, by the path of this program, on the machine;
// `engine` is ssh or slurm.
std::vector<std::string> AttendantOn(const Machine& machine,
                                     const std::string& engine);

}  // namespace mxc::run
