# SPDX-License-Identifier: Apache-2.0
"""Rules: what an operator needs beside what MXNet says of its attributes. A rule
changes a Draw (draw.py) before anything is computed."""
import numpy as np

RULES = {}  # by the operator's name


def rule(*operators):
    def register(function):
        RULES.update({operator: function for operator in operators})
        return function
    return register


def window(draw, axes):
    """kernel, stride, dilate and pad of as many axes, some of them left out."""
    r = draw.random
    draw.set(kernel=tuple(r.randint(1, 4) for _ in range(axes)))
    for name, low, high in (("stride", 1, 3), ("dilate", 1, 2), ("pad", 0, 2)):
        draw.forget(name)
        if r.random() < 0.6:
            draw.set(**{name: tuple(r.randint(low, high) for _ in range(axes))})


def distinct(draw):
    def numbers(shape):
        count = int(np.prod(shape))
        return ((draw.numpy.permutation(count) - count // 2) * 0.25).reshape(shape).astype("float32")

    draw.given["="] = {"data": numbers}
    if "dtype" in draw.attributes and draw.chance(0.5):
        draw.forget("dtype")


@rule("_contrib_div_sqrt_dim", "erfinv", "norm", "moments", "_npi_nan_to_num", "_npi_std",
      "_npi_var")
def floats(draw):
    draw.type = draw.pick("float32", "float32", "float16", "float64")


@rule("_npi_arctan2", "_npi_arctan2_scalar", "_npi_rarctan2_scalar", "_npi_copysign",
      "_npi_rcopysign_scalar", "_npi_copysign_scalar", "_mod", "broadcast_mod", "_rmod_scalar",
      "_mod_scalar")
def fractions(draw):
    draw.type, draw.values = "float32", "real"  # else a rounding decides, or a zero


@rule("_npi_bitwise_and", "_npi_bitwise_or", "_npi_bitwise_xor", "_npi_bitwise_not")
def integers(draw):
    draw.type = draw.pick("int32", "int64", "uint8", "int8")
