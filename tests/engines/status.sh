#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/status.sh BIN
# How a job is doing: the metrics follow Prometheus' grammar (and promtool finds
# nothing in them, where there is one), mxc kv status reads them, and a worker
# that is stopped is the one that is behind and silent.
set -euo pipefail
bin=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
export PATH=$bin:$PATH
work=$(mktemp -d)
job=
trap '[ -z "$job" ] || kill -9 $job 2>/dev/null || true; sleep 0.2; rm -rf "$work"' EXIT
export TMPDIR=$work
cd "$work"

# field JSON-PATH: of the status.
field() {
  mxc kv status --json | python3 -c "import json, sys
print(json.load(sys.stdin)$1)"
}
# states: of the workers.
states() {
  field '["jobs"][0]["processes"]' | python3 -c "import ast, sys
print([p['state'] for p in ast.literal_eval(sys.stdin.read())
       if p['role'] == 'worker'])"
}

[ "$(field '["jobs"]')" = "[]" ] || fail "there are jobs"
prepare
mxc launch --workers 2 --servers 2 --on-death wait --metrics metrics.prom -- \
  "${train[@]}" --epochs 1000 --save "$work/watched" >log 2>&1 &
job=$!
await_checkpoint $job watched
deadline=$((SECONDS + 20))
until [ "$(states)" = "['there', 'there']" ]; do
  [ $SECONDS -le $deadline ] || fail "the workers are $(states)"
  sleep 0.2
done
[ "$(field '["jobs"][0]["id"]')" = $job ] || fail "the job is another one"
rounds=$(field '["jobs"][0]["processes"][0]["rounds"]')
[ "$rounds" -gt 0 ] || fail "$rounds rounds"

name='[a-zA-Z_:][a-zA-Z0-9_:]*'
label='[a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\[\\"n])*"'
number='[-+]?([0-9.]+(e[-+]?[0-9]+)?|Inf|NaN)'
! grep -Evn "^(# HELP $name .*|# TYPE $name (counter|gauge)|$name(\{$label(,$label)*\})? $number)$" \
  metrics.prom || fail "these lines are none of Prometheus' text form"
[ -z "$(grep '^# TYPE' metrics.prom | sort | uniq -d)" ] || fail "a type twice"
if command -v promtool >/dev/null; then
  promtool check metrics <metrics.prom || fail "promtool"
  echo "promtool finds nothing"
fi

victim=$(processes watched worker 1)
kill -STOP $victim
sleep 2.5
table=$(mxc kv status metrics.prom)
status=$(mxc kv status --json metrics.prom)
kill -CONT $victim
python3 - "$status" <<'END' || fail "a stopped worker: $status"
import json, sys
workers = [p for p in json.loads(sys.argv[1])["jobs"][0]["processes"]
           if p["role"] == "worker"]
assert workers[1]["silence"] > max(1, workers[0]["silence"])
assert workers[0]["behind"] == 0 and workers[1]["behind"] <= 1
END
# In a pipe, the table once and nothing that moves a terminal's cursor.
[ "$(grep -cE '^  (worker|server) [01] .* (up|there) ' <<<"$table")" = 4 ] &&
  ! grep -q $'\x1b' <<<"$table" || fail "the table: $table"
kill -TERM $job
wait $job || true
status=0
mxc kv status --json nothing.prom >report || status=$?
[ $status -eq 1 ] && grep -q nothing.prom report || fail "a missing file"
echo passed
