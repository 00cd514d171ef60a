# SPDX-License-Identifier: Apache-2.0
"""Functions that join arrays, and that part one."""

import numpy as onp

from ... import _ndarray
from ..ndarray import NDArray, _empty
from ..symbol import Symbol
from ._call import (MXNetError, as_array, call, function, is_empty, is_symbolic,
                    on_host, to_numpy)
from ._elementwise import cast, promoted


def _alike(arrays):
    """The arrays in one type."""
    arrays = [as_array(array) for array in arrays]
    if is_symbolic(*arrays):
        return arrays
    dtype = arrays[0]._array.dtype
    for array in arrays[1:]:
        dtype = promoted(dtype, array._array.dtype)
    return [cast(array, dtype) for array in arrays]


def concatenate(seq, axis=0, out=None):
    """Arrays one behind the other along an axis; None: all elements along one."""
    seq = list(seq)
    arrays = _alike(seq)
    if not arrays:
        raise ValueError("np.concatenate: at least one array is needed")
    if is_empty(arrays):
        if all(array.size == 0 for array in arrays):
            return on_host(onp.concatenate, (arrays, axis), {"out": out}, False)
        _checked(onp.concatenate, arrays, axis)
        joined = concatenate([array for array in arrays if array.size], axis, out)
        if not _ndarray.is_recorded(joined._array) and any(
                is_empty(array) and array._grad is not None for array in seq):
            _empty.as_head(joined._array)
        return joined
    if axis is None:
        arrays = [call("_np_reshape", [array], {"newshape": (-1,)}) for array in arrays]
        axis = 0
    return call("_npi_concatenate", arrays, {"num_args": len(arrays), "axis": axis}, out)


def _checked(numpy_function, arrays, *args):
    """MXNetError where NumPy does not join arrays of such shapes."""
    try:
        numpy_function([onp.broadcast_to(onp.int8(0), a.shape) for a in arrays], *args)
    except ValueError as error:
        raise MXNetError(f"np.{numpy_function.__name__}: {error}") from None


def append(arr, values, axis=None):
    """The values behind the array, along an axis or all along one."""
    return concatenate([arr, values], axis)


def stack(arrays, axis=0, out=None):
    """Arrays of one shape along a new axis."""
    arrays = _alike(list(arrays))
    if not is_symbolic(*arrays):
        _checked(onp.stack, arrays, axis)
    if is_empty(arrays):
        return on_host(onp.stack, (arrays, axis), {"out": out}, False)
    return call("_npi_stack", arrays, {"num_args": len(arrays), "axis": axis}, out)


def _joining(name, dim):
    def over(arrays, out=None):
        arrays = _alike(list(arrays))
        if is_empty(arrays):
            result = on_host(getattr(onp, name), (arrays,), {}, False)
            if result.size:
                arrays = [array for array in arrays if array.size]
            else:
                return result
        return call(f"_npi_{name}", arrays, {"num_args": len(arrays), "dim": dim}, out)
    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"{name} of arrays, whose types may differ."
    return over


