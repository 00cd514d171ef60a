# SPDX-License-Identifier: Apache-2.0
"""Entries of a model, with memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _runtime

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Executor(_runtime.Executor):
    """One entry of a model with memory and states of its own: what Model.bind
    returns. It serves one thread at a time."""

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs the entry on arrays of just its inputs' shapes and types, read
        where they lie (or numbers, where an input has one value), by position or
        by name. Returns a new array, or a tuple where there are several
        outputs; where data decide how many rows an output has (another one,
        "count:NAME", says it), with those alone.
        Raises TypeError or ValueError for arrays that do not fit, mxc.Error for
        a run that fails."""
        return super().__call__(*arrays, **named)

    def read_state(self, name: str) -> NDArray[Any]:
        """A copy of a state: "fc1_weight", "fc1_weight/momentum". Raises
        KeyError for a name that there is not."""
        return super().read_state(name)

    def write_state(self, name: str, values: object) -> None:
        """Copies an array of the state's shape and type into it. Raises
        KeyError, TypeError or ValueError."""
        super().write_state(name, values)

    def reset_states(self) -> None:
        """All states become what the file says."""
        super().reset_states()
