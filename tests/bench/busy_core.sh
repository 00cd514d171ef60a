#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: busy_core.sh FOLDER_OF_MXC NETWORK... [-- OPTION...]
# What inference loses when another program takes one of its cores: peers.sh
# with two threads, first alone, then beside a loop bound to one of the two
# cores. The loop gets half of its core, so that 1.5 of 2 cores are left: a
# factor of 1.33 is all that must be lost, one of 2 is a thread that everybody
# waits for. OPTIONs are those of peers.sh (--peers, --rounds, --batch).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${MXC_BENCH:-$HOME/.cache/mxc-bench}/venv/bin/python
tools=$1
shift
networks=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do networks+=("$1"); shift; done
[ $# -eq 0 ] || shift
results=$(mktemp -d)
loop=
trap '[ -z "$loop" ] || kill "$loop"; rm -r "$results"' EXIT

run() {  # FILE OPTION...
  local file=$1
  shift
  "$here/peers.sh" "$tools" infer "${networks[@]}" -- --threads 2 "$@" \
    --json "$results/$file" > "$results/$file.txt"
}

run alone "$@"
last=$("$python" -c 'import os; print(max(os.sched_getaffinity(0)))')
taskset -c "$last" sh -c 'while :; do :; done' &
loop=$!
run beside "$@"

"$python" - "$results" <<'END'
import json, sys

def medians(name):
    with open(f"{sys.argv[1]}/{name}") as file:
        rows = [json.loads(line) for line in file]
    return {(row["net"], row["peer"].replace("external", "mxc")):
            (row["median_ms"], row["p5_ms"]) for row in rows}

alone, beside = medians("alone"), medians("beside")
print(f"{'network':18}{'program':12}{'alone':>10}{'beside a busy core, ms':>24}"
      f"{'factor':>8}{'p5, ms':>10}")
for key, (median, _) in alone.items():
    other, p5 = beside.get(key, (float("nan"),) * 2)
    print(f"{key[0]:18}{key[1]:12}{median:10.4f}{other:24.4f}"
          f"{other / median:8.2f}{p5:10.4f}")
END
