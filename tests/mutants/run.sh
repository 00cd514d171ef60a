#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh BIN_DIR MXC_MUTANTS [COUNT [LOOKS [SEED]]]
# COUNT mutants (2000) of artifacts that infer and that train, each opened and
# run in a process of its own, and LOOKS (2000) of small ones that are only read
# and shown, all in one process: none may crash or hang. Many of the latter under
# sanitizers: tools/sanitize address mutants, then
#   tests/mutants/run.sh build-address/bin build-address/tests/mxc-mutants 0 1000000
set -euo pipefail
bin=$1 mutants=$2 count=${3:-2000} looks=${4:-2000} seed=${5:-1}
models=$(cd "$(dirname "$0")/../../models" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# Memory that one may have; sanitizers map terabytes.
if nm -D "$mutants" 2>/dev/null | grep __asan_init >/dev/null; then
  export ASAN_OPTIONS=${ASAN_OPTIONS:-}:allocator_may_return_null=1
  export ASAN_OPTIONS=$ASAN_OPTIONS:max_allocation_size_mb=4096
else
  ulimit -v $((4 << 20))
fi
compile() { "$bin/mxc" compile "$@" --init xavier --quiet --object-cache off; }

if [ "$count" -gt 0 ]; then
  compile "$models/lenet.json" -o infer.mxa
  compile "$models/mlp.json" -o train.mxa --entry train,score --batch 4
  "$mutants" infer.mxa $((count / 2)) "$seed"
  "$mutants" train.mxa $((count - count / 2)) $((seed + 1))
fi

# All kinds of rows: entries with states and gradients, a loop, a branch and
# views, several lengths.
cat >dense.json <<'END'
{"mxc": 1, "inputs": {"data": [2, 4]}, "nodes": [
 {"op": "FullyConnected", "num_hidden": 5}, {"op": "Activation",
  "act_type": "relu"}, {"op": "BatchNorm"}, {"op": "Reshape", "shape": [-1, 5]},
 {"op": "FullyConnected", "num_hidden": 3}, {"op": "SoftmaxOutput"}]}
END
cat >loop.json <<'END'
{"mxc": 1, "inputs": {"data": [3, 2, 2], "h": [1, 2, 4], "c": [1, 2, 4]},
 "parameters": {"p": {"init": "uniform"}}, "nodes": [
 {"op": "RNN", "name": "lstm", "mode": "lstm", "state_size": 4,
  "num_layers": 1, "inputs": [[], "p", "h", "c"]},
 {"op": "Reshape", "shape": [-1, 4]}, {"op": "SliceChannel", "name": "s",
  "num_outputs": 2}, {"op": "Concat", "inputs": ["s", "s:1"], "dim": 1},
 {"op": "softmax"}]}
END
compile dense.json -o dense.mxa --entry train,score,grad,update
compile loop.json -o loop.mxa
for artifact in dense loop; do
  "$mutants" $artifact.mxa $((looks / 2)) "$seed" --look
done
