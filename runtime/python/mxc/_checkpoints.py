# SPDX-License-Identifier: Apache-2.0
"""Files of a trainer: parameters as MXNet's .params, all states as .npz."""

from __future__ import annotations

import math
import os
import pathlib
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _train
from ._errors import Error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._average import Average
    from ._runtime import Tensor

    Path = str | os.PathLike[str]
    Arrays = Mapping[str, NDArray[Any]]

_META = "mxc|position"  # epochs, steps
_BEST = "mxc|best"  # the epoch whose loss was the least, and the loss


class Saved(NamedTuple):
    """States by name, how many epochs and steps they have learned, and the best
    epoch so far with its loss; 0: there was none."""

    arrays: dict[str, NDArray[Any]]
    epochs: int
    steps: int
    best: tuple[int, float] = (0, math.inf)


def write_parameters(path: Path, arrays: Arrays, states: list[Tensor]) -> None:
    use = {state.name: state.use for state in states}
    _train.write_parameters(os.fspath(path), {
        ("aux:" if use[name] == "auxiliary" else "arg:") + name:
            np.ascontiguousarray(array) for name, array in arrays.items()})


def read_parameters(path: Path) -> dict[str, NDArray[Any]]:
    """Arrays by the names of parameters: of a .params, .npz or .safetensors."""
    read = _train.read_parameters(os.fspath(path))
    return {name.removeprefix("arg:").removeprefix("aux:"): array
            for name, array in read.items()}


def write_states(path: Path, arrays: Arrays, epochs: int = 0,
                 steps: int = 0, best: tuple[int, float] = (0, math.inf)
                 ) -> None:
    """Whole or not at all."""
    members: dict[str, Any] = {_escape(name): array
                               for name, array in arrays.items()}
    members[_META] = np.array([epochs, steps], np.int64)
    members[_BEST] = np.array(best, np.float64)
    unfinished = pathlib.Path(f"{os.fspath(path)}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            np.savez(file, **members)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_states(path: Path) -> Saved:
    """What write_states has written."""
    try:
        with open(path, "rb") as opened, np.load(opened) as file:
            arrays = {_unescape(name): file[name] for name in file.files}
    except (zipfile.BadZipFile, zlib.error, struct.error, ValueError, TypeError,
            AttributeError, EOFError, KeyError, NotImplementedError,
            MemoryError, RuntimeError, SyntaxError) as error:
        # What NumPy, zipfile and zlib raise for files that are no archives, or
        # damaged ones.
        raise Error(f"'{os.fspath(path)}' is damaged, or no .npz of states",
                    "corrupt") from error
    position = arrays.pop(_unescape(_META), np.zeros(2, np.int64))
    best = arrays.pop(_unescape(_BEST), np.array([0, math.inf]))
    if (position.shape != (2,) or position.dtype.kind != "i"
            or best.shape != (2,) or best.dtype.kind != "f"
            or not 0 <= best[0] <= position[0]):
        raise Error(f"'{os.fspath(path)}' is damaged", "corrupt")
    return Saved(arrays, int(position[0]), int(position[1]),
                 (int(best[0]), float(best[1])))


class Series:
    """The checkpoints PREFIX-0001.params and PREFIX-0001.npz, PREFIX-0002 …,
    PREFIX-best.params, and beside them PREFIX-symbol.json, the network as it
    came: what MXNet and `mxc compile` take, and what training goes on from."""

    def __init__(self, prefix: Path) -> None:
        self._prefix = os.fspath(prefix)

    def path(self, epoch: int, suffix: str) -> str:
        return f"{self._prefix}-{epoch:04}.{suffix}"

    def newest(self) -> int:
        """The last epoch that was saved whole; 0: none was."""
        return max((int(m[1]) for m in self._files() if m[2] == "npz"),
                   default=0)

    def require_own(self, symbol: str, resume: bool) -> None:
        """That nothing is written over what others have left: another run, `mxc
        train`, another network."""
        for match in self._files():
            foreign = match[2] in ("mxc", "states") or (
                match[2].endswith("params") and int(match[1]) > self.newest())
            if foreign:
                raise FileExistsError(f"{match.string} is of another run: "
                                      "another prefix begins anew")
            if not resume:
                raise FileExistsError(
                    f"{match.string} is of an earlier run: resume=True goes on "
                    "from it, another prefix begins anew")
        path = self._symbol()
        if path.exists() and path.read_text() != symbol:
            raise FileExistsError(f"{path} holds another network: another prefix "
                                  "begins anew")

    def save(self, epoch: int, steps: int, arrays: Arrays,
             states: list[Tensor], symbol: str,
             average: Average | None = None,
             best: tuple[int, float] = (0, math.inf)) -> None:
        """Writes all files of an epoch, first what training goes on from, so
        that parameters without it are of another run. Where it is the best one,
        its parameters, or their averages, are PREFIX-best.params, too."""
        if folder := os.path.dirname(self._prefix):
            os.makedirs(folder, exist_ok=True)
        self._symbol().write_text(symbol)
        learned = {state.name: arrays[state.name] for state in states
                   if state.use in ("parameter", "auxiliary")}
        kept = {} if average is None else average.states()
        shown = learned if average is None else {**learned,
                                                 **average.parameters()}
        if best[0] == epoch:
            write_parameters(f"{self._prefix}-best.params", shown, states)
        write_states(self.path(epoch, "npz"), {**arrays, **kept}, epoch, steps,
                     best)
        if average is not None:
            write_parameters(self.path(epoch, "ema.params"), shown, states)
        write_parameters(self.path(epoch, "params"), learned, states)

    def _symbol(self) -> pathlib.Path:
        return pathlib.Path(self._prefix + "-symbol.json")

    def _files(self) -> list[re.Match[str]]:
        """Names that could be of a series, as (epoch, suffix)."""
        folder, name = os.path.split(self._prefix)
        pattern = re.compile(re.escape(name) +
                             r"-(\d{4,})\.(npz|(?:ema\.)?params|states|mxc)")
        if not os.path.isdir(folder or "."):
            return []
        return [match for entry in sorted(os.listdir(folder or "."))
                if (match := pattern.fullmatch(entry))]


def _escape(name: str) -> str:
    return name.replace("/", "|")  # a member of a zip archive has no folders


def _unescape(name: str) -> str:
    return name.replace("|", "/")
