# SPDX-License-Identifier: Apache-2.0
"""Optimizers of mx.optimizer.contrib."""

from .. import ndarray as nd
from .base import Optimizer, register


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one sum for each row; without decay."""

    def __init__(self, eps=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index, weight):
        if len(weight.shape) != 2:
            raise AssertionError("GroupAdaGrad is of matrices")
        return nd.zeros((weight.shape[0], 1), weight.context, weight.dtype)

    def update(self, index, weight, grad, state):
        if grad.stype == "row_sparse":
            nd.sparse.update_rows(self._step, index, weight, grad, state)
        else:
            self._step(index, weight, grad, state)

    def _step(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        if wd != 0:
            raise AssertionError("GroupAdaGrad does not decay weights")
        grad = self._scaled(grad)
        state[:] = state + nd.mean(grad * grad, axis=1, keepdims=True)
        step = nd.broadcast_div(grad, nd.sqrt(state + self.float_stable_eps))
        weight[:] = weight - step * lr
