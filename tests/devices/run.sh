#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles networks to infer and, where they can, to train, and compares devices:
#   run.sh FOLDER_OF_MXC DEVICES [NETWORK…]     of models/; default: all of them
set -e
mxc=$1/mxc devices=$2
shift 2
models=$(cd "$(dirname "$0")/../.." && pwd)/models
[ $# -gt 0 ] || set -- $(cd "$models" && ls *.json | sed 's/\.json$//')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
for network in "$@"; do
  for entries in infer train,score; do
    "$mxc" compile "$models/$network.json" --entry $entries --init xavier \
        --batch 1 --quiet -o "$folder/$network.mxa"
    "$devices" "$folder/$network.mxa"
  done
done
