#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/kvstore/schedules.sh BUILD [SCHEDULES [FIRST]]
# Runs the store's own code through SCHEDULES (100000) courses of events, seeds from
# FIRST (0) on, on a network in memory with a clock of its own, a process for each
# processor, and then, from 0 on, a job whose connections break behind each of its
# bytes. A seed is a course of events: delays, pieces, changed bits, breaks, cuts of
# up to 2 s, deaths of servers. A fifteenth as many are of servers that are two
# processes, which die and stand still. Says which seed failed, or how many seconds it
# took.
set -euo pipefail
test=$(realpath "$1")/tests/kvstore_test
schedules=${2:-100000}
first=${3:-0}
processes=$(nproc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Of each N seeds the four cases under faults run N + N / 3 + N + N.
seeds=$((schedules * 3 / 10 / processes))
begun=$(date +%s)
pids=()
for ((i = 0; i < processes; i++)); do
  MXC_SEEDS=$seeds MXC_FIRST_SEED=$((first + i * seeds)) "$test" -tc="*under faults*" \
    >"$work/$i" 2>&1 &
  pids+=($!)
done
failed=0
for ((i = 0; i < processes; i++)); do
  wait "${pids[i]}" || { failed=1; cat "$work/$i"; }
done
[ "$failed" = 0 ] || exit 1
echo "$((seeds * processes * 10 / 3)) schedules, no failure: $(($(date +%s) - begun)) s"
grep -h "killed" "$work"/*

begun=$(date +%s)
pairs=$((schedules / 15))
MXC_SEEDS=$pairs MXC_FIRST_SEED=$first "$test" -tc="pairs*" >"$work/pairs" 2>&1 ||
  { cat "$work/pairs"; exit 1; }
grep -hE "killed|within" "$work/pairs"
echo "$pairs seeds of pairs, no failure: $(($(date +%s) - begun)) s"

[ "$first" = 0 ] || exit 0  # the same for any seed
begun=$(date +%s)
MXC_SEEDS=1 "$test" -tc="*behind any byte*" >"$work/bytes" 2>&1 ||
  { cat "$work/bytes"; exit 1; }
grep -h "bytes" "$work/bytes"
echo "a break behind each byte: $(($(date +%s) - begun)) s"
