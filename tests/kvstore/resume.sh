#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/resume.sh BIN [KILLS]
# Checkpoints of whole jobs: processes are killed at random moments, and the job
# begins again from its newest checkpoint until it is done. What is learned has
# the same bytes as undisturbed, on other numbers of servers, too, with an
# optimizer that counts, and with what compression has left of gradients.
set -euo pipefail
bin=$(realpath "$1")
kills=${2:-4}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
models=$here/../../models
. "$here/random_kills.sh"
export PATH=$bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
RANDOM=7

fail() { echo "FAILED: $*"; exit 1; }
equal() {
  cmp "$1-0004.params" "$2-0004.params" && cmp "$1-0004.states" "$2-0004.states"
}

mxc compile "$models/mlp.json" --entry grad,update,score --init xavier \
  --input-shape data:16x784 --optimizer adam -o mlp.mxa --quiet
# 1070 samples, which steps of 48 do not fill.
train=(mxc train mlp.mxa --data digits --data-opt size=1070 --data-opt flat=1
  --compression 2bit:threshold=0.001 --seed 5 --save-every 7 --threads 1
  --quiet)

mxc launch --workers 3 --servers 1 -- "${train[@]}" --epochs 4 --save whole

# In two runs, on other numbers of servers.
mxc launch --workers 3 --servers 2 -- "${train[@]}" --epochs 2 --save parts
mxc launch --workers 3 --servers 3 -- "${train[@]}" --epochs 4 --save parts \
  --resume
equal whole parts || fail "a job that was resumed learned something else"

# The launcher is killed, and all processes with it; the same command goes on.
mxc launch --workers 3 --servers 2 -- "${train[@]}" --epochs 4 --save led &
job=$!
until compgen -G "led-step-*.mxc" >/dev/null; do
  kill -0 $job 2>/dev/null || fail "the job ended before it saved"
  sleep 0.02
done
kill -9 $job
mxc launch --workers 3 --servers 2 -- "${train[@]}" --epochs 4 --save led \
  --resume
equal whole led || fail "a job whose launcher was killed learned something else"

# Other workers begin with an epoch, and are refused within one.
cp parts-0002.params begun-0002.params
for file in parts-0002.{states,mxc} parts-symbol.json; do
  cp "$file" "begun${file#parts}"
done
mxc launch --workers 2 --servers 1 -- "${train[@]}" --epochs 3 --save begun \
  --resume || fail "two workers cannot go on with what three have saved"
[ -s begun-0003.params ] || fail "two workers saved nothing"
for file in parts-step-*; do cp "$file" "within${file#parts}"; done
cp parts-symbol.json within-step-symbol.json
status=0
mxc launch --workers 2 --servers 1 -- "${train[@]}" --epochs 4 --save within \
  --resume 2>errors || status=$?
[ $status -eq 1 ] && grep -q "from within an epoch that 3 workers" errors ||
  fail "within an epoch: $status, $(cat errors)"

# A worker whose steps have as many samples as those of three reads on in the
# same order.
mxc compile "$models/mlp.json" --entry grad,update,score --init xavier \
  --input-shape data:48x784 --optimizer adam -o mlp48.mxa --quiet
for file in parts-step-*; do cp "$file" "alike${file#parts}"; done
cp parts-symbol.json alike-step-symbol.json
mxc launch --workers 1 --servers 1 -- "${train[@]/mlp.mxa/mlp48.mxa}" \
  --epochs 4 --save alike --resume || fail "one worker cannot go on for three"
[ -s alike-0004.params ] || fail "one worker saved nothing"

# Compression that begins at a checkpoint made without: as of a job that begins
# with what that one has learned.
plain=(mxc launch --workers 2 -- mxc train "$models/mlp.json" --data digits
  --data-opt size=640 --batch-size 16 --lr 0.1 --opt momentum=0.9 --no-shuffle
  --threads 1 --quiet)
