// SPDX-License-Identifier: Apache-2.0
// Two processes that are one server: a primary, whom workers talk to, and its
// backup, which has every record of it (journal.h). Either may die, stop or be
// cut off, its machine with it, and the job goes on without a loss:
//
// 1. A pair lives in terms. Which one is current, who is its primary, and
//    whether that one has a backup, the job's arbiter says (arbiter.h): a
//    process of the term proposes the next one, and of several proposals one is
//    taken.
// 2. A primary with a backup answers nobody before the backup has stored what
//    the answer tells of. So a backup holds whatever anybody has heard.
// 3. Who loses the other one proposes to be primary without it. Clocks say when
//    somebody proposes, never who is what: a primary that is slow, stands still or
//    is cut off has lost its backup, and so nobody hears anything from it, until
//    the arbiter has said who goes on.
// 4. Without a backup a primary remains what it is. The other process comes,
//    for the first time or again, and gets all records; from then on the primary
//    waits for it as for a backup, and once it has stored them, proposes it.
// 5. A primary that hears of a term that is not its own forgets all and begins
//    again as a process that knows nothing.
// 6. When other processes are in the places of both, what the pair knew is
//    lost, and the job ends with a sentence.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/kvstore/arbiter.h"
#include "runtime/kvstore/transport/tls.h"

namespace mxc::kvstore {

enum class PairRole {
  kNone,   // the server is a single process
  kFresh,  // it knows nothing yet
  kBackup,
  kPrimary,
};

struct PairOptions {
  std::string partner;  // where the other one listens; empty: there is none
  std::string name;     // the server's, alike for both: "server 0"
  bool first = true;    // it is the primary of a job that begins
  // Of Side::kClient and kPartnerIdentity; null: in the clear.
  Tls* tls = nullptr;
  // Says it to the arbiter, whose answers come by Server::OnTerm.
  std::function<void(const Proposal&)> propose;
};

}  // namespace mxc::kvstore
