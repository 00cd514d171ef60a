# SPDX-License-Identifier: Apache-2.0
"""How good predictions are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _train

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._runtime import Entry
    from ._samples import Batch

    Metric = str | Callable[[NDArray[Any], NDArray[Any]], float]


class Measures:
    """Metrics of runtime/train, and functions of the user's own."""

    def __init__(self, metrics: str | Sequence[Metric] | None,
                 heads: list[str], entry: Entry) -> None:
        """heads: of the model's manifest; metrics that they cannot answer are
        refused."""
        chosen = _train.default_metrics(heads) if metrics is None else metrics
        listed: Sequence[Metric] = (chosen.split(",") if isinstance(chosen, str)
                                    else chosen)
        named = [m.strip() for m in listed if isinstance(m, str)]
        text = ",".join(m for m in named if m)
        self._named = _train.Metrics(text, heads)
        # As the setting "metric" has them; None: those that fit the network.
        self.names = None if metrics is None else text or "none"
        for metric in listed:
            if not isinstance(metric, str) and not callable(metric):
                raise TypeError(f"metric {metric!r} is neither a name nor a "
                                "function of (labels, outputs)")
        self.own = {getattr(m, "__name__", repr(m)): m for m in listed
                     if not isinstance(m, str)}
        self._predictions = [i for i, tensor in enumerate(entry.outputs)
                             if tensor.use == "other"]
        self.reset()

    def reset(self) -> None:
        self._named.reset()
        self._sums = {name: 0.0 for name in self.own}
        self._count = 0

    def update(self, batch: Batch, outputs: Sequence[NDArray[Any]],
               data: int) -> None:
        """With what a network says of a batch, without what fills it up; its
        arrays are `data` inputs, then labels."""
        rows = len(batch.arrays[0])
        labels = batch.arrays[data:]
        found = [outputs[i] for i in self._predictions]
        self._named.update(labels, found, rows, batch.pad)
        count = rows - batch.pad
        for name, function in self.own.items():
            self._sums[name] += count * float(function(
                _counted(labels[0], rows, count),
                _counted(found[0], rows, count)))
        self._count += count

    def values(self) -> dict[str, float]:
        own = {name: total / max(1, self._count)
               for name, total in self._sums.items()}
        return {**self._named.values(), **own}


def _counted(array: NDArray[Any], rows: int, count: int) -> NDArray[Any]:
    if not array.ndim or len(array) % rows:
        return array
    return array[:len(array) // rows * count]
