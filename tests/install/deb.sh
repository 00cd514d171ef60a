#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: deb.sh BUILD
# Packs a .deb with the commands that README.md prints, in BUILD instead of
# build-deb, looks at it with lintian, installs it into a bare root, as README
# says, trains LeNet there, builds and runs the examples by pkg-config and by
# CMake, and purges it without a trace. By hand: bare_root.sh asks Debian's
# archive for packages. Skipped (77) where there can be no such root.
set -euo pipefail
build=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
root=$(mktemp -d)
trap 'umount "$root/bare/proc" 2>/dev/null || true; rm -rf "$root"' EXIT
fail() { echo "error: $*" >&2; exit 1; }

mapfile -t commands < <(
  sed -n '/^    cmake -G Ninja/,/^$/s/^    //p' "$source/README.md")
[ ${#commands[@]} = 4 ] || fail "README.md has ${#commands[@]} commands, not 4"
rm -f "$build"/mxc_*.deb
for command in "${commands[@]:0:3}"; do
  (cd "$source" && bash -euc "${command//build-deb/$build}") >"$root/log" 2>&1 ||
    { cat "$root/log"; exit 1; }
done
install=${commands[3]}
deb=$(echo "$build"/mxc_*.deb)
ls -sh "$deb"
dpkg-deb -I "$deb" | grep -E '^ (Depends|Recommends|Suggests|Installed-Size)'
! dpkg-deb -f "$deb" Depends | grep -q gloo ||
  fail "gloo is for jobs that ask for it, but the package needs it"
if command -v lintian >/dev/null; then
  # Who publishes the package names a maintainer (MXC_MAINTAINER).
  lintian --allow-root --fail-on error,warning --suppress-tags \
    bogus-mail-host,bogus-mail-host-in-debian-changelog "$deb" ||
    fail "lintian finds faults"
  echo "lintian: clean"
else
  echo "skipped: no lintian"
fi

"$here/bare_root.sh" "$root/bare" g++ libc6-dev pkgconf cmake make
bare() {
  chroot "$root/bare" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root \
    DEBIAN_FRONTEND=noninteractive "$@"
}
files() {
  bare find / -xdev \( -path /var -o -path /proc -o -path /run -o \
    -path /etc/ld.so.cache \) -prune -o ! -type d -print | sort
}
echo 'APT::Install-Recommends "false";' >"$root/bare/etc/apt/apt.conf.d/99mxc"
files >"$root/before"
mkdir "$root/bare/tmp/build-deb"
cp "$deb" "$root/bare/tmp/build-deb"
cp "$source/models/lenet.json" "$root/bare/tmp"
bare apt-get update -q=2
bare sh -euc "cd /tmp; yes | $(sed 's/ *#.*//' <<<"$install")" \
  >"$root/apt.log" 2>&1 || { cat "$root/apt.log"; exit 1; }
bare mxc --version
bare sh -euc '
  cd /tmp
  mxc train lenet.json --data digits --epochs 1 --batch-size 64 --lr 0.1 \
    --opt momentum=0.9 --seed 7 --val digits --save lenet
  mxc compile lenet-symbol.json --params lenet-0001.params --batch 1 \
    -o lenet.mxa --quiet
  examples=/usr/share/doc/mxc/examples
  gcc $examples/compile_and_run.c -o example \
    $(pkg-config --cflags --libs mxc mxc-runtime)
  ./example lenet-symbol.json out.mxa
  cmake -S $examples -B user >/dev/null
  cmake --build user >/dev/null
  user/compile_and_run lenet-symbol.json out.mxa
  user/run lenet.mxa
  user/run_static lenet.mxa
  mxc serve lenet.mxa --port 0 2>serve.log & server=$!
  until grep -q ^serving serve.log; do kill -0 $server; sleep 0.1; done
  kill $server; wait $server
  # Without what is only suggested, a job that asks for it is told.
  mxc launch --workers 2 -- mxc train lenet.json --data digits --epochs 1 \
    --kvstore allreduce --save job --quiet 2>job.log && exit 1
  grep -q "Debian: libgloo0" job.log || { cat job.log; exit 1; }
  rm -rf user lenet* out.mxa serve.log example build-deb job* /root/.cache'
bare sh -c 'yes | apt purge mxc' >"$root/apt.log" 2>&1
bare apt-get autoremove -q=2 -o Dpkg::Use-Pty=0 --purge >/dev/null
files >"$root/after"
diff "$root/before" "$root/after" || fail "these files differ after removal"
echo "installed, used and removed in a bare root"
