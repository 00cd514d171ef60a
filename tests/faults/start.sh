# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests beside it with BIN_DIR in $1: a fresh folder that goes
# with the test, the programs, a network with an input, and what counts errors.
set -uo pipefail
wrong=0
PATH=$(cd "$1" && pwd):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp XDG_CACHE_HOME=$work/cache

fail() {
  echo "$*"
  wrong=$((wrong + 1))
}
# refused PATTERN COMMAND…: exit code 1 and one line of error that says PATTERN
refused() {
  local pattern=$1 code
  shift
  "$@" >out 2>error
  code=$?
  [ $code = 1 ] || fail "$*: exit code $code"
  [ "$(grep -c "$pattern" error)" = 1 ] || fail "$*: $(cat error)"
}
finish() {
  echo "$wrong wrong"
  [ "$wrong" = 0 ]
}

cat >net.json <<'END'
{ "mxc": 1, "name": "net", "inputs": {"data": [1, 4]},
  "nodes": [ {"op": "FullyConnected", "name": "fc1", "num_hidden": 3} ] }
END
{
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }"
  printf '\x00\x00\x80\x3f%.0s' 1 2 3 4
} >x.npy
mxc compile net.json --init one --quiet || exit 1
