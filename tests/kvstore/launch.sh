#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/launch.sh BIN
# Whole jobs by the programs themselves: what they learn has the same bytes for
# any number of servers and over every transport, and one worker learns what a
# single process does. Who is killed ends the job.
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/own_processes.sh"
bin=$(realpath "$1")
models=$(realpath "$here/../../models")
export PATH=$bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*"; exit 1; }

# train PREFIX OPTION… [-- WORD…]: WORD… starts what trains.
train() {
  local options=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  [ $# -eq 0 ] || shift
  "$@" mxc train "$models/mlp.json" --data digits --data-opt size=320 \
    --seed 7 --save "${options[0]}" --quiet "${options[@]:1}"
}
equal() {
  cmp "$1-0001.params" "$2-0001.params" && cmp "$1-0001.states" "$2-0001.states"
}

sgd=(--batch-size 32 --lr 0.1)
train alone "${sgd[@]}" --log-dir logs/alone
train one "${sgd[@]}" --log-dir logs/one -- \
  mxc launch --workers 1 --servers 1 --
equal alone one || fail "one worker learns something else than one process"
norms() { sed -n '/class="gradients"/,/<\/table>/p' "logs/$1/report.html"; }
[ "$(norms alone | grep -c '<td>fc')" = 6 ] || fail "a run without norms"
[ "$(norms one)" = "$(norms alone)" ] ||
  fail "a worker's norms are not those of its gradients: $(norms one)"

# What all workers would say alike, one says.
mxc launch --workers 3 -- mxc train "$models/mlp.json" --data digits \
  --data-opt size=200 --batch-size 128 --lr 1e-9 --epochs 2 --seed 7 2>said \
  >>said || fail "a job of large batches: $(cat said)"
for sentence in "is more than the 200 samples" "no better than guessing"; do
  [ "$(grep -c "$sentence" said)" = 1 ] || fail "'$sentence': $(cat said)"
done

half=(--batch-size 16 --lr 0.1 --opt momentum=0.9 --opt wd=0.001)
train two1 "${half[@]}" -- mxc launch --workers 2 --servers 1 --
train two3 "${half[@]}" -- \
  mxc launch --workers 2 --servers 3 --transport unix --
equal two1 two3 || fail "weights depend on the number of servers"
train plain "${half[@]}" --cut-from 100 --slice 0 -- \
  mxc launch --workers 2 --servers 2 --plain --
equal two1 plain || fail "weights depend on the transport or the cut"

# An optimizer that counts its updates, and two states.
adam=(--batch-size 32 --optimizer adam)
train adam1 "${adam[@]}" --slice 0 -- mxc launch --workers 1 --servers 1 --
train adam2 "${adam[@]}" --cut-from 100 --slice 1 -- \
  mxc launch --workers 1 --servers 2 --
equal adam1 adam2 || fail "adam depends on the number of servers or on slices"

# Workers that train by themselves, and one that may be ahead.
for rule in allreduce_ea block_momentum; do
  apart=("${half[@]}" --kvstore "$rule" --period 4)
  train "$rule"1 "${apart[@]}" -- mxc launch --workers 2 --servers 1 --
  train "$rule"2 "${apart[@]}" --cut-from 100 -- \
    mxc launch --workers 2 --servers 2 --
  equal "$rule"1 "$rule"2 || fail "$rule depends on the number of servers"
done
train stale "${half[@]}" --kvstore dist_ssp --staleness 1 -- \
  mxc launch --workers 2 --servers 2 --
[ -s stale-0001.params ] || fail "dist_ssp saved nothing"

# Sums among workers: of two, the same as a server's; of four, what a single
# process learns, but for the order of additions.
if [ -e "$bin/../lib/libmxc_gloo.so" ]; then
  ring=(--kvstore allreduce)
  train ring2 "${half[@]}" "${ring[@]}" -- mxc launch --workers 2 --servers 1 --
  equal two1 ring2 || fail "a sum of two differs among workers"
  train ring2p "${half[@]}" "${ring[@]}" -- \
    mxc launch --workers 2 --servers 2 --transport unix --plain --
  equal two1 ring2p || fail "a sum of two differs in the clear"
  quarter=(--batch-size 8 --lr 0.1 --opt momentum=0.9)
  for i in a b; do
    train "ring4$i" "${quarter[@]}" "${ring[@]}" -- \
      mxc launch --workers 4 --servers 1 --
  done
  equal ring4a ring4b || fail "two jobs of the same sums differ"

  # In f16: labels of 1000, of which worker 1's samples alone have any, overflow
  # in the ten steps in which the loss is scaled by 2^16 to 2^7. Nobody updates
  # anything then, as with a learning rate of 0.
  cat >line.json <<END
{"mxc": 1, "name": "line", "inputs": {"data": ["N", 2]}, "nodes": [
  {"op": "FullyConnected", "name": "fc", "num_hidden": 1},
  {"op": "LinearRegressionOutput", "name": "out"}]}
END
  for i in {1..40}; do echo "1,0.$i"; done >line.csv
  for i in {1..40}; do echo $((i % 2 ? 1 : 1000)); done >label.csv
  line() { # PREFIX LR EPOCHS WORD…
    "${@:4}" mxc train line.json --data csv:line.csv --data-opt \
      label_csv=label.csv --data-opt label_name=out_label --batch-size 2 \
      --no-shuffle --seed 7 --opt momentum=0.9 --precision f16 --kvstore \
      "${store:-allreduce}" --lr "$2" --epochs "$3" --save "$1" --quiet \
      ${shards:-}
  }
  line still 0 1 mxc launch --workers 2 --
  line skipped 0.001 1 mxc launch --workers 2 --
  cmp still-0001.params skipped-0001.params ||
    fail "a worker updates what another one cannot"
  line learned 0.001 2 mxc launch --workers 2 --
  ! cmp -s still-0001.params learned-0002.params ||
    fail "the loss's scale does not come down"
  MXC_RESUME=1 line skipped 0.001 2 mxc launch --workers 2 --
  for file in params states; do
    cmp learned-0002.$file skipped-0002.$file ||
      fail "a job in f16 that goes on learns something else"
  done
  for shards in --shard-states "--shard-parameters --cut-from 1"; do
    line shared 0.001 2 mxc launch --workers 2 --
    for file in params states; do
      cmp learned-0002.$file shared-0002.$file ||
        fail "a job in f16 with $shards learns something else"
    done
    rm shared*
  done
  shards=
  line own 0.001 2
  line lone 0.001 2 mxc launch --workers 1 --
  for file in params states; do
    cmp own-0002.$file lone-0002.$file || fail "one worker learns something else"
  done
  ! store=dist_sync line none 0.001 1 mxc launch --workers 2 -- 2>errors &&
    grep -q "the network trains in f16" errors || fail "f16: $(cat errors)"
fi

# Metrics over HTTP: the launcher's, and a server's, as pods serve them.
: >errors
MXC_METRICS_LISTEN=29480 train watched "${half[@]}" --epochs 1000 -- \
  mxc launch --workers 2 --metrics-listen 0 -- 2>errors &
job=$!
until place=$(sed -n 's/^metrics are at //p' errors) && [ -n "$place" ] &&
  curl -sf "$place" >scraped &&
  grep -q '^mxc_rounds_total{server="0"} [1-9]' scraped &&
  curl -sf http://127.0.0.1:29480/metrics >scraped &&
  grep -q '^mxc_rounds_total{server="0"} [1-9]' scraped; do
  kill -0 $job 2>/dev/null ||
    fail "no metrics at '$place': $(cat errors scraped)"
  sleep 0.1
done
pkill -TERM -P $job -x mxc-run
wait $job || true

# Gradients of two bits, and an artifact that was compiled before.
mxc compile "$models/mlp.json" --entry grad,update,score --init xavier \
  --input-shape data:16x784 --opt momentum=0.9 -o mlp.mxa >/dev/null
mxc launch --workers 2 --servers 2 -- mxc train mlp.mxa --data digits \
  --data-opt size=320 --data-opt flat=1 --kvstore dist_async --quiet \
  --compression 2bit:threshold=0.01 --cut-from 100 --save async 2>errors || cat errors
[ -s async-0001.params ] || fail "dist_async saved nothing"

# Servers that are killed and go on from their journals.
(
  for i in 1 2 3 4 5 6; do
    until [ -e "killed-000$i.mxc" ] || [ -e ended ]; do sleep 0.01; done
    for process in $(own_processes "mxc train mlp.mxa .* --save killed"); do
      if grep -qz MXC_ROLE=server "/proc/$process/environ" 2>/dev/null; then
        kill -9 "$process" && break
      fi
    done
  done
) &
mlp=(mxc train mlp.mxa --data digits --data-opt size=3200 --data-opt flat=1
  --epochs 8 --lr 0.05 --quiet)
mxc launch --workers 2 --servers 2 --journal made/journal -- \
  "${mlp[@]}" --save killed 2>errors || fail "killed servers: $(cat errors)"
: >ended
wait
mxc launch --workers 2 --servers 2 -- "${mlp[@]}" --save whole
echo "killed servers: $(grep -c "it is started again" errors)"
cmp killed-0008.params whole-0008.params || fail "a killed server forgot"

# The server of a network, which is compiled again, is killed once there is a
# checkpoint; a job that ended before says nothing.
mkdir struck
cat >struck/train.sh <<END
if [ "\$MXC_ROLE" = server ] && [ ! -e struck/\$ATTEMPT ]; then
  : >struck/\$ATTEMPT
  (while kill -0 \$\$; do
    [ ! -e struck-0001.mxc ] || kill -9 \$\$
    sleep 0.01
  done) 2>/dev/null &
fi
exec "\$@"
END
train spared "${half[@]}" --epochs 20 -- mxc launch --workers 2 --
for ATTEMPT in 1 2 3 4 5; do
  rm -f struck-*
  export ATTEMPT
  train struck "${half[@]}" --epochs 20 -- mxc launch --workers 2 \
    --journal made/journal -- sh struck/train.sh 2>errors ||
    fail "the killed server of a network: $(cat errors)"
  if grep -q "it is started again" errors; then break; fi
done
grep -q "^warning: server 0 was killed by signal 9; it is started again$" \
  errors || fail "no server was killed: $(cat errors)"
for extension in params states; do
  cmp "spared-0020.$extension" "struck-0020.$extension" ||
    fail "the killed server of a network forgot"
done

# Processes that know of each other what torchrun tells them, in the clear and
# under TLS.
told() { # RANK WORD…
  MASTER_ADDR=${host:-localhost} MASTER_PORT=29470 RANK=$1 WORLD_SIZE=2 \
    LOCAL_WORLD_SIZE=${near:-2} "${@:2}"
}
both() { # PREFIX OPTION…
  told 1 train "$@" &
  told 0 train "$@" || fail "$1: worker 0 as torchrun starts it"
  wait $! || fail "$1: worker 1 as torchrun starts it"
}
both told "${half[@]}"
equal two1 told || fail "torchrun's workers learn something else"
secret=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && echo "mxc-kvstore-key server $secret" >job.key)
near=1 MXC_KEY=$work/job.key both secret "${half[@]}"
equal two1 secret || fail "torchrun's workers learn something else under TLS"
TORCHELASTIC_RESTART_COUNT=1 both told "${half[@]}" --epochs 2
[ -s told-0002.params ] || fail "started again, they begin at the beginning"

