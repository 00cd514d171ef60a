# SPDX-License-Identifier: Apache-2.0
"""Moving averages of what training learns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._executor import Executor
    from ._runtime import Tensor

_PREFIX, _COUNT = "ema/", "updates/ema"


class Average:
    """The exponential moving average of parameters and moving statistics, as
    `mxc train --ema` keeps it (runtime/train/ema_step.h)."""

    def __init__(self, decay: float, executor: Executor,
                 states: list[Tensor]) -> None:
        """Begins with what the executor's states are."""
        if not 0 < decay < 1:
            raise ValueError(f"ema is {decay}, expected a number above 0 and "
                             "below 1")
        self._decay, self._executor = decay, executor
        self._types = {state.name: state.dtype for state in states
                       if state.use in ("parameter", "auxiliary")
                       and np.dtype(state.dtype).kind == "f"}
        self._values = {name: self._own(name) for name in self._types}
        self._updates = 0

    def add(self) -> None:
        """After an update."""
        self._updates += 1
        decay = min(self._decay, (1 + self._updates) / (10 + self._updates))
        for name, value in self._values.items():
            value += np.float32(1 - decay) * (self._own(name) - value)

    def parameters(self) -> dict[str, NDArray[Any]]:
        """Copies, of the parameters' types."""
        return {name: value.astype(self._types[name])
                for name, value in self._values.items()}

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """Meanwhile the executor's states are the averages."""
        own = {name: self._executor.read_state(name) for name in self._values}
        self._write(self.parameters())
        try:
            yield
        finally:
            self._write(own)

    def states(self) -> dict[str, NDArray[Any]]:
        """What a file keeps to go on from."""
        kept: dict[str, NDArray[Any]] = {
            _PREFIX + name: value for name, value in self._values.items()}
        kept[_COUNT] = np.array([self._updates], np.int64)
        return kept

    def restore(self, kept: Mapping[str, NDArray[Any]]) -> None:
        """Of a run without averages: they begin with what it has learned."""
        restored = _COUNT in kept
        self._updates = int(kept[_COUNT][0]) if restored else 0
        for name in self._values:
            self._values[name] = (
                np.array(kept[_PREFIX + name], np.float32) if restored
                else self._own(name))

    def _own(self, name: str) -> NDArray[np.float32]:
        return self._executor.read_state(name).astype(np.float32)

    def _write(self, values: Mapping[str, NDArray[Any]]) -> None:
        for name, value in values.items():
            self._executor.write_state(name, value)
