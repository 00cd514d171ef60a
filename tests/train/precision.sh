#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Training that keeps bf16 or f16 between its steps learns what training in f32
# does, and goes on from a checkpoint to the same bytes:
#   precision.sh FOLDER_OF_MXC [TARGET…]                       default: native
# MXC_PRECISION_SIZE: how many samples each epoch has (default: 6144).
set -e
mxc=$(cd "$1" && pwd)/mxc
shift
[ $# -gt 0 ] || set -- native
size=${MXC_PRECISION_SIZE:-6144}
network=$(cd "$(dirname "$0")/../.." && pwd)/models/lenet.json
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
cd "$folder"
fail() { echo "$@"; exit 1; }

rate=0.1
# TARGET PRECISION EPOCHS PREFIX OPTION…
train() {
  target=$1 precision=$2 epochs=$3 prefix=$4
  shift 4
  "$mxc" train "$network" --data digits --val digits --val-opt size=2048 --batch-size 64 \
    --data-opt size="$size" --epochs "$epochs" --lr $rate --opt momentum=0.9 \
    --seed 7 --target "$target" --precision "$precision" --save "$prefix" \
    "$@" 2>&1
}
# Of other digits, after the last epoch.
accuracy() { sed -n 's/.*val accuracy \([0-9.]*\).*/\1/p' "$1" | tail -n 1; }

# A rate that ends at 0 leaves no luck of the last steps in the accuracy.
train native f32 2 wide --lr-schedule cosine > f32
for target in "$@"; do
  for precision in bf16 f16; do
    train "$target" $precision 2 "$target-$precision" \
      --lr-schedule cosine > narrow ||
      fail "$(cat narrow)"
    awk -v wide="$(accuracy f32)" -v narrow="$(accuracy narrow)" \
      -v name="$target, $precision" 'BEGIN {
        print name ": accuracy " narrow ", in f32 " wide
        exit !(wide > 0.95 && narrow >= wide - 0.005) }' ||
      fail "$(cat narrow)"
  done
done
size=1024
for precision in bf16 f16; do
  train "$1" $precision 2 whole-$precision --quiet
  train "$1" $precision 1 parts-$precision --quiet
  train "$1" $precision 2 parts-$precision --quiet --resume
  for file in params states mxc; do
    cmp whole-$precision-0002.$file parts-$precision-0002.$file
  done
done
# Steps that updated nothing are told.
rate=10
train "$1" f16 1 steep > steep || fail "$(cat steep)"
grep -q '^epoch 1: the loss scale fell from 65536 to [0-9]*: [0-9]* steps or more' \
  steep || fail "$(cat steep)"
# A product whose operands exchange their places.
"$mxc" verify "${network%lenet.json}mlp.json" --init xavier --batch 4 --precision bf16 --grad --quiet