status=0
near=1 host=192.0.2.1 told 0 train none 2>errors || status=$?
[ $status -eq 1 ] && grep -q "MXC_KEY does not name the file" errors ||
  fail "torchrun on several machines without a key: $(cat errors)"

# A worker that is killed.
mkdir killed
cat >killed/train.sh <<END
[ "\$MXC_ROLE \$RANK" != "worker 1" ] || kill -9 \$\$
exec mxc train "$models/mlp.json" --data digits --quiet --epochs 1000
END
status=0
timeout 60 mxc launch --workers 2 --servers 1 -- sh killed/train.sh \
  2>killed/errors || status=$?
[ $status -eq 137 ] || fail "a killed worker ends with $status"
grep -q "^error: worker 1 was killed by signal 9; the job ends$" killed/errors ||
  fail "a killed worker: $(cat killed/errors)"

# Ctrl-C while the workers still compile is heard when they train.
cat >early.sh <<END
: >"early.\$MXC_ROLE.\$RANK"
exec mxc train "$models/lenet.json" --data digits --quiet --epochs 1000 \
  --save early
END
setsid mxc launch --workers 2 --servers 1 -- sh early.sh 2>early.errors &
job=$!
(sleep 60; kill -KILL -- "-$job") >/dev/null 2>&1 &
until [ -e early.worker.0 ] && [ -e early.worker.1 ]; do
  kill -0 $job || fail "an early Ctrl-C: $(cat early.errors)"
  sleep 0.01
