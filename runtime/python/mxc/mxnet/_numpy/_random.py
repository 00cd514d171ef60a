# SPDX-License-Identifier: Apache-2.0
"""np.random: draws whose parameters are numbers, arrays or symbols. What is drawn
follows from mx.random.seed and the order of calls."""

import numpy as onp

from ..base import MXNetError, dtype_name
from ..ndarray import NDArray
from ..ndarray._shapes import as_shape
from ..symbol import Symbol
from ._call import (BadValue, Untraceable, as_array, call, from_numpy, is_symbolic,
                    to_numpy)


def _drawn(make, name, parameters, size, attrs, ctx, out):
    """One call of a sampler: numbers as attributes, arrays as inputs."""
    inputs, attrs = [], dict(attrs)
    for key, value in parameters.items():
        if isinstance(value, (NDArray, Symbol)):
            inputs.append(value)
        elif isinstance(value, (list, onp.ndarray)):
            inputs.append(as_array(value))
        else:
            attrs[key] = float(value)
    if size is not None and not (size == () and inputs):
        size = as_shape(size)
        if 0 in size:
            return _nothing(size, parameters, attrs.get("dtype", "float32"))
        if size:
            attrs["size"] = size
    if out is not None and size is None and not inputs and out.shape:
        attrs["size"] = out.shape
    if any(isinstance(value, NDArray) and not value.size for value in inputs):
        return _nothing(onp.broadcast_shapes(*[value.shape for value in inputs]),
                        {}, attrs.get("dtype", "float32"))
    if inputs:
        return call(name, inputs, attrs, out)
    return make(name, (), attrs, ctx, out)


def _nothing(size, parameters, dtype):
    if is_symbolic(*parameters.values()):
        raise Untraceable("a graph has no arrays without elements")
    return from_numpy(onp.empty(size, dtype))


def _real(dtype):
    dtype = "float32" if dtype is None else dtype_name(dtype)
    if dtype not in ("float16", "float32", "float64"):
        raise MXNetError(f"np.random draws real numbers, not {dtype}")
    return {"dtype": dtype}


def checked(name, least=0, most=onp.inf, above=False, **parameters):
    """BadValue for a parameter with values below `least`, or not `above` it, or above
    `most`; symbols have none."""
    for key, value in parameters.items():
        if isinstance(value, Symbol):
            continue
        values = onp.asarray(to_numpy(value))
        if values.size and not (((values > least) if above else (values >= least)) &
                                (values <= most)).all():
            raise BadValue(f"np.random.{name}: {key} is {value}, expected "
                           f"{'above' if above else 'at least'} {least}"
                           + (f" and at most {most}" if most < onp.inf else ""))


