#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/accuracy.sh BIN [CODEC…]
# What 1, 2 and 4 workers over TCP learn, beside one process, with the same
# batch in all: LeNet on MNIST (accuracy on its 10,000 test pictures after two
# epochs) and ResNet-20 on 100 pictures of CIFAR-10 (cross-entropy after 60
# epochs; batch norm sees each worker's part); LeNet by gradients of a bit each, and
# by two bits behind a tenth of the steps without compression, which may be 0.2 points
# worse: from the first step on they cost a point. With CODECs (2bit:threshold=0.01)
# LeNet alone, by one process and by two workers with each of them. The data are those
# of $MXC_SHARED/cases/data. Fails where workers are worse than one process by more
# than chance: half a point, or a loss above 0.05.
set -euo pipefail
bin=$(realpath "$1")
codecs=("${@:2}")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
models=$here/../../models
data=${MXC_SHARED:-$here/../../../shared}/cases/data
[ -d "$data" ] || { echo "skipped: there is no $data"; exit 77; }
export PATH=$bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work
cd "$work"

[ ${#codecs[@]} -gt 0 ] ||
  python3 "$here/../train/unpack_pictures.py" "$data/cifar10-png100" pictures

options=()  # of LeNet's training, beside those below
# lenet BATCH WORD… and resnet BATCH WORD…: trained by WORD…; the last figure.
lenet() {
  local batch=$1
  shift
  "$@" mxc train "$models/lenet.json" --data "mnist:$data/mnist" \
    --val "mnist:$data/mnist" --seed 1 --batch-size "$batch" --epochs 2 \
    --opt momentum=0.9 --opt wd=0.0001 --lr 0.05 \
    --lr-schedule cosine:max_update=1874 --threads 1 "${options[@]}" 2>&1 |
    sed -nE 's|.*val accuracy +([0-9.]+).*|\1|p' | tail -n 1
}
resnet() {
  local batch=$1
  shift
  "$@" mxc train "$models/resnet-20-cifar.json" --data folder:pictures \
    --data-opt data_shape=3,32,32 --data-opt scale=0.0078125 \
    --data-opt mean_r=128 --data-opt mean_g=128 --data-opt mean_b=128 \
    --batch-size "$batch" --epochs 60 --opt momentum=0.9 --lr 0.05 \
    --init msra --seed 7 --metric cross-entropy --threads 1 2>&1 |
    sed -nE 's|.*epoch 60/60 +loss +([0-9.e-]+).*|\1|p' | tail -n 1
}

failed=0
# row NAME LENET RESNET: of the table.
row() {
  printf '| %-36s | %-8s | %-8s |\n' "$1" "$2" "$3"
  awk -v a="$2" -v alone="$alone" -v loss="$3" \
    'BEGIN { exit !(a + 0 >= alone - 0.005 && loss != "" &&
                    (loss == "-" || loss + 0 < 0.05)) }' ||
    failed=1
}
echo "|                                      | LeNet    | ResNet-20 |"
echo "|---|---|---|"
alone=$(lenet 64)
if [ ${#codecs[@]} -gt 0 ]; then
  row "one process" "$alone" -
  counts=()
else
  row "one process" "$alone" "$(resnet 40)"
  codecs=(1bit_cntk)
  counts=(1 2 4)
fi
for workers in "${counts[@]}"; do
  row "$workers workers, 2 servers" \
    "$(lenet $((64 / workers)) mxc launch --workers $workers --servers 2 --)" \
    "$(resnet $((40 / workers)) mxc launch --workers $workers --servers 2 --)"
done
for codec in "${codecs[@]}"; do
  options=(--compression "$codec")
  row "2 workers, 2 servers, ${codec%%:*}" \
    "$(lenet 32 mxc launch --workers 2 --servers 2 --)" -
done
if [ ${#counts[@]} -gt 0 ]; then
  late=(mxc launch --workers 2 --servers 2 --)
  options=(--save late --steps 187)
  lenet 32 "${late[@]}" >/dev/null
  options=(--save late --resume --compression 2bit:threshold=0.1)
  found=$(lenet 32 "${late[@]}")
  row "2 workers, 2 servers, 2bit behind 187" "$found" -
  awk -v a="$found" -v alone="$alone" 'BEGIN { exit !(a >= alone - 0.002) }' ||
    failed=1
fi
[ $failed -eq 0 ] || { echo FAILED; exit 1; }
echo passed
