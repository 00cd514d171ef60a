#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: sudo tests/bench/links.sh BUILD [RATE [CASE [WORKERS…]]]
# Milliseconds of a training step of 1, 2 and 4 workers (WORKERS) and a server,
# each behind a link of its own of RATE (1gbit) in a network namespace, and what
# communication adds to it (exposed): when gradients leave after the step
# (barrier), when they are final (fifo), and urgent ones first (priority), in
# slices, and the last with parameters as a whole, too (whole). Beside it what
# scaling_model.py says of the same job, and the optimum. The steps of the computation last as long as
# they do alone on one processor, but are slept: links_bench.cc says why. CASE:
# MODEL:BATCHxSHAPE; VGG-11 on CIFAR's shape and ResNet-18, unless it is given.
# In the environment STEPS, how many (12), SERVERS, how many (1), SLICE, elements
# that travel as one (65536), WAYS, which of the four.
set -euo pipefail
build=$(realpath "$1")
rate=${2:-1gbit}
cases=(${3:-vgg-11:32x3x32x32 resnet-18:8x3x224x224})
workers=("${@:4}")
[ ${#workers[@]} -gt 0 ] || workers=(1 2 4)
servers=${SERVERS:-1} slice=${SLICE:-65536}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/namespaces.sh"
work=$(mktemp -d)
trap 'remove_machines; rm -rf "$work"' EXIT
cd "$work"

all=$(printf '%s\n' "${workers[@]}" | sort -n | tail -1)
names=()
for ((i = 0; i < servers + all; i++)); do names+=("mxc-m$i"); done
make_machines "$rate" "${names[@]}"

for case in "${cases[@]}"; do
  model=${case%%:*} shape=${case#*:}
  "$build/bin/mxc" compile "$here/../../models/$model.json" --quiet \
    --entry grad,update,score --init xavier --input-shape "data:$shape" -o net.mxa
  "$build/bin/mxc" inspect net.mxa --communication --json >inspect.json
  "$build/bin/mxc-run" bench net.mxa --entry grad --threads 1 --iterations 7 \
    --json >bench.json
  "$here/link_schedule.py" inspect.json bench.json >schedule
  awk -v case="$case" -v rate="$rate" '
    $1 == "step" { ms += $2 * 1e-6 }
    $1 == "exchange" { mb += $2 * 1e-6 }
    END { printf "%s, links of %s: a step alone %.1f ms, %.1f MB each way\n",
                 case, rate, ms, mb }' schedule
  for count in "${workers[@]}"; do
    "$here/scaling_model.py" job schedule --rate "$rate" --workers "$count" \
      --servers "$servers" --slice "$slice"
    jobs=()
    for ((i = 0; i < servers + count; i++)); do
      jobs+=("${names[i]}@10.77.0.$((i + 1))")
    done
    for way in ${WAYS:-barrier fifo priority whole}; do
      printf '  measured, %s workers: %-9s ' "$count" "$way"
      case $way in
        whole) how=(priority 0) ;;
        *) how=("$way" "$slice") ;;
      esac
      "$build/tests/links_bench" schedule "${how[@]}" "${STEPS:-12}" "$servers" \
        "${jobs[@]}"
    done
  done
done
