#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels chosen by measuring on a device, an emulated one: what was measured is
# kept and asked for no more, the fastest is taken, any tile gives the same
# bytes, and a library computes what it was the fastest at, where there is one.
# What the driver refuses is passed over.
#   tune.sh FOLDER_OF_MXC FOLDER_OF_FAKE_DRIVER
set -e
mxc=$(cd "$1" && pwd)/mxc driver=$(cd "$2" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder" MXC_EMULATED_DEVICE=1 LD_LIBRARY_PATH="$driver"
cd "$folder"
mkdir bare
cp "$driver"/libcuda.so.1 bare
fail() { echo "$@"; exit 1; }
cat > net.json <<'END'
{ "mxc": 1, "name": "net", "inputs": {"data": ["N", 70]},
  "nodes": [ {"op": "FullyConnected", "name": "fc1", "num_hidden": 100},
             {"op": "Activation", "act_type": "tanh"},
             {"op": "FullyConnected", "name": "fc2", "num_hidden": 64} ] }
END
compile_of() {  # NETWORK FILE OPTION…
  network=$1 file=$2
  shift 2
  "$mxc" compile $network --target cuda:emulated --batch 130 --init xavier \
    --seed 7 -o $file --tuning-seconds 600 "$@"
}
compile() { compile_of net.json "$@"; }
one() { compile_of one.json "$@"; }
{ printf '\223NUMPY\001\000\166\000%-117s\n' \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (130, 70), }"
  i=0
  while [ $i -lt 9100 ]; do printf '\000\000\200\077'; i=$((i + 1)); done
} > x.npy
run() { "$mxc" run "$@" --input data=x.npy --output 0=got.npy >/dev/null; }

# Without a library: a tile of each size, and no more than once.
(export LD_LIBRARY_PATH="$folder/bare"
 compile a.mxa -O3 --tuning-cache kept.json 2> first
 compile b.mxa -O3 --tuning-cache kept.json 2> second)
grep -q '2 contractions, 2 measured' first || fail "$(cat first)"
grep -q '2 contractions, 2 from the cache' second || fail "$(cat second)"
cmp a.mxa b.mxa
[ "$(grep -c '"machine":"emulated device"' kept.json)" = 2 ] ||
  fail "$(cat kept.json)"
! grep -q library kept.json || fail "a library that is not there was measured"

# What the cache says is done.
measured() {  # KERNEL: it takes 1 ns, others 9
  sed -E 's/\[[0-9]+,[0-9]+\]/[9,9]/g; s/("'"$1"'":)\[9,9\]/\1[1,1]/' kept.json
}
compile plain.mxa --quiet
run plain.mxa
mv got.npy expected.npy
for kernel in '64x64:128' '128x64 by 64 rows:128' '128x64:256'; do
  measured "mma ${kernel%:*}" > tuned.json
  compile tuned.mxa --quiet --tuning-cache tuned.json
  "$mxc" inspect --steps tuned.mxa > steps
  [ "$(grep -c "of ${kernel#*:} threads" steps)" = 2 ] ||
    fail "$kernel: $(cat steps)"
  run tuned.mxa
  cmp expected.npy got.npy
done

# With one: fc2 alone is what it computes, sums and a bias.
compile a.mxa -O3 --tuning-cache with.json 2> first
[ "$(grep -c '"mma 128x64 or library":' with.json)" = 2 ] ||
  fail "$(cat with.json)"
cp with.json kept.json
measured 'mma 128x64 or library' > tuned.json
compile tuned.mxa --quiet --tuning-cache tuned.json
[ "$("$mxc" inspect --steps tuned.mxa | grep -c 'fc2.*cuBLASLt, or')" = 1 ] ||
  fail "$("$mxc" inspect --steps tuned.mxa)"
export MXC_FAKE_CUBLASLT_LOG=$folder/log
run tuned.mxa
[ "$(grep -c 'x' log)" = 1 ] || fail "the library was not used once: $(cat log)"
rm log
run plain.mxa
MXC_LIBRARIES=0 run tuned.mxa
cmp expected.npy got.npy
(LD_LIBRARY_PATH=$folder/bare run tuned.mxa)
cmp expected.npy got.npy
[ ! -e log ] || fail "the library was used where nobody prefers it: $(cat log)"

# A driver that refuses something, the kernels in the end, is told of, no more.
# One contraction: another would be measured after the refusal.
cat > one.json <<'END'
{ "mxc": 1, "name": "one", "inputs": {"data": ["N", 70]},
  "nodes": [ {"op": "FullyConnected", "name": "fc1", "num_hidden": 100} ] }
END
one one.mxa --quiet
n=8
while ! grep -qs 'cannot load the model.s kernels' told; do
  [ $n -lt 30 ] || fail "no call loads kernels: $(cat told)"
  MXC_FAKE_FAIL=$n one d.mxa -O3 --tuning-cache refused.json 2> told ||
    fail "call $n: $(cat told)"
  grep -q '1 estimated; not measured: cannot ' told || fail "$n: $(cat told)"
  cmp one.mxa d.mxa
  [ ! -e refused.json ] || fail "call $n: what was not measured was kept"
  n=$((n + 1))
done

# Without a device the choice is the model's, and the reason is told.
(LD_LIBRARY_PATH='' compile c.mxa -O3 --tuning-cache none.json 2> told)
grep -q '2 estimated; this machine cannot run code for cuda:emulated: ' told ||
  fail "$(cat told)"
cmp plain.mxa c.mxa
[ ! -e none.json ] || fail "what was not measured was kept"
