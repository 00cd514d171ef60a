# SPDX-License-Identifier: Apache-2.0
"""np.linalg: matrices in the last two axes."""

import numpy as onp

from ..symbol import Symbol
from ._call import (MXNetError, Untraceable, axis_tuple, call, function, is_empty, on_host,
                    view)
from ._elementwise import cast
from ._reductions import FUNCTIONS as reductions


# Those that give a number for each matrix.
_NUMBERS_OF_MATRICES = ("det", "slogdet")


def _operator(name, outputs=1):
    def over(a):
        _square(name, a)
        found = call(f"_npi_{name}", [_real(a)])
        if name in _NUMBERS_OF_MATRICES and not isinstance(a, Symbol) and a.ndim == 2:
            found = [view(part, ()) for part in found] if outputs > 1 else view(found, ())
        return tuple(found) if outputs > 1 else found
    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"linalg.{name} of each matrix."
    return function(getattr(onp.linalg, name))(over)


def _real(a):
    if isinstance(a, Symbol):  # Whole numbers become float32, real ones stay.
        return call("_npi_true_divide_scalar", [a], {"scalar": 1})
    if not a._array.dtype.startswith("float"):
        return cast(a, "float32")
    return a


def _square(name, a):
    if not isinstance(a, Symbol) and (a.ndim < 2 or a.shape[-1] != a.shape[-2]):
        raise MXNetError(f"np.linalg.{name} takes square matrices, found the shape "
                         f"{a.shape}")


def svd(a):
    """u, the singular values and v, whose product the matrix is; u is as the rows are
    many, at most the columns."""
    if is_empty(a):
        return tuple(on_host(onp.linalg.svd, (a,), {"full_matrices": False}, False))
    if not isinstance(a, Symbol) and a.shape[-2] > a.shape[-1]:
        raise MXNetError("np.linalg.svd takes matrices with at most as many rows as "
                         f"columns, found the shape {a.shape}")
    return tuple(call("_npi_svd", [a]))


def eigh(a, UPLO="L"):
    """Eigenvalues and eigenvectors of symmetric matrices."""
    _square("eigh", a)
    if is_empty(a):
        return tuple(on_host(onp.linalg.eigh, (a, UPLO), {}, False))
    return tuple(call("_npi_eigh", [_real(a)], {"UPLO": UPLO}))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of symmetric matrices."""
    _square("eigvalsh", a)
    if is_empty(a):
        return on_host(onp.linalg.eigvalsh, (a, UPLO), {}, False)
    return call("_npi_eigvalsh", [_real(a)], {"UPLO": UPLO})


def eigvals(a):
    """Real eigenvalues; computed by NumPy."""
    _square("eigvals", a)
    return on_host(_real_part(onp.linalg.eigvals, "eigvals"), (a,), {})


def eig(a):
    """Real eigenvalues and eigenvectors; computed by NumPy."""
    _square("eig", a)
    return tuple(on_host(_real_part(onp.linalg.eig, "eig"), (a,), {}))


def _real_part(numpy_function, name):
    def host(a):
        a = a if a.dtype.kind == "f" else a.astype("float32")
        found = numpy_function(a)
        several = found if isinstance(found, tuple) else (found,)
        several = [onp.ascontiguousarray(part.real, a.dtype) for part in several]
        return several if len(several) > 1 else several[0]
    host.__name__ = f"linalg.{name}"
    return host


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors or matrices; without ord the root of the squares' sum."""
    if is_empty(x):
        return on_host(onp.linalg.norm, (x, ord, axis, keepdims), {}, False)
    x = _real(x)
    axis = axis_tuple(axis)
    if axis is None and ord is None:
        axes = None
    elif axis is None:
        if isinstance(x, Symbol):
            raise Untraceable("np.linalg.norm: ord without axis needs the array's rank")
        axes = tuple(range(x.ndim))
        if len(axes) not in (1, 2):
            raise ValueError("np.linalg.norm: without axis ord is for one or two axes")
    else:
        axes = axis
    return _norm_over(x, ord, axes, bool(keepdims))


def _norm_over(x, ord, axes, keepdims):
    from ._elementwise import FUNCTIONS as elementwise, binary
    reduced = {"axis": axes, "keepdims": keepdims}
    ord = {"inf": onp.inf, "-inf": -onp.inf}.get(ord, ord)
    if axes is not None and len(axes) > 2:
        raise ValueError("np.linalg.norm: a norm is over one or two axes")
    if ord is None or ord == "fro" or ord == 2 and len(axes) == 1:
        if ord == "fro" and len(axes) != 2:
            raise ValueError("np.linalg.norm: 'fro' is of matrices")
        return elementwise["sqrt"](reductions["sum"](elementwise["square"](x), **reduced))
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    if isinstance(ord, str):
        raise ValueError(f"np.linalg.norm: {ord!r} is not of vectors")
    size = elementwise["abs"](x)
    if ord in (onp.inf, -onp.inf):
        return reductions["max" if ord > 0 else "min"](size, **reduced)
    if ord == 0:
        return reductions["sum"](_as(binary("not_equal", x, 0), x), **reduced)
    if ord == 1:
        return reductions["sum"](size, **reduced)
    powers = reductions["sum"](binary("power", size, ord), **reduced)
    return binary("power", powers, 1.0 / ord)


