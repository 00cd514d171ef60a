#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/tune/kill.sh BIN [KILLS [SEED]]
# A search that is killed again and again, and resumed: its trials, every epoch's
# values, its result and the bytes of the best parameters are those of a search
# that nobody killed. So they are where a crash of the system has emptied or cut
# files of trials, which nothing but the record waits for, or taken all of them.
set -euo pipefail

bin=$(realpath "$1") kills=${2:-3} RANDOM=${3:-7}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >net.json <<'END'
{ "mxc": 1, "name": "net", "inputs": {"data": ["N", 1, 28, 28]},
  "nodes": [ {"op": "Flatten"},
             {"op": "FullyConnected", "name": "fc", "num_hidden": 10},
             {"op": "SoftmaxOutput", "name": "softmax"} ] }
END

begun=()  # what the program is begun by
tune() {  # PREFIX options…
  local prefix=$1
  shift
  "${begun[@]}" "$bin/mxc" tune net.json --data digits --data-opt size=1024 --val digits \
    --val-opt size=256 --search 'lr=log(1e-4,1)' \
    --search 'momentum=choice(0,0.9)' --trials 12 --epochs 8 --reduction 3 \
    --parallel 2 --seed 3 --objective accuracy --save "$prefix" --quiet "$@"
}
# What was found, whoever was first, without how long it took.
found() {
  sed 's/"seconds":[^,]*,//' "$1.tune.jsonl" | sort
}

# A third of the trials' files, whole or in part, and the record's last lines.
crash() {  # PREFIX
  local file record=$1.tune.jsonl
  [ -s "$record" ] || return 0
  head -n $(($(wc -l <"$record") - RANDOM % 3)) "$record" >rest
  [ -s rest ] && mv rest "$record"
  for file in "$1"-trials/*.*; do
    [ -e "$file" ] && ((RANDOM % 3 == 0)) || continue
    truncate --size=$((RANDOM % 2 * $(stat -c %s "$file") / 2)) "$file"
  done
}

# kill_often PREFIX options…: it is begun, and killed, many times.
kill_often() {
  for ((i = 0; i < kills; ++i)); do
    begun=(timeout --signal=KILL "$(printf 0.%03d $((RANDOM % 900 + 20)))")
    tune "$@" --resume || true
    ((i % 3)) || crash "$1"
  done 2>/dev/null
  begun=()
  tune "$@" --resume
  diff <(found whole) <(found "$1")
  cmp whole-best.params "$1-best.params"
}

tune whole
kill_often killed
test ! -e killed-trials
tune killed --resume  # all is known
cmp whole-best.params killed-best.params
# Trainings as short as these are begun again instead of saved, unless asked for.
kill_often kept --keep-trials
test -e kept-trials
# Checkpoints are further than the record.
head -n -2 kept.tune.jsonl >rest && mv rest kept.tune.jsonl
tune kept --resume --keep-trials
diff <(found whole) <(found kept)
cp whole.tune.jsonl lost.tune.jsonl
tune lost --resume
cmp whole-best.params lost-best.params
diff <(found whole) <(found lost)
echo "killed $((2 * kills)) times: the same trials, the same parameters"
