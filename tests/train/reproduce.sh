#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: reproduce.sh BIN_DIR CASE
# Trains a network on real data until it is as good as MXNet's own tests and
# examples want it, prints each epoch and fails where it is not. CASE:
#   mnist-conv    over 0.94 after one epoch          mnist-mlp   over 0.95
#   mnist-lenet   at least 0.99 after four epochs (MXNet: 0.98 within ten)
#   cifar         ResNet-20 learns 100 pictures by heart: loss below 0.01
#   char-lm       tinyshakespeare: validation loss below 1.75 nats a character
# The data are those of $MXC_SHARED/cases/data.
set -euo pipefail
bin=$1 case=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
models=$here/../../models
data=${MXC_SHARED:-$here/../../../shared}/cases/data
[ -d "$data" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work

train() { "$bin/mxc" train "$@" 2>&1 | tee "$work/log"; }

# require WORDS OPERATOR BOUND: of the last figure behind these words.
require() {
  local figure
  figure=$(sed -nE "s|.*$1 +([0-9.e+-]+).*|\1|p" "$work/log" | tail -n 1)
  echo "$case: ${figure:-nothing} must be $2 $3"
  awk -v x="$figure" -v y="$3" "BEGIN { exit x == \"\" || !(x + 0 $2 y + 0) }"
}

mnist=(--data "mnist:$data/mnist" --val "mnist:$data/mnist" --seed 1)
sgd=(--optimizer sgd --opt momentum=0.9)
case $case in
  mnist-conv)
    train "$here/mnist_conv.json" "${mnist[@]}" --batch-size 100 --epochs 1 \
      "${sgd[@]}" --opt wd=0.0001 --lr 0.1 --init uniform:0.01
    require "val accuracy" ">" 0.94
    ;;
  mnist-mlp)
    train "$models/mlp.json" "${mnist[@]}" --batch-size 100 --epochs 2 \
      "${sgd[@]}" --opt wd=0.00001 --lr 0.1
    require "val accuracy" ">" 0.95
    ;;
  mnist-lenet)
    train "$models/lenet.json" "${mnist[@]}" --batch-size 64 --epochs 4 \
      "${sgd[@]}" --opt wd=0.0001 --lr 0.05 \
      --lr-schedule cosine:max_update=3750
    require "val accuracy" ">=" 0.99
    ;;
  cifar)
    python3 "$here/unpack_pictures.py" "$data/cifar10-png100" "$work/pictures"
    train "$models/resnet-20-cifar.json" --data "folder:$work/pictures" \
      --data-opt data_shape=3,32,32 --data-opt scale=0.0078125 \
      --data-opt mean_r=128 --data-opt mean_g=128 --data-opt mean_b=128 \
      --batch-size 50 --epochs 60 "${sgd[@]}" --lr 0.05 \
      --lr-schedule cosine:max_update=120 --init msra --seed 7 \
      --metric cross-entropy
    require "epoch [0-9/]+ +loss" "<" 0.01
    ;;
  char-lm)
    text=text:$data/tinyshakespeare/input.txt
    train "$models/char_lm.json" --data "$text" --val "$text" \
      --data-opt held_out=0.1 --data-opt length=64 --batch-size 32 --epochs 4 \
      --optimizer adam --lr 0.003 --lr-schedule cosine:max_update=1960 \
      --seed 7 --metric perplexity --save "$work/lm"
    "$bin/mxc" compile "$models/char_lm.json" --params "$work/lm-0004.params" \
      --input-shape data:1x1 -o "$work/lm.mxa" --quiet
    "$bin/mxc" sample "$work/lm.mxa" --prompt "ROMEO:" --length 400 --seed 7
    require "val loss" "<" 1.75
    ;;
  *)
    echo "unknown case '$case'" >&2
    exit 2
    ;;
esac