def functions(make, elementwise):
    """np.random's functions; `make` calls a sampler without inputs."""

    def uniform(low=0.0, high=1.0, size=None, dtype=None, ctx=None, out=None):
        """From low to before high."""
        return _drawn(make, "_npi_uniform", {"low": low, "high": high}, size,
                      _real(dtype), ctx, out)

    def normal(loc=0.0, scale=1.0, size=None, dtype=None, ctx=None, out=None):
        """Of mean loc and standard deviation scale."""
        checked("normal", scale=scale)
        return _drawn(make, "_npi_normal", {"loc": loc, "scale": scale}, size,
                      _real(dtype), ctx, out)

    def lognormal(mean=0.0, sigma=1.0, size=None, dtype=None, ctx=None, out=None):
        """Whose logarithms have mean `mean` and standard deviation sigma."""
        return elementwise["exp"](normal(mean, sigma, size, dtype, ctx), out)

    def _located(name):
        def draw(loc=0.0, scale=1.0, size=None, ctx=None, out=None):
            checked(name, scale=scale)
            return _drawn(make, f"_npi_{name}", {"loc": loc, "scale": scale}, size, {},
                          ctx, out)
        return draw

    def gamma(shape, scale=1.0, size=None, dtype=None, ctx=None, out=None):
        """Of this shape and scale."""
        return _drawn(make, "_npi_gamma", {"shape": shape, "scale": scale}, size,
                      _real(dtype), ctx, out)

    def beta(a, b, size=None, dtype=None, ctx=None):
        """Between 0 and 1, of parameters a and b."""
        one = None if dtype == "float16" else dtype
        first, second = gamma(a, 1, size, one, ctx), gamma(b, 1, size, one, ctx)
        drawn = first / (first + second)
        return drawn if one is dtype else drawn.astype(dtype)

    def f(dfnum, dfden, size=None, ctx=None):
        """Of Fisher's distribution."""
        first, second = chisquare(dfnum, size, ctx=ctx), chisquare(dfden, size, ctx=ctx)
        return (first * dfden) / (second * dfnum)

    def chisquare(df, size=None, dtype=None, ctx=None):
        """Sums of df squares of normal numbers."""
        return gamma(df / 2, 2.0, size, dtype, ctx)

    def _scaled(name, operator, key, default):
        def draw(value, size, ctx, out):
            checked(name, above=key == "a", **{key: value})
            if isinstance(value, (NDArray, Symbol, list)) and key == "scale":
                value = as_array(value)
                shape = size if size is not None or isinstance(value, Symbol) else (
                    value.shape)
                return make(operator, (), {"scale": 1.0, **(
                    {"size": as_shape(shape)} if shape else {})}, ctx, None) * value
            return _drawn(make, operator, {key: value}, size, {}, ctx, out)
        if default is None:
            def over(a, size=None, ctx=None, out=None):
                return draw(a, size, ctx, out)
        else:
            def over(scale=default, size=None, ctx=None, out=None):
                return draw(scale, size, ctx, out)
        return over

    def rand(*size, **kwargs):
        """From 0 to before 1; extents are arguments."""
        return uniform(0.0, 1.0, size or None, **kwargs)

    def randn(*size, **kwargs):
        """Of mean 0 and standard deviation 1; extents are arguments."""
        return normal(0.0, 1.0, size or None, **kwargs)

    def randint(low, high=None, size=None, dtype=None, ctx=None, out=None):
        """Whole numbers from low (0 where there is no high) to before high; int64
        unless dtype says int32."""
        if high is None:
            low, high = 0, low
        if low >= high:
            raise ValueError(f"np.random.randint: low is {low}, which is not below high, "
                             f"{high}")
        dtype = "int64" if dtype in (None, int, "int") else dtype_name(dtype)
        size = () if size is None else as_shape(size)
        if out is not None and not size:
            size = out.shape
        if 0 in size:
            return _nothing(size, {}, dtype)
        drawn = make("_npi_random_randint", (), {
            "low": int(low), "high": int(high), "shape": size or (1,), "dtype": dtype},
            ctx, out if size else None)
        return drawn if size else drawn.reshape(())

    def choice(a, size=None, replace=True, p=None, ctx=None, out=None):
        """Of the numbers below a, or of an array's elements; p: their probabilities."""
        chosen = _choice(make, a, size, replace, p, ctx)
        if isinstance(a, NDArray):
            chosen = call("_npi_take", [a, chosen], {"axis": 0, "mode": "clip"})
        if out is None:
            return chosen
        out[...] = chosen
        return out

    def multinomial(n, pvals, size=None, **kwargs):
        """How often each outcome comes in n trials; int64."""
        values = onp.asarray(to_numpy(pvals), onp.float64).ravel()
        if values.sum() > 1.0 + 1e-5:
            raise ValueError("np.random.multinomial: the sum of pvals is above 1")
        values /= max(values.sum(), 1.0)
        size = () if size is None else as_shape(size)
        if not values.size or 0 in size:
            return _nothing((*size, values.size), {}, "int64")
        attrs = {"n": n, "pvals": "(" + ",".join(map(repr, values.tolist())) + ",)"}
        if size:
            attrs["size"] = size
        return make("_npi_multinomial", (), attrs)

    def multivariate_normal(mean, cov, size=None, check_valid=None, tol=None):
        """Vectors of this mean and covariance."""
        if check_valid is not None or tol is not None:
            raise NotImplementedError("np.random.multivariate_normal takes neither "
                                      "check_valid nor tol")
        if is_symbolic(mean, cov):
            raise Untraceable("np.random.multivariate_normal needs its arrays' shapes")
        mean, cov = as_array(mean), as_array(cov)
        shape = onp.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
        shape = (*(() if size is None else as_shape(size)), *shape, mean.shape[-1])
        drawn = normal(0.0, 1.0, shape, mean.dtype)
        lower = call("_npi_cholesky", [cov])
        moved = call("_npi_matmul", [lower, drawn.reshape((*shape, 1))])
        return mean + moved.reshape(shape)

    def shuffle(x):
        """Puts the rows of x in another order."""
        x[:] = call("_npi_shuffle", [x])

    def permutation(x, ctx=None):
        """The rows of x, or the numbers below it, in another order."""
        x = from_numpy(onp.arange(x), "float32", ctx) if isinstance(x, int) else x
        return call("_npi_shuffle", [x])

    found = {over.__name__: over for over in (
        uniform, normal, lognormal, gamma, beta, f, chisquare, rand, randn, randint,
        choice, multinomial, multivariate_normal, shuffle, permutation)}
    for name in ("gumbel", "logistic"):
        found[name] = _located(name)
    for name, operator, key, default in (
            ("exponential", "_npi_exponential", "scale", 1.0),
            ("rayleigh", "_npi_rayleigh", "scale", 1.0),
            ("pareto", "_npi_pareto", "a", None), ("power", "_npi_powerd", "a", None),
            ("weibull", "_npi_weibull", "a", None)):
        found[name] = _scaled(name, operator, key, default)
    for name, over in found.items():
        over.__name__ = over.__qualname__ = name
        over.__doc__ = over.__doc__ or f"Of the {name} distribution."
    return found


def _choice(make, a, size, replace, p, ctx):
    count = a.shape[0] if isinstance(a, NDArray) else int(a)
    if count <= 0:
        raise MXNetError(f"np.random.choice: there are {count} elements")
    shape = () if size is None else as_shape(size)
    wanted = int(onp.prod(shape, dtype=int))
    if not replace and wanted > count:
        raise ValueError(f"np.random.choice: {wanted} of {count} elements")
    if 0 in shape:
        return _nothing(shape, {}, "int64")
    if p is None:
        attrs = {"a": count, "size": shape or (1,), "replace": bool(replace)}
        drawn = make("_npi_choice", (), attrs, ctx)
        return drawn if shape else drawn.reshape(())
    weights = onp.cumsum(onp.asarray(to_numpy(p), onp.float64))
    drawn = make("_npi_uniform", (), {"low": 0.0, "high": 1.0, "size": (
        wanted if replace else count,)}, ctx).asnumpy()
    if replace:
        found = onp.searchsorted(weights / weights[-1], drawn, side="right")
    else:
        # The largest of log(u) / weight are as draws without replacement.
        parts = onp.diff(weights, prepend=0.0)
        with onp.errstate(divide="ignore"):
            found = onp.argsort(-(onp.log(drawn + 1e-30) / parts))[:wanted]
    return from_numpy(onp.minimum(found, count - 1).reshape(shape), "int64")
