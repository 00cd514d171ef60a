#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: symbol_versions.sh NEWEST FILE…
# No file needs a function of glibc that came later than NEWEST, such as 2.34: it
# starts on every system with that glibc.
set -euo pipefail
newest=$1
shift
failed=0
for file in "$@"; do
  needed=$(objdump -T "$file" | grep -F '*UND*' | grep -oE 'GLIBC_[0-9.]+.*' |
    tr -d ')' || true)
  [ -n "$needed" ] || { echo "FAIL: $file needs nothing of glibc"; failed=1; }
  while read -r version name; do
    version=${version#GLIBC_}
    [ "$(printf '%s\n' "$newest" "$version" | sort -V | tail -1)" = "$newest" ] ||
      { echo "FAIL: $file needs $name of glibc $version"; failed=1; }
  done <<<"$needed"
done
[ $failed = 0 ] && echo "glibc $newest is enough for: $*"
exit $failed
