#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: kill_test.sh BIN_DIR [KILLS] [MODEL]
# Kills training at random moments and resumes it until it is done; the weights
# must equal those of a run that nobody disturbed, byte for byte, and no moment
# may leave a set of files from which training does not go on.
set -euo pipefail
bin=$1 kills=${2:-5}
model=${3:-$(dirname "${BASH_SOURCE[0]}")/../../models/lenet.json}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work
RANDOM=7

"$bin/mxc" compile "$model" --entry train,score --optimizer sgd \
  --opt momentum=0.9 --batch 16 --init xavier --seed 3 -o "$work/net.mxa" \
  --quiet
train() { # PREFIX OPTION…; in a subshell, which becomes the program
  local prefix=$1
  shift
  exec "$bin/mxc-run" train "$work/net.mxa" --data digits --data-opt size=1600 \
    --epochs 3 --lr 0.02 --threads 2 --save "$work/$prefix" --save-every 20 \
    --quiet "$@"
}

start=$(date +%s%N)
(train whole)
milliseconds=$((($(date +%s%N) - start) / 1000000))

killed=0
while [ "$killed" -lt "$kills" ]; do
  (train torn --resume) &
  process=$!
  wait_ms=$((RANDOM % (milliseconds / 2 + 20)))
  sleep "$(printf '%d.%03d' $((wait_ms / 1000)) $((wait_ms % 1000)))"
  kill -9 "$process" 2>/dev/null || true
  if wait "$process" 2>/dev/null; then
    rm -f "$work"/torn* # it came to its end: once more from the beginning
  else
    killed=$((killed + 1))
  fi
done
(train torn --resume)
for extension in params states; do
  cmp "$work/whole-0003.$extension" "$work/torn-0003.$extension"
done
echo "killed $killed times; the same bytes as undisturbed"
