# SPDX-License-Identifier: Apache-2.0
"""Draws from distributions: with numbers as parameters, of the given shape; with
symbols, `shape` draws for each of their elements."""

from numbers import Number

from ._compose import create


def _draw(random, sampler, params, shape, dtype, kwargs):
    """params: name -> value, all numbers or all symbols."""
    from .symbol import Symbol
    given = dict(kwargs)
    if shape is not None:
        given["shape"] = shape
    if dtype is not None:
        given["dtype"] = dtype
    symbols = [value for value in params.values() if isinstance(value, Symbol)]
    if symbols:
        if len(symbols) != len(params):
            raise AssertionError("some parameters are symbols and some numbers, "
                                 "expected one of the two")
        return create(sampler, sampler, tuple(symbols), given)
    if all(isinstance(value, Number) for value in params.values()):
        return create(random, random, (), {**given, **params})
    raise ValueError("a parameter is neither a number nor a symbol")


def uniform(low=0, high=1, shape=None, dtype=None, **kwargs):
    """Between low and high."""
    return _draw("_random_uniform", "_sample_uniform",
                 {"low": low, "high": high}, shape, dtype, kwargs)


def normal(loc=0, scale=1, shape=None, dtype=None, **kwargs):
    """Of mean loc and standard deviation scale."""
    return _draw("_random_normal", "_sample_normal",
                 {"loc": loc, "scale": scale}, shape, dtype, kwargs)


def randn(*shape, loc=0, scale=1, dtype=None, **kwargs):
    """normal() with the shape by position."""
    return normal(loc, scale, shape, dtype, **kwargs)


def poisson(lam=1, shape=None, dtype=None, **kwargs):
    """Of mean lam."""
    return _draw("_random_poisson", "_sample_poisson", {"lam": lam}, shape,
                 dtype, kwargs)


def exponential(scale=1, shape=None, dtype=None, **kwargs):
    """Of mean scale."""
    return _draw("_random_exponential", "_sample_exponential",
                 {"lam": 1.0 / scale}, shape, dtype, kwargs)


def gamma(alpha=1, beta=1, shape=None, dtype=None, **kwargs):
    """Of shape alpha and scale beta."""
    return _draw("_random_gamma", "_sample_gamma",
                 {"alpha": alpha, "beta": beta}, shape, dtype, kwargs)


def negative_binomial(k=1, p=1, shape=None, dtype=None, **kwargs):
    """Failures before the k-th success of probability p."""
    return _draw("_random_negative_binomial", "_sample_negative_binomial",
                 {"k": k, "p": p}, shape, dtype, kwargs)


def generalized_negative_binomial(mu=1, alpha=1, shape=None, dtype=None, **kwargs):
    """Of mean mu and dispersion alpha."""
    return _draw("_random_generalized_negative_binomial",
                 "_sample_generalized_negative_binomial",
                 {"mu": mu, "alpha": alpha}, shape, dtype, kwargs)


def randint(low, high, shape=None, dtype=None, **kwargs):
    """Whole numbers from low to before high."""
    return create("_random_randint", "_random_randint", (),
                  {"low": low, "high": high, **kwargs,
                   **({} if shape is None else {"shape": shape}),
                   **({} if dtype is None else {"dtype": dtype})})


def multinomial(data, shape=None, get_prob=True, dtype="int32", **kwargs):
    """Classes of the probabilities that the last axis holds."""
    given = {} if shape is None else {"shape": shape}
    return create("_sample_multinomial", "_sample_multinomial", (data,),
                  {"get_prob": get_prob, "dtype": dtype, **given, **kwargs})


def shuffle(data, **kwargs):
    """The rows in another order."""
    return create("_shuffle", "_shuffle", (data,), kwargs)


def _like(name):
    """<name>_like: numbers of the shape of an array."""
    def function(data, **kwargs):
        return create(f"_random_{name}_like", f"_random_{name}_like", (data,), kwargs)
    function.__name__ = function.__qualname__ = f"{name}_like"
    function.__doc__ = f"Numbers as those of {name}, of the shape of data."
    return function


globals().update({f"{name}_like": _like(name) for name in (
    "uniform", "normal", "gamma", "exponential", "poisson", "negative_binomial",
    "generalized_negative_binomial")})
