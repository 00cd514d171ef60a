#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether networks of bf16 compute with products of warpgroups (sm_90a) what they
# do without, on the emulated GPU, and the same bytes in whatever order blocks
# run:
#   warpgroups.sh FOLDER_OF_MXC DEVICES FOLDER_OF_FAKE_DRIVER NETWORK BATCH
set -e
mxc=$1/mxc devices=$2 driver=$3
network=$(cd "$(dirname "$0")/../.." && pwd)/models/$4.json batch=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder" MXC_EMULATED_DEVICE=1
fail() { echo "$@"; exit 1; }
of_network="--entry train --precision bf16 --batch $batch"

"$mxc" inspect "$network" --steps --target cuda:sm_90a $of_network > "$folder/steps"
products=$(grep -c wgmma_bf16 "$folder/steps") ||
  fail "no product by warpgroups: $(cat "$folder/steps")"
echo "$products products by warpgroups"
for target in emulated emulated_sm_90a; do
  "$mxc" compile "$network" --target cuda:$target $of_network --init xavier \
    --seed 7 --quiet -o "$folder/$target.mxa"
done
export LD_LIBRARY_PATH="$driver"
for seed in 0 1; do
  MXC_FAKE_SEED=$seed "$devices" "$folder/emulated.mxa" \
    "$folder/emulated_sm_90a.mxa" 1e-2
done
"$devices" "$folder/emulated_sm_90a.mxa" "$folder/emulated_sm_90a.mxa"

# Of another generation, a later one, too.
for sm in 80 100; do
  MXC_FAKE_SM=$sm "$devices" "$folder/emulated_sm_90a.mxa" \
    "$folder/emulated_sm_90a.mxa" > "$folder/said" 2>&1 &&
    fail "a device of sm_$sm took kernels of sm_90a"
  grep -q "code for sm_90a alone; this device is sm_$sm" "$folder/said" ||
    fail "$(cat "$folder/said")"
done
