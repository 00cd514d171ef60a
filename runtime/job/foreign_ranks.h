// SPDX-License-Identifier: Apache-2.0
// What starters of parallel programs tell each process: which one it is, and of
// how many. Where the first is they do not say; MASTER_ADDR and MASTER_PORT do,
// as for torchrun's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mxc::job {

struct ForeignRank {
  std::string starter;  // "Slurm"
  std::string rank_name, size_name;
  std::string rank, size;  // as they stand in the environment
};

// Of the first starter that has made this process one of several; nothing where
// it is alone.
std::optional<ForeignRank> FindForeignRank();

}  // namespace mxc::job
