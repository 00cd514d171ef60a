#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How many kernels a GPU is told to run in a training step of a batch of 32,
# a line for each network and precision; fails where there are more than allowed:
#   launches.sh FOLDER_OF_MXC NETWORK[:MOST]…
# MXC_PRECISIONS: default "f32".
set -e
mxc=$1/mxc
shift
models=$(cd "$(dirname "$0")/../.." && pwd)/models
failed=0
for each in "$@"; do
  network=${each%%:*} most=${each#"$network"}
  most=${most#:}
  for precision in ${MXC_PRECISIONS:-f32}; do
    launches=$("$mxc" inspect --steps "$models/$network.json" --entry train \
      --batch 32 --target cuda:sm_90 --precision $precision --json |
      grep -o '"kernel": *"[^"]*"' | grep -cv '"view"')
    echo "$network $precision: $launches launches"
    if [ -n "$most" ] && [ "$launches" -gt "$most" ]; then
      echo "$network $precision: more than $most"
      failed=1
    fi
  done
done
exit $failed
