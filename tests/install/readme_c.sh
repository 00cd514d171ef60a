#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: readme_c.sh BIN_DIR SOURCE
# Compiles the C of README.md as printed, by the command in its first line, and
# runs it on README's network "tiny" with the digit that it draws: it finds the
# class that mxc run finds. Needs PKG_CONFIG_PATH and LD_LIBRARY_PATH.
set -euo pipefail
bin=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

sed -n '/^\$ cat >tiny.json/,/^END$/p' "$source/README.md" | sed 's/^\$ //' |
  bash
"$bin/mxc" compile tiny.json --init xavier --seed 7 --quiet -o tiny.mxa
"$source/tools/draw_digit" >seven.npy

sed -n '/^```c$/,/^```$/p' "$source/README.md" | grep -v '^```' >snippet
{
  grep '^#include' snippet
  cat <<'END'
#include <stdio.h>
int main(void) {
  float x[784], y[10];
  FILE* file = fopen("seven.npy", "rb");
  if (fseek(file, -(long)sizeof x, SEEK_END) != 0) return 2;
  if (fread(x, sizeof x, 1, file) != 1) return 2;
END
  grep -v '^#include' snippet
  cat <<'END'
  int best = 0;
  for (int k = 1; k < 10; ++k) best = y[k] > y[best] ? k : best;
  printf("%d\n", best);
  return status != NULL;
}
END
} >app.c
bash -euc "$(sed -n 's|.*/\* \(cc app.c .*\) \*/$|\1|p' snippet)"
found=$(./a.out)
expected=$("$bin/mxc-run" run tiny.mxa --input seven.npy --top 1 |
  awk '{ print $2 }')
[ "$found" = "$expected" ] ||
  { echo "error: '$found', expected '$expected'" >&2; exit 1; }
