#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/trials.sh BUILD optuna|ray [PYTHON]
# Searches that the real Optuna or Ray Tune makes through tools/engines (PYTHON
# has it, and the Python package of BUILD is for it).
set -euo pipefail
package=$(realpath "$1")/runtime/python engine=$2 python=${3:-python3}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
declare -A module=([optuna]=optuna [ray]=ray.tune)
PYTHONPATH=$package "$python" -c "import ${module[$engine]}, mxc" 2>/dev/null || {
  echo "skipped: $python has no ${module[$engine]} or mxc"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH=$package:$here/../../tools/engines MXC_PACKAGE=$package
export RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0
cd "$work"
"$python" -W ignore "$here/trials_$engine.py" 2>log || fail "$engine"
echo passed
