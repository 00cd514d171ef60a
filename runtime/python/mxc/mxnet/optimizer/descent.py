# SPDX-License-Identifier: Apache-2.0
"""Gradient descent: plain, with momentum, by signs, with noise, by layers."""

import math

import numpy as np

from .. import ndarray as nd
from ._together import apply, of_settings
from .base import Optimizer, register, zeros_like


@register
class SGD(Optimizer):
    """w ← (1 − lr·wd)·w − lr·g, or with momentum μ: m ← μ·m − lr·wd·w − lr·g and
    w ← w + m."""

    def __init__(self, momentum=0.0, lazy_update=True, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum else None

    @of_settings("momentum", "lazy_update")
    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        if state is None:
            apply("sgd_update", [weight, grad], weight, lr=lr,
                  **self._lazy(grad), **self._options(wd))
        else:
            apply("sgd_mom_update", [weight, grad, state], weight, lr=lr,
                  momentum=self.momentum, **self._lazy(grad),
                  **self._options(wd))


@register
class ccSGD(SGD):
    """SGD by its earlier name."""


@register
class NAG(Optimizer):
    """Nesterov's momentum: m ← μ·m, w ← w − m + (μ + 1)·(m − lr·(g + wd·w)), and
    m ← m − lr·(g + wd·w) of the new w, as MXNet's kernel in place has it."""

    def __init__(self, momentum=0.0, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum else None

    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        if state is None:
            apply("sgd_update", [weight, grad], weight, lr=lr,
                  **self._options(wd))
            return
        grad = self._scaled(grad)
        mu = self.momentum
        state *= mu
        weight[:] = (weight - state
                     + (state - (grad + weight * wd) * lr) * (mu + 1))
        state -= (grad + weight * wd) * lr


@register
class Signum(Optimizer):
    """By the sign of the gradient, or of its momentum; wd_lh: a decay outside the
    momentum."""

    def __init__(self, learning_rate=0.01, momentum=0.9, wd_lh=0.0, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum else None

    @of_settings("momentum", "wd_lh")
    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        if state is None:
            apply("signsgd_update", [weight, grad], weight, lr=lr,
                  **self._options(wd))
        else:
            apply("signum_update", [weight, grad, state], weight, lr=lr,
                  momentum=self.momentum, wd_lh=self.wd_lh or None,
                  **self._options(wd))


@register
class SGLD(Optimizer):
    """Langevin dynamics: half a step, and noise of variance lr."""

    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        noise = nd._invoke("_random_normal", [], {
            "loc": 0.0, "scale": 1.0, "shape": weight.shape,
            "dtype": np.dtype(weight.dtype).name})
        step = (self._scaled(grad) + weight * wd) * (-lr / 2)
        weight[:] = weight + step + noise * math.sqrt(lr)


@register
class DCASGD(Optimizer):
    """Descent that makes up for the delay of gradients by their squares."""

    def __init__(self, momentum=0.0, lamda=0.04, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lamda = lamda

    def create_state(self, index, weight):
        return (zeros_like(weight) if self.momentum else None), weight.copy()

    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        momentum, before = state
        grad = self._scaled(grad)
        step = (grad + weight * wd
                + grad * grad * (weight - before) * self.lamda) * -lr
        if momentum is not None:
            momentum[:] = momentum * self.momentum + step
            step = momentum
        before[:] = weight
        weight[:] = weight + step


@register
class LARS(Optimizer):
    """SGD whose rate is, layer by layer, eta·‖w‖ / (‖g‖ + wd·‖w‖ + eps); gammas,
    betas and biases have the plain one."""

    def __init__(self, momentum=0.0, lazy_update=True, eta=0.001, eps=0,
                 momentum_correction=True, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.momentum_correction = momentum_correction
        self.eta = eta
        self.eps = eps
        self.last_lr = None

    def set_wd_mult(self, args_wd_mult):
        """Only names that end in _weight are decayed."""
        self.wd_mult = {name: 0.0 for name in self.idx2name.values()
                        if not name.endswith("_weight")}
        self.wd_mult.update(self._of_variables("__wd_mult__"))
        self.wd_mult.update(args_wd_mult)

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum else None

    def _rate(self, index, weight, grad, wd):
        if self.idx2name.get(index, "").endswith(("gamma", "beta", "bias")):
            return 1.0
        size = float(np.linalg.norm(weight.asnumpy()))
        slope = float(np.linalg.norm(grad.asnumpy() * self.rescale_grad))
        if size <= 0 or slope <= 0:
            return 1.0
        return self.eta * size / (slope + wd * size + self.eps)

    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        changed = self.last_lr not in (None, 0) and self.momentum_correction
        momentum = self.momentum * (lr / self.last_lr if changed else 1)
        self.last_lr = lr
        lr *= self._rate(index, weight, grad, wd)
        if state is None:
            apply("sgd_update", [weight, grad], weight, lr=lr,
                  **self._options(wd))
        else:
            apply("sgd_mom_update", [weight, grad, state], weight, lr=lr,
                  momentum=momentum, **self._options(wd))


@register
class LBSGD(Optimizer):
    """SGD of large batches: gradients of batch_scale calls are averaged, and the
    rate rises over warmup_epochs ("linear", "power2", "sqrt"), or follows the
    layer ("lars")."""

    def __init__(self, momentum=0.0, multi_precision=False,
                 warmup_strategy="linear", warmup_epochs=5, batch_scale=1,
                 updates_per_epoch=32, begin_epoch=0, num_epochs=60, **kwargs):
        super().__init__(multi_precision=multi_precision, **kwargs)
        self.momentum = momentum
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self._sums = {}

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum else None

    def _warmup(self, updates):
        """The factor of the rate after so many updates."""
        rise = self.warmup_epochs * self.updates_per_epoch
        top = float(self.batch_scale)
        if updates >= rise or rise <= 1:
            return top if updates >= rise else 1.0
        part = updates / rise
        powers = {"linear": part, "power2": part * part, "sqrt": math.sqrt(part)}
        if self.warmup_strategy not in powers:
            return 1.0
        return 1.0 + (top - 1) * powers[self.warmup_strategy]

    def _layer(self, weight, grad, wd):
        size = float((weight.asnumpy() ** 2).sum())
        slope = float((grad.asnumpy() ** 2).sum())
        return min(100.0, max(0.01, math.sqrt(size / (slope + wd * size
                                                      + 1e-18))))

    def update(self, index, weight, grad, state):
        lr, wd = self._get_lr(index), self._get_wd(index)
        self._update_count(index)
        count, total = self._sums.get(index, (0, None))
        total = grad.copy() if total is None else total + grad
        if count + 1 < self.batch_scale:
            self._sums[index] = (count + 1, total)
            return
        self._sums.pop(index, None)
        grad = total * (1.0 / self.batch_scale)
        if self.warmup_strategy == "lars":
            lr *= self._layer(weight, grad, wd)
        else:
            lr *= self._warmup(self.num_update + self.init_updates)
        if state is None:
            apply("sgd_update", [weight, grad], weight, lr=lr,
                  **self._options(wd))
        else:
            apply("sgd_mom_update", [weight, grad, state], weight, lr=lr,
                  momentum=self.momentum, **self._options(wd))


@register
class Test(Optimizer):
    """w ← w + rescale_grad·g, for tests; the state becomes the weight."""

    __test__ = False

    def create_state(self, index, weight):
        return zeros_like(weight)

    def update(self, index, weight, grad, state):
        weight[:] = weight + grad * self.rescale_grad
        state[:] = weight
