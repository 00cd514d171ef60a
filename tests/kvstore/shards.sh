#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/shards.sh BIN
# Jobs whose workers share what the optimizer keeps, or parameters, too, learn the
# bytes of those that each keep all of it, for any number of workers, and go on from
# what others have saved, as others do from what they have; also where everybody was
# killed.
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
    for of in states parameters; do
      train "$workers" $name "$of$workers-$name" --shard-$of
      equal "whole$workers-$name" "$of$workers-$name" 0001 ||
        fail "$workers workers that share $of learn something else by $name"
    done
  done
  train 0 $name "alone-$name"
  equal "alone-$name" "states1-$name" 0001 || fail "$name: not as one process"
done

# Several batches an update; norms of gradients, of which worker 0 shows its own.
for option in --accumulate=1 --accumulate=3; do
  train 3 adam "whole$option" $option --data-opt size=1600 --log-dir \
    "logs/whole$option"
  norms() { sed -n '/class="gradients"/,/<\/table>/p' "logs/$1/report.html"; }
  [ "$(norms "whole$option" | grep -c '<td>fc')" = 6 ] || fail "no norms"
  for of in states parameters; do
    train 3 adam "$of$option" $option --data-opt size=1600 --log-dir \
      "logs/$of$option" --shard-$of
    equal "whole$option" "$of$option" 0001 || fail "updates of several batches are others"
    [ "$(norms "whole$option")" = "$(norms "$of$option")" ] ||
      fail "other norms: $(norms "whole$option") $(norms "$of$option")"
  done
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

# Workers that share parameters score together, go on from what others have saved,
# each from the same files, and are gone on from.
scores() { grep -o '"validation": {[^}]*}' "$1.json"; }
for file in two-0001.* two-symbol.json; do cp "$file" "part${file#two}"; done
train 2 adam part --epochs 2 --shard-parameters --resume --val digits --json >part.json
for file in part-0002.*; do cp "$file" "two${file#part}"; done
train 2 adam part --epochs 3 --resume --val digits --json >rest.json
equal whole2 part 0003 || fail "what shares of parameters save learns something else"
train 2 adam scored --epochs 3 --val digits --json >scored.json
[ "$(scores scored | tail -n 2)" = "$(scores part; scores rest)" ] ||
  fail "other scores: $(scores scored) $(scores part) $(scores rest)"
[ "$(scores scored | wc -l)" = 3 ] || fail "no scores"

# Checkpoints in pieces: each worker writes its own; any number goes on from them, and
# whole ones behind them. What is compiled of them are the same parameters.
for of in states parameters; do
  train 2 adam "pieces-$of" --epochs 1 --shard-$of --save-pieces
  [ -s "pieces-$of-0001.piece-1.safetensors" ] || fail "no piece of worker 1"
  cp -r . "../copy-$$" && mv "../copy-$$" copy
  train 3 adam "pieces-$of" --epochs 2 --shard-$of --save-pieces --resume
  [ -s "pieces-$of-0002.piece-2.safetensors" ] || fail "no piece of worker 2"
  (cd copy && train 3 adam "pieces-$of" --epochs 2 --resume)
  mxc compile "$models/mlp.json" --params "pieces-$of-0002.pieces.json" --quiet -o pieces.mxa
  mxc compile "$models/mlp.json" --params "copy/pieces-$of-0002.params" --quiet -o whole.mxa
  cmp pieces.mxa whole.mxa || fail "workers that go on from pieces of $of learn something else"
  train 0 adam "pieces-$of" --epochs 3 --resume
  (cd copy && train 0 adam "pieces-$of" --epochs 3 --resume)
  equal "pieces-$of" "copy/pieces-$of" 0003 || fail "a process alone goes on otherwise from pieces"
  rm -r copy
done
# An epoch that was cut is saved anew in pieces: nothing of the whole set stays.
train 2 adam cut --epochs 2 --steps 20 --shard-parameters
[ -s cut-0002.params ] || fail "a run that is cut saves nothing"
train 2 adam cut --epochs 2 --shard-parameters --save-pieces --resume
[ -s cut-0002.pieces.json ] || fail "an epoch that was cut is not saved anew"
for file in params states; do
  [ ! -e cut-0002.$file ] || fail "cut-0002.$file lies beside the pieces of a later step"
