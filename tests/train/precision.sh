#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Training that keeps bf16 between its steps learns what training in f32 does,
# and goes on from a checkpoint to the same bytes:
#   precision.sh FOLDER_OF_MXC [TARGET…]           default: native, x86-64-v3
set -e
mxc=$(cd "$1" && pwd)/mxc
shift
[ $# -gt 0 ] || set -- native x86-64-v3
network=$(cd "$(dirname "$0")/../.." && pwd)/models/lenet.json
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
cd "$folder"
fail() { echo "$@"; exit 1; }

# TARGET PRECISION EPOCHS PREFIX OPTION…
train() {
  target=$1 precision=$2 epochs=$3 prefix=$4
  shift 4
  "$mxc" train "$network" --data digits --val digits --batch-size 64 \
    --epochs "$epochs" --lr 0.1 --opt momentum=0.9 --seed 7 \
    --target "$target" --precision "$precision" --save "$prefix" "$@" 2>&1
}
# Of other digits, after the last epoch.
accuracy() { sed -n 's/.*val accuracy \([0-9.]*\).*/\1/p' "$1" | tail -n 1; }

train native f32 2 wide > f32
for target in "$@"; do
  train "$target" bf16 2 "$target" > bf16
  awk -v wide="$(accuracy f32)" -v narrow="$(accuracy bf16)" \
    -v target="$target" 'BEGIN {
      print target ": accuracy in f32 " wide ", in bf16 " narrow
      exit !(wide > 0.98 && narrow >= wide - 0.003) }' || fail "$(cat bf16)"
done
train "$1" bf16 2 whole --data-opt size=1024 --quiet
train "$1" bf16 1 parts --data-opt size=1024 --quiet
train "$1" bf16 2 parts --data-opt size=1024 --quiet --resume
cmp whole-0002.params parts-0002.params
cmp whole-0002.states parts-0002.states
# A product whose operands exchange their places.
"$mxc" verify "$network" --init xavier --batch 4 --precision bf16 --grad --quiet
