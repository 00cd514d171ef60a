// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/arbiter.h"

namespace mxc::kvstore {

const Term& Arbiter::Hear(size_t which, const Proposal& proposal) {
  if (Takes(which, proposal)) {
    primary_ = which;
    Begin({term_.number + 1, proposal.primary, proposal.backup});
  } else {
    NoteDeath(which, proposal);
  }
  return term_;
}

bool Arbiter::Takes(size_t which, const Proposal& proposal) const {
  if (proposal.birth == 0 || proposal.primary != proposal.birth ||
      proposal.after != term_.number) {
    return false;
  }
  if (term_.number == 0) return which == 0;
  return proposal.birth == term_.primary || proposal.birth == term_.backup;
}

void Arbiter::Begin(const Term& term) {
  term_ = term;
  dead_ = {};
}

// Who knows the term, and has the place of one of its processes, lives after it.
void Arbiter::NoteDeath(size_t which, const Proposal& proposal) {
  if (term_.primary == 0 || proposal.after != term_.number) return;
  const uint64_t member = which == primary_ ? term_.primary : term_.backup;
  if (member != 0 && member != proposal.birth) dead_[which] = true;
  const bool lost =
      dead_[primary_] && (term_.backup == 0 || dead_[1 - primary_]);
  if (lost) Begin({term_.number + 1, 0, 0});
}

}  // namespace mxc::kvstore
