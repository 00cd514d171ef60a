#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/stages.sh BIN
# Networks in stages by the programs themselves: a job learns and saves the bytes
# of one process that runs all stages, also where it was interrupted, and goes on
# in other numbers of stages. Who is killed ends the job.
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
models=$here/../../models
job='' errors=errors
. "$here/processes.sh"
enter "$1"

# train PREFIX STEPS OPTION… [-- WORD…]: WORD… starts what trains.
train() {
  local prefix=$1 steps=$2 options=()
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  [ $# -eq 0 ] || shift
  "$@" mxc train "$models/lenet.json" --data digits --data-opt size=640 \
    --val digits --val-opt size=64 --batch-size 32 --micro-batches 4 --lr 0.1 \
    --opt momentum=0.9 --seed 7 --threads 1 --epochs 1000 --steps "$steps" \
    --save "$prefix" --save-every 5 --quiet "${options[@]}"
}
equal() {
  cmp "$1-step-$3.params" "$2-step-$3.params" &&
    cmp "$1-step-$3.states" "$2-step-$3.states"
}
workers() { echo mxc launch --workers "$1" --; }

train alone 20 --stages 2
train two 20 --stages 2 -- $(workers 2)
equal alone two 0020 || fail "a job in stages learns something else"
[ -z "$(ls | grep -v '^alone\|^two\|^errors')" ] || fail "left behind: $(ls)"

# Interrupted, and gone on with by one process, by a job, in other stages.
for of in job process; do
  for file in two-step-0015.* two-step-symbol.json; do
    cp "$file" "$of${file#two}"
  done
done
train job 20 --stages 2 --resume -- $(workers 2)
equal alone job 0020 || fail "a job that was resumed learns something else"
train process 20 --stages 2 --resume
equal alone process 0020 || fail "a process goes on with a job otherwise"
train job 25 --stages 3 --resume -- $(workers 3)
[ -s job-step-0025.params ] || fail "three stages cannot go on with two"
train job 30 --resume || fail "a network that is whole cannot go on with stages"

# By names.
places=(--place 'convolution=0' --place 'fullyconnected=1')
train placed 5 "${places[@]}"
train both 5 "${places[@]}" -- $(workers 2)
equal placed both 0005 || fail "stages by names learn something else"

# Who is killed ends the job, with a sentence.
train killed 20000 --stages 2 -- $(workers 2) 2>errors &
job=$!
until compgen -G 'killed-step-*.mxc' >/dev/null; do
  kill -0 $job 2>/dev/null || fail "the job ended before it saved"
  sleep 0.02
done
await_process worker 1 killed
kill -9 "$victim"
if wait $job; then fail "a job without a stage went well"; fi
grep -q 'worker 1' errors || fail "no word of the worker that was killed"

train wrong 5 --stages 2 -- $(workers 3) 2>errors && fail "3 workers, 2 stages"
grep -q 'mxc launch --workers 2' errors || fail "3 workers, 2 stages, no word"
echo "stages: all is well"
