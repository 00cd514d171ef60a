# SPDX-License-Identifier: Apache-2.0
"""A training loop over arrays leaves the bytes that the step leaves which is compiled
whole, in every turn, and becomes one program by itself."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mxc
import mxc.mxnet as mx
from loop_and_step import Arithmetic, Compiled, CompiledBlock, Loop, batches, dense
from mxc.mxnet import gluon

STEPS = 8


def convolutions():
    """Two of them and a dense layer."""
    nodes, net = [], gluon.nn.HybridSequential()
    for name, filters in (("conv1", 8), ("conv2", 16)):
        nodes += [{"op": "Convolution", "name": name, "kernel": [3, 3],
                   "num_filter": filters},
                  {"op": "Activation", "act_type": "tanh"},
                  {"op": "Pooling", "pool_type": "max", "kernel": [2, 2],
                   "stride": [2, 2]}]
        net.add(gluon.nn.Conv2D(filters, 3, activation="tanh"), gluon.nn.MaxPool2D(2, 2))
    nodes += [{"op": "Flatten"}, {"op": "FullyConnected", "name": "fc", "num_hidden": 10}]
    net.add(gluon.nn.Dense(10))
    return nodes, net, ["conv1", "conv2", "fc"]


NETS = {"mlp": lambda: dense([128, 64, 10]), "wide": lambda: dense([300, 10]),
        "convolutions": convolutions}


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("batch", [1, 3, 8, 16, 33, 64])
def test_a_loop_leaves_the_bytes_of_the_compiled_step(name, batch):
    nodes, net, layers = NETS[name]()
    shape = (batch, 1, 28, 28)
    compiled = Compiled(nodes, layers, shape)
    loop = Loop(net, compiled.values(), shape)
    given = batches(shape)
    arrays = [tuple(mx.nd.array(each) for each in pair) for pair in given]
    wrong = []
    for step in range(STEPS):
        compiled.step(*given[step % 3])
        loop.step(*arrays[step % 3])
        if step in (0, 1, STEPS - 1):  # call by call, and as a program
            for i, (a, b) in enumerate(zip(compiled.values(), loop.values())):
                if a.tobytes() != b.tobytes():
                    wrong.append((step, i, float(np.abs(a - b).max())))
    assert not wrong


def test_networks_leave_the_bytes_of_their_calls_one_by_one():
    script = pathlib.Path(__file__).parent / "loop_digests.py"
    printed = [
        subprocess.run([sys.executable, script], env={**os.environ, "MXC_ENGINE": engine},
                       capture_output=True, text=True, check=True).stdout.splitlines()
        for engine in ("", "naive")
    ]
    assert printed[0] == printed[1] and len(printed[0]) == 16


def turned():
    """A small loop after some turns, and what it was given."""
    nodes, net, layers = dense([20, 10])
    shape = (4, 1, 28, 28)
    loop = Loop(net, Compiled(nodes, layers, shape).values(), shape)
    x, y = (mx.nd.array(each) for each in batches(shape)[0])
    for _ in range(STEPS):
        loop.step(x, y)
    return loop, x, y


def test_a_loop_is_one_program_and_says_which_lines_are_in_it():
    loop, x, y = turned()
    mx.nd.waitall()
    newest = mxc.explain()[0]
    assert newest.outcome == "program" and newest.runs >= STEPS - 3
    lines = {line.split(":")[0] for line, _ in newest.calls}
    assert lines == {"loop_and_step.py"}
    assert any(call.startswith("backward(") for _, call in newest.calls)
    assert str(newest).startswith("one program, which ran")


def test_updates_by_arithmetic_are_one_program_and_the_compiled_step():
    _, net, _ = dense([20, 10])
    (x, y), = batches((4, 1, 28, 28), 1)
    net.initialize()
    net(mx.nd.array(x))
    compiled = CompiledBlock(net, x, y, momentum=0)
    loop = Arithmetic(net, x, y)
    given = mx.nd.array(x), mx.nd.array(y)
    for _ in range(STEPS):
        compiled.step(x, y)
        loop.step(*given)
    mx.nd.waitall()
    assert any(loop.runs >= STEPS - 4 for loop in mxc.explain()
               if any("broadcast_sub" in call for _, call in loop.calls))
    for a, b in zip(compiled.values(), loop.values()):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_a_loader_whose_processes_fork_in_the_loop_changes_nothing():
    nodes, net, layers = dense([20, 10])
    shape = (4, 1, 28, 28)
    begin = Compiled(nodes, layers, shape).values()
    samples = gluon.data.ArrayDataset(*batches((30, *shape[1:]))[0])
    found = []
    for workers in (0, 2):
        loop = Loop(net, begin, shape)
        for _ in range(3):
            for x, y in gluon.data.DataLoader(samples, 4, last_batch="discard",
                                              num_workers=workers):
                loop.step(x, y)
        found.append([value.tobytes() for value in loop.values()])
    assert found[0] == found[1]
    assert any(loop.runs >= 7 for loop in mxc.explain())


def test_an_error_among_calls_that_wait_is_told_where_the_value_is_asked_for():
    loop, x, y = turned()
    with pytest.raises(mx.MXNetError, match="float32"):
        loop.net(mx.nd.zeros((4, 5, 5)))  # in the middle of what waits
    before = loop.values()
    loop.step(x, y)
    assert any((a != b).any() for a, b in zip(before, loop.values()))
