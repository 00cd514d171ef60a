# SPDX-License-Identifier: Apache-2.0
"""mx.init: rules by names, and the sizes of what is drawn."""

import json

import numpy as np
import pytest

import mxc.mxnet as mx


def filled(initializer, name, shape, attrs=None):
    array = mx.nd.full(shape, 7.0)
    initializer(mx.init.InitDesc(name, attrs), array)
    return array.asnumpy()


@pytest.mark.parametrize("name, value", [("fc_bias", 0), ("bn_gamma", 1),
                                         ("bn_beta", 0), ("range_max", 1)])
def test_rules_by_the_end_of_names(name, value):
    assert (filled(mx.init.Uniform(), name, (3,)) == value).all()


def test_a_variables_own_rule_wins():
    own = {"__init__": mx.init.Constant(3).dumps()}
    assert (filled(mx.init.Zero(), "fc_weight", (2, 2), own) == 3).all()
    with pytest.raises(ValueError):
        filled(mx.init.Zero(), "strange", (2, 2))


@pytest.mark.parametrize("initializer, deviation", [
    (mx.init.Uniform(0.3), 0.3 / np.sqrt(3)), (mx.init.Normal(0.5), 0.5),
    (mx.init.Xavier(), np.sqrt(3 / 300) / np.sqrt(3)),
    (mx.init.Xavier("gaussian", "in", 2), np.sqrt(2 / 400)),
    (mx.init.MSRAPrelu("out", 0), np.sqrt(2 / 200))])
def test_sizes_of_draws(initializer, deviation):
    values = filled(initializer, "fc_weight", (200, 400))
    assert values.std() == pytest.approx(deviation, rel=0.03)
    assert abs(values.mean()) < deviation / 50


def test_orthogonal_rows():
    values = filled(mx.init.Orthogonal(scale=2), "w_weight", (4, 3, 3))
    matrix = values.reshape(4, 9)
    np.testing.assert_allclose(matrix @ matrix.T, 4 * np.eye(4), atol=1e-5)


def test_bilinear_filters_and_forget_gates():
    values = filled(mx.init.Bilinear(), "up_weight", (1, 1, 4, 4))
    line = np.array([0.25, 0.75, 0.75, 0.25])
    np.testing.assert_allclose(values[0, 0], np.outer(line, line))
    own = {"__init__": mx.init.LSTMBias(2.0).dumps()}
    assert filled(mx.init.Zero(), "i2h_bias", (8,), own).tolist() == [
        0, 0, 2, 2, 0, 0, 0, 0]


def test_mixed_and_load():
    mixed = mx.init.Mixed(["fc.*", ".*"], [mx.init.One(), mx.init.Zero()])
    assert filled(mixed, "fc_weight", (2,)).tolist() == [1, 1]
    assert filled(mixed, "other_weight", (2,)).tolist() == [0, 0]
    load = mx.init.Load({"arg:w": mx.nd.array([1, 2])}, mx.init.One())
    assert filled(load, "w", (2,)).tolist() == [1, 2]
    assert filled(load, "v_weight", (2,)).tolist() == [1, 1]
    with pytest.raises(AssertionError):
        filled(load, "w", (3,))


def test_texts_make_equal_initializers():
    for text in ('["constant", {"value": 1}]', '["xavier", {"rnd_type": '
                 '"uniform", "factor_type": "avg", "magnitude": 3}]'):
        assert mx.init.create(text).dumps() == text
    assert isinstance(mx.init.create("zeros"), mx.init.Zero)
    value = np.ones((2, 2))
    assert json.loads(mx.init.Constant(value).dumps()) == [
        "constant", {"value": [[1, 1], [1, 1]]}]
