// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/foreign_ranks.h"

#include <cstdlib>
#include <string_view>

namespace mxc::job {
namespace {

std::string Variable(std::string_view name) {
  const char* text = std::getenv(std::string(name).c_str());
  return text == nullptr ? "" : text;
}

struct Starter {
  const char* name;
  std::string_view rank, size;
};

constexpr std::string_view kSlurmRank = "SLURM_PROCID";

// Who is nearest to the process comes first: mpirun may run below srun.
constexpr Starter kStarters[] = {
    {"RANK and WORLD_SIZE", "RANK", "WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MVAPICH2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"PMI", "PMI_RANK", "PMI_SIZE"},
    {"Slurm", kSlurmRank, "SLURM_NTASKS"},
    {"PMIx", "PMIX_RANK", "PMIX_SIZE"},
};

// The script that sbatch runs is no process of a step, though it has the
// variables of one.
bool IsBatchScript(const Starter& starter, const std::string& rank) {
  return starter.rank == kSlurmRank && rank == "0" &&
         !Variable("SLURM_JOB_ID").empty() && Variable("SLURM_STEP_ID").empty();
}

}  // namespace

std::optional<ForeignRank> FindForeignRank() {
  bool alone = false;  // somebody has said so
  for (const Starter& starter : kStarters) {
    const std::string rank = Variable(starter.rank);
    const std::string size = Variable(starter.size);
    // Slurm says the size of an allocation in which nothing was started, and
    // PMIx never how many there are.
    const bool silent =
        rank.empty() && (size.empty() || starter.rank == kSlurmRank);
    if (silent || (size.empty() && alone)) continue;
    alone = alone || size == "1" || IsBatchScript(starter, rank);
    if (alone) continue;
    return ForeignRank{starter.name, std::string(starter.rank),
                       std::string(starter.size), rank, size};
  }
  return std::nullopt;
}

}  // namespace mxc::job
