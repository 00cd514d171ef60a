#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/spark_ml.sh BUILD [PYTHON]
# The estimator of tools/engines/mxc_spark_ml.py in real Spark (PYTHON has
# pyspark, pyarrow and NumPy, and the Python package of BUILD is for it), on
# threads of one process and on executors that have the package alone.
set -euo pipefail
package=$(realpath "$1")/runtime/python python=${2:-python3}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
PYTHONPATH=$package "$python" -c "import pyspark, pyarrow, mxc" 2>/dev/null || {
  echo "skipped: $python has no pyspark, pyarrow or mxc"
  exit 77
}
require java
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON=$python MXC_PACKAGE=$package
export PYTHONPATH=$package:$here/../../tools/engines:$here
cd "$work"
for master in "local[2]" "local-cluster[2,1,1024]"; do
  "$python" -W ignore "$here/spark_ml.py" "$master" "$work" 2>log ||
    fail "$master"
done
echo passed
