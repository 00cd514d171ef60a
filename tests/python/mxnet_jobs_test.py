# SPDX-License-Identifier: Apache-2.0
"""dist_sync and dist_async of mxc.mxnet: scripts that `mxc launch` starts. Values by
the formulas of the updates."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mxc

LAUNCH = pathlib.Path(mxc.__file__).parent / "bin/mxc"
pytestmark = pytest.mark.skipif(not LAUNCH.exists(), reason="there is no program mxc")

# Each worker pushes its rank + 1, from two devices.
SUMS = """
import mxnet as mx, numpy as np, sys
store = mx.kv.create(sys.argv[1])
rank, ones = store.rank, mx.nd.ones((3, 4))
assert store.num_workers == 2 and store.type == sys.argv[1]
def is_value(key, value):
    found = mx.nd.zeros((3, 4))
    store.barrier()
    store.pull(key, out=found)
    store.barrier()
    np.testing.assert_allclose(found.asnumpy(), value, rtol=1e-6)
store.init("weight", 5 * ones + rank)
is_value("weight", 5)
store.push("weight", [(rank + 1) * ones] * 2)
if "async" not in sys.argv[1]:
    is_value("weight", 6)
store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.9, wd=0.0))
store.init("moved", ones)
# m = 0.9 m - 0.5 * 3; w += m
for value in (-0.5, -3.35):
    store.push("moved", (rank + 1) * ones)
    if "async" not in sys.argv[1]:
        is_value("moved", value)
store.init("rows", mx.nd.sparse.zeros("row_sparse", (1 << 21, 2)))
store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
last = (1 << 21) - 1
pushed = mx.nd.sparse.row_sparse_array(
    (mx.nd.ones((2, 2)) * (rank + 1), [rank, last]), shape=(1 << 21, 2))
store.push("rows", pushed)
store.barrier()
found = mx.nd.sparse.zeros("row_sparse", (1 << 21, 2))
store.row_sparse_pull("rows", out=found, row_ids=mx.nd.array([0, 1, 9, last]))
np.testing.assert_allclose(found.data.asnumpy()[:, 0], [-1, -2, -3] if len(
    found.data) == 3 else [-1, -2, 0, -3])
print("as it should be")
"""

# A large array, whose sums are cut into pieces; a wide type.
LARGE = """
import mxnet as mx, numpy as np
store = mx.kv.create("dist_device_sync")
values = np.arange(5 << 20, dtype=np.float32).reshape(5, -1)
store.init(0, mx.nd.array(values))
store.push(0, mx.nd.array(values * (store.rank + 1)))
found = mx.nd.zeros(values.shape)
store.pull(0, out=found)
np.testing.assert_array_equal(found.asnumpy(), values * 3)
store.init(1, mx.nd.array([1 / 3], dtype="float64"))
found = mx.nd.zeros(1, dtype="float64")
store.pull(1, out=found)
np.testing.assert_allclose(found.asnumpy(), 1 / 3, rtol=1e-13)
store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
store.init(2, mx.nd.zeros(2))
for want in ([0, -1], [1, -1]):
    store.push(2, mx.nd.array([0.3, -0.6]))
    found = mx.nd.zeros(2)
    store.pull(2, out=found)
    np.testing.assert_allclose(found.asnumpy(), want)
print("as it should be")
"""

TRAINS = """
import mxnet as mx, numpy as np
from mxnet import autograd, gluon
mx.random.seed(1)
net = gluon.nn.Dense(1, use_bias=False, in_units=2)
net.initialize(mx.init.One())
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0},
                        kvstore="dist_sync")
rank = mx.kv.create("dist_sync").rank
data = mx.nd.array([[1.0, rank]])
with autograd.record():
    loss = net(data)
loss.backward()
trainer.step(2)
np.testing.assert_allclose(net.weight.data().asnumpy(), [[1 - 2 / 2, 1 - 1 / 2]])
print("as it should be")
"""


def launch(script, *words, servers=1, workers=2):
    package = str(LAUNCH.parents[2])
    return subprocess.run(
        [LAUNCH, "launch", "--workers", str(workers), "--servers", str(servers), "--",
         sys.executable, "-m", "mxc.mxnet", script, *words], capture_output=True,
        text=True, timeout=120, env={**os.environ, "PYTHONPATH": package})


@pytest.fixture
def job(tmp_path):
    def start(text, *words, **options):
        (tmp_path / "script.py").write_text(text)
        return launch(tmp_path / "script.py", *words, **options)
    return start


@pytest.mark.parametrize(("kind", "servers"), [("dist_sync", 1), ("dist_async", 2)])
def test_pushes_of_all_workers_count(job, kind, servers):
    done = job(SUMS, kind, servers=servers)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("as it should be") == 2


def test_large_arrays_and_compression(job):
    done = job(LARGE, servers=2)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("as it should be") == 2


def test_a_trainer_sums_over_workers(job):
    done = job(TRAINS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("as it should be") == 2


EXAMPLE = pathlib.Path(__file__).parents[2] / "runtime/python/examples/arithmetic.py"


def test_updates_by_arithmetic_are_the_same_by_one_process_and_by_two():
    def results(done):
        assert done.returncode == 0, done.stdout + done.stderr
        return [[float(word) for word in line.split()[-3::2]]
                for line in (done.stdout + done.stderr).splitlines() if "accuracy" in line]

    alone, = results(subprocess.run([sys.executable, EXAMPLE], capture_output=True,
                                    text=True, timeout=120, check=False))
    assert alone[0] > 0.95
    both = results(launch(EXAMPLE, "dist_sync"))
    assert len(both) == 2 and both[0] == both[1]
    np.testing.assert_allclose(both[0], alone, rtol=1e-3)


def test_who_fails_ends_the_job(job):
    done = job("""
import mxnet as mx
store = mx.kv.create("dist_sync")
if store.rank == 1:
    raise KeyError("of the script")
store.barrier()
""")
    assert done.returncode != 0
    assert "of the script" in done.stdout + done.stderr


def test_servers_have_optimizers_of_their_own_alone(job):
    done = job("""
import mxnet as mx
class Mine(mx.optimizer.Optimizer):
    pass
mx.kv.create("dist_async").set_optimizer(Mine())
""")
    assert done.returncode != 0
    assert "servers have no optimizer Mine" in done.stdout + done.stderr