done
kill -INT -- "-$job"
status=0
wait $job || status=$?
[ $status -eq 130 ] || fail "an early Ctrl-C: $status, $(cat early.errors)"

# The mxc that launches is found where PATH has none, and what nobody has is
# told once.
here=$(command -v mxc)
PATH=/usr/bin:/bin "$here" launch --workers 1 -- mxc --version >/dev/null ||
  fail "mxc is not found off PATH"
status=0
mxc launch -- no-such-program 2>errors || status=$?
[ $status -eq 1 ] && grep -q "cannot start 'no-such-program'" errors ||
  fail "a program that is not there: $status, $(cat errors)"

# The folder with a job's keys goes with a launcher that is killed.
mkdir keys
TMPDIR=$work/keys mxc launch --workers 1 -- sh -c ': >up; exec sleep 60' &
job=$!
until [ -e up ]; do sleep 0.01; done
[ "$(ls keys | wc -l)" = 1 ] || fail "a job without a folder: $(ls keys)"
kill -9 $job
for i in {1..1000}; do [ -n "$(ls keys)" ] || break; sleep 0.01; done
[ -z "$(ls keys)" ] || fail "the keys of a killed launcher stay: $(ls keys)"

# Two trainings do not save under one prefix, nor do ranks of other starters.
for told in "RANK=0 WORLD_SIZE=2" "OMPI_COMM_WORLD_RANK=1" \
  "PMI_RANK=0 PMI_SIZE=2" "SLURM_PROCID=1 SLURM_NTASKS=2" "PMIX_RANK=0"; do
  status=0
  env $told mxc train "$models/mlp.json" --data digits --quiet --save ranks \
    2>errors || status=$?
  [ $status -eq 1 ] && grep -q "MASTER_ADDR" errors && [ ! -e ranks-0001.mxc ] ||
    fail "$told: $status, $(cat errors)"
done
slurm() { # RANK WORD…
  MASTER_ADDR=localhost MASTER_PORT=29472 SLURM_PROCID=$1 SLURM_NTASKS=2 \
    "${@:2}"
}
slurm 1 train slurm "${half[@]}" &
slurm 0 train slurm "${half[@]}" || fail "worker 0 as srun starts it"
wait $! || fail "worker 1 as srun starts it"
equal two1 slurm || fail "srun's workers learn something else"

status=0
RANK=2 WORLD_SIZE=2 MXC_ROLE=worker MXC_SERVERS=127.0.0.1:1 \
  mxc train "$models/mlp.json" --data digits --quiet 2>errors || status=$?
[ $status -eq 1 ] || fail "a wrong rank ends with $status"
grep -q "a job of 2 workers and 1 servers has no worker 2" errors ||
  fail "a wrong rank: $(cat errors)"
echo passed
