# SPDX-License-Identifier: Apache-2.0
"""Networks that leave several lengths open compute for all of them what those do that
were compiled for the lengths at hand; beside numpy where that says it in a line."""
import itertools

import numpy as np
import pytest

import mxc

SIZE = 4
MOST = {"S": 7, "T": 5}
PAIRS = [(1, 1), (7, 5), (1, 5), (7, 1), (4, 3), (3, 4), (5, 5)]


def node(op, name, **attributes):
    return {"op": op, "name": name, **attributes}


def network(*nodes, **more):
    """Of a source as long as S and a target as long as T."""
    return {"mxc": 1, "name": "net",
            "inputs": {"source": ["N", "S", SIZE], "target": ["N", "T", SIZE]},
            "nodes": list(nodes), **more}


def heads(name, data):
    return [node("FullyConnected", f"{name}_rows", num_hidden=SIZE, flatten=False,
                 inputs=[data]),
            node("Reshape", f"{name}_split", shape=[0, 0, 2, -1]),
            node("transpose", f"{name}_heads", axes=[0, 2, 1, 3]),
            node("Reshape", name, shape=[-3, 0, 0])]


CROSS = [node("batch_dot", "scores", transpose_b=True, inputs=["target", "source"]),
         node("softmax", "shares"),
         node("batch_dot", "context", inputs=["shares", "source"])]

NETWORKS = {
    "cross attention": network(*CROSS, outputs=["context"]),
    "shares": network(*CROSS, outputs=["shares", "context"]),
    "heads": network(
        *heads("query", "target"), *heads("key", "source"), *heads("value", "source"),
        node("batch_dot", "scores", transpose_b=True, inputs=["query", "key"]),
        node("softmax", "shares"),
        node("batch_dot", "parts", inputs=["shares", "value"]),
        node("Reshape", "split", shape=[-4, -1, 2, 0, 0]),
        node("transpose", "rows", axes=[0, 2, 1, 3]),
        node("Reshape", "joined", shape=[0, 0, -3]),
        node("LayerNorm", "norm"), outputs=["scores", "norm"]),
    "all against all": network(
        node("expand_dims", "columns", axis=2, inputs=["target"]),
        node("expand_dims", "rows", axis=1, inputs=["source"]),
        node("broadcast_sub", "far", inputs=["columns", "rows"]),
        node("square", "squares"), node("sum", "distances", axis=[3]),
        node("min", "nearest", axis=[2]), node("max", "farthest", axis=[1],
                                                inputs=["distances"]),
        node("sum", "total", axis=[1, 2], inputs=["distances"]),
        outputs=["distances", "nearest", "farthest", "total", "far"]),
    "means": network(
        node("batch_dot", "scores", transpose_b=True, inputs=["target", "source"]),
        node("mean", "by_target", axis=[2]),
        node("mean", "by_source", axis=[1], inputs=["scores"]),
        outputs=["by_target", "by_source"]),
    "apart": network(node("mean", "a", axis=[1], inputs=["source"]),
                     node("tanh", "b", inputs=["target"]), outputs=["a", "b"]),
    "time first": {
        "mxc": 1, "name": "net",
        "inputs": {"source": ["S", "N", SIZE], "target": ["T", "N", SIZE],
                   "state": [1, "N", 3]},
        "parameters": {"p": {"init": "[\"uniform\", {\"scale\": 0.3}]"},
                       "q": {"init": "[\"uniform\", {\"scale\": 0.3}]"}},
        "nodes": [node("RNN", "encoder", mode="gru", state_size=3, num_layers=1,
                       state_outputs=True, inputs=["source", "p", "state"]),
                  node("RNN", "decoder", mode="gru", state_size=3, num_layers=1,
                       inputs=["target", "q", "encoder:1"]),
                  node("Reshape", "rows", shape=[-3, 0])],
        "outputs": ["rows", "encoder"]},
}


def arrays(net, lengths, batch, seed=0):
    rng = np.random.default_rng(seed)
    sizes = {"N": batch, **lengths}
    return {name: rng.normal(size=[sizes.get(n, n) for n in shape]).astype(np.float32)
            for name, shape in net["inputs"].items()}


def outputs(found):
    return found if isinstance(found, tuple) else (found,)


