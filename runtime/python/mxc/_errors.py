# SPDX-License-Identifier: Apache-2.0
"""What mxc raises."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ._words import in_python

if TYPE_CHECKING:
    from ._compiler import Diagnostic


class Error(RuntimeError):
    """An artifact cannot be opened or run. `code` is one of "invalid argument",
    "not found", "corrupt", "unsupported", "out of memory", "io", "busy" and
    "failed"."""

    def __init__(self, message: str, code: str = "failed") -> None:
        super().__init__(message)
        self.code = code


class CompileError(Error):
    """A network cannot be compiled. `diagnostics` holds all that is wrong;
    `file`, `line` and `column` are those of the first error. Sentences are in
    Python's words; `diagnostics` has them as the compiler says them."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        super().__init__("\n".join(map(_sentence, errors)), "invalid argument")
        first = errors[0]
        self.file, self.line, self.column = first.file, first.line, first.column


def _sentence(diagnostic: Diagnostic) -> str:
    place = ""
    if diagnostic.line:
        place = f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}: "
    elif diagnostic.file:
        place = f"{diagnostic.file}: "
    notes = "".join("\n  " + n for n in diagnostic.notes.splitlines())
    return f"{place}error: {in_python(diagnostic.message + notes)}"
