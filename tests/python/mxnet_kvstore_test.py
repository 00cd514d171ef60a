# SPDX-License-Identifier: Apache-2.0
"""mx.kv: sums of what is pushed, updates, states."""

import numpy as np
import pytest

import mxc.mxnet as mx


def value(number):
    return mx.nd.full((2, 2), number)


def test_pushes_are_summed():
    store = mx.kv.create("local")
    store.init("w", value(0))
    store.push("w", [value(1), value(2), value(3)])
    out = value(0)
    store.pull("w", out=out)
    assert (out.asnumpy() == 6).all()


def test_lists_of_keys():
    store = mx.kv.create("device")
    store.init([3, 5], [value(0), value(0)])
    store.push([3, 5], [[value(1), value(1)], [value(4)]])
    outs = [value(0), value(0)]
    store.pull([3, 5], out=outs)
    assert [out.asnumpy()[0, 0] for out in outs] == [2, 4]


def test_pushpull_in_place_and_out():
    store = mx.kv.create()
    store.broadcast(1, value(7), out=value(0))
    values, outs = [value(1), value(2)], [value(0)]
    store.pushpull(1, values, out=outs)
    assert (outs[0].asnumpy() == 3).all()
    store.pushpull(1, values)
    assert all((each.asnumpy() == 3).all() for each in values)


def test_updater_and_optimizer(tmp_path):
    store = mx.kv.create()
    store.init(0, value(1))

    def add(key, pushed, stored):
        stored += pushed * 10

    store._set_updater(add)
    store.push(0, value(2))
    out = value(0)
    store.pull(0, out=out)
    assert (out.asnumpy() == 21).all()

    store.set_optimizer(mx.optimizer.create("sgd", learning_rate=0.5,
                                            momentum=0.9))
    store.push(0, value(2))
    store.pull(0, out=out)
    assert (out.asnumpy() == 20).all()
    file = str(tmp_path / "states")
    store.save_optimizer_states(file)
    other = mx.kv.create()
    other.init(0, out)
    other.set_optimizer(mx.optimizer.create("sgd", learning_rate=0.5,
                                            momentum=0.9))
    other.load_optimizer_states(file)
    for each in (store, other):
        each.push(0, value(2))
    second = value(0)
    store.pull(0, out=out)
    other.pull(0, out=second)
    np.testing.assert_array_equal(out.asnumpy(), second.asnumpy())


def test_what_is_refused():
    store = mx.kv.create()
    store.init("a", value(0))
    for wrong in (lambda: store.init("a", value(0)), lambda: store.push(3, value(0)),
                  lambda: store.pull("b", out=value(0)),
                  lambda: store.row_sparse_pull("a", out=value(0)),
                  lambda: store.init(1.5, value(0)),
                  lambda: mx.kv.create("nonsense"),
                  lambda: mx.kv.create("dist_sync")):
        with pytest.raises(mx.MXNetError):
            wrong()
    assert (store.type, store.rank, store.num_workers) == ("local", 0, 1)


def test_pull_leaves_sparse_arrays_alone_unless_asked():
    store = mx.kv.create("local")
    store.init("a", mx.nd.ones((2, 2)))
    sparse = mx.nd.array([[0, 0], [3, 3]]).tostype("row_sparse")
    store.pull("a", out=sparse)
    assert sparse.asnumpy().tolist() == [[0, 0], [3, 3]]
