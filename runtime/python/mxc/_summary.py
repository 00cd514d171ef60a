# SPDX-License-Identifier: Apache-2.0
"""A model in text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._model import Model
    from ._runtime import Entry, Tensor

_WIDTH = 80


def summary(model: Model) -> str:
    """At most 80 columns wide."""
    manifest = model.manifest
    lines = [f"{manifest.get('network', 'network')} for "
             f"{manifest.get('target', '?')}"]
    entries = model.entries
    for entry in entries:
        sizes = [size_of(e) for e in entries if e.lengths
                 and (e.purpose, e.batch) == (entry.purpose, entry.batch)]
        name = entry.name
        if entry.lengths:
            if size_of(entry) < max(sizes):
                continue
            name = (f"{entry.purpose}, {_lengths(entry)} long by "
                    f"{len(sizes)} entries")
        lines += ["", f"{name}, batch {entry.batch}, "
                      f"{_bytes(entry.activation_bytes)} of activations"]
        lines += _rows([*(("in", t) for t in entry.inputs if t.use != "length"),
                        *(("out", t) for t in entry.outputs)])
    states = model.states
    if states:
        learned = [t for t in states if t.use == "parameter"]
        lines += ["", f"{len(learned)} parameters, "
                      f"{sum(math.prod(t.shape) for t in learned):,} values"]
        lines += _rows([("optimizer" if t.use == "optimizer" else t.use, t)
                        for t in states])
    return "\n".join(line.rstrip() for line in lines)


def size_of(entry: Entry) -> int:
    """How long it is along all open lengths together."""
    return math.prod(entry.lengths.values()) if entry.lengths else entry.length


def _lengths(entry: Entry) -> str:
    """"1 to 512", "1 to 512 (S) and 1 to 128 (T)" """
    return " and ".join(f"1 to {most} ({name})" if name else f"1 to {most}"
                        for name, most in entry.lengths.items())


def shape_text(tensor: Tensor, first_axis: int = 0) -> str:
    """ "(1, 1 to 64, 8)" where the second axis is open."""
    dims = [f"1 to {extent}" if axis in tensor.open_axes else str(extent)
            for axis, extent in enumerate(tensor.shape) if axis >= first_axis]
    return "({}{})".format(", ".join(dims), "," * (len(dims) == 1))


def _rows(rows: Sequence[tuple[str, Tensor]]) -> list[str]:
    """Names are cut at the front where a line would be too long."""
    cells = [(use, t.name, t.dtype, shape_text(t)) for use, t in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(4)]
    rest = sum(widths) - widths[1] + 2 + 3 * 2
    widths[1] = max(12, min(widths[1], _WIDTH - rest))
    return [("  " + "  ".join([use.ljust(widths[0]),
                               _cut(name, widths[1]).ljust(widths[1]),
                               dtype.ljust(widths[2]), shape]))[:_WIDTH]
            for use, name, dtype, shape in cells]


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else "…" + name[len(name) - width + 1:]


def _bytes(count: int) -> str:
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{value:.4g} {unit}"
