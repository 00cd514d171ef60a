#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether networks compute on an emulated GPU what they do on the CPU, and the
# same bytes in whatever order blocks run:
#   run.sh FOLDER_OF_MXC DEVICES FOLDER_OF_FAKE_DRIVER NETWORK…
set -e
mxc=$1/mxc devices=$2 driver=$3
shift 3
models=$(cd "$(dirname "$0")/../.." && pwd)/models
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder" MXC_EMULATED_DEVICE=1
compile() {
  "$mxc" compile "$models/$network.json" --target $1 --entry $entries \
    --batch 2 --init xavier --seed 7 --quiet -o "$folder/$2.mxa"
}
for network in "$@"; do
  for entries in infer train,score; do
    compile native cpu
    compile cuda:emulated gpu
    for seed in 0 1; do
      LD_LIBRARY_PATH="$driver" MXC_FAKE_SEED=$seed \
        "$devices" "$folder/cpu.mxa" "$folder/gpu.mxa" 1e-5
    done
    LD_LIBRARY_PATH="$driver" "$devices" "$folder/gpu.mxa" "$folder/gpu.mxa"
  done
done
