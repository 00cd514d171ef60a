# SPDX-License-Identifier: Apache-2.0
"""Artifacts that are opened."""

from __future__ import annotations

import html
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _programs, _runtime, _train
from ._executor import Executor
from ._inputs import Batches, Sequences, is_pictures, read_pictures
from ._samples import ClassLabels, Probabilities
from ._summary import summary
from ._training import Trainer

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Model(_runtime.Model):
    """An artifact. Called with arrays (NumPy, or what speaks DLPack, in the
    host's memory) it runs its entry "infer" and returns new NumPy arrays, in
    memory of their own; other Python threads run meanwhile, and may call it,
    too."""

    def __init__(self, path: str | os.PathLike[str] | bytes, threads: int = 0,
                 check_weights: bool = True, copy_weights: bool = False,
                 device: str = "") -> None:
        self._bytes = path if isinstance(path, bytes) else None
        self.path = "" if isinstance(path, bytes) else os.fspath(path)
        super().__init__(self.path if self._bytes is None else self._bytes,
                         threads, check_weights, copy_weights, device)
        if device:
            self.bind()  # says what is wrong with it

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs the entry "infer" whose inputs have the arguments' shapes.

        arrays, named: inputs in their order, or by name, of the entry's types
            (float32, as a rule), with as many samples as an entry computes:
            read where they lie. Any other number of samples is computed batch
            by batch. Samples of lengths of their own, where the model has open
            axes: lists of arrays without the axis of samples, which are
            computed without filling any up. Where the model was trained on
            pictures: paths or bytes of JPEG or PNG files, or a list of them.
        Returns an array, or a tuple where there are several outputs, with a row
        for each sample (a list of arrays, where these have lengths of their
        own); of an output of which data decide how many rows it has, those
        alone, and then their number, another output.
        Raises TypeError or ValueError for arrays that do not fit, mxc.Error for
        a run that fails."""
        try:
            return super().__call__(*arrays, **named)
        except (TypeError, ValueError):
            otherwise = self._otherwise(arrays, named)
            if otherwise is None:
                raise
        return otherwise()

    def bind(self, entry: str = "", batch: int = 0, threads: int = 0,
             share: Executor | None = None, device: str = "",
             stream: int = 0) -> Executor:
        """An executor of its own.

        entry, batch: "train", 32; "", 0: "infer", or the first there is.
        threads: of a run; 0: one for each processor.
        share: whose states it uses, too: it sees what that has learned, and
            they run one after the other.
        device: "cuda:1"; "": the model's.
        stream: the caller's CUDA stream, which orders runs behind what was put
            there before: torch.cuda.current_stream().cuda_stream; it outlives
            the executor. 0: one of its own.
        Raises mxc.Error where there is no such entry or device."""
        return Executor(self, entry, batch, threads, share, device, stream)

    @property
    def manifest(self) -> dict[str, str]:
        """What the file says of itself; of lines with one key the last."""
        return {key: values[-1] for key, values in self._lines().items()}

    @property
    def classes(self) -> list[str]:
        """The names of the classes that it was trained with; [] where nobody
        said."""
        return _train.label_names(self.manifest.get("label_names", ""))

    @property
    def class_labels(self) -> list[ClassLabels]:
        """The labels that are numbers of classes."""
        found = []
        for line in self._lines().get("classes", []):
            count, ignored, name = line.split(" ", 2)
            found.append(ClassLabels(
                name, int(count), None if ignored == "none" else float(ignored)))
        return found

    @property
    def label_kinds(self) -> list[ClassLabels | Probabilities]:
        """The same, and those that are probabilities."""
        labels = [t.name for t in self.entries[0].inputs if t.use == "label"]
        kinds = (line.split() for line in self.heads)
        return [*self.class_labels,
                *(Probabilities(labels[int(kind[2])]) for kind in kinds
                  if kind[0] == "probabilities" and int(kind[2]) >= 0)]

    @property
    def heads(self) -> list[str]:
        """What the outputs of loss heads and their labels hold, as lines of
        the manifest."""
        return self._lines().get("head", [])

    @property
    def label_classes(self) -> int:
        """Of how many classes the label has the probabilities; 0: of none."""
        kinds = (line.split() for line in self.heads)
        return next((int(kind[4]) for kind in kinds
                     if kind[0] == "distribution"), 0)

    def summary(self) -> str:
        """Entries with their inputs, outputs and memory, and the states, as
        text of at most 80 columns: print(model.summary())."""
        return summary(self)

    def _otherwise(self, arrays: tuple[Any, ...], named: dict[str, Any]
                   ) -> Callable[[], Any] | None:
        """How to compute what no entry takes as it is; None: there is no way."""
        if arrays and is_pictures(arrays[0]):
            return lambda: self(self._pictures(arrays[0]), *arrays[1:], **named)
        entries = self.entries
        sequences = Sequences.of(entries, arrays, named)
        if sequences is not None:
            return lambda: sequences.run(self.__call__)
        batches = Batches.of(entries, arrays, named)
        if batches is None:
            return None
        call = super().__call__
        return lambda: batches.run(call)

    def _lines(self) -> dict[str, list[str]]:
        lines: dict[str, list[str]] = {}
        for line in self.manifest_text.splitlines():
            key, found, value = line.partition(": ")
            if found:
                lines.setdefault(key, []).append(value)
        return lines

    def _pictures(self, files: Any) -> NDArray[Any]:
        shape = next(e for e in self.entries if e.name == "infer").inputs[0].shape
        return read_pictures(files, self.manifest.get("preprocess", ""), shape)

    def trainer(self, threads: int = 0, device: str = "") -> Trainer:
        """What trains the states of this model (compiled with entries
        ["train", "score"], or ["grad", "update", "score"] to add up the gradients
        of several batches); each has states of its own."""
        return Trainer(self, threads, device)

    def page(self) -> str:
        """`mxc inspect --html`: the model's steps and memory."""
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.html"
            path = self.path
            if self._bytes is not None:
                path = str(pathlib.Path(folder) / "model.mxa")
                pathlib.Path(path).write_bytes(self._bytes)
            _programs.output_of(_programs.path("mxc"), "inspect", path,
                                "--html", str(page))
            return page.read_text()

    def picture(self) -> str:
        """`mxc dot` of the network, drawn as SVG by Graphviz (FileNotFoundError
        where that is not installed)."""
        with tempfile.TemporaryDirectory() as folder:
            network = pathlib.Path(folder) / "network.json"
            network.write_text(self.symbol)
            shapes = [f"--input-shape={t.name}:{'x'.join(map(str, t.shape))}"
                      for t in self.entries[0].inputs if t.use == "data"]
            drawing = str(pathlib.Path(folder) / "network.dot")
            _programs.output_of(_programs.path("mxc"), "dot", str(network),
                                *shapes, "-o", drawing)
            return _programs.output_of("dot", "-Tsvg", drawing)

    def _repr_svg_(self) -> str | None:
        return self.picture() if shutil.which("dot") else None

    def _repr_html_(self) -> str | None:
        """What a notebook prefers to the picture: the page, where there is no
        Graphviz to draw that."""
        if shutil.which("dot"):
            return None
        return ('<iframe style="width:100%;height:600px;border:0" srcdoc="'
                + html.escape(self.page(), quote=True) + '"></iframe>')

    def __repr__(self) -> str:
        entries = ", ".join(f"{e.name} (batch {e.batch})" for e in self.entries)
        return f"<mxc.Model {self.path or 'of bytes'}: {entries}>"


def load(path: str | os.PathLike[str] | bytes, *, threads: int = 0,
         check_weights: bool = True, copy_weights: bool = False,
         device: str = "") -> Model:
    """Opens an artifact, which is a program: open what you would run.

    path: the file, or its bytes, which the model keeps.
    threads: of a call of the model; 0: one for each processor.
    check_weights: read all weights, and refuse a file in which they changed
        (some 6 GB a second). Without, weights come when they are needed.
    copy_weights: to huge pages, faster where weights exceed the caches.
    device: "cuda:1", of the kind that it was compiled for; "": number 0.
    Raises mxc.Error for a file that is damaged, or not for this machine."""
    return Model(path, threads, check_weights, copy_weights, device)
