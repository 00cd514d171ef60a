#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: deb.sh BUILD
# Packs a .deb (BUILD configured with -DBUILD_TESTING=OFF and
# -DCMAKE_INSTALL_PREFIX=/usr), looks at it with
# lintian, installs it into a bare root that mmdebstrap makes, trains LeNet there
# and builds and runs the C example, and removes it without a trace. By hand: it
# asks Debian's archive for packages. Skipped (77) where it cannot be root, or
# has no mmdebstrap.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "error: $*" >&2; exit 1; }

(cd "$build" && cpack -G DEB -B "$root/pack") >"$root/cpack.log" ||
  { cat "$root/cpack.log"; exit 1; }
deb=$(echo "$root"/pack/*.deb)
ls -sh "$deb"
dpkg-deb -I "$deb" | grep -E '^ (Depends|Recommends|Installed-Size)'
if command -v lintian >/dev/null; then
  # Who publishes the package names a maintainer (MXC_MAINTAINER).
  lintian --allow-root --fail-on error,warning --suppress-tags \
    bogus-mail-host,bogus-mail-host-in-debian-changelog "$deb" &&
    echo "lintian: clean"
else
  echo "skipped: no lintian"
fi

[ "$(id -u)" = 0 ] || skip "not root"
command -v mmdebstrap >/dev/null || skip "no mmdebstrap"
mmdebstrap --quiet --variant=minbase --include=gcc,libc6-dev,pkgconf \
  bookworm "$root/bare" || skip "no archive of Debian"
cp /etc/resolv.conf "$root/bare/etc"
bare() { chroot "$root/bare" env -i PATH=/usr/bin:/bin:/usr/sbin "$@"; }
files() {
  bare find / -xdev \( -path /var -o -path /proc -o -path /etc/ld.so.cache \) \
    -prune -o ! -type d -print |
    sort
}
files >"$root/before"
cp "$deb" "$root/bare/tmp/mxc.deb"
cp "$source/models/lenet.json" "$root/bare/tmp"
bare apt-get update -q=2
bare apt-get install -q=2 --no-install-recommends /tmp/mxc.deb >"$root/apt.log" ||
  { cat "$root/apt.log"; exit 1; }
mount -t proc none "$root/bare/proc" && trap '
  umount "$root/bare/proc"; rm -rf "$root"' EXIT
bare mxc --version
bare sh -euc '
  cd /tmp
  mxc train lenet.json --data digits --epochs 1 --batch-size 64 --lr 0.1 \
    --opt momentum=0.9 --seed 7 --save lenet --quiet
  mxc compile lenet.json --params lenet-0001.params --quiet
  examples=/usr/share/doc/mxc/examples
  gcc $examples/compile_and_run.c -o example \
    $(pkg-config --cflags --libs mxc mxc-runtime)
  ./example lenet-symbol.json out.mxa
  rm -f lenet* out.mxa example mxc.deb'
bare apt-get purge -q=2 --autoremove mxc >/dev/null
files >"$root/after"
diff "$root/before" "$root/after" || fail "these files differ after removal"
echo "installed, used and removed in a bare root"
