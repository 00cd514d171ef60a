#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BIN_DIR MNIST_PROGRAM MODEL EXPECTED: compiles a model of
# $MXC_SHARED/cases/mxnet for batches of 100 and counts what it gets right.
set -eu
shared=${MXC_SHARED:-$(dirname "$0")/../../../shared}
model=$shared/cases/mxnet/$3/model-symbol.json
[ -f "$model" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
"$1/mxc" compile "$model" --input-shape data:100x1x28x28 \
  -o "$folder/model.mxa" --quiet
"$2" "$folder/model.mxa" "$shared/cases/data/mnist" "$4"
