#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: stdout.sh BIN_DIR
# Reports that do not get to where stdout goes: on a full disk each command says
# so and ends with 1, on a pipe that nobody reads it ends by SIGPIPE, on a closed
# stdout no file takes what was printed.
source "$(dirname "${BASH_SOURCE[0]}")/start.sh"

while read -r command; do
  $command >right 2>error || fail "$command: exit code $?: $(cat error)"
  [ -s right ] || fail "$command: prints nothing to stdout"
  $command >/dev/full 2>error
  code=$?
  [ $code = 1 ] || fail "$command >/dev/full: exit code $code"
  grep -qx 'error: cannot write to stdout: No space left on device' error ||
    fail "$command >/dev/full: $(cat error)"
  $command >/dev/full 2>/dev/full
  code=$?
  [ $code = 1 ] || fail "$command with stderr on /dev/full, too: $code"
  $command >&- 2>error
  code=$?
  [ $code = 1 ] || fail "$command >&-: exit code $code"
done <<'END'
mxc --version
mxc --help
mxc ops
mxc ops Convolution
mxc ops --json
mxc compile --print-passes
mxc compile net.json --init one --json
mxc dot net.json
mxc inspect net.json --steps
mxc inspect net.mxa --json
mxc inspect net.mxa --manifest
mxc verify net.json --init one
mxc run net.mxa --input x.npy
mxc run net.mxa --input x.npy --json
mxc-run --help
mxc-run --version
END

# Nothing is printed: nothing is wrong.
mxc compile net.json --init one --quiet -o same.mxa >/dev/full ||
  fail "compile --quiet >/dev/full: exit code $?"
mxc compile net.json --init one --quiet -o closed.mxa >&- 2>&- <&- ||
  fail "compile without standard streams: exit code $?"
cmp -s net.mxa closed.mxa || fail "compile without standard streams: other bytes"
mxc compile net.json --init one --json -o closed.mxa >&- 2>error
mxc inspect closed.mxa --check >/dev/null || fail "stdout is in the artifact"

# The reader is gone before anything is printed.
{
  until [ -e gone ]; do sleep 0.01; done
  mxc ops 2>error
  echo $? >code
} | {
  exec <&-
  touch gone
}
[ "$(cat code)" = 141 ] || fail "mxc ops | nobody: exit code $(cat code)"
[ -s error ] && fail "mxc ops | nobody: $(cat error)"

finish
