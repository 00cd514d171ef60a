#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/mpirun.sh BIN
# A job that Open MPI's mpirun starts (Debian's openmpi-bin): what is learned has
# the same bytes as by mxc launch. A worker that is killed ends the job, and begun
# again with --resume it learns the same bytes.
set -euo pipefail
bin=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
require mpirun
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PATH=$bin:$PATH MASTER_ADDR=127.0.0.1 MASTER_PORT=29490
unset MXC_KEY

# processes PREFIX [worker RANK]: mpirun says no role.
processes() {
  local found
  for found in $(pgrep -f "train $work/mlp.mxa .* --save $work/$1( |$)"); do
    case $(readlink "/proc/$found/exe") in */mxc-run) ;; *) continue ;; esac
    grep -qz "^OMPI_COMM_WORLD_RANK=${3:-}" "/proc/$found/environ" 2>/dev/null ||
      continue
    echo "$found"
  done
}
begin() { # PREFIX EPOCHS WORD…
  mpirun --allow-run-as-root --oversubscribe -n 2 "${train[@]}" --epochs "$2" \
    --save "$work/$1" "${@:3}" >log 2>&1 &
  job=$!
}

prepare
begin torn 20
equal $job torn
echo "mpirun: the same bytes"

rm -f torn[.-]*
begin torn 20
await_checkpoint $job torn
kill -9 $(processes torn worker 1) || fail "nobody to kill"
! wait $job || fail "a killed worker does not end the job"
left_by torn 15
begin torn 20 --resume
equal $job torn
echo "a killed worker, begun again: the same bytes"
echo passed
