#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/status.sh BIN
# How a job is doing: the metrics follow Prometheus' grammar (and promtool finds
# nothing in them, where there is one), curl gets them over HTTP, whoever else
# asks and never ends, mxc kv status reads them, and a worker that is stopped is
# the one that is behind and silent.
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
mxc launch --workers 2 --servers 2 --on-death wait --metrics metrics.prom \
  --metrics-listen 0 -- \
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

place=$(sed -n 's/^metrics are at //p' log)
curl -sSf -D head "$place" >scraped || fail "nothing is at '$place'"
grep -qi '^content-type: text/plain; version=0.0.4' head || fail "$(cat head)"
[ "$(sed 's/ [^ ]*$//' scraped)" = "$(sed 's/ [^ ]*$//' metrics.prom)" ] ||
  fail "HTTP has other metrics than the file"
! command -v promtool >/dev/null || promtool check metrics <scraped ||
  fail "promtool, of what curl got"
# 300 clients that ask for ever, while others are answered.
python3 - "$place" <<'END' &
import socket, sys, time
host, port = sys.argv[1].split("/")[2].split(":")
clients = [socket.create_connection((host, int(port))) for _ in range(300)]
for _ in range(50):
    for client in clients:
        try:
            client.send(b"GET /metrics HTTP/1.1")
        except OSError:
            pass
    time.sleep(0.1)
END
crowd=$!
before=$(curl -sSf "$place" | sed -n 's/^mxc_rounds_total{server="0"} //p')
sleep 2.5
after=$(curl -sSf "$place" | sed -n 's/^mxc_rounds_total{server="0"} //p')
[ "$after" -gt $((before + 10)) ] || fail "clients hold the job: $before, $after"
wait $crowd
echo "scraped amid 300 clients that never end: $before, then $after rounds"

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
