#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh BUILD [PYTHON]
# The tests of the Python package of a build with -DMXC_PYTHON=ON, and its types
# as mypy --strict sees them; skipped (77) where there is none, or no pytest or
# NumPy. `tools/check` makes a Python that has them (tests/python/environment).
set -euo pipefail
package=$1/runtime/python python=${2:-python3}
skip() { echo "skipped: $*"; exit 77; }
[ -e "$package/mxc/_runtime.pyi" ] || skip "built without -DMXC_PYTHON=ON"
"$python" -c 'import numpy, pytest' 2>/dev/null || skip "no NumPy or pytest"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
settings=$here/../../runtime/python/pyproject.toml
if "$python" -c 'import mypy' 2>/dev/null; then
  (cd "$package" && "$python" -m mypy --config-file "$settings" mxc \
    "$here"/../../runtime/python/examples/*.py)
else
  echo "no mypy: types are not checked"
fi
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$package \
  exec "$python" -m pytest -q -p no:cacheprovider "$here"