def compare(model, net, lengths, batch):
    given = arrays(net, lengths, batch, seed=sum(lengths.values()))
    shapes = {name: array.shape for name, array in given.items()}
    own = mxc.compile(net, init="xavier", seed=3, shapes=shapes)
    for found, expected in zip(outputs(model(**given)), outputs(own(**given)),
                               strict=True):
        assert found.shape == expected.shape
        assert np.allclose(found, expected, rtol=1e-5, atol=1e-6), lengths


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("batch", [1, 2])
def test_every_pair_is_as_if_it_were_compiled_for_it(name, batch):
    net = NETWORKS[name]
    model = mxc.compile(net, init="xavier", seed=3, batch=batch, length=MOST,
                        lengths=[4])
    for s, t in PAIRS:
        compare(model, net, {"S": s, "T": t}, batch)


def test_equal_bounds_are_different_lengths():
    net = NETWORKS["heads"]
    model = mxc.compile(net, init="xavier", seed=3, length={"S": 6, "T": 6},
                        lengths=[6])
    assert len(model.entries) == 1
    for s, t in [(6, 6), (2, 5), (5, 2)]:
        compare(model, net, {"S": s, "T": t}, 1)


def test_three_lengths():
    net = {"mxc": 1, "inputs": {name: ["N", name] for name in "ABC"},
           "nodes": [node("Reshape", "a", shape=[0, 0, 1, 1], inputs=["A"]),
                     node("Reshape", "b", shape=[0, 1, -1, 1], inputs=["B"]),
                     node("Reshape", "c", shape=[0, 1, 1, -1], inputs=["C"]),
                     node("broadcast_mul", "ab", inputs=["a", "b"]),
                     node("broadcast_mul", "abc", inputs=["ab", "c"]),
                     node("sum", "sum", axis=[2])],
           "outputs": ["abc", "sum"]}
    model = mxc.compile(net, length={"A": 3, "B": 4, "C": 5}, lengths=[2])
    assert len(model.entries) == 8
    for a, b, c in itertools.product((1, 3), (1, 2, 4), (2, 5)):
        given = arrays(net, {"A": a, "B": b, "C": c}, 1)
        product, total = model(**given)
        expected = np.einsum("na,nb,nc->nabc", *given.values())
        assert np.allclose(product, expected, atol=1e-6)
        assert np.allclose(total, expected.sum(axis=2), atol=1e-6)


def test_what_longer_arrays_left_is_not_read():
    model = mxc.compile(NETWORKS["shares"], length=MOST, lengths=[7])
    rng = np.random.default_rng(2)
    model(source=np.full((1, 7, SIZE), np.nan, np.float32),
          target=np.full((1, 5, SIZE), np.nan, np.float32))
    source, target = (rng.normal(size=(1, n, SIZE)).astype(np.float32) for n in (3, 2))
    scores = target @ source.transpose(0, 2, 1)
    e = np.exp(scores - scores.max(axis=2, keepdims=True))
    shares = e / e.sum(axis=2, keepdims=True)
    found = model(source=source, target=target)
    for one, expected in zip(found, (shares, shares @ source)):
        assert np.allclose(one, expected, atol=1e-6)


def test_entries_are_few_and_the_next_pair_is_taken():
    model = mxc.compile(NETWORKS["apart"], length={"S": 300, "T": 90})
    entries = [e.lengths for e in model.entries]
    assert len(entries) <= 128
    assert model.entries[0].lengths == {"S": 300, "T": 90}
    assert model.entries[0].name == "infer:S=300,T=90"
    for name, most in (("S", 300), ("T", 90)):
        rungs = sorted({e[name] for e in entries})
        assert rungs[-1] == most and rungs[0] <= 16
        assert all(b <= 1.6 * a for a, b in zip(rungs, rungs[1:]))
    assert len({tuple(e.items()) for e in entries}) == len(entries)


def test_a_length_of_one_is_no_other():
    """Its axis has one extent, and is no axis that is broadcast."""
    model = mxc.compile(NETWORKS["cross attention"], length={"S": 4, "T": 1})
    compare(model, NETWORKS["cross attention"], {"S": 3, "T": 1}, 1)
    with pytest.raises(ValueError, match="takes"):
        model(source=np.zeros((1, 3, SIZE), np.float32),
              target=np.zeros((1, 2, SIZE), np.float32))


