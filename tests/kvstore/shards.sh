#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/shards.sh BIN
# Jobs whose workers share what the optimizer keeps learn the bytes of those that
# each keep all of it, for any number of workers, and go on from what others have
# saved, as others do from what they have; also where everybody was killed.
set -euo pipefail
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
models=$here/../../models
job='' errors=errors
. "$here/processes.sh"
enter "$1"

# compiled NAME OPTION…: NAME.mxa, whose optimizer is NAME.
compiled() {
  mxc compile "$models/mlp.json" --entry grad,update,score --init xavier \
    --input-shape data:16x784 --optimizer "$1" -o "$1.mxa" --quiet "${@:2}"
}
# train WORKERS OPTIMIZER PREFIX OPTION…: 0 workers for a process alone.
train() {
  local workers=$1 optimizer=$2 prefix=$3
  shift 3
  local launch=(mxc launch --workers "$workers" --)
  [ "$workers" != 0 ] || launch=()
  "${launch[@]}" mxc train "$optimizer.mxa" --data digits --data-opt size=400 \
    --data-opt flat=1 --lr 0.01 --seed 7 --threads 1 --quiet --cut-from 100 \
    --kvstore "${store:-allreduce}" --save "$prefix" "$@"
}
# equal PREFIX PREFIX SET
equal() {
  cmp "$1-$3.params" "$2-$3.params" && cmp "$1-$3.states" "$2-$3.states"
}

# sgd with momentum keeps one state for a parameter, adam two and a count,
# centered rmsprop three; lamb's updates need a norm of the whole parameter.
compiled sgd --opt momentum=0.9 --opt wd=0.001
compiled adam --opt wd=0.001
compiled rmsprop --opt centered=1
compiled lamb
for name in sgd adam rmsprop lamb; do
  for workers in 1 2 3; do
    train "$workers" $name "whole$workers-$name"
    train "$workers" $name "shards$workers-$name" --shard-states
    equal "whole$workers-$name" "shards$workers-$name" 0001 ||
      fail "$workers workers that share states of $name learn something else"
  done
  train 0 $name "alone-$name"
  equal "alone-$name" "shards1-$name" 0001 || fail "$name: not as one process"
done

# Several batches an update; norms of gradients, of which worker 0 shows its own.
for option in --accumulate=1 --accumulate=3; do
  train 3 adam "whole$option" $option --data-opt size=1600 --log-dir \
    "logs/whole$option"
  train 3 adam "shards$option" $option --data-opt size=1600 --log-dir \
    "logs/shards$option" --shard-states
  equal "whole$option" "shards$option" 0001 || fail "updates of several batches are others"
  norms() { sed -n '/class="gradients"/,/<\/table>/p' "logs/$1/report.html"; }
  [ "$(norms "whole$option" | grep -c '<td>fc')" = 6 ] || fail "no norms"
  [ "$(norms "whole$option")" = "$(norms "shards$option")" ] ||
    fail "other norms: $(norms "whole$option") $(norms "shards$option")"
done

# A checkpoint is anybody's: of shares in two, in three, of a process alone, and
# back. What each begins with is its own, so it stands beside what was whole.
train 2 adam whole2 --epochs 3
train 2 adam two --epochs 1 --shard-states
for of in alone three; do
  for file in two-0001.* two-symbol.json; do cp "$file" "$of${file#two}"; done
done
train 2 adam two --epochs 3 --shard-states --resume
equal whole2 two 0003 || fail "shares that go on learn something else"
for file in two-0001.* two-symbol.json; do cp "$file" "same${file#two}"; done
train 2 adam same --epochs 3 --resume
equal whole2 same 0003 || fail "workers without shares go on otherwise"
train 0 adam alone --epochs 2 --resume
train 3 adam three --epochs 2 --shard-states --resume
for file in three-0001.*; do cp "$file" "whole3${file#three}"; done
cp three-symbol.json whole3-symbol.json
train 3 adam whole3 --epochs 2 --resume
equal whole3 three 0002 || fail "three that go on with two's shares: others"
train 2 adam alone --epochs 3 --shard-states --resume
[ -s alone-0003.params ] || fail "shares cannot go on with a process alone"

# Killed at any moment, with all its processes.
train 2 adam killed --epochs 3 --save-every 3 --shard-states &
job=$!
until compgen -G 'killed-step-*.mxc' >/dev/null; do
  kill -0 $job 2>/dev/null || fail "the job ended before it saved"
  sleep 0.02
done
await_process worker 1 killed
kill -9 "$victim"
if wait $job; then fail "a job without a worker went well"; fi
train 2 adam killed --epochs 3 --save-every 3 --shard-states --resume
equal whole2 killed 0003 || fail "a job that was killed learns something else"

# What cannot be shared, and jobs that have nothing to share.
refused() { # SENTENCE [OPTIMIZER OPTION…]
  ! train 2 "${2:-adam}" wrong --shard-states --overwrite "${@:3}" 2>errors ||
    fail "was not refused: ${*:2}"
  grep -q -- "$1" errors || fail "no word of '$1'"
}
compiled nadam
refused 'keeps something for all parameters together' nadam
store=dist_sync refused 'servers share them, and workers keep none'
store=allreduce_ea refused 'makes updates of its own'
refused 'save-caffe writes what one process keeps' adam --save-caffe
echo "shards: all is well"
