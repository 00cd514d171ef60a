# SPDX-License-Identifier: Apache-2.0
"""mxc.mxnet.gluon.rnn and gluon.contrib.rnn: cells, their modifiers, fused layers."""

import numpy as np
import pytest

import mxc.mxnet as mx
from mxc.mxnet import autograd, gluon


def drawn(*shape, seed=3):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("kind", [gluon.rnn.RNN, gluon.rnn.LSTM, gluon.rnn.GRU])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_fused_layers_are_their_cells(kind, bidirectional):
    layer = kind(4, 2, layout="NTC", bidirectional=bidirectional, input_size=3)
    cells = layer._unfuse()
    layer.initialize(mx.init.Normal(0.5))
    x = mx.nd.array(drawn(2, 5, 3))
    y = layer(x)
    assert y.shape == (2, 5, 8 if bidirectional else 4)
    want, _ = cells.unroll(5, x, layout="NTC", merge_outputs=True)
    np.testing.assert_allclose(y.asnumpy(), want.asnumpy(), rtol=1e-4, atol=1e-5)


def test_lstm_cell():
    cell = gluon.rnn.LSTMCell(3, input_size=2)
    cell.initialize(mx.init.Normal(1))
    x, h, c = drawn(1, 2), drawn(1, 3, seed=4), drawn(1, 3, seed=5)
    out, (new_h, new_c) = cell(*[mx.nd.array(x), [mx.nd.array(h), mx.nd.array(c)]])
    values = {name[len(cell.prefix):]: param.data().asnumpy()
              for name, param in cell.params.items()}
    gates = x @ values["i2h_weight"].T + values["i2h_bias"] + \
        h @ values["h2h_weight"].T + values["h2h_bias"]
    i, f, g, o = np.split(gates, 4, axis=1)

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    want_c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    np.testing.assert_allclose(new_c.asnumpy(), want_c, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(out.asnumpy(), sigmoid(o) * np.tanh(want_c), rtol=1e-5,
                               atol=1e-6)


def test_valid_length_masks_outputs_and_chooses_states():
    cell = gluon.rnn.RNNCell(3, input_size=2)
    cell.initialize()
    x = mx.nd.array(drawn(2, 4, 2))
    full, _ = cell.unroll(4, x, merge_outputs=True)
    outputs, states = cell.unroll(4, x, merge_outputs=True, valid_length=mx.nd.array([2, 4]))
    assert (outputs.asnumpy()[0, 2:] == 0).all()
    np.testing.assert_allclose(states[0].asnumpy()[0], full.asnumpy()[0, 1], rtol=1e-6)
    np.testing.assert_allclose(states[0].asnumpy()[1], full.asnumpy()[1, 3], rtol=1e-6)


def test_modified_cells_are_called_through_the_modifier():
    cell = gluon.rnn.RNNCell(3, input_size=3)
    outer = gluon.rnn.ResidualCell(cell)
    outer.initialize()
    with pytest.raises(AssertionError, match="within a modifier"):
        cell.begin_state(2)
    out, _ = outer.unroll(2, mx.nd.ones((1, 2, 3)), merge_outputs=True)
    assert out.shape == (1, 2, 3)


def test_states_are_handed_on():
    layer = gluon.rnn.GRU(4, layout="NTC", input_size=3)
    layer.initialize()
    x = mx.nd.array(drawn(2, 6, 3))
    whole = layer(x).asnumpy()
    _, states = layer(x[:, :4], layer.begin_state(2))
    rest, _ = layer(x[:, 4:], states)
    np.testing.assert_allclose(rest.asnumpy(), whole[:, 4:], rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="is expected"):
        layer(x, layer.begin_state(3))


def test_variational_dropout_is_the_same_at_each_step():
    cell = gluon.contrib.rnn.VariationalDropoutCell(
        gluon.rnn.RNNCell(50, input_size=4, i2h_bias_initializer="ones"), drop_outputs=0.5)
    cell.initialize()
    with autograd.record():
        out, _ = cell.unroll(3, mx.nd.ones((1, 3, 4)), merge_outputs=True)
    dropped = out.asnumpy()[0] == 0
    assert dropped.any() and not dropped.all()
    assert (dropped == dropped[0]).all()


def test_projected_cells_have_small_states():
    cell = gluon.contrib.rnn.LSTMPCell(8, 3, input_size=2)
    cell.initialize()
    out, (r, c) = cell(mx.nd.ones((1, 2)), cell.begin_state(1))
    assert (out.shape, r.shape, c.shape) == ((1, 3), (1, 3), (1, 8))


@pytest.mark.parametrize("kind", ["Conv1DRNNCell", "Conv1DLSTMCell", "Conv1DGRUCell"])
def test_convolutional_cells_keep_extents(kind):
    cell = getattr(gluon.contrib.rnn, kind)((2, 9), 5, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    cell.initialize()
    out, states = cell.unroll(2, mx.nd.array(drawn(1, 2, 2, 9)), layout="NTC")
    assert out[1].shape == (1, 5, 9) and states[0].shape == (1, 5, 9)


def test_dynamic_unroll_is_unroll():
    cell = gluon.rnn.LSTMCell(4, input_size=3)
    cell.initialize()
    x, lengths = mx.nd.array(drawn(2, 5, 3)), mx.nd.array([2, 5])
    want, want_states = cell.unroll(5, x, merge_outputs=True, valid_length=lengths)
    got, states = gluon.contrib.rnn.rnn_cell.dynamic_unroll(
        cell, x, cell.begin_state(2), layout="NTC", valid_length=lengths)
    np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-5, atol=1e-6)
    for one, other in zip(states, want_states):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)
