#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether NVIDIA's assembler takes all kernels of networks, to infer and, where
# they can, to train, in every precision; a line for each with what its kernels
# need, and which of its accesses to the device's memory have 16 bytes:
#   ptxas.sh FOLDER_OF_MXC [NETWORK…]           of models/; default: all of them
# The assembler is $MXC_PTXAS, or ptxas of the path; `tools/packages --cuda`
# fetches one and says where it lies. MXC_PTXAS_PRECISIONS: default "f32 tf32
# bf16 f16"; MXC_PTXAS_DEVICES: default "80 90"; "90a" has products of warpgroups.
set -e
mxc=$1/mxc
shift
ptxas=${MXC_PTXAS:-$(command -v ptxas || true)}
if [ -z "$ptxas" ]; then
  echo "skipped: no ptxas"
  exit 77
fi
models=$(cd "$(dirname "$0")/../.." && pwd)/models
[ $# -gt 0 ] || set -- $(cd "$models" && ls *.json | sed 's/\.json$//')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME="$folder"
for network in "$@"; do
  case $network in
    char_lm) shapes="--input-shape data:1x16 --input-shape softmax_label:1x16" ;;
    *) shapes="--batch 32" ;;
  esac
  for entry in infer train; do
    for precision in ${MXC_PTXAS_PRECISIONS:-f32 tf32 bf16 f16}; do
      for sm in ${MXC_PTXAS_DEVICES:-80 90}; do
        if ! "$mxc" compile "$models/$network.json" --target cuda:sm_$sm \
          --entry $entry --precision $precision --init zero $shapes \
          --emit mxa,ptx --quiet -o "$folder/kernels" 2> "$folder/error"; then
          grep -q 'no loss head' "$folder/error" && continue
          cat "$folder/error"
          exit 1
        fi
        "$ptxas" -v -arch=sm_$sm "$folder/kernels.ptx" -o /dev/null \
          2> "$folder/needs" || { head -5 "$folder/needs"; exit 1; }
        shared=$("$mxc" inspect "$folder/kernels" --steps --json |
          grep -o '"shared_bytes": *[0-9]*' | sed 's/.*[: ]//' | sort -n |
          tail -n 1)
        awk -v shared="$shared" -v name="$network $entry $precision sm_$sm" '
          FILENAME ~ /needs$/ && /Used/ {
            ++kernels
            for (i = 1; i < NF; ++i)
              if ($i == "Used" && $(i + 1) > most) most = $(i + 1)
          }
          FILENAME ~ /needs$/ && /spill/ && !/ 0 bytes spill stores/ {
            ++spilling }
          # Copies that run ahead are accesses, too.
          FILENAME ~ /ptx$/ && /(ld|st)\.global|cp\.async\.c[ag]/ {
            ++accesses
            if (/\.v4\.[bfu]32|\.v2\.[bfu]64|, 16, /) ++wide }
          END { printf "%s: %d kernels, at most %d registers, %d spill, ", name,
                       kernels, most, spilling
                printf "at most %d bytes shared, %d%% of %d accesses have 16 " \
                       "bytes\n", shared, 100 * wide / (accesses + !accesses),
                       accesses }' "$folder/needs" "$folder/kernels.ptx"
      done
    done
  done
done
