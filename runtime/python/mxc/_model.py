# SPDX-License-Identifier: Apache-2.0
"""Artifacts that are opened."""

from __future__ import annotations

import html
import os
import pathlib
import shutil
import tempfile

from . import _programs, _runtime
from ._training import Trainer


class Model(_runtime.Model):
    """An artifact. Called with arrays (NumPy, or what speaks DLPack, in the
    host's memory) it runs its entry "infer" and returns NumPy arrays; nothing
    is copied or converted, and other Python threads run meanwhile."""

    def __init__(self, path: str | os.PathLike[str], threads: int = 0,
                 check_weights: bool = False,
                 copy_weights: bool = False) -> None:
        super().__init__(os.fspath(path), threads, check_weights, copy_weights)
        self.path = os.fspath(path)

    @property
    def manifest(self) -> dict[str, str]:
        lines = self.manifest_text.splitlines()
        return dict(line.split(": ", 1) for line in lines if ": " in line)

    def trainer(self, threads: int = 0) -> Trainer:
        """What trains the states of this model (compiled with entries
        ["train", "score"]); each has states of its own."""
        return Trainer(self, threads)

    def page(self) -> str:
        """`mxc inspect --html`: the model's steps and memory."""
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.html"
            _programs.output_of(_programs.path("mxc"), "inspect", self.path,
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
        return f"<mxc.Model {self.path}: {entries}>"


def load(path: str | os.PathLike[str], *, threads: int = 0,
         check_weights: bool = False, copy_weights: bool = False) -> Model:
    """Opens an artifact, which is a program: open what you would run.

    threads: of a call of the model; 0: one for each processor.
    check_weights: read all weights, and refuse a file in which they changed.
    copy_weights: to huge pages, faster where weights exceed the caches."""
    return Model(path, threads, check_weights, copy_weights)
