#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh BUILD SOURCE
# Installs into a folder, moves the folder, builds runtime/examples with what is
# there as a user would, by pkg-config and by CMake, and runs them. Before that
# all is installed and removed without a trace.
set -euo pipefail
build=$1 source=$2
root=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$root"' EXIT
unset MXC_MAX_CPU
export CMAKE_GENERATOR=Ninja  # there may be no make
fail() { echo "error: $*" >&2; exit 1; }
expect() { [ "$1" = "$2" ] || fail "'$1', expected '$2'"; }

# Installed and taken away: neither a file nor a folder stays of it, and what was
# there before does, an empty folder, too.
mkdir -p "$root/stage/usr/local/empty" "$root/stage/usr/share/man"
touch "$root/stage/usr/share/mine"
before=$(cd "$root/stage" && find . | sort)
export DESTDIR=$root/stage
cmake --install "$build" --prefix /usr >/dev/null
[ -x "$root/stage/usr/bin/mxc" ] || fail "not installed"
cmake --build "$build" --target uninstall >/dev/null
expect "$(cd "$root/stage" && find . | sort)" "$before"
! cmake --build "$build" --target uninstall >"$root/again.txt" 2>&1 ||
  fail "uninstalled twice"
grep -q 'nothing was installed from here' "$root/again.txt" ||
  fail "$(cat "$root/again.txt")"
rm -r "$root/stage"

cmake --install "$build" --prefix /usr >/dev/null
unset DESTDIR
mv "$root/stage" "$root/moved"
usr=$root/moved/usr
libraries=$(dirname "$(find "$usr" -name libmxc_runtime.so)")
examples=$(find "$usr/share/doc" -name examples)
export LD_LIBRARY_PATH=$libraries
export PKG_CONFIG_PATH=$libraries/pkgconfig
cd "$root"

for header in mxc.h mxc.hpp mxc_compile.h mxc_kvstore.h mxc_operators.h mxc_train.h; do
  ! grep -nE '"(runtime|tools)/' "$usr/include/mxc/$header" ||
    fail "$header names a path of the repository"
done
expect "$(pkg-config --modversion mxc mxc-runtime | sort -u)" \
  "$("$usr/bin/mxc" --version | sed -n 's/^mxc \([0-9.]*\).*/\1/p')"
cmp "$source/.github/LICENSE" "$usr"/share/doc/*/LICENSE

# The compiler and C, by pkg-config.
cc -std=c99 -Wall -Werror -o by_pkg_config "$examples/compile_and_run.c" \
  $(pkg-config --cflags --libs mxc mxc-runtime)
expect "$(./by_pkg_config "$source/models/mlp.json" a.mxa)" \
  "softmax_output: 1 10"
"$source/tests/install/readme_c.sh" "$usr/bin" "$source"
# C by the static library alone, in a program that needs libc alone.
cat >static.c <<'END'
#include <mxc/mxc.h>
#include <stdio.h>
int main(int argc, char** argv) {
  mxc_model* model = NULL;
  mxc_executor* executor = NULL;
  static float data[784];
  mxc_status* status = mxc_model_open(argv[argc - 1], NULL, &model);
  if (status == NULL) status = mxc_bind(model, NULL, &executor);
  if (status == NULL)
    status = mxc_set_input(executor, "data", data, sizeof data);
  if (status == NULL) status = mxc_run(executor);
  puts(mxc_status_message(status));
  return status != NULL;
}
END
cc -static-libgcc -o statically static.c $(pkg-config --cflags mxc-runtime) \
  -Wl,-Bstatic $(pkg-config --static --libs mxc-runtime |
    sed 's/-lm /-Wl,-Bdynamic -lm /')
expect "$(LD_LIBRARY_PATH= ./statically a.mxa)" ""
expect "$(readelf -d statically |
  grep NEEDED | grep -vcE '\[(libc|libm|ld-linux-x86-64)\.so')" 0
# Older C++ is told what to do, in one sentence.
echo '#include <mxc/mxc.hpp>' >old.cc
expect "$(c++ -std=c++17 -fsyntax-only $(pkg-config --cflags mxc-runtime) \
  old.cc 2>&1 | grep -c 'error: ')" 1

# All of them, by CMake.
cmake -S "$examples" -B user -DCMAKE_PREFIX_PATH="$usr" >user.log ||
  { cat user.log; exit 1; }
cmake --build user >user.log || { cat user.log; exit 1; }
expect "$(user/compile_and_run "$source/models/mlp.json" b.mxa)" \
  "softmax_output: 1 10"
cmp a.mxa b.mxa
expect "$(user/run a.mxa)" 1
expect "$(user/kvstore)" "y = 3.0 x -1.0"
expect "$(LD_LIBRARY_PATH= user/run_static a.mxa)" 1
"$usr/bin/mxc" compile "$source/models/mlp.json" --entry train,score \
  --batch 32 --init xavier -o learns.mxa >/dev/null
expect "$(user/train learns.mxa data=digits data-opt=size=64 save=learnt |
  tail -1)" "saved learnt-0001.params"

# Two clients of the server at once: the same answer, whoever gives it.
user/server a.mxa 0 2 >server.log &
until grep -q : server.log; do kill -0 $!; sleep 0.05; done
port=$(sed 's/.*://' server.log)
ask() {  # two requests of 784 floats, two answers of 10
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  head -c $((2 * 784 * 4)) /dev/zero >&3
  head -c 80 <&3 >"$1"
}
(ask one) & first=$!
(ask other)
wait $first
cmp one other
cmp -n 40 one <(tail -c 40 one)
expect "$(wc -c <one)" 80

# 200 requests over HTTP, 16 at a time, are answered what mxc run computes.
"$source/tools/draw_digit" >digit.npy
"$usr/bin/mxc-run" run a.mxa --input data=digit.npy --top 5 --json >run.log
"$usr/bin/mxc" serve a.mxa --port 0 2>http.log & server=$!
until grep -q ^serving http.log; do kill -0 $server; sleep 0.05; done
url=$(sed -n 's/^serving on \([^;]*\);.*/\1/p' http.log)/predict?top=5
mkdir answers
seq 200 | xargs -P 16 -I{} curl -sf --data-binary @digit.npy \
  -o answers/{} "$url"
