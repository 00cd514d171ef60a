# SPDX-License-Identifier: Apache-2.0
"""Networks for sequences of any length up to a bound compute what those do that were
compiled for the length at hand; beside numpy where that says it in a line."""
import numpy as np
import pytest

import mxc

MOST = 9
LENGTHS = [4, MOST]  # entries; and lengths between them
SIZE = 6


def network(*nodes, time_major=False, batch="N", **more):
    shape = ["T", batch, SIZE] if time_major else [batch, "T", SIZE]
    return {"mxc": 1, "name": "net", "inputs": {"data": shape}, "nodes": list(nodes),
            **more}


def node(op, name, **attributes):
    return {"op": op, "name": name, **attributes}


def attention(*mask):
    """Softmax(x·xᵀ)·x of each row of the batch."""
    return network(
        node("batch_dot", "scores", transpose_b=True, inputs=["data", "data"]),
        *mask, node("softmax", "shares"),
        node("batch_dot", "context", inputs=[[], "data"]))


def rnn(mode, bidirectional=False, states=False):
    directions = 2 if bidirectional else 1
    inputs = {"data": ["T", "N", SIZE], "state": [directions, "N", 5]}
    given = [[], "p", "state"]
    if mode == "lstm":
        inputs["cell"] = [directions, "N", 5]
        given.append("cell")
    return {"mxc": 1, "name": "net", "inputs": inputs,
            "parameters": {"p": {"init": "[\"uniform\", {\"scale\": 0.3}]"}},
            "nodes": [node("RNN", "rnn", mode=mode, state_size=5, num_layers=1,
                           bidirectional=bidirectional, state_outputs=states,
                           inputs=given)],
            "outputs": ["rnn:0", "rnn:1"] if states else ["rnn"]}


NETWORKS = {
    "elementwise": network(node("Activation", "a", act_type="tanh")),
    "dense": network(node("FullyConnected", "fc", num_hidden=3, flatten=False)),
    "joined rows": network(node("Reshape", "rows", shape=[-1, SIZE]),
                           node("FullyConnected", "fc", num_hidden=3)),
    "joined and split": network(
        node("Reshape", "rows", shape=[-1, SIZE]),
        node("FullyConnected", "fc", num_hidden=4),
        node("reshape_like", "back", lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2,
             inputs=[[], "data"])),
    "heads": network(node("Reshape", "split", shape=[0, 0, 2, -1]),
                     node("transpose", "heads", axes=[0, 2, 1, 3]),
                     node("softmax", "shares", axis=2),
                     node("transpose", "rows", axes=[0, 2, 1, 3]),
                     node("Reshape", "joined", shape=[0, 0, -3])),
    "norm": network(node("LayerNorm", "norm")),
    "softmax": network(node("softmax", "shares", axis=1)),
    "log_softmax": network(node("log_softmax", "shares", axis=1)),
    "sum": network(node("sum", "sum", axis=[1])),
    "mean": network(node("mean", "mean", axis=[1])),
    "mean of all": network(node("mean", "mean", axis=[1, 2])),
    "extremes": network(node("max", "max", axis=[1])),
    "product": network(node("prod", "prod", axis=[1])),
    "first": network(node("slice_axis", "first", axis=1, begin=0, end=1)),
    "last": network(node("slice_axis", "last", axis=1, begin=-1, end=None)),
    "SequenceLast": network(node("SequenceLast", "last", axis=1)),
    "SequenceReverse": network(node("SequenceReverse", "back"), time_major=True),
    "rows of steps": network(node("Reshape", "rows", shape=[-1, SIZE]),
                             node("softmax", "shares"), time_major=True),
    "attention": attention(),
    "rnn": rnn("rnn_tanh"),
    "gru both ways": rnn("gru", bidirectional=True, states=True),
    "lstm": rnn("lstm", states=True),
}


def arrays(net, length, batch):
    rng = np.random.default_rng(length)
    sizes = {"N": batch, "T": length}
    return {name: rng.normal(size=[sizes.get(n, n) for n in shape]).astype(np.float32)
            for name, shape in net["inputs"].items()}


