#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/deaths.sh BIN
# Workers of a real job that are killed and stopped, under each policy: what is
# said, how soon, and that the job learns; where workers are waited for, the
# same bytes as undisturbed.
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/processes.sh"
enter "$1"
mxc compile "$here/../../models/mlp.json" --entry grad,update,score --init xavier \
  --input-shape data:16x784 --opt momentum=0.9 -o mlp.mxa --quiet

# launch NAME POLICY EPOCHS: begins a job.
launch() {
  mxc launch --workers 3 --servers 2 --on-death "$2" -- mxc train mlp.mxa \
    --data digits --data-opt size=3200 --data-opt flat=1 --lr 0.05 --threads 1 \
    --seed 5 --epochs "$3" --save "$1" --quiet 2>errors &
  job=$!
}
# strike SIGNAL RANK NAME: once the job trains.
strike() {
  while [ ! -e "$3-0001.params" ]; do sleep 0.02; done
  await_process worker "$2" "$3"
  kill "-$1" "$victim"
  struck=$(now)
}
# learned NAME
learned() {
  mxc score mlp.mxa --params "$1-0060.params" --data digits \
    --data-opt size=1000 --data-opt flat=1 --seed 9 --json 2>errors |
    sed -E 's/.*"accuracy": ([0-9.]+).*/\1/'
}

launch calm wait 60
wait $job || fail "the undisturbed job"

launch waited wait 60
strike KILL 1 waited
wait $job || fail "wait, worker 1 is killed"
grep -q "worker 1 was killed by signal 9; it is started again" errors ||
  fail "wait says nothing"

launch first wait 60
strike KILL 0 first
wait $job || fail "wait, worker 0 is killed"
[ -s first-0060.params ] || fail "worker 0 did not save again"

launch shrunk shrink 60
strike KILL 2 shrunk
wait $job || fail "shrink, worker 2 is killed"
grep -q "worker 2 was killed by signal 9; the job goes on without it" errors ||
  fail "shrink says nothing"

# One that is stopped is noticed within 10 s.
launch stopped wait 60
strike STOP 1 stopped
until grep -q "worker 1 is lost" errors; do sleep 0.05; done
noticed=$((($(now) - struck) / 1000000))
[ $noticed -le 10000 ] || fail "a stopped worker was noticed after $noticed ms"
wait $job || fail "wait, worker 1 is stopped"

launch aborted abort 1000
strike STOP 1 aborted
status=0
wait $job || status=$?
ended=$((($(now) - struck) / 1000000))
[ $status -ne 0 ] || fail "abort ends well"
grep -q "worker 1 is lost: .*nothing was heard for 4 s" errors ||
  fail "abort does not say who is lost"
[ $ended -le 11000 ] || fail "abort took $ended ms"

for job in waited first stopped; do
  for extension in params states; do
    cmp "calm-0060.$extension" "$job-0060.$extension" ||
      fail "$job learned something else"
  done
done
for job in waited first shrunk stopped; do
  accuracy=$(learned $job)
  echo "$job: accuracy $accuracy"
  awk "BEGIN { exit !($accuracy > 0.9) }" || fail "$job learned nothing"
done
echo "a stopped worker was noticed after $noticed ms, ended its job after $ended"
echo passed
