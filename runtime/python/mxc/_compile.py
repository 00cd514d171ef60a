# SPDX-License-Identifier: Apache-2.0
"""Networks that are compiled."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._errors import CompileError
from ._model import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._compiler import Request

    Path = str | os.PathLike[str]


def _network(request: Request, model: Path | Mapping[str, Any]) -> None:
    if isinstance(model, Mapping):
        model = json.dumps(model, indent=1)
    if isinstance(model, str) and model.lstrip().startswith("{"):
        request.text = model
    else:
        request.model = os.fspath(model)


def _parameters(request: Request,
                params: Path | Mapping[str, NDArray[Any]] | None) -> None:
    if isinstance(params, Mapping):
        request.arrays = dict(params)
    elif params is not None:
        request.params = os.fspath(params)


def compile(model: Path | Mapping[str, Any], output: Path | None = None, *,
            params: Path | Mapping[str, NDArray[Any]] | None = None,
            init: str | None = None, seed: int = 0,
            shapes: Mapping[str, Sequence[int]] | None = None,
            batch: int | Sequence[int] = (),
            entries: Sequence[str] = (),
            optimizer: str | None = None,
            attributes: Mapping[str, object] | None = None,
            fixed: Sequence[str] = (), memory_budget: int = 0,
            target: str | None = None, level: int = 2,
            tuning_cache: str | None = None, tuning_seconds: float = 30,
            progress: Callable[[str, str, float | None], None] | None = None,
            threads: int = 0) -> Model:
    """Compiles a network into the file `output` (None: one that goes with the
    model), and opens it.

    model: MXNet's symbol JSON or mxc's own: a file, its text, or a dict.
    params: a file (.params, .npz, .safetensors), or arrays by name; None:
    a .params file beside the model.
    init: how parameters without a value begin: "xavier".
    shapes: of inputs: {"data": (1, 3, 224, 224)}.
    batch: sizes, each with code of its own.
    entries: "infer" (the default), "train", "score".
    optimizer, attributes: "sgd", {"momentum": 0.9}.
    progress: called with phase, text and seconds as each phase ends.
    Raises CompileError with all that is wrong; warnings are UserWarnings."""
    from . import _compiler  # loads LLVM
    request = _compiler.Request()
    _network(request, model)
    _parameters(request, params)
    request.init = init or ""
    request.seed = seed
    request.shapes = {n: list(s) for n, s in (shapes or {}).items()}
    request.batches = [batch] if isinstance(batch, int) else list(batch)
    request.entries = list(entries)
    request.optimizer = optimizer or ""
    request.attributes = [f"{k}={v}" for k, v in (attributes or {}).items()]
    request.fixed = list(fixed)
    request.memory_budget = memory_budget
    request.target = target or ""
    request.level = level
    request.tuning_cache = tuning_cache or ""
    request.tuning_seconds = tuning_seconds
    request.progress = progress
    folder = None
    if output is None:
        folder = tempfile.TemporaryDirectory(prefix="mxc-")
        output = os.path.join(folder.name, "model.mxa")
    request.output = os.fspath(output)
    diagnostics = _compiler.compile(request)
    if any(d.severity == "error" for d in diagnostics):
        raise CompileError(diagnostics)
    for diagnostic in diagnostics:
        if diagnostic.severity == "warning":
            warnings.warn(diagnostic.message, stacklevel=2)
    made = Model(output, threads)
    if folder is not None:
        weakref.finalize(made, folder.cleanup)
    return made
