// SPDX-License-Identifier: Apache-2.0
// Two processes that are one server: a primary, whom workers talk to, and its
// backup, which has every record of it (journal.h). Either may die, stop or be
// cut off, its machine with it, and the job goes on without a loss:
//
// 1. A primary that has a backup answers nobody before the backup has stored
//    what the answer tells of. So a backup that has all records (it is whole)
//    holds whatever anybody has heard.
// 2. A pair lives in terms. Whoever is to answer without the other, a backup in
//    its primary's place or a primary whose backup is lost, begins the next
//    term, and answers nobody before all workers follow it there. A worker
//    follows one process in a term, and none of a term before the last that it
//    has followed. So of two that have lost sight of each other one answers at
//    most, and it has all that was answered before.
// 3. A backup that comes, for the first time or again, gets all records anew. It
//    is whole once they are there, unless the term is still the one in which it
//    was: then it was never without what anybody had heard.
// 4. A process that hears of a later term than its own, or of one like it that
//    workers follow elsewhere, forgets all and begins again as a backup.
// 5. The two processes that begin a job give the pair a number, its birth, which
//    workers know it by. When both are lost, and others begin with nothing, the
//    workers' next hello finds out, and the job ends with a sentence.
#pragma once

#include <cstdint>
#include <string>

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
};

}  // namespace mxc::kvstore
