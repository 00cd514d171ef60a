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
    "scores": network(node("batch_dot", "scores", transpose_b=True,
                           inputs=["data", "data"])),
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


def samples_of(lengths, seed=4):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, SIZE)).astype(np.float32) for n in lengths]


def test_samples_of_lengths_of_their_own():
    """What each alone computes, whatever stands beside it."""
    model = mxc.compile(NETWORKS["heads"], batch=[1, 4], length=MOST,
                        lengths=LENGTHS)
    samples = samples_of([5, 2, 5, MOST, 5, 5, 1, 5])
    for found in (model(samples), model(data=tuple(samples))):
        assert isinstance(found, list)
        for sample, row in zip(samples, found, strict=True):
            assert np.array_equal(row, model(sample[None])[0])


def test_samples_of_which_each_has_a_row():
    """Beside numbers that tell rows apart and what is the same for all."""
    net = {"mxc": 1, "inputs": {"data": ["N", "T", 3], "factor": ["N"],
                                "shift": [3]},
           "nodes": [node("sum", "sum", axis=[1], inputs=["data"]),
                     node("Reshape", "column", shape=[-1, 1], inputs=["factor"]),
                     node("broadcast_mul", "scaled", inputs=["sum", "column"]),
                     node("broadcast_add", "shifted", inputs=[[], "shift"])],
           "outputs": ["shifted", "data"]}
    model = mxc.compile(net, batch=2, length=MOST, lengths=LENGTHS)
    samples = [np.arange(3 * n, dtype=np.float32).reshape(n, 3) for n in (4, 9, 4)]
    factor = np.array([1, 10, 100], np.float32)
    shift = np.array([0.5, 0.25, 2], np.float32)
    rows, same = model(samples, factor, shift)
    assert np.array_equal(rows, [s.sum(axis=0) * f + shift
                                 for s, f in zip(samples, factor)])
    for sample, row in zip(samples, same, strict=True):
        assert np.array_equal(sample, row)
    with pytest.raises((TypeError, ValueError), match="'factor'"):
        model(samples, 3.0, shift)


@pytest.mark.parametrize("given, said", [
    ([], "'data' has no sample"),
    ([(MOST + 1, SIZE)],
     r"sample 0 of 'data' is \(10, 6\), expected \(1 to 9, 6\)"),
    ([(2, SIZE), (2, 5)], r"sample 1 of 'data' is \(2, 5\), expected"),
    ([(0, SIZE)], r"sample 0 of 'data' is \(0, 6\), expected"),
    ([(1, 2, SIZE)], r"sample 0 of 'data' is \(1, 2, 6\), expected"),
])
def test_samples_that_do_not_fit(given, said):
    model = mxc.compile(NETWORKS["elementwise"], length=MOST, lengths=LENGTHS)
    with pytest.raises(ValueError, match=said):
        model([np.zeros(shape, np.float32) for shape in given])


def test_samples_that_disagree():
    net = {"mxc": 1, "inputs": {"data": ["N", "T", 2], "other": ["N", "T", 2]},
           "nodes": [node("elemwise_add", "sum", inputs=["data", "other"])]}
    model = mxc.compile(net, length=MOST, lengths=LENGTHS)
    one, two = np.zeros((1, 2), np.float32), np.zeros((2, 2), np.float32)
    with pytest.raises(ValueError, match="sample 1 is 1 long in 'data', 2 in"):
        model([two, one], [two, two])
    with pytest.raises(ValueError, match="'other' has 1 samples, 'data' has 2"):
        model([two, one], [two])
    model = mxc.compile(network(node("sum", "sum", axis=[0, 1])), batch=2,
                        length=MOST, lengths=LENGTHS)
    with pytest.raises(ValueError, match=r"output 'sum_output' .* cannot be told"):
        model(samples_of([2, 1]))
    first = mxc.compile(NETWORKS["rows of steps"], batch=2, length=MOST,
                        lengths=LENGTHS)
    with pytest.raises(ValueError, match="does not begin with them"):
        first([two, one])


@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_any_number_of_samples_of_a_length(count):
    model = mxc.compile(NETWORKS["dense"], batch=[2, 4], length=MOST,
                        lengths=LENGTHS, init="xavier")
    samples = np.stack(samples_of([6] * count))
    weight = model(np.eye(SIZE, dtype=np.float32)[None].repeat(2, 0))[0]
    assert np.allclose(model(samples), samples @ weight, rtol=1e-5, atol=1e-6)


def test_what_an_open_model_says_of_itself():
    model = mxc.compile(NETWORKS["dense"], batch=[1, 4], length=MOST,
                        lengths=LENGTHS, init="xavier")
    assert "infer, 1 to 9 long by 2 entries, batch 4" in model.summary()
    assert "(1, 1 to 9, 6)" in model.summary()
    assert {e.length for e in model.entries} == set(LENGTHS)
    assert model.entries[0].inputs[0].open_axis == 1
    with pytest.raises(ValueError, match=r"takes 'data' \(1, 1 to 9, 6\); or 'd"):
        model(np.zeros((1, MOST + 1, SIZE), np.float32))
