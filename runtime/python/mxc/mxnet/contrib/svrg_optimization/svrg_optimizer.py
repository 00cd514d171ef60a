# SPDX-License-Identifier: Apache-2.0
"""The optimizer of SVRGModule."""
from ... import optimizer as _optimizer

__all__ = []


@_optimizer.register
class _AssignmentOptimizer(_optimizer.Optimizer):
    """Puts the gradient in the weight's place: a KVStore then sums over workers."""

    def create_state(self, index, weight):
        """None."""
        return None

    def update(self, index, weight, grad, state):
        """weight = grad."""
        weight[:] = grad


@_optimizer.register
class _SVRGOptimizer(_optimizer.Optimizer):
    """`default_optimizer` for weights, assignment for keys whose name has "full"."""

    def __init__(self, default_optimizer, **kwargs):
        own = {key: kwargs.pop(key) for key in ("param_idx2name",) if key in kwargs}
        super().__init__(**own)
        if isinstance(default_optimizer, str):
            self.default_opt = _optimizer.create(default_optimizer, **own, **kwargs)
        else:
            self.default_opt = default_optimizer
        self.aux_opt = _AssignmentOptimizer()

    def _of(self, index):
        if index in self.idx2name:
            name = self.idx2name[index]
        else:
            name = str(index)
        return self.aux_opt if "full" in name else self.default_opt

    def create_state(self, index, weight):
        """The state of the optimizer that the key has."""
        return self._of(index).create_state(index, weight)

    def update(self, index, weight, grad, state):
        """The update of the optimizer that the key has."""
        self._of(index).update(index, weight, grad, state)
