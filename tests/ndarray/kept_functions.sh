#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kept_functions.sh PROGRAM: what PROGRAM, mxc_c_ndarray, compiled is there for the
# next process; what is damaged is made again; no folder, no harm.
set -eu
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder/cache"
functions="$XDG_CACHE_HOME/mxc/functions"

expect_sum() {
  sum=$("$program")
  [ "$sum" = "11 22 33 44" ] || { echo "$1: the sum is '$sum'"; exit 1; }
}

expect_sum "compiled"
[ "$(ls "$functions" | wc -l)" = 1 ] || { echo "nothing was kept"; exit 1; }
kept=$functions/$(ls "$functions")
rm -r "$XDG_CACHE_HOME/mxc/objects"
expect_sum "kept"
[ ! -e "$XDG_CACHE_HOME/mxc/objects" ] ||
  { echo "what was kept was compiled again"; exit 1; }

cp "$kept" "$folder/whole"
dd if=/dev/zero of="$kept" bs=1 seek=4000 count=64 conv=notrunc 2>"$folder/dd"
expect_sum "damaged"
cmp "$kept" "$folder/whole" || { echo "it was not made again"; exit 1; }
: >"$kept"
expect_sum "empty"

XDG_CACHE_HOME=/proc/nowhere expect_sum "without a folder"
