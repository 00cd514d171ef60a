#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Products of matrices by a library, on an emulated GPU with one of our own: the
# results are the CPU's, the library takes part, and where it is missing, fails,
# or has no exact way, the kernels compute what they do without it, or a
# sentence comes.
#   libraries.sh FOLDER_OF_MXC DEVICES FOLDER_OF_FAKE_DRIVER
set -e
mxc=$(cd "$1" && pwd)/mxc driver=$(cd "$3" && pwd)
devices=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder" MXC_EMULATED_DEVICE=1 LD_LIBRARY_PATH="$driver"
cd "$folder"
fail() { echo "$@"; exit 1; }
# Dense and batched products, with and without bias, each operand either way.
cat > net.json <<'END'
{ "mxc": 1, "name": "net", "inputs": {"data": ["N", 24]},
  "nodes": [ {"op": "FullyConnected", "name": "fc1", "num_hidden": 40},
             {"op": "Activation", "act_type": "tanh"},
             {"op": "FullyConnected", "name": "fc2", "num_hidden": 36,
              "no_bias": true},
             {"op": "FullyConnected", "name": "fc3", "num_hidden": 10},
             {"op": "SoftmaxOutput", "name": "softmax"} ] }
END
cat > dots.json <<'END'
{ "mxc": 1, "name": "dots",
  "inputs": {"a": [3, 5, 7], "b": [3, 7, 4], "c": [3, 4, 7]},
  "nodes": [ {"op": "batch_dot", "name": "ab", "inputs": ["a", "b"]},
             {"op": "batch_dot", "name": "abc", "inputs": ["ab", "c"]},
             {"op": "batch_dot", "name": "right", "inputs": ["abc", "a"],
              "transpose_b": true},
             {"op": "batch_dot", "name": "left", "inputs": ["right", "a"],
              "transpose_a": true},
             {"op": "batch_dot", "name": "both", "inputs": ["left", "right"],
              "transpose_a": true, "transpose_b": true} ] }
END
compile() {  # NETWORK TARGET FILE OPTION…
  network=$1 target=$2 file=$3
  shift 3
  "$mxc" compile $network.json --target $target --init xavier --seed 7 --quiet \
    -o $file "$@"
}
compile net native net.cpu.mxa --entry train,score,infer --batch 8
compile net cuda:emulated net.gpu.mxa --entry train,score,infer --batch 8
compile dots native dots.cpu.mxa
compile dots cuda:emulated dots.gpu.mxa
for network in net dots; do
  MXC_LIBRARIES=1 MXC_FAKE_CUBLASLT_LOG=$folder/$network.log \
    "$devices" $network.cpu.mxa $network.gpu.mxa 1e-5
  "$devices" $network.cpu.mxa $network.gpu.mxa 1e-5
  MXC_LIBRARIES=1 "$devices" $network.gpu.mxa $network.gpu.mxa |
    grep -q 'the same$' || fail "$network: other bytes the second time"
  grep -q 'by 5$' $network.log || fail "$network: the library was not used"
  ! grep -v 'by 5$' $network.log || fail "$network: an algorithm is not exact"
done
grep -q '^3 x' dots.log || fail "no product of a batch: $(cat dots.log)"

"$mxc" compile net.json --target cuda:emulated --init xavier --seed 7 --quiet \
  --batch 8 -o run.mxa
{ printf '\223NUMPY\001\000\166\000%-117s\n' \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 24), }"
  i=0
  while [ $i -lt 192 ]; do printf '\000\000\200\077'; i=$((i + 1)); done
} > x.npy
run() { "$mxc" run run.mxa --input data=x.npy; }
run > kernels
# What rounds, what adds as it comes, what wants memory: none is taken.
export MXC_LIBRARIES=1
MXC_FAKE_CUBLASLT_MOST=4 MXC_FAKE_CUBLASLT_LOG=$folder/none run > got
cmp kernels got
[ ! -e none ] || fail "what is not exact was taken: $(cat none)"
# A driver, and no library.
mkdir bare
cp "$driver"/libcuda.so.1 bare
(LD_LIBRARY_PATH=$folder/bare MXC_FAKE_CUBLASLT_LOG=$folder/none run) > got
cmp kernels got
[ ! -e none ] || fail "there was a library"
n=1
while [ $n -le 150 ]; do
  if ! MXC_FAKE_CUBLASLT_FAIL=$n run > got 2> error; then
    [ "$(grep -c '^error: .*cannot multiply matrices: ' error)" = 1 ] ||
      fail "call $n failed, and this came: $(cat got error)"
  fi
  n=$((n + 7))
done
if MXC_FAKE_CUBLASLT_BROKEN=1 run > got 2> error; then
  fail "a product that was not computed was not noticed"
fi
grep -q '^error: .*cannot multiply matrices: an internal' error ||
  fail "$(cat error)"
MXC_FAKE_CUBLASLT_LOG=$folder/used run > got
[ -s used ] || fail "the library was not used"
