#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/elephas.sh BUILD [PYTHON]
# tools/engines/mxc_elephas.py in real Spark, on threads and on executors that
# have the package alone, of models that the real Keras describes (PYTHON has
# pyspark, pyarrow, keras with a backend, and the Python package of BUILD is for
# it).
set -euo pipefail
package=$(realpath "$1")/runtime/python python=${2:-python3}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
export PYTHONPATH=$package:$here/../../tools/engines
"$python" -c "import pyspark, pyarrow, keras, mxc" 2>/dev/null || {
  echo "skipped: $python has no pyspark, pyarrow, Keras or mxc"
  exit 77
}
require java
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON=$python MXC_PACKAGE=$package
cd "$work"
for master in "local[2]" "local-cluster[2,1,1024]"; do
  "$python" -W ignore "$here/elephas.py" "$master" 2>log || fail "$master"
done
echo passed
