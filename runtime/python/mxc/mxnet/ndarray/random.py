# SPDX-License-Identifier: Apache-2.0
"""mx.nd.random: drawn arrays. What is drawn follows from mx.random.seed and from
the order of calls."""

from ..base import MXNetError, _Null, dtype_name
from ..context import current_context
from . import _empty, _register
from ._invoke import _invoke
from ._shapes import as_shape
from .ndarray import NDArray

globals().update(_register.MODULES["random"])


def _draw(name, parameters, shape, dtype, ctx, out, **others):
    """One draw for each element of `shape`; parameters are numbers, or arrays
    whose every element has a draw of `shape`."""
    attrs = {k: v for k, v in others.items() if k != "name"}
    if shape is not None and shape is not _Null:
        attrs["shape"] = as_shape(shape)
    if dtype is not None and dtype is not _Null:
        attrs["dtype"] = dtype_name(dtype)
    values = list(parameters.values())
    if any(isinstance(value, NDArray) for value in values):
        if not all(isinstance(value, NDArray) for value in values):
            raise ValueError("the parameters of a draw are all numbers or all arrays, not "
                             + ", ".join(str(type(value)) for value in values))
        return _invoke(f"_sample_{name}", values, attrs, out)
    if any(not isinstance(value, (int, float)) and not hasattr(value, "dtype")
           for value in values):
        raise ValueError("the parameters of a draw are numbers or arrays, not " + ", ".join(str(type(v)) for v in values))
    attrs.update(parameters)
    if out is None:
        attrs.setdefault("shape", (1,))
        if 0 in attrs["shape"]:
            return NDArray(_empty.zeros(attrs["shape"], attrs.get("dtype", "float32")))
        attrs["ctx"] = str(ctx or current_context())
    else:
        attrs["shape"] = out.shape
        attrs.setdefault("dtype", out._array.dtype)
    return _invoke(f"_random_{name}", [], attrs, out)


def uniform(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """From `low` to before `high`."""
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, ctx, out,
                 **kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Of mean `loc` and standard deviation `scale`; where this is below 0, who asks
    for the values is told so."""
    if isinstance(scale, (int, float)) and scale < 0:
        made = normal(loc, 0, shape, dtype, ctx, out)
        made._array.fail(f"random_normal: scale is {scale}, which is below 0")
        return made
    return _draw("normal", {"loc": loc, "scale": scale} if not isinstance(
        loc, NDArray) else {"mu": loc, "sigma": scale}, shape, dtype, ctx, out,
        **kwargs)


def randn(*shape, loc=0.0, scale=1.0, dtype=None, ctx=None, out=None, **kwargs):
    """Of mean `loc` and standard deviation `scale`; extents are arguments."""
    return normal(loc, scale, shape or (1,), dtype or "float32", ctx, out)


def poisson(lam=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Counts of mean `lam`."""
    return _draw("poisson", {"lam": lam}, shape, dtype, ctx, out, **kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Of mean `scale`."""
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out,
                 **kwargs)


def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Of shape `alpha` and scale `beta`."""
    return _draw("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, ctx, out,
                 **kwargs)


def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, ctx=None, out=None,
                      **kwargs):
    """Failures before `k` successes of probability `p`."""
    return _draw("negative_binomial", {"k": k, "p": p}, shape, dtype, ctx, out,
                 **kwargs)


def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, ctx=None,
                                  out=None, **kwargs):
    """Of mean `mu` and dispersion `alpha`."""
    return _draw("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, shape,
                 dtype, ctx, out, **kwargs)


def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Whole numbers from `low` to before `high`; int32 or int64."""
    if isinstance(low, NDArray) or isinstance(high, NDArray):
        raise ValueError("randint takes numbers, not arrays")
    if low >= high:
        raise MXNetError(f"randint: low is {low}, which is not below high, {high}")
    return _draw("randint", {"low": low, "high": high}, shape,
                 "int32" if dtype is _Null and out is None else dtype, ctx, out,
                 **kwargs)


def multinomial(data, shape=_Null, get_prob=False, out=None, dtype="int32",
                **kwargs):
    """Classes drawn by each row of probabilities; `get_prob`: and the logarithms
    of their probabilities."""
    attrs = {"get_prob": get_prob, "dtype": dtype_name(dtype)}
    if shape is not _Null and shape is not None:
        attrs["shape"] = as_shape(shape)
    return _invoke("_sample_multinomial", [data], attrs, out)


def shuffle(data, out=None, **kwargs):
    """The rows in another order."""
    return _invoke("_shuffle", [data], {}, out)
