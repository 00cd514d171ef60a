# SPDX-License-Identifier: Apache-2.0
"""Networks that are compiled."""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import CompileError
from ._model import Model
from ._numbers import numbers
from ._words import in_python

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._compiler import Diagnostic, Request

    Path = str | os.PathLike[str]


def _network(request: Request, model: Path | Mapping[str, Any]) -> None:
    if isinstance(model, Mapping):
        model = json.dumps(model, indent=1)
    if isinstance(model, str) and model.lstrip().startswith("{"):
        request.text = model
    else:
        request.model = os.fspath(model)


def _parameters(request: Request,
                params: Path | Mapping[str, ArrayLike] | None) -> None:
    if isinstance(params, Mapping):
        request.arrays = {name: np.ascontiguousarray(numbers(array, name))
                          for name, array in params.items()}
    elif params is not None:
        request.params = os.fspath(params)


def _texts(given: str | Sequence[str]) -> list[str]:
    """A text alone is one of them, not its letters: of "fc1_*" the last one
    names all parameters."""
    return [given] if isinstance(given, str) else list(given)


# Samples of a training step where nobody says how many.
_BATCH = 32


def _default_batch(model: Path | Mapping[str, Any],
                   entries: Sequence[str]) -> list[int]:
    """[32] for the training of a network whose own words are for one sample, or
    for any number of them."""
    if not {"train", "grad", "score"} & set(entries):
        return []
    try:
        if not isinstance(model, Mapping):
            text = os.fspath(model)
            if not text.lstrip().startswith("{"):
                text = pathlib.Path(text).read_text()
            model = json.loads(text)
        assert isinstance(model, Mapping)
        shapes = [s for s in model["inputs"].values() if isinstance(s, list)]
        firsts = {shape[0] for shape in shapes if shape}
    except (OSError, ValueError, KeyError, AttributeError, AssertionError):
        return []  # the compiler says what is wrong
    if firsts and all(isinstance(n, str) or n == 1 for n in firsts):
        return [_BATCH]
    return []


