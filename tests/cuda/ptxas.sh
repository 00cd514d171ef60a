#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether NVIDIA's assembler takes all kernels of networks, to infer and, where
# they can, to train; a line for each with what its kernels need:
#   ptxas.sh FOLDER_OF_MXC [NETWORK…]           of models/; default: all of them
# The assembler is $MXC_PTXAS, or ptxas of the path; `pip download --no-deps
# nvidia-cuda-nvcc==13.0.88` has one.
set -e
mxc=$1/mxc
shift
ptxas=${MXC_PTXAS:-$(command -v ptxas || true)}
if [ -z "$ptxas" ]; then
  echo "skipped: no ptxas"
  exit 77
fi
models=$(cd "$(dirname "$0")/../.." && pwd)/models
[ $# -gt 0 ] || set -- $(cd "$models" && ls *.json | sed 's/\.json$//')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
for network in "$@"; do
  case $network in
    char_lm) shapes="--input-shape data:1x16 --input-shape softmax_label:1x16" ;;
    *) shapes="--batch 32" ;;
  esac
  for entry in infer train; do
    for sm in 80 90; do
      if ! "$mxc" compile "$models/$network.json" --target cuda:sm_$sm \
        --entry $entry --init xavier $shapes --emit ptx --quiet \
        -o "$folder/kernels.ptx" 2> "$folder/error"; then
        grep -q 'no loss head' "$folder/error" && continue
        cat "$folder/error"
        exit 1
      fi
      "$ptxas" -v -arch=sm_$sm "$folder/kernels.ptx" -o /dev/null \
        2> "$folder/needs" || { head -5 "$folder/needs"; exit 1; }
      awk -v name="$network $entry sm_$sm" '
        /Used/ { ++kernels
                 for (i = 1; i < NF; ++i)
                   if ($i == "Used" && $(i + 1) > most) most = $(i + 1) }
        /spill/ && !/ 0 bytes spill stores/ { ++spilling }
        END { printf "%s: %d kernels, at most %d registers, %d spill\n",
                     name, kernels, most, spilling }' "$folder/needs"
    done
  done
done
