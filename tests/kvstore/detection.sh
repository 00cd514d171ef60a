#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/detection.sh BIN TRIALS KILL|STOP [WIDTH]
# In one job of pairs and three workers a process is killed, or stopped, TRIALS
# times: how long until it is noticed, and until all make rounds again, which
# metrics tell to the second. Two layers of WIDTH (64) units: 5000 make 100 MB.
set -euo pipefail
trials=$2 signal=$3 width=${4:-64}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/processes.sh"
enter "$1"
RANDOM=17

cat >net.json <<END
{"mxc": 1, "name": "wide", "inputs": {"data": ["N", 784]}, "nodes": [
  {"op": "FullyConnected", "name": "fc1", "num_hidden": $width},
  {"op": "Activation", "name": "act1", "act_type": "relu"},
  {"op": "FullyConnected", "name": "fc2", "num_hidden": $width},
  {"op": "FullyConnected", "name": "fc3", "num_hidden": 10},
  {"op": "SoftmaxOutput", "name": "softmax"}]}
END
mxc compile net.json --entry grad,update --init xavier \
  --input-shape data:8x784 -o net.mxa --quiet
mxc launch --workers 3 --servers 1 --replicas 1 --on-death wait \
  --restarts 100000 --metrics metrics -- mxc train net.mxa --data digits \
  --data-opt size=1070 --data-opt flat=1 --lr 0.01 --threads 1 \
  --epochs 1000000 --quiet --save trial 2>&1 |
  while IFS= read -r line; do echo "$(now) $line"; done >errors &
sleep 1
job=$(own_processes "mxc launch .* --save trial$" | head -n 1)
[ -n "$job" ] || fail "no job"

# What is said of a process that was struck.
noticed() { # ROLE RANK
  if [ "$signal" = KILL ]; then
    echo "$1 $2 was killed by signal 9"
  elif [ "$1" = worker ]; then
    echo "worker $2 is lost"
  else
    echo "goes on without its other process"
  fi
}
: >times
for ((trial = 0; trial < trials; trial++)); do
  await_whole metrics 2 || fail "the job has ended"
  sleep 1.1  # metrics are a second old
  role=(worker server backup)
  role=${role[trial % 3]} rank=0
  [ $role != worker ] || rank=$((RANDOM % 3))
  await_process $role $rank trial
  lines=$(wc -l <errors)
  term=$(term_of 0 metrics)
  [ $role = worker ] || term=$((term + 2))  # alone, then a pair again
  begun=$(now)
  kill -$signal "$victim"
  until line=$(tail -n +$((lines + 1)) errors |
    grep -m 1 "$(noticed $role $rank)"); do
    [ $(($(now) - begun)) -lt 60000000000 ] || fail "$role $rank: not noticed"
    sleep 0.01
  done
  seen=$(((${line%% *} - begun) / 1000000))
  rounds=$(metric mxc_rounds_total metrics)
  until [ "$(metric mxc_rounds_total metrics)" -gt $((rounds + 1)) ] &&
    [ "$(term_of 0 metrics)" -ge "$term" ] && await_whole metrics 2; do
    [ $(($(now) - begun)) -lt 120000000000 ] || fail "$role $rank: no rounds"
    sleep 0.05
  done
  echo "$role $seen $((($(now) - begun) / 1000000 - seen))" >>times
done
kill $job 2>/dev/null || true
for role in worker server backup; do
  awk -v role=$role -v signal=$signal '$1 == role {
      n++; seen += $2; went += $3
      if ($2 > most_seen) most_seen = $2
      if ($3 > most_went) most_went = $3
    } END { if (n) printf "%s, %s, %d times: noticed after %d ms (at most %d); " \
      "all there and making rounds %d ms later (at most %d)\n", signal, role, n, \
      seen / n, most_seen, went / n, most_went }' times
done
limit=10000
[ "$signal" = STOP ] || limit=1000
awk -v limit=$limit '$2 > limit { exit 1 }' times ||
  fail "noticed later than after $limit ms"
echo passed
