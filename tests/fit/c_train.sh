#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: c_train.sh BIN TRAIN
# A C program over mxc_train.h (runtime/examples/train.c, built as TRAIN) leaves
# the bytes that `mxc train` leaves: straight, interrupted and resumed, and as the
# workers and the server of a job.
set -euo pipefail
bin=$(realpath "$1")
train=$(realpath "$2")
models=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../models")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cd "$root"
PATH=$bin:$PATH
fail() { echo "FAIL: $*"; exit 1; }
same() {  # PREFIX PREFIX: what both have saved
  local file
  for file in "$1"-*.params "$1"-*.states; do
    cmp "$file" "$2${file#"$1"}" || fail "$1 and $2 differ"
  done
}

data=(data=digits data-opt=size=640 val=digits val-opt=size=320)
how=(lr=0.1 lr-schedule=multifactor:step=12,22:factor=0.3 seed=7)
words=()
for setting in "${data[@]}" "${how[@]}"; do
  words+=("--${setting%%=*}" "${setting#*=}")
done
# 10 steps an epoch, of 64 samples.
mxc train "$models/lenet.json" "${words[@]}" --batch-size 64 \
  --opt momentum=0.9 --target x86-64-v2 --epochs 3 --save command \
  -o net.mxa --quiet

"$train" net.mxa "${data[@]}" "${how[@]}" epochs=3 save=whole >whole.log
same command whole
grep -qE '^epoch 3: loss [0-9.]+, to validate [0-9.]+, accuracy 0' whole.log ||
  fail "$(cat whole.log)"
[ "$(tail -1 whole.log)" = "saved whole-0003.params" ] || fail "what was saved"

"$train" net.mxa "${data[@]}" "${how[@]}" epochs=1 save=parts >/dev/null
"$train" net.mxa "${data[@]}" "${how[@]}" epochs=3 save=parts resume=1 \
  >parts.log 2>said.log
same command parts
grep -q "resumed from parts-0001.mxc" said.log || fail "$(cat said.log)"
# Nothing is written over that was not read.
! "$train" net.mxa "${data[@]}" "${how[@]}" save=parts 2>said.log ||
  fail "an earlier run's files were written over"
grep -q "parts-" said.log || fail "$(cat said.log)"

# Wherever the signal comes, the same command goes on from there. Before its
# first epoch is over a program may not listen yet.
"$train" net.mxa "${data[@]}" "${how[@]}" epochs=3 save=cut >/dev/null 2>&1 &
until [ -e cut-0001.mxc ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
kill -INT $! 2>/dev/null || true
wait $! || [ $? = 130 ] || fail "the interrupted program"
"$train" net.mxa "${data[@]}" "${how[@]}" epochs=3 save=cut resume=1 \
  >/dev/null 2>&1
same command cut

# One program is all processes of a job.
mxc compile "$models/lenet.json" --entry grad,update,score --batch 32 \
  --opt momentum=0.9 --target x86-64-v2 --init xavier --seed 7 -o job.mxa \
  >log 2>&1 || fail "$(cat log)"
job=(epochs=1 kvstore=dist_sync)
mxc launch --workers 2 --servers 1 -- mxc-run train job.mxa "${words[@]}" \
  --epochs 1 --save of-command >log 2>&1 || fail "$(cat log)"
mxc launch --workers 2 --servers 1 -- "$train" job.mxa "${data[@]}" \
  "${how[@]}" "${job[@]}" save=of-program >log 2>&1 || fail "$(cat log)"
same of-command of-program
# Worker 0 forks the server where nobody else starts one, as under torchrun.
port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
for rank in 0 1; do
  RANK=$rank WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=$((port - 1)) \
    MXC_PORT=$port "$train" job.mxa "${data[@]}" "${how[@]}" "${job[@]}" \
    save=of-starter >"log.$rank" 2>&1 &
done
wait %1 && wait %2 || fail "$(cat log.0 log.1)"
same of-command of-starter

! "$train" net.mxa data=digits epoch=2 2>said.log || fail "a name was made up"
grep -q "no setting 'epoch'; nearest: epochs" said.log || fail "$(cat said.log)"
! "$train" net.mxa epochs=2 2>said.log || fail "trained on nothing"
grep -q "nothing to train on" said.log || fail "$(cat said.log)"
echo "the bytes of mxc train, by C"
