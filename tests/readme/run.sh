#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/readme/run.sh BIN_DIR
# Runs every command of README.md and of tools/GUIDE.md, as printed, one after the
# other in a folder that holds what the repository has. A command is a line that begins with "$ " within a fenced
# block, with the lines that continue it or its here-document; it must end with
# 1 where the text below it speaks of an error, else with 0.
set -euo pipefail
bin=$(cd "$1" && pwd)
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PATH=$bin:$PATH HOME=$folder

for each in README.md models tools tests; do
  ln -s "$repository/$each" "$folder/$each"
done

# Commands as files 001, 002 …; beside each, in N.says, what is printed below it.
awk -v folder="$folder/.commands" '
  function command_file() { return sprintf("%s/%03d", folder, count) }
  BEGIN { system("mkdir -p " folder) }
  /^```/ { fenced = !fenced; more = 0; word = ""; next }
  !fenced { next }
  word != "" { print >command_file(); if ($0 == word) word = ""; next }
  more || /^\$ / {
    if (!more) { ++count; sub(/^\$ /, "") }
    print >command_file()
    if (match($0, /<<.?[A-Z]+/)) { word = $0; sub(/.*<<.?/, "", word); sub(/[^A-Z].*/, "", word) }
    more = /\\$/
    next
  }
  count { print >(command_file() ".says") }
' "$repository/README.md" "$repository/tools/GUIDE.md"

cd "$folder"
passed=0 failed=0
for command in .commands/???; do
  expected=0
  if grep -q 'error:' "$command.says" 2>/dev/null; then
    expected=1
  fi
  code=0
  bash "$command" >.output 2>&1 </dev/null || code=$?
  if [ "$code" = "$expected" ]; then
    passed=$((passed + 1))
    continue
  fi
  failed=$((failed + 1))
  echo "ended with $code, expected $expected:"
  sed 's/^/  $ /' "$command"
  sed 's/^/    /' .output
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 10 ]