kill $server
wait $server
expect "$(cat answers/* | sort | uniq -c | sed 's/{.*//;s/ //g')" 200
python3 -c '
import json
said = [json.load(open(name))["top"] for name in ("answers/1", "run.log")]
assert said[0] == said[1], said' || fail "mxc serve and mxc run differ"

# The files that help and README name, as help names them.
(cd "$usr/share/mxc" && "$usr/bin/mxc" inspect models/mlp.json --ops >/dev/null)
cmp <("$usr/share/mxc/tools/draw_digit") digit.npy
[ -s "$(dirname "$examples")/tools/GUIDE.md" ] || fail "no guide"

# Manual pages and completion know what the parsers know.
for program in mxc mxc-run; do
  [ -s "$usr/share/zsh/vendor-completions/_$program" ] || fail "no zsh"
  grep -q -- "-l warmup " "$usr/share/fish/vendor_completions.d/$program.fish" ||
    fail "fish completes no --warmup"
  grep -qF '\-\-warmup' "$usr/share/man/man1/$program.1" ||
    fail "$program.1 has no --warmup"
done
source "$usr/share/bash-completion/completions/mxc"
COMP_WORDS=(mxc compile --target x86-64-v2) COMP_CWORD=3
_mxc
expect "${COMPREPLY[*]}" x86-64-v2
offers() { # LINE WORD: what the word becomes
  read -ra COMP_WORDS <<<"$1 $2"
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _mxc
  echo "${COMPREPLY[*]}"
}
expect "$(offers 'mxc train --init' xav)" xavier
expect "$(offers 'mxc train --metric' pears)" pearsonr
expect "$(offers 'mxc train --lr-schedule' multi)" multifactor
expect "$(offers 'mxc compile --optimizer' adad)" adadelta
expect "$(offers 'mxc ops' FullyC)" FullyConnected
expect "$(offers 'mxc kv' st)" status
# The shells themselves, where there are such.
if command -v fish >/dev/null; then
  expect "$(fish --no-config -c "
    source $usr/share/fish/vendor_completions.d/mxc.fish
    complete -C 'mxc compile --target cuda:sm_8'" 2>&1 | cut -f 1)" cuda:sm_80
else
  echo "skipped: no fish"
fi
if command -v zsh >/dev/null; then
  "$source/tests/install/complete.zsh" "$usr/share/zsh/vendor-completions" \
    'mxc compile --target cuda:sm_8' | grep -qF 'cuda:sm_80' ||
    fail "zsh completes no --target"
else
  echo "skipped: no zsh"
fi

"$usr/bin/mxc" compile "$source/models/mlp.json" --init xavier --quiet -o c.mxa
"$usr/bin/mxc" bench c.mxa --iterations 3 >bench.txt

