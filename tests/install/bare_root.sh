#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: bare_root.sh FOLDER PACKAGE…
# Makes FOLDER a bare Debian 12 with these packages and a /proc, from the
# archive that this machine uses. MXC_BARE_ROOT names one that was made before
# and is copied instead. Ends with 77 where that cannot be done.
set -euo pipefail
folder=$1
shift
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "not root"
if [ -n "${MXC_BARE_ROOT:-}" ]; then
  cp -a "$MXC_BARE_ROOT" "$folder"
else
  command -v mmdebstrap >/dev/null || skip "no mmdebstrap"
  sources=()
  for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
    if [ -e "$file" ]; then sources=("$file"); break; fi
  done
  mmdebstrap --quiet --variant=minbase --include="$(IFS=,; echo "$*")" \
    bookworm "$folder" "${sources[@]}" || skip "no archive of Debian"
fi
mount -t proc none "$folder/proc"
