# SPDX-License-Identifier: Apache-2.0
"""Rules with a step for each element, by what its gradients were."""

import math

from .. import ndarray as nd
from ._together import apply, one_call
from .base import Optimizer, register, zeros_like


@register
class Adam(Optimizer):
    """Running means of gradients and of their squares, corrected for beginning as
    0 (Kingma and Ba, 2014)."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8,
                 lazy_update=True, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2 = beta1, beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def create_state(self, index, weight):
        return zeros_like(weight), zeros_like(weight)

    @one_call
    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        t = self._index_update_count[index]
        lr *= math.sqrt(1 - self.beta2 ** t) / (1 - self.beta1 ** t)
        apply("adam_update", [weight, grad, *state], weight, lr=lr,
              beta1=self.beta1, beta2=self.beta2, epsilon=self.epsilon,
              **self._lazy(grad), **self._options(wd))


@register
class AdaGrad(Optimizer):
    """By the root of the sum of all squared gradients."""

    def __init__(self, eps=1e-7, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index, weight):
        return zeros_like(weight)

    def update(self, index, weight, grad, state):
        if grad.stype == "row_sparse":
            nd.sparse.update_rows(self._step, index, weight, grad, state)
        else:
            self._step(index, weight, grad, state)

    def _step(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        grad = self._scaled(grad)
        state[:] = state + grad * grad
        step = grad / nd.sqrt(state + self.float_stable_eps) + weight * wd
        weight[:] = weight - step * lr


@register
class RMSProp(Optimizer):
    """By the root of the running mean of squares; centered: of the variance, with
    a momentum gamma2. clip_weights: weights are limited to ±this."""

    def __init__(self, learning_rate=0.001, gamma1=0.9, gamma2=0.9, epsilon=1e-8,
                 centered=False, clip_weights=None, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1, self.gamma2 = gamma1, gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index, weight):
        return tuple(zeros_like(weight) for _ in range(3 if self.centered else 1))

    @one_call
    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        options = {"gamma1": self.gamma1, "epsilon": self.epsilon,
                   "clip_weights": self.clip_weights, **self._options(wd)}
        if self.centered:
            apply("rmspropalex_update", [weight, grad, *state], weight, lr=lr,
                  gamma2=self.gamma2, **options)
        else:
            apply("rmsprop_update", [weight, grad, *state], weight, lr=lr,
                  **options)


@register
class AdaDelta(Optimizer):
    """By running means of squares of gradients and of steps; without a rate."""

    def __init__(self, rho=0.90, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index, weight):
        return zeros_like(weight), zeros_like(weight)

    def update(self, index, weight, grad, state):
        _, wd = self._begin(index)
        grad = self._scaled(grad)
        squares, steps = state
        squares[:] = squares * self.rho + grad * grad * (1.0 - self.rho)
        step = (nd.sqrt(steps + self.epsilon) / nd.sqrt(squares + self.epsilon)
                * grad)
        steps[:] = steps * self.rho + step * step * (1.0 - self.rho)
        weight[:] = weight - step - weight * wd


@register
class Ftrl(Optimizer):
    """Follows the regularized leader; lamda1: of the L1 norm. A scheduler keeps
    its own base_lr."""

    def __init__(self, lamda1=0.01, learning_rate=0.1, beta=1, **kwargs):
        super().__init__(**kwargs)
        self.lr = learning_rate
        self.lamda1 = lamda1
        self.beta = beta

    def create_state(self, index, weight):
        return zeros_like(weight), zeros_like(weight)

    @one_call
    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        apply("ftrl_update", [weight, grad, *state], weight, lr=lr,
              lamda1=self.lamda1, beta=self.beta, **self._options(wd))


@register
class FTML(Optimizer):
    """Follows the moving leader."""

    def __init__(self, beta1=0.6, beta2=0.999, epsilon=1e-8, **kwargs):
        super().__init__(**kwargs)
        self.beta1, self.beta2 = beta1, beta2
        self.epsilon = epsilon

    def create_state(self, index, weight):
        return tuple(zeros_like(weight) for _ in range(3))

    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        apply("ftml_update", [weight, grad, *state], weight, lr=lr,
              t=self._index_update_count[index], beta1=self.beta1,
              beta2=self.beta2, epsilon=self.epsilon, wd=wd,
              rescale_grad=self.rescale_grad, clip_grad=self.clip_gradient)


@register
class Adamax(Optimizer):
    """Adam by the largest gradient in place of the root of squares."""

    def __init__(self, learning_rate=0.002, beta1=0.9, beta2=0.999, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2 = beta1, beta2

    def create_state(self, index, weight):
        return zeros_like(weight), zeros_like(weight)

    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        lr /= 1.0 - self.beta1 ** self._index_update_count[index]
        grad = grad * self.rescale_grad + weight * wd
        if self.clip_gradient is not None:
            grad = nd.clip(grad, -self.clip_gradient, self.clip_gradient)
        mean, largest = state
        mean[:] = mean * self.beta1 + grad * (1.0 - self.beta1)
        largest[:] = nd.maximum(largest * self.beta2, nd.abs(grad))
        weight[:] = weight - mean * lr / largest


@register
class Nadam(Optimizer):
    """Adam with Nesterov's momentum, which follows a schedule."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8,
                 schedule_decay=0.004, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2 = beta1, beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def create_state(self, index, weight):
        return zeros_like(weight), zeros_like(weight)

    def _momentum(self, t):
        return self.beta1 * (1.0 - 0.5 * 0.96 ** (t * self.schedule_decay))

    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        t = self._index_update_count[index]
        grad = grad * self.rescale_grad + weight * wd
        if self.clip_gradient is not None:
            grad = nd.clip(grad, -self.clip_gradient, self.clip_gradient)
        now, after = self._momentum(t), self._momentum(t + 1)
        self.m_schedule *= now
        mean, squares = state
        mean[:] = mean * self.beta1 + grad * (1.0 - self.beta1)
        squares[:] = squares * self.beta2 + grad * grad * (1.0 - self.beta2)
        step = (grad * ((1.0 - now) / (1.0 - self.m_schedule))
                + mean * (after / (1.0 - self.m_schedule * after)))
        size = nd.sqrt(squares * (1.0 / (1.0 - self.beta2 ** t))) + self.epsilon
        weight[:] = weight - step * lr / size


@register
class LAMB(Optimizer):
    """Adam whose step has, layer by layer, the size of the weights."""

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6,
                 lower_bound=None, upper_bound=None, bias_correction=True,
                 **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1, self.beta2 = beta1, beta2
        self.epsilon = epsilon
        self.lower_bound, self.upper_bound = lower_bound, upper_bound
        self.bias_correction = bias_correction

    def create_state(self, index, weight):
        return zeros_like(weight), zeros_like(weight)

    def update(self, index, weight, grad, state):
        lr, wd = self._begin(index)
        step = apply("lamb_update_phase1", [weight, grad, *state], None,
                     t=self._index_update_count[index], beta1=self.beta1,
                     beta2=self.beta2, epsilon=self.epsilon,
                     bias_correction=self.bias_correction, **self._options(wd))
        apply("lamb_update_phase2", [weight, step, _norm(weight), _norm(step)],
              weight, lr=lr, lower_bound=self.lower_bound,
              upper_bound=self.upper_bound)


def _norm(array):
    return nd._invoke("norm", [array], {})
