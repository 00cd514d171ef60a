#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh BUILD SOURCE
# Installs into a folder, moves the folder, uses what is there as a user would,
# by pkg-config and by CMake, and removes it without a trace.
set -euo pipefail
build=$1 source=$2
here=$source/tests/install
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
unset MXC_MAX_CPU
fail() { echo "error: $*" >&2; exit 1; }
expect() { [ "$1" = "$2" ] || fail "'$1', expected '$2'"; }

DESTDIR=$root/stage cmake --install "$build" --prefix /usr >/dev/null
files=$(cd "$root/stage" && find . ! -type d)
mv "$root/stage" "$root/moved"
usr=$root/moved/usr
libraries=$(dirname "$(find "$usr" -name libmxc_runtime.so)")
export LD_LIBRARY_PATH=$libraries
export PKG_CONFIG_PATH=$libraries/pkgconfig
cd "$root"

for header in mxc.h mxc.hpp mxc_compile.h; do
  ! grep -nE '"(runtime|tools)/' "$usr/include/mxc/$header" ||
    fail "$header names a path of the repository"
done
expect "$(pkg-config --modversion mxc mxc-runtime | sort -u)" \
  "$("$usr/bin/mxc" --version | sed -n 's/^mxc \([0-9.]*\).*/\1/p')"
cc -std=c99 -Wall -Werror -o by_pkg_config "$here/example.c" \
  $(pkg-config --cflags --libs mxc mxc-runtime)
expect "$(./by_pkg_config "$source/models/mlp.json" a.mxa)" \
  "softmax_output: 1 10"

cmake -S "$here" -B user -DCMAKE_PREFIX_PATH="$usr" >user.log ||
  { cat user.log; exit 1; }
cmake --build user >user.log || { cat user.log; exit 1; }
expect "$(user/example_c "$source/models/mlp.json" b.mxa)" \
  "softmax_output: 1 10"
cmp a.mxa b.mxa
expect "$(user/example_cc a.mxa)" 1

"$usr/bin/mxc" compile "$source/models/mlp.json" --init xavier --quiet -o c.mxa
"$usr/bin/mxc" bench c.mxa --iterations 3 >bench.txt

(cd moved && xargs rm <<<"$files")
expect "$(find moved ! -type d)" ""
