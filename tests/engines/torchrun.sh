#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/torchrun.sh BIN [TORCHRUN]
# Jobs that PyTorch's torchrun starts: what is learned has the same bytes as by
# mxc launch. A worker is killed: with --max-restarts the job goes on from its
# checkpoint and learns the same bytes, without it ends. With two agents, as on
# two machines, the job needs a key. Nobody is left when torchrun is ended. Needs
# torch of PyPI, where tests/bench has its peers:
#   python3 -m venv ~/.cache/mxc-bench/torchrun
#   ~/.cache/mxc-bench/torchrun/bin/pip install torch numpy
set -euo pipefail
bin=$(realpath "$1")
torchrun=${2:-${MXC_BENCH:-$HOME/.cache/mxc-bench}/torchrun/bin/torchrun}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
require "$torchrun"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PATH=$bin:$PATH OMP_NUM_THREADS=1
unset MXC_KEY

# processes PREFIX [worker RANK]: torchrun says no role.
processes() {
  local found
  for found in $(pgrep -f "train $work/mlp.mxa .* --save $work/$1( |$)"); do
    case $(readlink "/proc/$found/exe") in */mxc-run) ;; *) continue ;; esac
    grep -qz "^RANK=${3:-}" "/proc/$found/environ" 2>/dev/null || continue
    echo "$found"
  done
}

# begin PREFIX OPTION… -- WORD…: two workers of one machine.
begin() {
  local prefix=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  rm -f "$prefix"[.-]*
  "$torchrun" --standalone --nproc-per-node 2 "${options[@]}" --no-python \
    "${train[@]}" "$@" --save "$work/$prefix" >log 2>&1 &
  job=$!
}

prepare
begin torn -- --epochs 20
equal $job torn
echo "torchrun: the same bytes"

begin torn --max-restarts 1 -- --epochs 20
strike $job

begin torn -- --epochs 1000
await_checkpoint $job torn
kill -9 $(processes torn worker 1)
status=0
wait $job || status=$?
[ $status -ne 0 ] || fail "a killed worker ends the job with $status"
left_by torn 5
echo "a killed worker: the job ended"

begin ended -- --epochs 1000
await_checkpoint $job ended
kill $job
wait $job || true
left_by ended 35
echo "nobody is left of a torchrun that is ended"

# An agent for each of two machines, of which both are this one.
address=$(hostname -I | tr ' ' '\n' | grep -v '^127\.\|:' | head -1 || true)
[ -n "$address" ] || { echo "passed, without a network"; exit 0; }
agents() { # PREFIX: the status of the first
  local node
  rm -f "$1"[.-]*
  for node in 1 0; do
    "$torchrun" --nnodes 2 --node-rank $node --nproc-per-node 1 \
      --master-addr "$address" --master-port 29480 --no-python \
      "${train[@]}" --epochs 20 --save "$work/$1" >log.$node 2>&1 &
  done
  job=$!
}
agents far
! wait $job || fail "a job of two machines needs no key"
grep -q "MXC_KEY does not name the file" log.0 || fail "$(cat log.0)"
wait || true
secret=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
(umask 077 && echo "mxc-kvstore-key server $secret" >job.key)
export MXC_KEY=$work/job.key
agents far
equal $job far
wait
echo "two agents with a key: the same bytes"
echo passed
