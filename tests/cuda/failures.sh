#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every call of a GPU's driver fails once: each time a sentence comes, not other
# results, and not the end of the process.
#   failures.sh FOLDER_OF_MXC FOLDER_OF_FAKE_DRIVER
set -e
mxc=$(cd "$1" && pwd)/mxc driver=$(cd "$2" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder" MXC_EMULATED_DEVICE=1 LD_LIBRARY_PATH="$driver"
cd "$folder"
cat > net.json <<'END'
{ "mxc": 1, "name": "net", "inputs": {"data": [2, 4]},
  "nodes": [ {"op": "FullyConnected", "name": "fc1", "num_hidden": 8},
             {"op": "softmax", "name": "out"} ] }
END
{ printf '\223NUMPY\001\000\166\000%-117s\n' \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }"
  head -c 32 /dev/zero; } > x.npy
"$mxc" compile net.json --init xavier --target cuda:emulated --quiet
"$mxc" run net.mxa --input data=x.npy > expected
n=1
> said
while MXC_FAKE_FAIL=$n; export MXC_FAKE_FAIL
      ! "$mxc" run net.mxa --input data=x.npy > got 2> error; do
  if [ "$(grep -c '^error: ' error)" != 1 ]; then
    echo "call $n failed, and this came instead of a sentence:"
    cat got error
    exit 1
  fi
  cat error >> said
  n=$((n + 1))
done
# Of the assembler's own words the first line.
grep -q "^error: cannot load the model's kernels: .*: ptxas fatal   : the assemb" \
  said || { cat said; exit 1; }
if grep -q aborted said; then exit 1; fi
cmp expected got
echo "$((n - 1)) calls failed, each with a sentence; call $n is none any more"
[ $n -gt 20 ]
