#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Products of matrices and convolutions by libraries, on an emulated GPU with
# libraries of our own: the results are the CPU's, the libraries take part, and
# where one is missing, fails, or has no exact way, the kernels compute what they
# do without it, or a sentence comes.
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

# Convolutions of each kind: strides, groups, dilations, more zeros on one side;
# the gradients of data and weights, and a deconvolution.
cat > windows.json <<'END'
{ "mxc": 1, "name": "windows", "inputs": {"data": ["N", 8, 13, 11]},
  "nodes": [
    {"op": "Convolution", "name": "c1", "kernel": [3, 3], "pad": [1, 1],
     "num_filter": 16},
    {"op": "Convolution", "name": "c2", "kernel": [5, 4], "pad": [1, 2],
     "stride": [2, 3], "num_group": 2, "num_filter": 32, "no_bias": true},
    {"op": "Convolution", "name": "c3", "kernel": [2, 2], "dilate": [2, 1],
     "num_filter": 16},
    {"op": "Deconvolution", "name": "d1", "kernel": [4, 4], "stride": [2, 2],
     "pad": [1, 1], "num_filter": 8},
    {"op": "Convolution", "name": "c4", "kernel": [1, 1], "num_filter": 16,
     "no_bias": true},
    {"op": "Flatten"},
    {"op": "FullyConnected", "name": "fc", "num_hidden": 10},
    {"op": "SoftmaxOutput", "name": "softmax"} ] }
END
cat > solid.json <<'END'
{ "mxc": 1, "name": "solid", "inputs": {"data": ["N", 8, 5, 6, 7]},
  "nodes": [
    {"op": "Convolution", "name": "c1", "kernel": [3, 2, 3], "pad": [1, 0, 1],
     "stride": [2, 1, 2], "num_filter": 16, "no_bias": true},
    {"op": "Flatten"},
    {"op": "FullyConnected", "name": "fc", "num_hidden": 10},
    {"op": "SoftmaxOutput", "name": "softmax"} ] }
END
compile windows native windows.cpu.mxa --entry grad --batch 8
compile windows cuda:emulated windows.gpu.mxa --entry grad --batch 8
compile solid native solid.cpu.mxa --entry infer --batch 4
compile solid cuda:emulated solid.gpu.mxa --entry infer --batch 4
for network in windows solid; do
  MXC_FAKE_CUDNN_LOG=$folder/$network.log \
    "$devices" $network.cpu.mxa $network.gpu.mxa 1e-5
  grep -q 'by 5$' $network.log || fail "$network: the library was not used"
  ! grep -v 'f32.* by 5$' $network.log || fail "$network: not exact"
done
# What cuDNN calls forward, of a weight and of data.
for kind in '10 of f32 with bias' '10 of f32' '11 of f32' '12 of f32'; do
  grep -q "^$kind by" windows.log || fail "no '$kind': $(cat windows.log)"
done
"$devices" windows.gpu.mxa windows.gpu.mxa | grep -q 'the same$' ||
  fail "windows: other bytes the second time"
# Tensor cores are exact for 16 bits, which need no more.
compile windows cuda:emulated half.gpu.mxa --entry grad --batch 8 \
  --precision bf16
MXC_FAKE_CUDNN_LOG=$folder/half.log "$devices" half.gpu.mxa half.gpu.mxa \
  > /dev/null
grep -q '16 bits by 1$' half.log || fail "bf16: $(cat half.log)"
! grep -q '16 bits.* by [2345]$' half.log || fail "bf16: $(cat half.log)"
# Nothing that is allowed; no library; each call that fails.
MXC_LIBRARIES=0 "$devices" windows.cpu.mxa windows.gpu.mxa 1e-5 > /dev/null
MXC_FAKE_CUDNN_MOST=4 MXC_FAKE_CUDNN_LOG=$folder/none \
  "$devices" windows.cpu.mxa windows.gpu.mxa 1e-5
(LD_LIBRARY_PATH=$folder/bare MXC_FAKE_CUDNN_LOG=$folder/none \
   "$devices" windows.cpu.mxa windows.gpu.mxa 1e-5)
[ ! -e none ] || fail "what is not exact, or not there, was taken: $(cat none)"
n=1
while [ $n -le 900 ]; do
  if ! MXC_FAKE_CUDNN_FAIL=$n "$devices" solid.cpu.mxa solid.gpu.mxa 1e-5 \
    > got 2> error; then
    grep -q '^error: .*cannot convolve: ' error ||
      fail "call $n failed, and this came: $(cat got error)"
  fi
  n=$((n + 19))
done
if MXC_FAKE_CUDNN_BROKEN=1 "$devices" solid.cpu.mxa solid.gpu.mxa 1e-5 \
  > got 2> error; then
  fail "a convolution that was not computed was not noticed"
fi
grep -q '^error: .*cannot convolve: CUDNN_STATUS' error || fail "$(cat error)"