def test_samples_of_lengths_of_their_own():
    model = mxc.compile(NETWORKS["shares"], batch=[1, 2], length=MOST, lengths=[4])
    rng = np.random.default_rng(5)
    pairs = [(7, 2), (3, 2), (7, 2), (3, 5)]
    sources, targets = ([rng.normal(size=(pair[k], SIZE)).astype(np.float32)
                         for pair in pairs] for k in (0, 1))
    for source, target, *found in zip(
            sources, targets, *model(source=sources, target=targets)):
        alone = model(source=source[None], target=target[None])
        for row, own in zip(found, alone):
            assert np.array_equal(row, own[0])


def test_what_a_model_says_of_its_lengths():
    model = mxc.compile(NETWORKS["shares"], length=MOST, lengths=[4])
    entry = model.entries[0]
    assert entry.lengths == MOST and entry.length == 0
    assert [t.open_axes for t in entry.inputs if t.use != "length"] == [
        {1: "T"}, {1: "S"}]
    assert entry.outputs[0].open_axes == {1: "T", 2: "S"}
    assert "infer, 1 to 7 (S) and 1 to 5 (T) long by 4 entries" in model.summary()


@pytest.mark.parametrize("shapes, said", [
    ([(1, 8, SIZE), (1, 5, SIZE)], r"takes 'target' \(1, 1 to 5, 4\), 'source'"),
    ([(1, 7, SIZE), (1, 6, SIZE)], "takes 'target'"),
    ([(1, 0, SIZE), (1, 5, SIZE)], "takes 'target'"),
])
def test_arrays_that_do_not_fit(shapes, said):
    model = mxc.compile(NETWORKS["shares"], length=MOST, lengths=[4])
    with pytest.raises(ValueError, match=said):
        source, target = (np.zeros(shape, np.float32) for shape in shapes)
        model(source=source, target=target)


def test_arrays_that_disagree():
    net = network(node("elemwise_add", "sum", inputs=["target", "other"]),
                  node("mean", "mean", axis=[1], inputs=["source"]),
                  outputs=["sum", "mean"])
    net["inputs"]["other"] = ["N", "T", SIZE]
    model = mxc.compile(net, length=MOST, lengths=[4])
    zeros = {name: np.zeros((1, n, SIZE), np.float32)
             for name, n in (("source", 6), ("target", 3), ("other", 2))}
    with pytest.raises(ValueError, match="'target' is 3 long along 'T', 'other' 2"):
        model(**zeros)
    with pytest.raises(ValueError, match="sample 0 is 3 long along 'T' in 'target', 2"):
        model(**{name: [array[0]] for name, array in zeros.items()})


@pytest.mark.parametrize("length, said", [
    (7, "several lengths open, 'S' and 'T'; length={\"S\": 7, \"T\": 7} says"),
    ({"S": 7}, "'target' leaves axis 1 open, 'T'; length={\"T\": N} says"),
    ({"S": 7, "T": 5, "U": 2}, "names 'U'; what inputs leave open is 'S' and 'T'"),
    ({"S": 7, "T": 0}, "length 'T' up to 0, expected a name and 1 or more"),
    ({"S": 7, "": 5}, "length '' up to 5, expected a name"),
])
def test_lengths_that_are_not_named(length, said):
    with pytest.raises(mxc.CompileError) as raised:
        mxc.compile(NETWORKS["shares"], length=length)
    assert said in str(raised.value)


def test_the_only_length_may_be_named():
    net = {"mxc": 1, "inputs": {"data": ["N", "T", 2]},
           "nodes": [node("sum", "sum", axis=[1])]}
    model = mxc.compile(net, length={"T": 4})
    for n in (1, 3, 4):
        assert np.array_equal(model(np.ones((1, n, 2), np.float32)), [[n, n]])


@pytest.mark.parametrize("nodes", [
    [node("elemwise_add", "meet", inputs=["source", "target"])],
    [node("batch_dot", "meet", transpose_a=True, inputs=["source", "target"])],
])
def test_lengths_that_have_to_be_equal_are_refused(nodes):
    with pytest.raises(mxc.CompileError, match="'meet' has entries of the lengths 'S'"
                                               " and 'T' along one axis"):
        mxc.compile(network(*nodes), length={"S": 5, "T": 5}, lengths=[5])


def test_lengths_along_one_axis_are_refused():
    net = network(node("batch_dot", "scores", transpose_b=True,
                       inputs=["target", "source"]),
                  node("Reshape", "joined", shape=[0, -3]))
    with pytest.raises(mxc.CompileError, match="'joined' has entries of the lengths"):
        mxc.compile(net, length=MOST)
