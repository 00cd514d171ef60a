# SPDX-License-Identifier: Apache-2.0
# For the scripts beside it: the processes of a job. Whoever reads this sets `job`,
# the launcher's process, and gives it `errors` to write to.

. "$(dirname "${BASH_SOURCE[0]}")/own_processes.sh"

# enter BIN: that folder's programs, and a folder that ends with the job.
enter() {
  PATH=$(realpath "$1"):$PATH
  export PATH
  work=$(mktemp -d)
  trap 'kill -9 ${job:-} 2>/dev/null || true; sleep 0.2; rm -rf "$work"' EXIT
  cd "$work"
}
fail() { echo "FAILED: $*"; tail -n 20 errors 2>/dev/null; exit 1; }
now() { date +%s%N; }

# process_of ROLE RANK PREFIX: of the job that saves under PREFIX; empty: none.
process_of() {
  local found=
  for found in $(own_processes "train .* --save $3( |$)"); do
    grep -qz "^RANK=$2$" "/proc/$found/environ" 2>/dev/null &&
      grep -qz "^MXC_ROLE=$1$" "/proc/$found/environ" && echo "$found"
  done
  true
}
# await_process ROLE RANK PREFIX: until there is one; then in `victim`.
await_process() {
  until victim=$(process_of "$@") && [ -n "$victim" ]; do
    kill -0 "$job" 2>/dev/null || fail "the job $3 has ended"
    sleep 0.02
  done
}
# metric NAME FILE: the least of its values; empty: there is none.
metric() {
  sed -nE "s/^$1(\{[^}]*\})? ([0-9.e+]+)$/\2/p" "$2" 2>/dev/null |
    sort -g | head -n 1
}
# await_whole FILE PROCESSES: until all workers are there, and of so many
# processes of pairs each has all records.
await_whole() {
  local paired=
  while :; do
    kill -0 "$job" 2>/dev/null || return 1
    paired=$(grep -cE '^mxc_server_is_paired\{.*\} 1$' "$1" 2>/dev/null || true)
    [ "${paired:-0}" = "$2" ] &&
      ! grep -E '^mxc_worker_state\{.*state="(awaited|lost|given up)"\} 1$' \
        "$1" >/dev/null && [ "$(metric mxc_process_up "$1")" = 1 ] && return 0
    sleep 0.05
  done
}
# term_of RANK FILE: of a pair, as both of its processes have told it.
term_of() {
  sed -nE "s/^mxc_server_term\{role=\"[a-z]*\",rank=\"$1\"\} ([0-9]+)$/\1/p" \
    "$2" 2>/dev/null | sort -g | head -n 1
}
# strike_one SIGNAL ROLE RANK FILE: `victim`; of a pair, until it has gone on alone and
# has both processes again. What metrics say is seconds old, and who was stopped
# is not missed for some: nobody else of the pair is to be struck meanwhile.
strike_one() {
  local before
  before=$(term_of "$3" "$4")
  kill "-$1" "$victim" 2>/dev/null || return 0
  struck=$((struck + 1))
  [ "$2" != worker ] || return 0
  until [ "$(term_of "$3" "$4")" -ge $((before + 2)) ]; do
    kill -0 "$job" 2>/dev/null || return 0
    sleep 0.05
  done
}
