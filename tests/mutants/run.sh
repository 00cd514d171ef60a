#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh BIN_DIR MXC_MUTANTS [COUNT]
# Mutants of artifacts that infer and that train: none may crash or hang.
set -euo pipefail
bin=$1 mutants=$2 count=${3:-2000}
models=$(cd "$(dirname "$0")/../../models" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$bin/mxc" compile "$models/lenet.json" --init xavier --quiet -o infer.mxa
"$bin/mxc" compile "$models/mlp.json" --init xavier --quiet -o train.mxa \
  --entry train,score --batch 4 --object-cache off
"$mutants" infer.mxa $((count / 2)) 1
"$mutants" train.mxa $((count - count / 2)) 2
