# SPDX-License-Identifier: Apache-2.0
"""Gradients through mxc.mxnet beside mathematics."""

import threading

import numpy as np
import pytest

import mxc.mxnet as mx
from mxc import _ndarray
from mxc.mxnet import autograd


def marked(values):
    array = mx.nd.array(values)
    array.attach_grad()
    return array


def test_gradients_of_a_function_of_the_users_own():
    class Sigmoid(autograd.Function):
        def forward(self, x):
            y = 1 / (1 + mx.nd.exp(-x))
            self.save_for_backward(y)
            return y

        def backward(self, dy):
            y, = self.saved_tensors
            return dy * y * (1 - y)

    x = marked([-1.0, 0.5])
    with autograd.record():
        y = Sigmoid()(x * 2) * 3
    y.backward()
    s = 1 / (1 + np.exp(-2 * np.array([-1.0, 0.5])))
    np.testing.assert_allclose(x.grad.asnumpy(), 6 * s * (1 - s), rtol=1e-5)


def test_what_such_a_function_raises_arrives():
    class Broken(autograd.Function):
        def forward(self, x):
            return x + 1

        def backward(self, dy):
            raise KeyError("mine")

    x = marked([1.0])
    with autograd.record():
        y = Broken()(x)
    with pytest.raises(KeyError, match="mine"):
        y.backward()


def test_threads_have_flags_of_their_own():
    seen = []
    with autograd.record():
        thread = threading.Thread(
            target=lambda: seen.append((autograd.is_recording(),
                                        autograd.is_training())))
        thread.start()
        thread.join()
        assert autograd.is_recording() and autograd.is_training()
    assert seen == [(False, False)]


def test_gradients_have_gradients():
    x = marked([0.5, -2.0])
    with autograd.record():
        y = x * x * x
        slope, = autograd.grad(y, x, create_graph=True, retain_graph=True)
    slope.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [3.0, -12.0], rtol=1e-6)


def test_requests_are_words():
    x = _ndarray.empty([2], "float32")
    with pytest.raises(ValueError, match='by "often", expected "write"'):
        _ndarray.mark(x, x, "often")
    with pytest.raises(ValueError, match="1 heads have 2 gradients"):
        _ndarray.backward([x], [None, None])


def whole(values, dtype="int32"):
    array = mx.nd.array(values, dtype=dtype)
    array.attach_grad()
    return array


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("function, slope", [
    (lambda x: x * 2, [2, 2, 2]), (lambda x: x * x, [2, 4, 6]),
    (lambda x: x.sum(), [1, 1, 1]), (lambda x: x.astype("float32") * 2.5, [2, 2, 2]),
    (lambda x: x[1:].reshape((2, 1)), [0, 1, 1]), (lambda x: x > 1, [0, 0, 0]),
    (lambda x: mx.nd.concat(x, x * 3, dim=0), [4, 4, 4])])
def test_whole_numbers_have_gradients_like_real_ones(dtype, function, slope):
    x = whole([1, 2, 3], dtype)
    with autograd.record():
        y = function(x)
    y.backward()
    assert x.grad.dtype == np.dtype(dtype)
    assert x.grad.asnumpy().tolist() == slope


@pytest.mark.parametrize("name, of_a, of_b", [  # as MXNet 1.9.1 gives them
    ("broadcast_power", [75, 14, 2916], [201, 95, 14415]),
    ("broadcast_mod", [0, 0, 0], [0, 0, 0])])
def test_gradients_of_powers_and_remainders_of_whole_numbers(name, of_a, of_b):
    a, b = whole([5, 7, 9]), whole([3, 2, 4])
    with autograd.record():
        y = getattr(mx.nd, name)(a, b)
    y.backward()
    assert a.grad.asnumpy().tolist() == of_a and b.grad.asnumpy().tolist() == of_b


def test_a_head_takes_as_many_rows_of_a_gradient_as_it_has():
    x = marked([[1.0, 2.0], [3.0, 4.0]])
    for call in (lambda y, grad: y.backward(grad),
                 lambda y, grad: autograd.backward([y], [grad])):
        with autograd.record():
            y = x * 2
        call(y, mx.nd.array([[1, 2], [3, 4], [5, 6]]))
        assert x.grad.asnumpy().tolist() == [[2, 4], [6, 8]]
    with autograd.record():
        y = x * 2
    with pytest.raises(mx.MXNetError, match="expected float32"):
        y.backward(mx.nd.ones((2, 3)))


def test_gradients_pass_through_whole_numbers():
    x = marked([1.5, 2.5])
    with autograd.record():
        y = x.astype("int32") * 3
    y.backward()
    assert y.asnumpy().tolist() == [3, 6] and x.grad.asnumpy().tolist() == [3, 3]


def test_places_have_no_gradient_and_values_the_usual_one():
    places, values = whole([0, 2]), marked([1, 2, 3])
    with autograd.record():
        y = mx.nd.take(values, places) * 2
    y.backward()
    assert places.grad.asnumpy().tolist() == [0, 0]
    assert values.grad.asnumpy().tolist() == [2, 0, 2]


def test_values_without_a_way_for_their_gradient_are_not_assigned():
    x, y = mx.nd.zeros((3, 2)), marked([1.0, 2.0])
    with autograd.record():
        x[1] = y
        for array, key in ((mx.nd.zeros((3, 2), dtype="int32"), 1),
                           (mx.nd.zeros((3, 2)), mx.nd.array([0, 2]))):
            with pytest.raises(mx.MXNetError, match="Inplace"):
                array[key] = y
    x.backward()
    assert y.grad.asnumpy().tolist() == [1, 1]


@pytest.mark.parametrize("name", ["DeformableConvolution", "ModulatedDeformableConvolution"])
def test_deformable_convolutions_are_linear_in_their_data(name):
    draw = np.random.RandomState(1)
    data = mx.nd.array(draw.rand(2, 4, 5, 4), dtype="float64")
    offset = mx.nd.array(draw.uniform(-2.3, 2.3, (2, 24, 3, 4)), dtype="float64")
    mask = mx.nd.array(draw.rand(2, 12, 3, 4), dtype="float64")
    weight = mx.nd.array(draw.rand(6, 2, 3, 2), dtype="float64")
    head = mx.nd.array(draw.rand(2, 6, 3, 4), dtype="float64")
    inputs = [offset, weight] if name.startswith("D") else [offset, mask, weight]

    def convolve(x):
        return getattr(mx.nd.contrib, name)(
            x, *inputs, kernel=(3, 2), stride=(2, 1), pad=(1, 1), dilate=(1, 2), num_filter=6,
            num_group=2, num_deformable_group=2, no_bias=True)

    data.attach_grad()
    with mx.autograd.record():
        out = convolve(data)
    out.backward(head)
    found = data.grad.asnumpy()
    for place in np.ndindex(2, 4, 5, 4):
        unit = np.zeros(data.shape)
        unit[place] = 1
        expected = (convolve(mx.nd.array(unit, dtype="float64")) * head).sum().asscalar()
        np.testing.assert_allclose(found[place], expected, rtol=1e-9, atol=1e-12)
