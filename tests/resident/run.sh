#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles a training step of some hundred MiB and measures it:
#   run.sh FOLDER_OF_MXC RESIDENT
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
source=$(dirname "$0")/../..
"$1"/mxc compile "$source"/models/lenet.json --entry train,score \
    --init xavier --batch 1024 --opt momentum=0.9 --quiet \
    -o "$folder"/wide.mxa
cat > "$folder"/heavy.json <<'NETWORK'
{ "mxc": 1, "name": "heavy", "inputs": {"data": ["N", 1000]},
  "nodes": [
    {"op": "FullyConnected", "name": "fc1", "num_hidden": 8000},
    {"op": "FullyConnected", "name": "fc2", "num_hidden": 10},
    {"op": "SoftmaxOutput", "name": "softmax"} ] }
NETWORK
"$1"/mxc compile "$folder"/heavy.json --entry train --init xavier --batch 8 \
    --opt momentum=0.9 --quiet -o "$folder"/heavy.mxa
"$2" "$folder"/wide.mxa
"$2" "$folder"/heavy.mxa
