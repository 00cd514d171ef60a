#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/etcd.sh BIN [SECONDS]
# Jobs whose servers only etcd knows, with a real etcd: one that mxc launch
# starts, a worker of which is killed; and processes that nobody launches, each
# started by itself and told no more than etcd's address. Meanwhile etcd is killed
# for SECONDS (3), a worker is, and a server, which comes back at another port.
# All learn the bytes of undisturbed local processes.
set -euo pipefail
bin=$(realpath "$1")
away=${2:-3}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
require etcd curl
export PATH=$bin:$PATH
work=$(mktemp -d)
trap 'kill -9 $(jobs -p) 2>/dev/null || true
  kill -9 $(processes alone) 2>/dev/null || true
  sleep 0.2; rm -rf "$work"' EXIT
export TMPDIR=$work
cd "$work"

url=http://127.0.0.1:23790
start_etcd() {
  etcd --data-dir "$work/etcd" --listen-client-urls $url \
    --advertise-client-urls $url --listen-peer-urls http://127.0.0.1:23800 \
    --initial-advertise-peer-urls http://127.0.0.1:23800 \
    --initial-cluster default=http://127.0.0.1:23800 >>etcd.log 2>&1 &
  etcd=$!
  until curl -fs $url/health >/dev/null; do
    kill -0 $etcd 2>/dev/null || fail "etcd does not start: $(tail -3 etcd.log)"
    sleep 0.1
  done
}

start_etcd
prepare $((20 + 2 * away))

mxc launch --workers 2 --servers 2 --etcd $url --name night --on-death wait \
  -- "${train[@]}" --epochs "$epochs" --save "$work/torn" >log 2>&1 &
strike $!

# As systemd would: the process is started again until it ends well.
mkdir journal
member() { # ROLE RANK
  local role=$1 rank=$2
  until MXC_ROLE=$role RANK=$rank WORLD_SIZE=2 MXC_SERVERS=2 MXC_RESUME=1 \
    MXC_ETCD=http://127.0.0.1:1,$url MXC_JOB=alone MXC_ON_LOSS=wait \
    MXC_JOURNAL=$work/journal/server-$rank \
    mxc-run "${train[@]:1}" --epochs "$epochs" --save "$work/alone" \
    >>"alone-$role-$rank.log" 2>&1; do
    sleep 0.2
  done
}
members=()
for rank in 0 1; do
  member worker $rank & members+=($!)
  member server $rank & members+=($!)
done
await_checkpoint ${members[0]} alone
kill -9 $etcd
before=$(ls alone-step-*.mxc | sort -V | tail -1)
sleep "$away"
[ "$(ls alone-step-*.mxc | sort -V | tail -1)" != "$before" ] ||
  [ -e "alone-$(printf '%04d' "$epochs").params" ] ||
  fail "training stopped while etcd was away"
kill -9 $(processes alone server 1)
kill -9 $(processes alone worker 1) || true
start_etcd
for member in "${members[@]}"; do wait $member; done
for extension in params states; do
  last=$(printf '%04d' "$epochs")
  cmp "whole-$last.$extension" "alone-$last.$extension" || fail "alone differs"
done
echo "etcd, a server and a worker killed; the same bytes as by local processes"

MXC_ROLE=worker RANK=0 WORLD_SIZE=1 MXC_SERVERS=1 MXC_ETCD=$url MXC_JOB=a/b \
  mxc-run "${train[@]:1}" 2>errors && fail "a job is called a/b"
grep -q "'a/b' is no name of a job" errors || fail "said: $(cat errors)"
MXC_ROLE=worker RANK=0 WORLD_SIZE=1 MXC_SERVERS=1 MXC_ARRIVAL=1 \
  MXC_ETCD=http://127.0.0.1:1 MXC_JOB=none mxc-run "${train[@]:1}" 2>errors &&
  fail "nobody answers, and the job begins"
grep -q "etcd does not answer: http://127.0.0.1:1/" errors || fail "said: $(cat errors)"
echo passed
