#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/kills.sh BIN [KILLS]
# Workers and servers of jobs are killed at random moments; others take their
# places, from the servers' values and from journals, while the job goes on. No
# push is lost and none counts twice: parameters and what the optimizer keeps
# have the bytes of an undisturbed job.
set -euo pipefail
bin=$(realpath "$1")
kills=${2:-20}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/random_kills.sh"
export PATH=$bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
RANDOM=11

fail() { echo "FAILED: $*"; exit 1; }
mxc compile "$here/../../models/mlp.json" --entry grad,update,score \
  --init xavier --input-shape data:16x784 --optimizer adam -o mlp.mxa --quiet
train=(mxc train mlp.mxa --data digits --data-opt size=1070 --data-opt flat=1
  --seed 5 --threads 1 --epochs 40 --quiet)
mxc launch --workers 3 --servers 2 -- "${train[@]}" --save whole

jobs=0
mkdir journal
while [ $killed -lt "$kills" ]; do
  rm -f torn*
  mxc launch --workers 3 --servers $((1 + jobs % 3)) --on-death wait \
    --restarts 100000 --journal journal -- "${train[@]}" --save torn \
    2>errors &
  job=$!
  jobs=$((jobs + 1))
  kill_some $job torn "$kills"
  wait $job || fail "job $jobs, after $killed kills: $(tail -20 errors)"
  for extension in params states; do
    cmp "whole-0040.$extension" "torn-0040.$extension" ||
      fail "job $jobs learned something else, after $killed kills"
  done
done
echo "killed $killed processes of $jobs jobs: the same bytes"
echo passed
