#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: [SEED=N] tests/kvstore/replicas.sh BIN [KILLS]
# Jobs whose servers have backups, over TLS. A server is killed and the folder
# with its journal removed, one stands still, and then KILLS (8) processes of
# any kind are killed or stopped one after the other, whenever all are whole:
# the job goes on, and ends with the bytes of an undisturbed one.
set -euo pipefail
kills=${2:-8}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/processes.sh"
enter "$1"
RANDOM=${SEED:-13}

mxc compile "$here/../../models/mlp.json" --entry grad,update,score \
  --init xavier --input-shape data:16x784 --optimizer adam -o mlp.mxa --quiet
# launch PREFIX OPTION…: begins a job of EPOCHS.
launch() {
  rm -f metrics
  mxc launch --workers 3 --servers 2 --metrics metrics "${@:2}" -- \
    mxc train mlp.mxa --data digits --data-opt size=1070 --data-opt flat=1 \
    --seed 5 --threads 1 --epochs "$epochs" --quiet --save "$1" 2>errors &
  job=$!
}
# equal PREFIX: when the job has ended, to the undisturbed one.
equal() {
  wait $job || fail "the job $1"
  local extension
  for extension in params states; do
    cmp "calm-00$epochs.$extension" "$1-00$epochs.$extension" ||
      fail "the job $1 learned something else"
  done
}

epochs=90
launch calm
wait $job || fail "the undisturbed job"
launch paired --replicas 1
equal paired
echo "pairs: the same bytes"

# The death of a machine: its process, and what it had on its disk.
mkdir journal
launch machine --replicas 1 --journal journal
await_whole metrics 4 || fail "the pairs are never whole"
await_process server 0 machine
rm -rf journal/*
kill -9 "$victim"
begun=$(now)
until grep -q "goes on without its other process, in term " errors; do
  kill -0 $job 2>/dev/null || fail "nobody took the server's place"
  sleep 0.01
done
replaced=$((($(now) - begun) / 1000000))
until grep -q -E 'mxc_server_term\{role="server",rank="0"\} [4-9]' metrics; do
  kill -0 $job 2>/dev/null || fail "it does not become a backup"
  sleep 0.05
done
await_whole metrics 4 || fail "it does not become a whole backup"
mxc kv status metrics >table
grep -qE "^  backup 0 +.* primary " table && grep -qE "^  server 0 .* backup " \
  table || fail "kv status: $(cat table)"
equal machine
grep -q "server 0 was killed by signal 9; it is started again" errors ||
  fail "nothing is said of the server's death"
echo "a server was killed, its journal removed: the other one answered after" \
  "$replaced ms; the same bytes"

# A primary that stands still is replaced, and what it says later is of no use.
launch still --replicas 1
await_whole metrics 4 || fail "the pairs are never whole"
await_process server 1 still
kill -STOP "$victim"
begun=$(now)
until grep -q "goes on without its other process, in term " errors; do
  kill -0 $job 2>/dev/null || fail "nobody took the server's place"
  sleep 0.05
done
replaced=$((($(now) - begun) / 1000000))
[ $replaced -le 10000 ] || fail "it took $replaced ms"
equal still
echo "a server stood still: the other one answered after $replaced ms; the" \
  "same bytes"

struck=0 jobs=0
while [ $struck -lt "$kills" ]; do
  rm -f torn*
  launch torn --replicas 1 --on-death wait --restarts 100000
  jobs=$((jobs + 1))
  while [ $struck -lt "$kills" ] && await_whole metrics 4; do
    role=(server backup worker)
    role=${role[RANDOM % 3]}
    rank=$((RANDOM % 2))
    victim=$(process_of $role $rank torn)
    [ -n "$victim" ] || continue
    signal=KILL
    [ $((RANDOM % 5)) -gt 0 ] || signal=STOP
    strike_one $signal $role $rank metrics
    sleep "0.$((RANDOM % 900 + 100))"
  done
  equal torn
done
echo "$struck processes of $jobs jobs were killed or stopped: the same bytes"
echo passed