bits=(--compression 2bit:threshold=0.02)
"${plain[@]}" --epochs 1 --save late
"${plain[@]}" --epochs 1 --save begins "${bits[@]}" --params late-0001.params \
  --states late-0001.states
"${plain[@]}" --epochs 2 --save late "${bits[@]}" --resume ||
  fail "compression cannot begin at a checkpoint"
cmp begins-0001.params late-0002.params ||
  fail "compression that begins at a checkpoint learns something else"

# Workers that average parameters: a checkpoint has what was learned since the
# last meeting, also where there was none, and the job goes on from within.
for rule in allreduce_ea block_momentum; do
  apart=(mxc train "$models/mlp.json" --data digits --data-opt size=640
    --batch-size 16 --lr 0.1 --opt momentum=0.9 --seed 5 --threads 1
    --kvstore "$rule" --quiet)
  mxc launch --workers 2 -- "${apart[@]}" --period 1000 --epochs 1 --save rare \
    --overwrite
  mxc launch --workers 2 -- "${apart[@]/0.1/0}" --epochs 1 --save still \
    --overwrite
  ! cmp -s rare-0001.params still-0001.params ||
    fail "$rule: a checkpoint lacks what was learned"
  mxc launch --workers 2 -- "${apart[@]}" --period 7 --epochs 4 --save "$rule"
  mxc launch --workers 2 -- "${apart[@]}" --period 7 --epochs 1 --save half \
    --overwrite
  mxc launch --workers 2 -- "${apart[@]}" --period 7 --epochs 4 --save half \
    --save-every 3 --resume &
  job=$!
  until compgen -G "half-step-*.mxc" >/dev/null; do
    kill -0 $job 2>/dev/null || fail "$rule: the job ended before it saved"
    sleep 0.01
  done
  kill -9 $job
  wait $job || true
  mxc launch --workers 2 -- "${apart[@]}" --period 7 --epochs 4 --save half \
    --resume
  equal "$rule" half || fail "$rule: a job that was resumed learned otherwise"
done

# Workers that sum gradients among themselves: what each draws goes on, too.
cat >drawn.json <<'END'
{ "mxc": 1, "inputs": {"data": ["N", 1, 28, 28]},
  "nodes": [
    {"op": "FullyConnected", "name": "fc1", "num_hidden": 16},
    {"op": "BatchNorm", "name": "bn1", "fix_gamma": false},
    {"op": "Dropout", "p": 0.5},
    {"op": "FullyConnected", "name": "fc2", "num_hidden": 10},
    {"op": "SoftmaxOutput", "name": "softmax"} ] }
END
for shards in "" --shard-states "--shard-parameters --cut-from 100"; do
  draws=(mxc launch --workers 2 -- mxc train drawn.json --data digits
    --data-opt size=128 --batch-size 16 --lr 0.1 --opt momentum=0.9 --seed 5
    --kvstore allreduce $shards --threads 1 --quiet)
  "${draws[@]}" --epochs 4 --save once --overwrite
  "${draws[@]}" --epochs 1 --save twice --overwrite
  "${draws[@]}" --epochs 4 --save twice --resume
  equal once twice || fail "dropout goes on otherwise $shards"
done

# Jobs, until so many processes have been killed.
jobs=0 beginnings=0
while [ $killed -lt "$kills" ]; do
  rm -f torn*
  mxc launch --workers 3 --servers $((1 + jobs % 3)) --on-death restart \
    --log log -- "${train[@]}" --epochs 4 --save torn 2>errors &
  job=$!
  jobs=$((jobs + 1))
  kill_some $job torn "$kills"
  wait $job || fail "a job that begins again: $(cat errors)"
  equal whole torn || fail "a job that began again learned something else"
  beginnings=$((beginnings + $(grep -c "begins again" errors || true)))
done
echo "killed $killed processes of $jobs jobs, which began again" \
  "$beginnings times: the same bytes"
echo passed