def _as(value, like):
    return cast(value, "float32" if isinstance(like, Symbol) else like._array.dtype)


def _matrix_norm(x, ord, axes, keepdims):
    from ._elementwise import FUNCTIONS as elementwise
    from ._shapes import expand_dims, moveaxis
    if ord in (1, -1, onp.inf, -onp.inf):
        summed, left = axes if abs(ord) == 1 else axes[::-1]
        if not keepdims:
            left = _axis_without(x, left, summed)
        sums = reductions["sum"](elementwise["abs"](x), axis=summed, keepdims=keepdims)
        return reductions["max" if ord > 0 else "min"](sums, axis=left, keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        if isinstance(x, Symbol):
            raise Untraceable(f"np.linalg.norm: {ord!r} needs the matrices' shape")
        matrices = moveaxis(x, axes, (-2, -1))
        if matrices.shape[-2] > matrices.shape[-1]:
            matrices = moveaxis(x, axes, (-1, -2))
        values = svd(matrices)[1]
        found = reductions[{"nuc": "sum", 2: "max", -2: "min"}[ord]](values, axis=-1)
        if not keepdims:
            return found
        for axis in sorted(axis % x.ndim for axis in axes):
            found = expand_dims(found, axis)
        return found
    raise ValueError(f"np.linalg.norm: {ord!r} is no norm of matrices")


def _axis_without(x, axis, gone):
    """Where an axis is once another is gone."""
    if not isinstance(x, Symbol):
        axis, gone = axis % x.ndim, gone % x.ndim
    if (axis < 0) != (gone < 0):
        raise Untraceable("np.linalg.norm: axes from both ends need the array's rank")
    if axis < 0:
        return axis + (axis < gone)
    return axis - (axis > gone)


def pinv(a, rcond=1e-15, hermitian=False):
    """The pseudo-inverse; singular values below rcond of the largest are none."""
    if hermitian:
        raise NotImplementedError("np.linalg.pinv: hermitian is not there")
    if is_empty(a):
        return on_host(onp.linalg.pinv, (a, rcond), {}, False)
    if isinstance(rcond, (int, float)):
        return call("_npi_pinv_scalar_rcond", [_real(a)], {"rcond": float(rcond)})
    return on_host(onp.linalg.pinv, (a, rcond), {})


def solve(a, b):
    """The x for which a @ x is b."""
    _square("solve", a)
    if is_empty(a) or is_empty(b):
        return on_host(onp.linalg.solve, (a, b), {}, False)
    return call("_npi_solve", [_real(a), _real(b)])


def tensorinv(a, ind=2):
    """The inverse as of a matrix whose rows are the first `ind` axes."""
    if is_empty(a):
        return on_host(onp.linalg.tensorinv, (a, ind), {}, False)
    return call("_npi_tensorinv", [_real(a)], {"ind": ind})


def tensorsolve(a, b, axes=None):
    """The x for which tensordot(a, x, x.ndim) is b."""
    if is_empty(a) or is_empty(b):
        return on_host(onp.linalg.tensorsolve, (a, b, axes), {}, False)
    return call("_npi_tensorsolve", [_real(a), _real(b)],
                {} if axes is None else {"a_axes": tuple(axes)})


def lstsq(a, b, rcond="warn"):
    """Least squares: the solution, residuals, rank and singular values; by NumPy."""
    rcond = None if rcond == "warn" else rcond
    return on_host(onp.linalg.lstsq, (a, b), {"rcond": rcond})


def _hosted(name):
    numpy_function = getattr(onp.linalg, name)

    def over(*args, **kwargs):
        return on_host(numpy_function, args, kwargs)
    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"linalg.{name}, computed by NumPy; it has no gradient."
    return over


FUNCTIONS = {over.__name__: over for over in (
    _operator("det"), _operator("inv"), _operator("cholesky"), svd, eigh, eigvalsh,
    eigvals, eig, norm, pinv, solve, tensorinv, tensorsolve, lstsq,
    *map(_hosted, ("cond", "matrix_power", "matrix_rank", "multi_dot", "qr")))}
FUNCTIONS["slogdet"] = _operator("slogdet", outputs=2)
