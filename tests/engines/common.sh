# SPDX-License-Identifier: Apache-2.0
# For the scripts beside it: a job that an engine starts, one of whose workers
# is killed, must learn the same bytes as undisturbed local processes.

require() { # PROGRAM…
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null ||
      { echo "skipped: there is no $program"; exit 77; }
  done
}

fail() { echo "FAILED: $*"; [ ! -e log ] || cat log; exit 1; }

# prepare [EPOCHS]: the network, the command in train, and the undisturbed job.
prepare() {
  epochs=${1:-20}
  mxc compile "$here/../../models/mlp.json" --entry grad,update,score \
    --init xavier --input-shape data:16x784 --opt momentum=0.9 -o mlp.mxa \
    --quiet
  train=("$bin/mxc" train "$work/mlp.mxa" --data digits --data-opt size=3200
    --data-opt flat=1 --lr 0.05 --threads 1 --seed 3 --save-every 20 --quiet)
  mxc launch --workers 2 --servers 2 -- "${train[@]}" \
    --epochs "$epochs" --save "$work/whole"
}

# processes PREFIX [ROLE RANK]: those of the job that saves under the prefix.
processes() {
  local found
  for found in $(pgrep -f "train $work/mlp.mxa .* --save $work/$1( |$)"); do
    case $(readlink "/proc/$found/exe") in */mxc-run) ;; *) continue ;; esac
    grep -qz "^MXC_ROLE=${2:-}" "/proc/$found/environ" 2>/dev/null || continue
    grep -qz "^RANK=${3:-}" "/proc/$found/environ" || continue
    echo "$found"
  done
}

# await_checkpoint JOB PREFIX: the job has saved something.
await_checkpoint() {
  until compgen -G "$work/$2-step-*.mxc" >/dev/null; do
    kill -0 "$1" 2>/dev/null || fail "the job ended before it saved"
    sleep 0.05
  done
}

# strike JOB: kills worker 1 of the job, which saves under "torn", once it has
# saved something, and awaits the job.
strike() {
  local victim
  await_checkpoint "$1" torn
  until victim=$(processes torn worker 1) && [ -n "$victim" ] &&
    kill -9 $victim; do
    kill -0 "$1" 2>/dev/null || fail "nobody to kill"
    sleep 0.05
  done
  equal "$1" torn
  echo "killed a worker; the same bytes as by local processes"
}

# equal JOB PREFIX: the job ends, and has learned what undisturbed processes do.
equal() {
  local extension last
  wait "$1" || fail "$2: the job ended with status $?"
  last=$(printf '%04d' "$epochs")
  for extension in params states; do
    cmp "whole-$last.$extension" "$2-$last.$extension" || fail "$2 differs"
  done
}

# left_by PREFIX SECONDS: all processes of the job end within so many seconds.
left_by() {
  local deadline=$((SECONDS + $2))
  while [ -n "$(processes "$1")" ]; do
    [ $SECONDS -le $deadline ] || fail "$1: $(processes "$1") are left"
    sleep 0.1
  done
}
