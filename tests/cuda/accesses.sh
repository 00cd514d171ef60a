#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which of a network's accesses to a GPU's memory read or write 16 bytes at once,
# as its PTX has them, copies into shared memory included; a line for each entry
# and precision. "in loops": those that stand in a loop, where the time goes.
# Fails where the whole share is below a bound in per cent:
#   accesses.sh FOLDER_OF_MXC NETWORK[:LEAST]…
# MXC_ENTRIES: default "infer train"; MXC_PRECISIONS: default "f32 tf32 bf16";
# MXC_BATCH: default 32.
set -e
mxc=$1/mxc
shift
models=$(cd "$(dirname "$0")/../.." && pwd)/models
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
failed=0
for each in "$@"; do
  network=${each%%:*} least=${each#"$network"}
  least=${least#:}
  case $network in
    char_lm) shapes="--input-shape data:1x16 --input-shape softmax_label:1x16" ;;
    *) shapes="--batch ${MXC_BATCH:-32}" ;;
  esac
  for entry in ${MXC_ENTRIES:-infer train}; do
    for precision in ${MXC_PRECISIONS:-f32 tf32 bf16}; do
      "$mxc" compile "$models/$network.json" --target cuda:sm_90 --entry $entry \
        --precision $precision --init zero $shapes --emit ptx --quiet \
        -o "$folder/kernels" 2> "$folder/error" || {
        grep -q 'no loss head' "$folder/error" && continue
        cat "$folder/error"
        exit 1
      }
      awk -v name="$network $entry $precision" -v least="${least:-0}" '
        # A loop runs from a label of the kernel to a branch back to it.
        /\.entry/ { split("", label) }
        /^\$L.*:/ { label[substr($1, 1, length($1) - 1)] = NR }
        /bra/ { target = $NF; sub(/;/, "", target)
                if (target in label) {
                  for (i = label[target]; i <= NR; ++i) loop[i] = 1 } }
        /(ld|st)\.global|cp\.async\.c[ag]/ {
          access[NR] = /\.v4\.[bfu]32|\.v2\.[bfu]64|, 16, / ? 1 : 0 }
        END {
          for (i in access) {
            ++all; wide += access[i]
            if (i in loop) { ++inner; inner_wide += access[i] } }
          share = 100 * wide / (all + !all)
          printf "%s: %d%% of %d accesses have 16 bytes, in loops %d%% of %d\n",
                 name, share, all, 100 * inner_wide / (inner + !inner), inner
          exit share < least }' "$folder/kernels.ptx" || {
        echo "$network: fewer than $least%"
        failed=1
      }
    done
  done
done
exit $failed
