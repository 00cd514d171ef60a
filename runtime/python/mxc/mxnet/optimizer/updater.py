# SPDX-License-Identifier: Apache-2.0
"""Updater: an optimizer with the states of all its weights."""

import pickle

from .. import ndarray as nd
from . import _together


class Updater:
    """updater(index, grad, weight) changes a weight; lists of each are taken, too.

    states: by index; states_synced: whether they lie where the weight does.
    """

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.states = {}
        self.states_synced = {}
        self.aggregate_updates = False
        self._together = _together.Together()

    def __call__(self, index, grad, weight):
        if not isinstance(index, (list, tuple)):
            index, grad, weight = [index], [grad], [weight]
        if weight:
            self.optimizer._set_current_context(weight[0].context.device_id)
        step = self.optimizer, self.states, index, grad, weight
        if self._together.again(*step):
            return
        if _together.may_collect(self.optimizer, weight, grad):
            self._together.step(lambda: self._update(index, grad, weight))
            self._together.note(*step)
        else:
            self._together.forget()
            self._update(index, grad, weight)

    def _update(self, indices, grads, weights):
        for index, grad, weight in zip(indices, grads, weights):
            if index not in self.states:
                self.states[index] = self.optimizer.create_state_multi_precision(
                    index, weight)
            elif not self.states_synced[index]:
                self.states[index] = self.sync_state_context(self.states[index],
                                                             weight.context)
            self.states_synced[index] = True
            self.optimizer.update_multi_precision(index, weight, grad,
                                                  self.states[index])

    def sync_state_context(self, state, context):
        """The state, in the context."""
        if isinstance(state, nd.NDArray):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(part, context)
                               for part in state)
        return state

    def set_states(self, states):
        """Takes what get_states() gave; with the optimizer, where it is there."""
        loaded = pickle.loads(states)
        if isinstance(loaded, tuple) and len(loaded) == 2:
            self.states, self.optimizer = loaded
        else:
            self.states = loaded
        self.states_synced = dict.fromkeys(self.states, False)
        self._together.forget()

    def get_states(self, dump_optimizer=False):
        """The states as bytes, with dump_optimizer the optimizer, too."""
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer
                            else self.states)


def get_updater(optimizer):
    """The Updater of an optimizer."""
    return Updater(optimizer)
