// SPDX-License-Identifier: Apache-2.0
// What no trial of a search could be, before any of them begins.
#pragma once

#include "ir/support/result.h"
#include "runtime/tune/space.h"
#include "tools/tune/trial_words.h"

namespace mxc {

// Refuses a search with a value that a trial may have and could not train with:
// every choice, and both ends of what is drawn, each beside the first values of
// the other settings. Throws what the command line of such a trial has wrong.
Status RequireLegalTrials(const tune::Space& space, const TrialWords& words);

}  // namespace mxc