def outputs(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("batch", [1, 3])
def test_every_length_is_as_if_it_were_compiled_for_it(name, batch):
    net = NETWORKS[name]
    model = mxc.compile(net, init="xavier", seed=3, batch=batch, length=MOST,
                        lengths=LENGTHS)
    for length in (1, 2, 4, 5, MOST):
        given = arrays(net, length, batch)
        shapes = {name: array.shape for name, array in given.items()}
        own = mxc.compile(net, init="xavier", seed=3, shapes=shapes)
        for found, expected in zip(outputs(model(**given)), outputs(own(**given)),
                                   strict=True):
            assert found.shape == expected.shape
            assert np.allclose(found, expected, rtol=1e-5, atol=1e-6), length


def test_longer_arrays_leave_nothing_behind():
    model = mxc.compile(NETWORKS["softmax"], init="zero", length=MOST, lengths=[MOST])
    rng = np.random.default_rng(1)
    for length in (MOST, 2, 5):
        x = rng.normal(size=(1, length, SIZE)).astype(np.float32)
        e = np.exp(x - x.max(axis=1, keepdims=True))
        assert np.allclose(model(x), e / e.sum(axis=1, keepdims=True), atol=1e-6)


def test_values_that_are_no_numbers_stay_behind():
    """What a longer array left in memory is not read, whatever it was."""
    model = mxc.compile(attention(), length=MOST, lengths=[MOST])
    x = np.random.default_rng(2).normal(size=(1, MOST, SIZE)).astype(np.float32)
    model(np.full_like(x, np.nan))
    short = x[:, :3]
    scores = short @ short.transpose(0, 2, 1)
    e = np.exp(scores - scores.max(axis=2, keepdims=True))
    expected = e / e.sum(axis=2, keepdims=True) @ short
    assert np.allclose(model(np.ascontiguousarray(short)), expected, atol=1e-5)


def test_rungs_are_near_each_other():
    model = mxc.compile(NETWORKS["elementwise"], length=200)
    lengths = sorted(int(e.name.partition(":")[2]) for e in model.entries)
    assert lengths[0] == 1 and lengths[-1] == 200
    assert all(b - a <= max(1, a / 16) for a, b in zip(lengths, lengths[1:]))
    assert model.entries[0].name == "infer:200"


@pytest.mark.parametrize("begin, end", [(0, 1), (-1, None)])
def test_rows_that_data_choose_may_be_none(begin, end):
    net = {"mxc": 1, "name": "net", "inputs": {"data": [4, 2], "index": [4]},
           "nodes": [node("_contrib_boolean_mask", "rows", inputs=["data", "index"]),
                     node("slice_axis", "one", axis=0, begin=begin, end=end)]}
    with pytest.raises(mxc.CompileError, match="'one' reads axis 0 of 'rows'"):
        mxc.compile(net)


def test_refusals():
    model = mxc.compile(NETWORKS["sum"], length=MOST, lengths=LENGTHS)
    for shape in ((1, MOST + 1, SIZE), (1, 2, SIZE + 1), (2, SIZE)):
        with pytest.raises(ValueError, match="takes"):
            model(np.zeros(shape, np.float32))
    with pytest.raises(mxc.CompileError, match="the longest --bucket is 4"):
        mxc.compile(NETWORKS["sum"], length=MOST, lengths=[4])
    with pytest.raises(mxc.CompileError, match="leave an axis open"):
        mxc.compile(network(node("sum", "sum"), batch=2) | {
            "inputs": {"data": [2, 3]}}, length=MOST)
    with pytest.raises(mxc.CompileError,
                       match="'sort' reads axis 1 of 'data', whose length is open"):
        mxc.compile(network(node("sort", "sort", axis=1)), length=MOST)
    two = network(node("slice_axis", "two", axis=1, begin=-2, end=None))
    with pytest.raises(mxc.CompileError, match="'two' reads axis 1"):
        mxc.compile(two, length=MOST, lengths=LENGTHS)
    square = network(node("batch_dot", "scores", transpose_b=True,
                          inputs=["data", "data"]))
    with pytest.raises(mxc.CompileError, match="expected of one axis alone"):
        mxc.compile(square, length=MOST)
