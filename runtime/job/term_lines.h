// SPDX-License-Identifier: Apache-2.0
// What a server that is one of a pair says to the launcher, its arbiter
// (runtime/kvstore/arbiter.h), in a line among those that it says, and what it
// hears in a line of its standard input.
#pragma once

#include <optional>
#include <string>

#include "runtime/kvstore/arbiter.h"

namespace mxc::job {

// Without its end.
std::string EncodeProposal(const kvstore::Proposal& proposal);
// None: another line.
std::optional<kvstore::Proposal> DecodeProposal(const std::string& line);

// With its end.
std::string EncodeTerm(const kvstore::Term& term);
// Without it; none: another line.
std::optional<kvstore::Term> DecodeTerm(const std::string& line);

}  // namespace mxc::job