done
# A piece that is not the one that was saved: the set before counts.
train 2 adam torn --epochs 2 --shard-states --save-pieces
printf x >>torn-0002.piece-1.safetensors
! train 2 adam torn --epochs 3 --shard-states --save-pieces --resume 2>errors ||
  fail "a damaged piece was not noticed"
grep -q 'torn-0002.piece-1.safetensors is damaged' errors || fail "no word of the damage"

# Killed at any moment, with all its processes.
for of in states parameters; do
  train 2 adam "killed-$of" --epochs 3 --save-every 3 --shard-$of &
  job=$!
  await_process worker 1 "killed-$of"
  until compgen -G "killed-$of-step-*.mxc" >/dev/null; do
    kill -0 $job 2>/dev/null || fail "the job ended before it saved"
    sleep 0.01
  done
  kill -9 "$victim"
  if wait $job; then fail "a job without a worker went well"; fi
  train 2 adam "killed-$of" --epochs 3 --save-every 3 --shard-$of --resume
  equal whole2 "killed-$of" 0003 || fail "a job that was killed learns something else"
done

# Each begins by itself, and all must begin alike.
cp whole2-0001.params one.params
cp whole2-0003.params other.params
cat >begin.sh <<'END'
params=one
[ "$RANK" = 0 ] || params=other
exec mxc train "$1" --batch-size 16 --optimizer adam --params $params.params \
  --data digits --data-opt size=400 --data-opt flat=1 --lr 0.01 --threads 1 --quiet \
  --kvstore allreduce --shard-parameters --cut-from 100
END
! mxc launch --workers 2 -- sh begin.sh "$models/mlp.json" 2>errors ||
  fail "workers that begin otherwise than others train"
grep -q "begins with another 'fc1_weight' than worker 0" errors ||
  fail "nothing says that they begin otherwise"

# Of 16 layers of 4 MiB, their gradients and what momentum keeps, two workers that
# share states have 160 MiB each, and those that share parameters 96 and a few layers.
layers=$(for i in {1..16}; do printf '{"op": "FullyConnected", "num_hidden": 1024}, '; done)
cat >deep.json <<END
{"mxc": 1, "inputs": {"data": ["N", 1024]}, "nodes": [ $layers
  {"op": "FullyConnected", "num_hidden": 10}, {"op": "SoftmaxOutput", "name": "softmax"}]}
END
mxc compile deep.json --entry grad,update,score --init xavier --input-shape data:4x1024 \
  --optimizer sgd --opt momentum=0.9 --quiet
for i in {1..16}; do
  for j in {1..1024}; do printf '0.%d,' $((i * j % 997)); done | sed 's/,$/\n/'
done >deep.csv
for i in {0..15}; do echo $((i % 10)); done >deep-label.csv
cat >watched.sh <<'END'
"$@" &
while grep VmHWM "/proc/$!/status" 2>/dev/null >>"most.$RANK"; do sleep 0.02; done
wait $!
END
most() { # OPTION: MiB of a worker that shares so
  rm -f most.*
  mxc launch --workers 2 -- sh watched.sh mxc train deep.mxa --data csv:deep.csv \
    --data-opt label_csv=deep-label.csv --lr 0.001 --epochs 3 --threads 1 --quiet \
    --kvstore allreduce --seed 1 "$1" --save deep --overwrite
  cat most.* | awk '$2 > most { most = $2 } END { print int(most / 1024) }'
}
states=$(most --shard-states)
cp deep-0003.params whole.params
parameters=$(most --shard-parameters)
cmp deep-0003.params whole.params || fail "deep networks learn something else"
[ $((states - parameters)) -ge 30 ] ||
  fail "a worker that shares states has $states MiB, and parameters, too, $parameters"
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
! train 2 sgd wrong --overwrite --save-pieces 2>errors || fail "there are no pieces to save"
grep -q 'save-pieces is for --shard-states and --shard-parameters' errors || fail "nothing says so"
refused '--ema keeps averages of all parameters' adam --shard-parameters --ema 0.9
echo "shards: all is well; parameters beside states: $parameters of $states MiB"
