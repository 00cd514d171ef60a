#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh BUILD [PYTHON]
# The tests of the Python package of a build with -DMXC_PYTHON=ON; skipped (77)
# where there is none, or no pytest or NumPy.
set -euo pipefail
package=$1/runtime/python python=${2:-python3}
skip() { echo "skipped: $*"; exit 77; }
[ -e "$package/mxc/_runtime.pyi" ] || skip "built without -DMXC_PYTHON=ON"
"$python" -c 'import numpy, pytest' 2>/dev/null || skip "no NumPy or pytest"
here=$(dirname "${BASH_SOURCE[0]}")
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$package \
  exec "$python" -m pytest -q -p no:cacheprovider "$here"