class _Running:
    """The compilations that are going on. When the program ends they are given
    up and waited for: LLVM does not outlive it. Threads that would go on sleep
    from then on, as Python has threads that want the interpreter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[threading.Event, Request] = {}
        self._ending = False
        atexit.register(self._end)

    def compile(self, request: Request) -> list[Diagnostic]:
        from . import _compiler
        ended = threading.Event()
        with self._lock:
            if not self._ending:
                self._requests[ended] = request
        try:
            wanted = ended in self._requests
            said = _compiler.compile(request) if wanted else []
        finally:
            self._requests.pop(ended, None)
            ended.set()
        while self._ending:
            time.sleep(3600)
        return said

    def _end(self) -> None:
        with self._lock:
            self._ending = True
            going_on = list(self._requests.items())
        for _, request in going_on:
            request.cancel()
        for ended, _ in going_on:
            ended.wait()


_running = _Running()


def _compiled(request: Request) -> list[Diagnostic]:
    """What the compiler says. A signal is heard meanwhile: what it raises
    (KeyboardInterrupt) is raised here, and the compilation is given up."""
    if threading.current_thread() is not threading.main_thread():
        return _running.compile(request)
    said: list[list[Diagnostic]] = []
    raised: list[BaseException] = []
    ended = threading.Event()

    def work() -> None:
        try:
            said.append(_running.compile(request))
        except BaseException as error:
            raised.append(error)
        finally:
            ended.set()
    threading.Thread(target=work, name="mxc.compile").start()
    try:
        ended.wait()  # not join, which takes an interrupted thread for ended
    except BaseException:
        request.cancel()
        raise
    if raised:
        raise raised[0]
    return said[0]


def compile(model: Path | Mapping[str, Any], output: Path | None = None, *,
            params: Path | Mapping[str, ArrayLike] | None = None,
            init: str | None = None, seed: int = 0,
            shapes: Mapping[str, Sequence[int]] | None = None,
            batch: int | Sequence[int] = (),
            bounds: Mapping[str, int] | None = None,
            length: int | Mapping[str, int] = 0, lengths: Sequence[int] = (),
            entries: str | Sequence[str] = (),
            optimizer: str | None = None,
            attributes: Mapping[str, object] | None = None,
            fixed: str | Sequence[str] = (), label_smoothing: float = 0,
            memory_budget: int = 0,
            precision: str | None = None,
            keep_layers: str | Sequence[str] = (),
            weights: str | None = None, keep_weights: str | Sequence[str] = (),
            classes: Sequence[str] = (), preprocessing: str = "",
            num_classes: int = 0, loss: str | None = None,
            target: str | None = None, level: int = 2,
            tuning_cache: str | None = None, tuning_seconds: float = 30,
            progress: Callable[[str, str, float | None], None] | None = None,
            threads: int = 0, device: str = "") -> Model:
    """Compiles a network into the file `output` (None: one that goes with the
    model), and opens it.

    model: ONNX, MXNet's symbol JSON, Caffe's prototxt or mxc's own JSON: a
        file; of JSON its text, or a dict, too.
    params: a file (.params, .npz, .safetensors), or arrays by name; None:
        a .params file beside the model.
    init: how parameters without a value begin: "xavier", "normal:0.01".
    seed: of init.
    shapes: of inputs, the batch first: {"data": (1, 3, 224, 224)}.
    batch: sizes, each with code of its own. Training whose network says 1 or
        nothing has 32.
    bounds: of nodes that yield as many rows as data decide, as boolean_mask:
        how many there may be, {"rows": 16}. Memory is planned for these, and a
        call in which there are more raises Error; without, for as many as there
        can be. Outputs of such rows have those alone that there are, and are
        followed by their numbers, outputs "count:NAME".
    length: above 0, axes that inputs leave open behind the batch ("T") have any
        length up to it, and a call is as long as its arrays. It computes the next
        of `lengths`, each of which has code of its own and the longest is
        `length`; (): of lengths some 6 % apart. Where they are of several
        lengths, a bound for each by the network's names, {"S": 512, "T": 128}:
        a call computes the next of pairs, triples … that are farther apart.
    entries: "infer" (the default), "train", "score"; "grad" and behind it
        "update" are "train" in two parts.
    optimizer, attributes: "sgd", {"momentum": 0.9}, for training.
    fixed: parameters that are not trained.
    label_smoothing: a label is 1 - label_smoothing for its class, and the
        others share the rest: MXNet's smooth_alpha of SoftmaxOutput, in
        training. Its loss is that of these labels, the loss of validation that
        of the labels as they are.
    memory_budget: bytes of a plan's peak; 0: none.
    precision: of what is kept between layers: "f32", "bf16", "f16";
        keep_layers: those that read float32 all the same ("conv1_*").
    weights: of products whose weights are constants: "bf16", "int8", "int4",
        "int4:64"; keep_weights: parameters that stay as they are ("fc1_*").
    classes, preprocessing: of the data that it was trained on (mxc.Data has
        them): the model knows names and takes pictures. Without, what is noted
        beside the parameters of a checkpoint.
    num_classes: outputs that the network's last layer gets; its parameters
        begin anew, as init says, where params has others. 0: as it has.
    loss: what a network without a loss head learns by:
        "softmax_cross_entropy", "binary_cross_entropy", "mse", "mae", "hinge";
        "mse:scores" where it has several outputs.
    target: "x86-64-v3", "cuda:sm_80"; None: this machine.
    level: 0 to 3; 3 measures kernels for `tuning_seconds`, and keeps what it
        finds in the file `tuning_cache`.
    progress: called with phase, text and seconds (or None) as each phase ends.
    threads, device: of calls, as mxc.load has them.

    Raises CompileError with all that is wrong; what may be meant otherwise is a
    UserWarning. Ctrl-C gives up at once."""
    from . import _compiler  # loads LLVM
    request = _compiler.Request()
    _network(request, model)
    _parameters(request, params)
    request.init = init or ""
    if seed < 0:
        raise ValueError(f"seed is {seed}, expected 0 or more")
    request.seed = seed
    request.shapes = {n: [index(dim) for dim in s]
                      for n, s in (shapes or {}).items()}
    if isinstance(length, Mapping):
        request.named_lengths = {name: index(most) for name, most in length.items()}
    else:
        request.length = index(length)
    request.lengths = list(map(index, lengths))
    request.bounds = {node: index(rows)
                      for node, rows in (bounds or {}).items()}
    request.batches = ([batch] if isinstance(batch, int)
                       else [index(size) for size in batch])
    request.entries = _texts(entries)
    if not request.batches and not shapes:
        request.batches = _default_batch(model, request.entries)
    request.optimizer = optimizer or ""
    request.attributes = [f"{k}={v}" for k, v in (attributes or {}).items()]
    request.fixed = _texts(fixed)
    request.label_smoothing = label_smoothing
    request.memory_budget = memory_budget
    request.precision = precision or ""
    request.kept_layers = _texts(keep_layers)
    request.weights = weights or ""
    request.kept_weights = _texts(keep_weights)
    if isinstance(classes, str):
        raise TypeError(f"classes is {classes!r}, expected a list of names")
    request.classes = list(classes)
    request.preprocessing = preprocessing
    request.num_classes = num_classes
    request.loss = loss or ""
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
    try:
        diagnostics = _compiled(request)
        if any(d.severity == "error" for d in diagnostics):
            raise CompileError(diagnostics)
    except BaseException:
        if folder is not None:
            folder.cleanup()
        raise
    for diagnostic in diagnostics:
        if diagnostic.severity == "warning":
            warnings.warn(in_python(diagnostic.message), stacklevel=2)
    made = Model(output, threads, check_weights=False, device=device)
    if folder is not None:
        weakref.finalize(made, folder.cleanup)
    return made
