#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles networks to infer and, where they can, to train, and compares devices,
# whose contractions need not sum in the same chains:
#   run.sh FOLDER_OF_MXC DEVICES [NETWORK…]     of models/; default: all of them
set -e
mxc=$1/mxc devices=$2
shift 2
models=$(cd "$(dirname "$0")/../.." && pwd)/models
[ $# -gt 0 ] || set -- $(cd "$models" && ls *.json | sed 's/\.json$//')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder" MXC_TEST_TARGETS=1
compile() {
  "$mxc" compile "$models/$network.json" --target $1 --entry $entries \
    --init xavier --seed 7 $shapes --quiet -o "$folder/$1.mxa" 2> "$folder/error"
}
for network in "$@"; do
  case $network in
    char_lm) shapes="--input-shape data:1x16 --input-shape softmax_label:1x16" ;;
    *) shapes="--batch 1" ;;
  esac
  for entries in infer train,score; do
    if compile native; then
      compile null || { cat "$folder/error"; exit 1; }
      "$devices" "$folder/native.mxa" "$folder/null.mxa" 1e-6
    elif grep -q 'no loss head' "$folder/error"; then
      echo "$network does not train"
    else
      cat "$folder/error"
      exit 1
    fi
  done
done
