// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/arbiter.h"

#include <doctest/doctest.h>

namespace mxc::kvstore {
namespace {

// By births.
constexpr uint64_t kOne = 11, kOther = 22, kLater = 33;

void CheckTerm(const Term& term, uint64_t number, uint64_t primary,
               uint64_t backup) {
  CHECK(term.number == number);
  CHECK(term.primary == primary);
  CHECK(term.backup == backup);
}

// Of a primary and its backup, in term 2.
Arbiter Paired() {
  Arbiter arbiter;
  arbiter.Hear(0, {kOne, 0, kOne, 0});
  arbiter.Hear(1, {kOther, 0, 0, 0});
  arbiter.Hear(0, {kOne, 1, kOne, kOther});
  return arbiter;
}

TEST_CASE("arbiter: a pair begins with its first process") {
  Arbiter arbiter;
  CheckTerm(arbiter.Hear(1, {kOther, 0, kOther, 0}), 0, 0, 0);
  CheckTerm(arbiter.Hear(0, {kOne, 0, kOne, 0}), 1, kOne, 0);
  CHECK(arbiter.Needs(0));
  CHECK(!arbiter.Needs(1));
  CheckTerm(Paired().term(), 2, kOne, kOther);
  CHECK(!Paired().Needs(0));
}

TEST_CASE("arbiter: of two that go on alone one does") {
  for (const bool backup_first : {false, true}) {
    Arbiter arbiter = Paired();
    const Proposal proposals[] = {{kOne, 2, kOne, 0}, {kOther, 2, kOther, 0}};
    const size_t first = backup_first ? 1 : 0;
    const uint64_t winner = backup_first ? kOther : kOne;
    CheckTerm(arbiter.Hear(first, proposals[first]), 3, winner, 0);
    CheckTerm(arbiter.Hear(1 - first, proposals[1 - first]), 3, winner, 0);
    // The same once more, and a later attempt of who is left out.
    CheckTerm(arbiter.Hear(first, proposals[first]), 3, winner, 0);
    Proposal late = proposals[1 - first];
    late.after = 3;
    CheckTerm(arbiter.Hear(1 - first, late), 3, winner, 0);
    CHECK(arbiter.Needs(first));
  }
}

TEST_CASE("arbiter: a process that begins again knows nothing") {
  Arbiter arbiter = Paired();
  CheckTerm(arbiter.Hear(0, {kLater, 0, kLater, 0}), 2, kOne, kOther);
  CheckTerm(arbiter.Hear(0, {kLater, 2, kLater, 0}), 2, kOne, kOther);
  CheckTerm(arbiter.Hear(1, {kOther, 2, kOther, 0}), 3, kOther, 0);
  CheckTerm(arbiter.Hear(1, {kOther, 3, kOther, kLater}), 4, kOther, kLater);
}

TEST_CASE("arbiter: when others are in all places, what was known is lost") {
  constexpr uint64_t kLast = 44;
  Arbiter arbiter = Paired();
  arbiter.Hear(0, {kLater, 2, 0, 0});
  CheckTerm(arbiter.Hear(1, {kLast, 0, 0, 0}), 2, kOne, kOther);
  CheckTerm(arbiter.Hear(1, {kLast, 2, 0, 0}), 3, 0, 0);
  CheckTerm(arbiter.Hear(0, {kLater, 3, kLater, 0}), 3, 0, 0);
  // Of a primary that is alone, in its place.
  Arbiter alone;
  alone.Hear(0, {kOne, 0, kOne, 0});
  alone.Hear(1, {kOther, 1, 0, 0});
  CheckTerm(alone.Hear(0, {kLater, 1, 0, 0}), 2, 0, 0);
}

// A process is in the term before it has said a word, and the one that was there
// before it is heard last.
TEST_CASE("arbiter: words that come late are no deaths") {
  Arbiter arbiter;
  arbiter.Hear(0, {kOne, 0, kOne, 0});
  CheckTerm(arbiter.Hear(0, {kOne, 1, kOne, kLater}), 2, kOne, kLater);
  arbiter.Hear(1, {kOther, 1, 0, 0});
  arbiter.Hear(0, {kLater + 1, 2, 0, 0});
  CheckTerm(arbiter.Hear(1, {kLater, 2, kLater, 0}), 3, kLater, 0);
}

}  // namespace
}  // namespace mxc::kvstore
