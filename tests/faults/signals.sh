#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: signals.sh BIN_DIR [ROUNDS]
# Interrupts compiling, converting and training at random moments: no temporary
# file may be left, neither beside the output nor in the folder for such files,
# and the output is a whole one.
rounds=${2:-3}
source "$(dirname "${BASH_SOURCE[0]}")/start.sh"
mkdir out
RANDOM=11

# Only these have files without a name, which go even with SIGKILL.
signals="INT TERM HUP"
case $(stat -f -c %T out) in
  ext2/ext3 | xfs | btrfs | tmpfs) signals+=" KILL" ;;
esac

# Most of the time goes into writing.
cat >large.json <<'END'
{ "mxc": 1, "name": "net", "inputs": {"data": ["N", 1, 28, 28]},
  "nodes": [ {"op": "FullyConnected", "name": "fc1", "num_hidden": 12000},
             {"op": "FullyConnected", "name": "fc2", "num_hidden": 10},
             {"op": "SoftmaxOutput", "name": "softmax"} ] }
END

# interrupt SIGNAL MILLISECONDS COMMAND…: false where the command was faster
interrupt() {
  local signal=$1 wait_ms=$2
  shift 2
  # Background jobs of scripts ignore SIGINT; a program that is started anew
  # does not.
  env --default-signal=INT "$@" >log 2>&1 &
  local process=$!
  sleep "$(printf '%d.%03d' $((wait_ms / 1000)) $((wait_ms % 1000)))"
  kill -"$signal" $process 2>/dev/null
  ! wait $process 2>/dev/null
}

check() { # WHAT EXPECTED_FILE…
  local what=$1 left
  shift
  left=$(ls -A tmp out | grep -vxF -e tmp: -e out: "${@/#/-e}" | grep -v '^$')
  [ -z "$left" ] || fail "$what leaves: $left"
  find tmp out -mindepth 1 ! -name net.mxa -delete
}

compile=(mxc compile large.json --init one --quiet -o out/net.mxa)
train=(mxc train large.json --init one --quiet --data digits --data-opt size=64
  --epochs 1)
"${compile[@]}" || exit 1
start=$(date +%s%N)
"${compile[@]}" || exit 1
milliseconds=$((($(date +%s%N) - start) / 1000000 + 5))
cp out/net.mxa net.mxa

interrupted=0
for signal in $signals; do
  for ((i = 0; i < rounds; ++i)); do
    interrupt "$signal" $((RANDOM % milliseconds)) "${compile[@]}" &&
      interrupted=$((interrupted + 1))
    cmp -s net.mxa out/net.mxa || fail "compile, SIG$signal: other bytes"
    check "compile, SIG$signal" net.mxa
    interrupt "$signal" $((RANDOM % milliseconds)) "${train[@]}" &&
      interrupted=$((interrupted + 1))
    check "train, SIG$signal" net.mxa
  done
done
echo "interrupted $interrupted times"
finish
