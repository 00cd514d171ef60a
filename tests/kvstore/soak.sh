#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/soak.sh BIN MINUTES
# A job of eight processes, two pairs and four workers, of which one is killed
# or stopped every 30 s: how memory and descriptors of those grow that are never
# touched (the launcher, worker 0, the pair of server 1), from the second minute
# on. Fails where a descriptor is left, or the job does not go on.
set -euo pipefail
minutes=$2
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/processes.sh"
enter "$1"
RANDOM=19

mxc compile "$here/../../models/mlp.json" --entry grad,update,score \
  --init xavier --input-shape data:16x784 --optimizer adam -o mlp.mxa --quiet
mxc launch --workers 4 --servers 2 --replicas 1 --on-death wait \
  --restarts 100000 --metrics metrics -- mxc train mlp.mxa --data digits \
  --data-opt size=1070 --data-opt flat=1 --seed 5 --threads 1 \
  --epochs 1000000 --quiet --save soak 2>errors &
job=$!
await_whole metrics 4 || fail "no job"
watched=("launcher $job")
for of in "worker 0" "server 1" "backup 1"; do
  await_process $of soak
  watched+=("$of $victim")
done
# sample FILE: name, resident kB, descriptors.
sample() {
  local line
  for line in "${watched[@]}"; do
    local process=${line##* }
    echo "${line% *}: $(awk '/^VmRSS/ { print $2 }' "/proc/$process/status")" \
      "$(find "/proc/$process/fd" -mindepth 1 | wc -l)"
  done >"$1"
}
faults=0 begun=$(date +%s)
sampled=
while [ $(($(date +%s) - begun)) -lt $((minutes * 60)) ]; do
  sleep 30
  [ -n "$sampled" ] || [ $(($(date +%s) - begun)) -lt 120 ] ||
    { await_whole metrics 4; sample first; sampled=1; }
  await_whole metrics 4 || fail "the job has ended"
  victims=("worker 1" "server 0" "worker 2" "backup 0" "worker 3")
  await_process ${victims[faults % 5]} soak
  signal=KILL
  [ $((RANDOM % 2)) -gt 0 ] || signal=STOP
  kill -$signal "$victim"
  faults=$((faults + 1))
  sleep 1.2
done
await_whole metrics 4 || fail "the job has ended"
rounds=$(metric mxc_rounds_total metrics)
sample last
paste first last | awk '{ name = $1 " " $2
  n = NF / 2
  rss = $(n - 1); fd = $n; later = $(NF - 1); open = $NF
  sub(/:.*/, "", name)
  printf "%s: %d -> %d kB (%+.1f %%), %d -> %d descriptors\n", name, rss, later, \
    100 * (later - rss) / rss, fd, open
  if (open > fd) bad = 1 } END { exit bad }' || fail "descriptors are left"
echo "$faults faults in $((($(date +%s) - begun) / 60)) minutes, $rounds rounds"
kill -TERM $job
wait $job || [ $? -eq 130 ] || fail "the job does not end well"
echo passed
