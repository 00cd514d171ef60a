# SPDX-License-Identifier: Apache-2.0
"""Sentences of the compiler in Python's words."""

from __future__ import annotations

import re
from collections.abc import Callable

_WORD = r"[\w.:/-]*\w"


def _shape(match: re.Match[str]) -> str:
    name, dims = match[1], ", ".join(match[2].split("x"))
    return f'shapes={{"{name}": ({dims})}}'


def _entries(match: re.Match[str]) -> str:
    return "entries=[" + ", ".join(f'"{e}"' for e in match[1].split(",")) + "]"


def _lengths(match: re.Match[str]) -> str:
    pairs = (pair.split("=") for pair in match[1].split(","))
    return "length={" + ", ".join(f'"{name}": {most}' for name, most in pairs) + "}"


# What the command line takes, and what mxc.compile does; the first that fits.
_OPTIONS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"--input-shape (\w+):(\d+(?:x\d+)*)", _shape),
    (r"--input-shape", "shapes="),
    (r"--bound '([^']+)'", r'bounds={"\1": …}'),
    (r"--bound", "bounds="),
    (r"--entry ([a-z]+(?:,[a-z]+)*)", _entries),
    (r"--entry", "entries="),
    (rf"--init ({_WORD})", r'init="\1"'),
    (r"--init", "init="),
    (r"--params", "params="),
    (r"--batch (\d+)", r"batch=\1"),
    (r"--batch", "batch="),
    (r"--opt (\w+)=(\S*\w)", r'attributes={"\1": \2}'),
    (r"--opt(?:-attr)?\b", "attributes="),
    (rf"--optimizer ({_WORD})", r'optimizer="\1"'),
    (rf"--target ({_WORD})", r'target="\1"'),
    (rf"--precision ({_WORD})", r'precision="\1"'),
    (r"--weights (bf16|int8|int4(?::\d+)?)", r'weights="\1"'),
    (r"--keep-weight ('[^']+')", r"keep_weights=[\1]"),
    (r"--keep-layer ('[^']+')", r"keep_layers=[\1]"),
    (r"--(optimizer|fixed|seed|target|precision|weights)", r"\1="),
    (r"--length ((?:[^=,\s]+=\w+)(?:,[^=,\s]+=\w+)*)", _lengths),
    (r"--length (\d+)", r"length=\1"),
    (r"--memory-budget", "memory_budget="),
    (r"--label-smoothing", "label_smoothing="),
    (rf"--loss ({_WORD})", r'loss="\1"'),
    (r"--loss", "loss="),
    (r"--tuning-cache", "tuning_cache="),
    # Of Trainer.fit.
    (r"--resume --overwrite", "resume=True, overwrite=True"),
    (r"--(resume|overwrite)", r"\1=True"),
    (r"--save(?= PREFIX)?", "checkpoint="),
    (r"--metric", "metrics="),
    (r"--val", "validation="),
    (r"--(epochs|ema|lr|accumulate)", r"\1="),
    (r"--lr-schedule", "lr_schedule="),
]


def in_python(sentence: str) -> str:
    """The sentence with options of the command line as arguments of
    mxc.compile and Trainer.fit; what has no such argument stays."""
    for option, argument in _OPTIONS:
        sentence = re.sub(r"(?<![\w-])" + option + r"(?![\w-])", argument,
                          sentence)
    return sentence
