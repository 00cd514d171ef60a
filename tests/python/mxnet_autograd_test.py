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
