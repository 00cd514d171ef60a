# SPDX-License-Identifier: Apache-2.0
"""Files of a trainer: parameters as MXNet's .params, all states as .npz."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _train
from ._errors import Error
from ._whole_file import write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._runtime import Tensor

    Path = str | os.PathLike[str]
    Arrays = Mapping[str, NDArray[Any]]


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


def write_states(path: Path, arrays: Arrays) -> None:
    """Whole or not at all."""
    members: dict[str, Any] = {_escape(name): array
                               for name, array in arrays.items()}
    with write_whole(path) as file:
        np.savez(file, **members)


def read_states(path: Path) -> dict[str, NDArray[Any]]:
    """What write_states has written."""
    try:
        with open(path, "rb") as opened, np.load(opened) as file:
            return {_unescape(name): file[name] for name in file.files}
    except (zipfile.BadZipFile, zlib.error, struct.error, ValueError, TypeError,
            AttributeError, EOFError, KeyError, NotImplementedError,
            MemoryError, RuntimeError, SyntaxError) as error:
        # What NumPy, zipfile and zlib raise for files that are no archives, or
        # damaged ones.
        raise Error(f"'{os.fspath(path)}' is damaged, or no .npz of states",
                    "corrupt") from error


def _escape(name: str) -> str:
    return name.replace("/", "|")  # a member of a zip archive has no folders


def _unescape(name: str) -> str:
    return name.replace("|", "/")
