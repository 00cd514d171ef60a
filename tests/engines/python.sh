#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tests/engines/python.sh BIN spark|ray [PYTHON]
# A job on a local cluster of Spark or Ray (PYTHON has pyspark or ray): it
# trains, a worker is killed, it goes on from its checkpoint, and has learned
# the same bytes as by mxc launch.
set -euo pipefail
bin=$(realpath "$1") engine=$2 python=${3:-python3}
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
declare -A module=([spark]=pyspark [ray]=ray)
"$python" -c "import ${module[$engine]}" 2>/dev/null || {
  echo "skipped: $python has no ${module[$engine]}"
  exit 77
}
export PATH=$bin:$PATH PYTHONPATH=$here/../../tools/engines
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mxc compile "$here/../../models/mlp.json" --entry grad,update,score \
  --init xavier --input-shape data:16x784 --opt momentum=0.9 -o mlp.mxa --quiet
train=("$bin/mxc" train "$work/mlp.mxa" --data digits --data-opt size=3200
  --data-opt flat=1 --lr 0.05 --threads 1 --seed 3 --epochs 30 --save-every 20
  --quiet)
mxc launch --workers 2 --servers 2 -- "${train[@]}" --save "$work/whole"

cat >spark.py <<'END'
import sys
from pyspark.sql import SparkSession
from mxc_spark import train
spark = (SparkSession.builder.master("local[4]")
         .config("spark.ui.enabled", "false").getOrCreate())
spark.sparkContext.setLogLevel("OFF")
train(spark.sparkContext, sys.argv[1:], workers=2, servers=2)
END
cat >ray.py.job <<'END'
import sys
import ray
from mxc_ray import train
ray.init(num_cpus=4, include_dashboard=False, logging_level="error")
print("restarts:", train(sys.argv[1:], workers=2, servers=2))
END
mv ray.py.job job_on_ray.py
mv spark.py job_on_spark.py

"$python" "job_on_$engine.py" "${train[@]}" --save "$work/torn" &
job=$!
killed=0
while [ $killed -eq 0 ] && kill -0 $job 2>/dev/null; do
  sleep 0.05
  compgen -G "$work/torn-step-*.mxc" >/dev/null || continue
  for process in $(pgrep -f "train $work/mlp.mxa .* --save $work/[t]orn"); do
    grep -qz "^MXC_ROLE=worker$" "/proc/$process/environ" 2>/dev/null || continue
    grep -qz "^RANK=1$" "/proc/$process/environ" || continue
    kill -9 "$process" && killed=1
  done
done
wait $job
for extension in params states; do
  cmp whole-0030.$extension torn-0030.$extension
done
echo "$engine: killed $killed worker; the same bytes as by mxc launch"
echo passed
