# SPDX-License-Identifier: Apache-2.0
"""Steps of training in two parts: gradients, of one batch or several, and
updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._executor import Executor
    from ._model import Model
    from ._runtime import Entry

# Uses of states that count for each parameter alone.
_COUNTERS = ("updates", "begun")


def _input(entry: Entry, use: str) -> str:
    return next(t.name for t in entry.inputs if t.use == use)


class Updates:
    """The entry "grad" of a model and its entries "update:NAME", which together
    do what "train" does, for several batches at a time."""

    def __init__(self, model: Model, grad: Executor, entry: Entry, threads: int,
                 device: str) -> None:
        """grad: of that entry; its states are updated. Raises ValueError where
        the model cannot."""
        self._grad, self._entry = grad, entry
        if any(state.use == "loss_scale" for state in model.states):
            raise ValueError("training in f16 takes the entry \"train\"")
        if any(tensor.use == "rows" for tensor in entry.outputs):
            raise ValueError("an optimizer that updates some rows of a table "
                             "alone takes the entry \"train\"")
        self._counters = [state.name for state in model.states
                          if state.use in _COUNTERS]
        # By parameter: the update, and the names of its gradient and rate.
        self._updates = {
            e.of: (model.bind(e.name, threads=threads, share=grad,
                              device=device),
                   _input(e, "gradient"), _input(e, "rate"))
            for e in model.entries if e.purpose == "update"}
        if not self._updates:
            raise ValueError('entry "grad" needs "update" behind it')
        # As MXNet's heads add up what the loss averages, the default of
        # rescale_grad is 1 / batch.
        words = model.manifest.get("optimizer", "").split()
        self._adds = any(w.startswith("rescale_grad=") for w in words)
        self._sums: dict[str, NDArray[np.float32]] = {}
        self._batches = 0

    def add(self, *arrays: object) -> dict[str, NDArray[Any]]:
        """Computes the gradients of a batch, and keeps them for apply. Returns
        the other outputs by name."""
        outputs = {}
        found = self._grad(*arrays)
        for tensor, array in zip(self._entry.outputs, found):
            if tensor.use != "gradient":
                outputs[tensor.name] = array
                continue
            name = tensor.of
            if name in self._sums:
                self._sums[name] += array
            else:
                self._sums[name] = array
        self._batches += 1
        return outputs

    def apply(self, lr: float) -> None:
        """Updates by the mean of the gradients that were added; by their sum
        where the optimizer was told rescale_grad."""
        before = {name: self._grad.read_state(name) for name in self._counters}
        for name, (update, gradient_name, rate_name) in self._updates.items():
            for counter, value in before.items():
                self._grad.write_state(counter, value)
            gradient = self._sums[name]
            if self._batches > 1 and not self._adds:
                gradient *= np.float32(1) / np.float32(self._batches)
            update(**{gradient_name: gradient, rate_name: lr})
        self.forget()

    def forget(self) -> None:
        """As if nothing had been added."""
        self._sums, self._batches = {}, 0
