#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every command that runs a network runs it on an emulated GPU, as a user would:
#   commands.sh FOLDER_OF_MXC FOLDER_OF_FAKE_DRIVER DEVICES
# DEVICES is build/tests/devices.
set -e
mxc=$(cd "$1" && pwd)/mxc driver=$(cd "$2" && pwd)
devices=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder" MXC_EMULATED_DEVICE=1 LD_LIBRARY_PATH="$driver"
cd "$folder"
cat > net.json <<'END'
{ "mxc": 1, "name": "net", "inputs": {"data": ["N", 1, 28, 28]},
  "nodes": [ {"op": "Pooling", "pool_type": "max", "kernel": [4, 4],
              "stride": [4, 4]},
             {"op": "FullyConnected", "name": "fc1", "num_hidden": 16},
             {"op": "Activation", "act_type": "relu"},
             {"op": "FullyConnected", "name": "fc2", "num_hidden": 10},
             {"op": "SoftmaxOutput", "name": "softmax"} ] }
END
fail() { echo "$@"; exit 1; }

# TARGET EPOCHS PREFIX OPTION…: 16 steps an epoch.
train() {
  target=$1 epochs=$2 prefix=$3
  shift 3
  "$mxc" train net.json --data digits --data-opt size=1024 --val digits \
    --batch-size 64 --epochs "$epochs" --lr 0.3 --opt momentum=0.9 --seed 7 \
    --target "$target" --save "$prefix" --quiet "$@"
}
train cuda:emulated 2 whole --overwrite
train cuda:emulated 1 parts --overwrite
train cuda:emulated 2 parts --resume
cmp whole-0002.params parts-0002.params
cmp whole-0002.states parts-0002.states
# A moving average of what the device learns, which changes nothing of that.
train cuda:emulated 2 mean --ema 0.9
train cuda:emulated 1 begun --ema 0.9
train cuda:emulated 2 begun --ema 0.9 --resume
cmp whole-0002.params mean-0002.params
cmp mean-0002.ema.params begun-0002.ema.params
cmp -s mean-0002.params mean-0002.ema.params && fail "the average is the last"
"$mxc" compile whole-symbol.json --params whole-0002.params \
  --target cuda:emulated --batch 16 --entry infer,train,score --quiet \
  -o net.mxa
# The second device learns what the first one does; each has its own memory.
MXC_FAKE_DEVICES=2 train cuda:emulated 1 second --device=cuda:1
cmp parts-0001.params second-0001.params
# A network that was trained for two epochs knows most digits.
MXC_FAKE_DEVICES=2 "$mxc" score net.mxa --data digits --data-opt size=128 \
  --device cuda:1 > score
awk '{ for (i = 1; i < NF; ++i) if ($i == "accuracy") right = $(i + 1) }
     END { exit !(right > 0.3) }' score || fail "$(cat score)"
"$mxc" bench net.mxa --entry train --duration 0.1 --warmup 0 \
  --device cuda:emulated > bench
grep -q samples/s bench || fail "$(cat bench)"
"$mxc" inspect net.mxa --steps | grep -q 'modelled, not measured' ||
  fail "inspect does not model the device"
"$mxc" verify net.json --init xavier --batch 2 --target cuda:emulated \
  --quiet --grad > gradients
# A step of more operands than a kernel has parameters.
awk 'BEGIN { for (i = 0; i < 510; ++i) {
               inputs = inputs comma "\"x" i "\": [\"N\", 4]"
               all = all comma "\"x" i "\""
               comma = ", " }
             print "{\"mxc\": 1, \"inputs\": {" inputs "}, \"nodes\": [" \
                   "{\"op\": \"stack\", \"num_args\": 510, \"axis\": 1," \
                   " \"inputs\": [" all "]}]}" }' > many.json
"$mxc" verify many.json --batch 2 --target cuda:emulated --quiet > many
grep -q '^1 step right' many || fail "$(cat many)"
# Two devices in one process.
MXC_FAKE_DEVICES=2 "$devices" net.mxa net.mxa 0 cuda:1 > same &&
  grep -q 'the same$' same || fail "$(cat same)"
MXC_FAKE_DEVICES=2 "$mxc" bench net.mxa --duration 0.01 --device cuda:2 \
  2> wrong && fail "a device that is not there was used"
grep -q "device 'cuda:2': the machine's NVIDIA devices are 2" wrong ||
  fail "$(cat wrong)"
# A launch that computes nothing: its step is named.
if MXC_FAKE_SKIP=2 "$mxc" verify net.json --init xavier --batch 2 \
  --target cuda:emulated --quiet 2> wrong; then
  fail "verify did not notice a step that was left out"
fi
grep -q "error: step 2 'fc1+activation0' is wrong" wrong || fail "$(cat wrong)"
"$mxc" launch --workers 1 -- "$mxc" train net.json --data digits \
  --target cuda:emulated --batch-size 64 --quiet 2> wrong &&
  fail "a job updated its parameters on a GPU"
grep -q 'the parameters of a job are updated by processors' wrong ||
  fail "$(cat wrong)"
"$mxc" bench net.mxa --device cpu 2> wrong &&
  fail "a GPU's file ran on the CPU"
grep -q "^error: the model was compiled for device 'cuda'" wrong ||
  fail "$(cat wrong)"
