#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs go into a stream that the program owns, on an emulated GPU or, if no folder
# of a fake driver is given, on the machine's:
#   given_stream.sh FOLDER_OF_MXC GIVEN_STREAM [FOLDER_OF_FAKE_DRIVER]
# GIVEN_STREAM is build/tests/given_stream.
set -e
mxc=$(cd "$1" && pwd)/mxc program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
models=$(cd "$(dirname "$0")/../.." && pwd)/models
target=cuda:sm_80
if [ -n "$3" ]; then
  LD_LIBRARY_PATH=$(cd "$3" && pwd) target=cuda:emulated
  export LD_LIBRARY_PATH MXC_EMULATED_DEVICE=1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
for network in mlp lenet; do
  "$mxc" compile "$models/$network.json" --target $target --batch 2 \
    --init xavier --seed 7 --quiet -o "$folder/net.mxa"
  "$program" "$folder/net.mxa"
done
# The CPU has none.
"$mxc" compile "$models/mlp.json" --target x86-64-v2 --batch 2 --init xavier \
  --quiet -o "$folder/cpu.mxa"
if "$program" "$folder/cpu.mxa" 2> "$folder/said"; then exit 1; fi
grep -q "runs on the CPU, which has none" "$folder/said" ||
  { cat "$folder/said"; exit 1; }
