#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/trace_processor.sh BIN
# Perfetto's own trace_processor_shell opens the traces of a benchmark, of a
# training run and of a job of two workers: every span is there, on its thread,
# as long as it was written, and nothing was dropped. Looked for in
# MXC_TRACE_PROCESSOR, on the path and in ~/.cache/mxc-bench/bin; skipped (77)
# where it is not.
set -euo pipefail
bin=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
export PATH=$bin:$PATH:$HOME/.cache/mxc-bench/bin
shell=${MXC_TRACE_PROCESSOR:-trace_processor_shell}
require "$shell" python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# ask FILE QUERY: its rows as CSV, without the line of names.
ask() {
  echo "$2;" >query
  "$shell" -q query "$1" 2>log | sed '1d; /^$/d'
}

# read_whole FILE ROW…: what the file has, Perfetto has.
read_whole() {
  local file=$1 row found
  shift
  found=$(ask "$file" "select count(*), min(slice.dur), sum(slice.dur)
    from slice join thread_track on slice.track_id = thread_track.id")
  python3 - "$file" "$found" <<'END' || fail "$file: Perfetto sees $found"
import json, sys
spans = [e['dur'] for e in json.load(open(sys.argv[1]))['traceEvents']
         if e['ph'] == 'X']
count, least, total = map(int, sys.argv[2].split(','))
assert count == len(spans) > 0 and least >= 0
assert abs(total - 1000 * sum(spans)) <= 2 * count  # rounded to nanoseconds
END
  for row in "$@"; do
    found=$(ask "$file" "select count(*) from slice
      join thread_track on slice.track_id = thread_track.id
      join thread using (utid) where thread.name = '$row'")
    [ "$found" -gt 0 ] || fail "$file: nothing in the row '$row'"
  done
  found=$(ask "$file" "select name, value from stats
    where value > 0 and severity != 'info'")
  [ -z "$found" ] || fail "$file: $found"
  echo "$file: read whole, with $*"
}

models=$here/../../models
mxc compile "$models/lenet.json" --init xavier --quiet -o lenet.mxa
mxc bench lenet.mxa --iterations 3 --threads 2 --trace bench.json >log
train=(mxc train "$models/mlp.json" --data digits --data-opt size=512 --lr 0.1
  --seed 7 --quiet --save net --overwrite)
"${train[@]}" --val digits --threads 2 --trace train.json 2>log
mxc launch --workers 2 --servers 1 -- "${train[@]}" --trace job.json >log 2>&1
read_whole bench.json caller
read_whole train.json "training loop" data
read_whole job.json "training loop" data communication
read_whole job.json.1 "training loop" data communication
echo passed
