#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: mounts.sh BIN_DIR
# A full disk, a file system that is mounted noexec, no /proc: old files stay,
# and the sentence names the cause. Needs to mount; skipped (77) where it may
# not.
if [ "${2:-}" != mounted ]; then
  unshare -m true 2>/dev/null || exit 77
  exec unshare -m "${BASH_SOURCE[0]}" "$1" mounted
fi
models=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../models" && pwd)
source "$(dirname "${BASH_SOURCE[0]}")/start.sh"
mkdir disk noexec
trap 'mount -t proc none /proc; umount disk noexec; cd /; rm -rf "$work"' EXIT
mount -t tmpfs -o size=64k none disk || exit 77
mount -t tmpfs -o noexec none noexec || exit 77

mxc run net.mxa --input x.npy --output 0=out.npy >/dev/null || exit 1

# Each of these is larger than what is left.
mxc convert net.json --init one --quiet -o disk/m-symbol.json || exit 1
cp net.json disk/g.dot
cp net.json disk/page.html
for extension in mxa ir o weights h; do cp net.json disk/net.$extension; done
cp -r disk before
head -c 1M /dev/zero >disk/filler 2>/dev/null
full='No space left on device'
refused "$full" mxc convert "$models/lenet.json" --init xavier -o disk/m-symbol.json
refused "cannot write 'disk/g.dot': $full" mxc dot "$models/lenet.json" -o disk/g.dot
refused "$full" mxc inspect "$models/lenet.json" --html disk/page.html
refused "$full" mxc compile net.json --init one -o disk/net.mxa
refused "$full" mxc run net.mxa --input x.npy --output 0=disk/new.npy
refused "$full" mxc compile net.json --init one --quiet --dump-after all --dump-dir disk/dump -o other.mxa
[ "$(grep -c '' error)" -le 2 ] || fail "--dump-dir on a full disk: $(cat error)"
[ -e other.mxa ] && fail "--dump-dir on a full disk: written all the same"
# The object fits, its weights do not.
mount -o remount,size=512k disk
refused "$full" mxc compile "$models/lenet.json" --init one --emit ir,obj,header -o disk/net
for file in $(ls before); do
  cmp "before/$file" "disk/$file" || wrong=$((wrong + 1))
done
left=$(ls -A disk | grep -vxF -e filler -e dump -e"$(ls before)")
[ -z "$left" ] || fail "left on the full disk: $left"

# What was learned is not lost with the log, and the loss of the log is told.
mkdir disk/log
head -c 1M /dev/zero >disk/filler 2>/dev/null
mxc train "$models/mlp.json" --data digits --data-opt size=640 --lr 0.1 \
  --save learned --log-dir disk/log --quiet >out 2>error || fail "$(cat error)"
grep -q "^warning: .*disk/log.*$full" error || fail "full log: $(cat error)"
[ -s learned-0001.params ] || fail "a full log: nothing was saved"

# Where nothing can be written is known before anything is compiled.
mount -o remount,ro disk
for option in --log-dir=disk/log --save=disk/new/net; do
  refused "cannot write to '.*': Read-only file system" \
    mxc train "$models/mlp.json" --data digits --data-opt size=64 $option
  ! grep generate error || fail "$option: compiled first"
done

cp net.mxa noexec
refused 'net.mxa: its code cannot be loaded: .* noexec' \
  mxc run noexec/net.mxa --input x.npy
# Temporary artifacts are loaded from elsewhere.
TMPDIR=$work/noexec mxc verify net.json --init one >out 2>&1 ||
  fail "verify, TMPDIR noexec: $(cat out)"

umount -l /proc
mxc-run run net.mxa --input x.npy --output 0=out2.npy >out 2>&1 ||
  fail "run without /proc: $(cat out)"
cmp out.npy out2.npy || wrong=$((wrong + 1))
refused '/proc, which is not mounted' mxc verify net.json --init one

finish
