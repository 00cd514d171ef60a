# SPDX-License-Identifier: Apache-2.0
"""A model in text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._model import Model
    from ._runtime import Tensor

_WIDTH = 80


def summary(model: Model) -> str:
    """At most 80 columns wide."""
    manifest = model.manifest
    lines = [f"{manifest.get('network', 'network')} for "
             f"{manifest.get('target', '?')}"]
    for entry in model.entries:
        lines += ["", f"{entry.name}, batch {entry.batch}, "
                      f"{_bytes(entry.activation_bytes)} of activations"]
        lines += _rows([*(("in", t) for t in entry.inputs),
                        *(("out", t) for t in entry.outputs)])
    states = model.states
    if states:
        learned = [t for t in states if t.use == "parameter"]
        lines += ["", f"{len(learned)} parameters, "
                      f"{sum(math.prod(t.shape) for t in learned):,} values"]
        lines += _rows([("optimizer" if t.use == "optimizer" else t.use, t)
                        for t in states])
    return "\n".join(line.rstrip() for line in lines)


def _rows(rows: Sequence[tuple[str, Tensor]]) -> list[str]:
    """Names are cut at the front where a line would be too long."""
    cells = [(use, t.name, t.dtype, str(t.shape)) for use, t in rows]
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
