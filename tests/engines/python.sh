#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/python.sh BIN spark|ray [PYTHON]
# A job on a local cluster of Spark or Ray (PYTHON has pyspark or ray): it
# trains, a worker is killed, it goes on from its checkpoint, and has learned
# the same bytes as by mxc launch. On Spark workers train on the rows of a data
# frame, too.
set -euo pipefail
bin=$(realpath "$1") engine=$2 python=${3:-python3}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
. "$here/common.sh"
declare -A module=([spark]=pyspark [ray]=ray)
"$python" -c "import ${module[$engine]}" 2>/dev/null || {
  echo "skipped: $python has no ${module[$engine]}"
  exit 77
}
[ "$engine" = ray ] || require java
export SPARK_LOCAL_IP=127.0.0.1 RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0
work=$(mktemp -d)
export PATH=$bin:$PATH PYTHONPATH=$here/../../tools/engines:$work
trap 'rm -rf "$work"' EXIT
cd "$work"

prepare
cat >session.py <<'END'
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[4]")
         .config("spark.ui.enabled", "false")
         .config("spark.ui.showConsoleProgress", "false").getOrCreate())
spark.sparkContext.setLogLevel("OFF")
END
cat >job_on_spark.py <<'END'
import sys
from mxc_spark import train
from session import spark
print("restarts:", train(spark.sparkContext, sys.argv[1:], workers=2, servers=2))
END
cat >job_on_ray.py <<'END'
import sys
import ray
from mxc_ray import train
ray.init(num_cpus=4, include_dashboard=False, logging_level="error",
         _node_ip_address="127.0.0.1")
print("restarts:", train(sys.argv[1:], workers=2, servers=2))
END
# Rows of two features; the class says which is larger.
cat >frame_on_spark.py <<'END'
import random
import sys
from mxc_spark import train
from session import spark
random.seed(1)
rows = [(a, b, int(a > b)) for a, b in
        ((random.uniform(-1, 1), random.uniform(-1, 1)) for _ in range(2000))]
frame = spark.createDataFrame(rows, ["a", "b", "larger"])
train(spark.sparkContext, sys.argv[1:], workers=2, servers=1,
      data=frame, label="larger")
END

"$python" "job_on_$engine.py" "${train[@]}" --epochs 20 --save "$work/torn" \
  >log 2>&1 &
strike $!
grep "^restarts: 1$" log || fail "how often it began"

if [ "$engine" = spark ]; then
  cat >larger.json <<'END'
{"mxc": 1, "name": "larger", "inputs": {"data": ["N", 2]},
 "nodes": [{"op": "FullyConnected", "num_hidden": 2},
           {"op": "SoftmaxOutput", "name": "softmax"}]}
END
  "$python" frame_on_spark.py "$bin/mxc" train "$work/larger.json" \
    --batch-size 20 --epochs 6 --lr 0.5 --seed 3 --json --save "$work/larger" \
    >frame.log 2>&1 || fail "rows of a frame: $(cat frame.log)"
  grep -o '"accuracy": *[0-9.]*' frame.log | tail -1
  awk -F'"accuracy": *' '/accuracy/ { split($2, a, /[,}]/); last = a[1] }
    END { exit !(last > 0.95) }' frame.log ||
    fail "rows of a frame teach nothing: $(cat frame.log)"
fi
echo passed
