#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: wheel.sh [PYTHON]
# Builds the wheel as `pip install ./runtime/python` does, installs it into a
# fresh environment, runs tests/python there and removes it without a trace. By
# hand: it builds mxc once more and asks PyPI for packages.
set -euo pipefail
python=${1:-python3}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
skip() { echo "skipped: $*"; exit 77; }
"$python" -m venv "$root/venv" || skip "$python has no venv"
pip=$root/venv/bin/pip
"$pip" install -q numpy pytest || skip "no packages from PyPI"
before=$("$pip" list --format=freeze)

"$pip" wheel -q --no-deps -w "$root/wheel" "$source/runtime/python"
ls -sh "$root/wheel"
"$pip" install -q "$root"/wheel/*.whl
cd "$root"  # where no mxc lies about
"$root/venv/bin/python" -m pytest -q -p no:cacheprovider "$source/tests/python"
"$root/venv/bin/mxc" --version | sed -n 1p
"$root/venv/bin/mxc-run" --version | sed -n 1p

"$pip" uninstall -q -y mxc
find "$root/venv" -type d -name __pycache__ -prune -exec rm -rf {} +
[ "$("$pip" list --format=freeze)" = "$before" ]
left=$(find "$root/venv" -name '*mxc*')
[ -z "$left" ] || { echo "error: left behind: $left"; exit 1; }
