# SPDX-License-Identifier: Apache-2.0
"""Nested lists of arrays or symbols, as one flat list and a format."""
from ..ndarray import NDArray
from ..symbol import Symbol

# A format is ARRAY, NOTHING, the number of outputs that one symbol has, or a list of
# formats.
ARRAY, NOTHING = 0, -1


def flatten(value, what):
    """(flat list, format) of a nested list; `what` is for the error's sentence."""
    if isinstance(value, NDArray):
        return [value], ARRAY
    if isinstance(value, Symbol):
        count = len(value.list_outputs())
        return [value], count if count > 1 else ARRAY
    if value is None:
        return [None], NOTHING
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"The {what} of a hybridized block is a (nested) list of arrays or of "
                         f"symbols; {value!r} is a {type(value).__name__}.")
    flat, formats = [], []
    for each in value:
        part, part_format = flatten(each, what)
        flat += part
        formats.append(part_format)
    return flat, formats


def regroup(flat, form):
    """The nested list of format `form` whose flat list is `flat`."""
    value, rest = _take(list(flat), form)
    assert not rest, "More values than the format holds."
    return value


def _take(flat, form):
    if form == NOTHING:
        return None, flat[1:] if flat and flat[0] is None else flat
    if isinstance(form, int):
        return (flat[0], flat[1:]) if form == ARRAY else (flat[:form], flat[form:])
    values = []
    for each in form:
        value, flat = _take(flat, each)
        values.append(value)
    return values, flat


def without_trailing_nothing(form):
    """A call's format without the Nones at its end: `f(a)` and `f(a, None)` are alike."""
    form = list(form)
    while form and form[-1] == NOTHING:
        form.pop()
    return form