def _split(array, indices_or_sections, axis, equal=True):
    if isinstance(indices_or_sections, (int, onp.integer)):
        sections = int(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0")
        if isinstance(array, Symbol) or array.shape[axis] % sections == 0:
            return {"indices": (), "sections": sections}
        if equal:
            raise ValueError("array split does not result in an equal division")
        extent = array.shape[axis]
        sizes = [extent // sections + (i < extent % sections) for i in range(sections)]
        return {"indices": (0, *onp.cumsum(sizes)[:-1].tolist())}
    return {"indices": (0, *(int(i) for i in to_numpy(indices_or_sections)))}


def _parted(name, numpy_function, equal=True, axis_of=lambda a, axis: axis):
    def over(ary, indices_or_sections, axis=0):
        axis = axis_of(ary, axis)
        if not isinstance(ary, Symbol):
            if not -ary.ndim <= axis < ary.ndim:
                raise MXNetError(f"np.{name}: there is no axis {axis} among {ary.ndim}")
        attrs = _split(ary, indices_or_sections, axis, equal)
        if not isinstance(ary, Symbol):
            parts = numpy_function(onp.broadcast_to(onp.int8(0), ary.shape),
                                   to_numpy(indices_or_sections), axis)
            if len(parts) == 1:
                return [ary.copy()]
            if any(part.size == 0 for part in parts):
                return _by_slices(ary, [part.shape[axis] for part in parts],
                                  attrs["indices"], axis)
        found = call("_npi_split", [ary], {"axis": axis, **attrs})
        return found if isinstance(found, list) else [found]
    over.__name__ = over.__qualname__ = name
    over.__doc__ = (f"{name}: a list of equal parts, or of those that begin at the "
                    "indices.")
    return over


def _by_slices(array, extents, begins, axis):
    key = [slice(None)] * array.ndim
    found = []
    for i, extent in enumerate(extents):
        begin = begins[i] if i < len(begins) else 0
        key[axis] = slice(begin, begin + extent)
        found.append(array[tuple(key)])
    return found


split = _parted("split", onp.split)
array_split = _parted("array_split", onp.array_split, equal=False)


def _along(name, axis, least):
    def over(ary, indices_or_sections):
        here = axis
        if not isinstance(ary, Symbol):
            if ary.ndim < least:
                raise ValueError(f"np.{name}: an array has {least} axes at least, found "
                                 f"{ary.ndim}")
            if name == "hsplit" and ary.ndim == 1:
                here = 0
        elif name == "hsplit":
            attrs = _split(ary, indices_or_sections, 1)
            found = call("_npi_hsplit", [ary], attrs)
            return found if isinstance(found, list) else [found]
        return split(ary, indices_or_sections, here)
    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"split along axis {axis}."
    return over


@function()
def delete(arr, obj, axis=None):
    """Without the elements at `obj`, a number, a slice or an array."""
    if isinstance(arr, Symbol):
        return _delete_symbol(arr, obj, axis)
    gone = to_numpy(obj)
    if isinstance(obj, NDArray) and gone.dtype != bool:
        gone = gone.astype("int64")  # MXNet's arrays are of float32, unless told
    kept = onp.delete(onp.arange(arr.size if axis is None else arr.shape[axis]), gone)
    flat = arr.reshape((-1,)) if axis is None else arr
    axis = 0 if axis is None else axis % arr.ndim
    return flat[(slice(None),) * axis + (kept.astype("int64"),)]


def _delete_symbol(arr, obj, axis):
    attrs = {} if axis is None else {"axis": axis}
    if isinstance(obj, slice):
        attrs.update({name: value for name, value in (
            ("start", obj.start), ("stop", obj.stop), ("step", obj.step))
            if value is not None})
        return call("_npi_delete", [arr], attrs)
    if isinstance(obj, int):
        return call("_npi_delete", [arr], {**attrs, "int_ind": obj})
    return on_host(onp.delete, (arr, obj, axis), {})


@function()
def insert(arr, obj, values, axis=None):
    """With the values before the elements at `obj`: a number, a slice or an array."""
    if is_symbolic(arr, values) or not isinstance(values, NDArray):
        return _insert_operator(arr, obj, values, axis)
    return _insert_operator(arr, obj, cast(values, arr._array.dtype), axis)


def _insert_operator(arr, obj, values, axis):
    attrs = {} if axis is None else {"axis": axis}
    inputs = [arr]
    if isinstance(values, (int, float)):
        attrs["val"] = float(values)
    else:
        inputs.append(as_array(values))
    if isinstance(obj, slice):
        attrs.update({name: value for name, value in (
            ("start", obj.start), ("stop", obj.stop), ("step", obj.step))
            if value is not None})
        return call("_npi_insert_slice", inputs, attrs)
    if isinstance(obj, int):
        return call("_npi_insert_scalar", inputs, {**attrs, "int_ind": obj})
    return call("_npi_insert_tensor", [*inputs, as_array(obj, "int64")], attrs)


FUNCTIONS = {over.__name__: over for over in (
    concatenate, append, stack, split, array_split, delete, insert,
    _joining("hstack", 1), _joining("vstack", 1), _joining("dstack", 1),
    _joining("column_stack", 1), _along("hsplit", 1, 1), _along("vsplit", 0, 2),
    _along("dsplit", 2, 3))}
FUNCTIONS["row_stack"] = FUNCTIONS["vstack"]
