#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: levels.sh BIN_DIR
# What `--target native@LEVEL` computes has the bytes of `LEVEL@LEVEL`, whatever the
# processor: LeNet's answers, and its parameters and momenta after a short training, as
# on each level that this machine has from LEVEL upwards (MXC_MAX_CPU). Says which it
# skips; exits with 77 where it has but one to compare with.
set -euo pipefail
bin=$(cd "$1" && pwd)
network=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/models/lenet.json
levels=(x86-64-v2 x86-64-v3 x86-64-v4)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAILED: $*" >&2; exit 1; }

has() { MXC_MAX_CPU=$1 "$bin/mxc" --version | grep -q "^cpu .*, $1\(,\|\$\)"; }

# learn LEVEL TARGET NAME: on a processor of this level.
learn() {
  MXC_MAX_CPU=$1 "$bin/mxc" train "$network" --data digits --data-opt size=64 --batch-size 16 \
    --epochs 1 --lr 0.02 --opt momentum=0.9 --seed 7 --quiet --target "$2" --save "$3" 2>said ||
    fail "$2 on $1: $(cat said)"
}
# answer LEVEL TARGET NAME
answer() {
  MXC_MAX_CPU=$1 "$bin/mxc" compile "$network" --init xavier --seed 3 --batch 16 --quiet \
    --target "$2" -o "$3.mxa"
  MXC_MAX_CPU=$1 "$bin/mxc" run "$3.mxa" --input data=digits.npy --output-dir "$3" >/dev/null
}

python3 - <<'END_OF_DIGITS'
import struct
values = [(7 * i * i + i // 28) % 256 / 255 for i in range(16 * 784)]
head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (16, 1, 28, 28), }"
head += b' ' * (117 - len(head)) + b'\n'
with open('digits.npy', 'wb') as file:
    file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head)
    file.write(struct.pack(f'<{len(values)}f', *values))
END_OF_DIGITS

compared=0
for level in x86-64-v3 x86-64-v2; do
  if ! has "$level"; then
    echo "skipped: this machine is no $level"
    continue
  fi
  learn "$level" "$level@$level" reference
  answer "$level" "$level@$level" reference
  for higher in "${levels[@]}"; do
    [[ $higher < $level ]] && continue
    if ! has "$higher"; then
      echo "skipped: this machine is no $higher"
      continue
    fi
    learn "$higher" "native@$level" own
    answer "$higher" "native@$level" own
    cmp reference-0001.params own-0001.params
    cmp reference-0001.states own-0001.states
    cmp reference/output_0.npy own/output_0.npy
    if [ "$higher" != "$level" ]; then
      ! cmp -s reference.mxa own.mxa || fail "code for $higher is that for $level"
      compared=$((compared + 1))
    fi
    echo "native@$level on $higher: the bytes of $level@$level"
    rm -rf own*
  done
  rm -rf reference*
done
[ $compared -gt 0 ] || exit 77
