# SPDX-License-Identifier: Apache-2.0
"""python -m mxc.mxnet: scripts and modules in which mxnet is mxc.mxnet."""

import subprocess
import sys


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "mxc.mxnet", *arguments],
                          capture_output=True, text=True, timeout=120)


def test_script_finds_one_mxnet(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import sys
import mxnet as mx
import mxnet.ndarray.random
from mxnet.ndarray import NDArray
import mxc.mxnet
import beside
assert mx is mxc.mxnet and NDArray is mxc.mxnet.nd.NDArray
assert mx.__name__ == "mxc.mxnet" and mx.__spec__.name == "mxc.mxnet"
assert mxnet.ndarray.random is mxc.mxnet.nd.random
print(sys.argv[1:], __name__, mx.nd.ones((2,)).asnumpy().sum())
sys.exit(3)
""")
    (tmp_path / "beside.py").write_text("")
    done = run(str(script), "-a", "b")
    assert (done.stdout, done.returncode) == ("['-a', 'b'] __main__ 2.0\n", 3), (
        done.stderr)


def test_names_of_older_pythons_and_numpys(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import collections, numpy as np
from nose.tools import assert_raises, eq_, make_decorator, ok_, raises, with_setup
assert np.float is float and np.product([2, 3]) == 6
assert issubclass(list, collections.Iterable)
assert_raises(ValueError, int, "x")
order = []
@with_setup(lambda: order.append(1), lambda: order.append(3))
@raises(KeyError)
def test():
    order.append(2)
    {}[0]
test()
eq_(order, [1, 2, 3])
@raises(KeyError)
def passes():
    pass
assert_raises(AssertionError, passes)
""")
    done = run(str(script))
    assert done.returncode == 0, done.stderr


def test_module_runs_where_the_user_is(tmp_path):
    (tmp_path / "here.py").write_text("import mxnet, sys; print(sys.argv[1:])")
    done = subprocess.run([sys.executable, "-m", "mxc.mxnet", "-m", "here", "x"],
                          capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "['x']\n", done.stderr


def test_wrong_arguments():
    assert run().returncode == 2
    done = run("no/such.py")
    assert done.returncode == 2 and "no/such.py" in done.stderr
