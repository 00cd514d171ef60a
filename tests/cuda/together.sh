#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Several GPUs train together what one does: emulated ones by default, those of
# the machine if no folder of a fake driver is given.
#   together.sh FOLDER_OF_MXC [FOLDER_OF_FAKE_DRIVER [PYTHON PACKAGE]]
# PACKAGE: the folder that holds the package mxc; then Python's fit is tried, too.
set -e
mxc=$(cd "$1" && pwd)/mxc
models=$(cd "$(dirname "$0")/../.." && pwd)/models
if [ -n "$2" ]; then
  LD_LIBRARY_PATH=$(cd "$2" && pwd)
  export LD_LIBRARY_PATH MXC_EMULATED_DEVICE=1 MXC_FAKE_DEVICES=4
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
cd "$folder"
fail() { echo "$@"; exit 1; }

# DEVICES EPOCHS PREFIX OPTION…
train() {
  devices=$1 epochs=$2 prefix=$3
  shift 3
  "$mxc" train "${network:-$models/mlp.json}" --data digits \
    --data-opt size=512 --batch-size 64 --epochs "$epochs" --lr 0.1 \
    --opt momentum=0.9 --seed 7 --device "$devices" --save "$prefix" \
    --report-every 1 "$@"
}
# The losses of steps, and how far two lists are apart.
losses() { sed -n 's/.*"loss": *\([0-9.e+-]*\).*/\1/p' "$1"; }
apart() {
  losses "$1" > a
  losses "$2" > b
  paste a b | awk -v most="$3" '
    { d = $1 - $2; if (d < 0) d = -d; if (d > worst) worst = d }
    END { print NR " losses, apart by at most " worst
          exit !(NR > 8 && worst <= most) }'
}

# Equal batches: what one learns, step by step.
train cuda:0 1 one --json > one.json
for devices in cuda:0,cuda:1 cuda:1,cuda:0,cuda:2,cuda:3; do
  train $devices 1 "$devices" --json > "$devices.json"
  echo "$devices: $(apart one.json "$devices.json" 1e-5)" ||
    fail "$devices learn something else than one"
done
# The same bytes again, and from a checkpoint.
train cuda:0,cuda:1 2 whole --quiet
train cuda:0,cuda:1 1 parts --quiet
train cuda:0,cuda:1 2 parts --quiet --resume
for file in params states mxc; do cmp whole-0002.$file parts-0002.$file; done
cmp "cuda:0,cuda:1-0001.params" parts-0001.params
# On another number of devices it goes on, too.
train cuda:0 3 parts --quiet --resume

# Statistics, and numbers that the network draws.
cat > norm.json << 'END'
{ "mxc": 1, "name": "norm", "inputs": {"data": [64, 1, 28, 28]},
  "nodes": [
    {"op": "Convolution", "name": "c", "kernel": [5, 5], "stride": [3, 3],
     "num_filter": 4},
    {"op": "BatchNorm", "name": "bn", "fix_gamma": false},
    {"op": "Activation", "name": "r", "act_type": "relu"},
    {"op": "Flatten", "name": "f"},
    {"op": "Dropout", "name": "d", "p": 0.25},
    {"op": "FullyConnected", "name": "fc", "num_hidden": 10},
    {"op": "SoftmaxOutput", "name": "softmax"} ] }
END
network=norm.json
train cuda:0,cuda:1 2 drawn --quiet
train cuda:0,cuda:1 1 again --quiet
train cuda:0,cuda:1 2 again --quiet --resume
for file in params states mxc; do cmp drawn-0002.$file again-0002.$file; done
network=

refused() {  # SENTENCE COMMAND…
  sentence=$1
  shift
  if "$@" > out 2>&1; then fail "not refused: $*"; fi
  grep -qF -- "$sentence" out || fail "$* said: $(cat out)"
}
refused "is named twice" train cuda:0,cuda:0 1 no
refused "cannot be dealt to 3 devices" train cuda:0,cuda:1,cuda:2 1 no
refused "numbered from 0" train cuda:0,cuda:7 1 no
"$mxc" compile "$models/mlp.json" --entry train,score --batch 32 --init xavier \
  --target "$([ -n "$2" ] && echo cuda:emulated || echo cuda:sm_80)" \
  --replicas 2 --quiet -o two.mxa
# Gradients, loss and statistics are one sum.
"$mxc" compile norm.json --entry train --target cuda:emulated --init zero \
  --replicas 2 --quiet -o sums.mxa
[ "$("$mxc" inspect --steps sums.mxa | grep -c ' all_reduce$')" = 1 ] ||
  fail "$("$mxc" inspect --steps sums.mxa)"
refused "2 devices that share each batch (--replicas), and --device names 1" \
  "$mxc" train two.mxa --data digits --device cuda:0
refused "--replicas 2 is for targets of a GPU" \
  "$mxc" compile "$models/mlp.json" --entry train --replicas 2 --target x86-64-v3
[ -n "$2" ] || exit 0

# Python's fit leaves the bytes of the command, also where callbacks look at the
# states meanwhile.
if [ -d "$4/mxc" ] && "$3" -c 'import numpy' 2>/dev/null; then
  "$mxc" train two.mxa --data digits --data-opt size=512 --lr 0.1 --seed 7 \
    --device cuda:0,cuda:1 --epochs 2 --save command --quiet
  cat > fit.py << 'END'
import mxc
trainer = mxc.load("two.mxa").trainer(device="cuda:0,cuda:1")
before = trainer.states()["fc1_weight"]
seen = []
trainer.fit(mxc.data("digits", options={"size": 512}), epochs=2, lr=0.1, seed=7,
            checkpoint="python",
            callbacks=[lambda epoch: seen.append(trainer.states()["fc1_weight"])])
assert len(seen) == 2 and (seen[0] != seen[1]).any()
assert (trainer.states()["fc1_weight"] == seen[1]).all()
assert (seen[0] != before).any()
END
  PYTHONPATH=$4 "$3" fit.py
  for file in 0001.params 0002.params 0002.states; do
    cmp "command-$file" "python-$file"
  done
fi

# Each call of the driver and of NCCL fails once: a sentence comes, and the end.
short() {
  timeout 50 "$mxc" train two.mxa --data digits --data-opt size=64 \
    --batch-size 64 --device cuda:0,cuda:1 --quiet > out 2>&1
}
n=1 failures=0
while MXC_FAKE_FAIL=$n; export MXC_FAKE_FAIL; [ $n -lt 400 ]; do
  code=0
  short || code=$?
  if [ $code -eq 0 ]; then break; fi
  [ "$(grep -c '^error: ' out)" = 1 ] || fail "call $n: code $code: $(cat out)"
  failures=$((failures + 1))
  n=$((n + ${MXC_FAKE_STEP:-7}))
done
[ $failures -gt 5 ] || fail "only $failures calls failed"
echo "$failures calls failed, each with a sentence"
