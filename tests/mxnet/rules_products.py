# SPDX-License-Identifier: Apache-2.0
"""Products and linear algebra."""
import numpy as np

from rules import rule
from rules_shapes import several


@rule("khatri_rao")
def khatri_rao(draw):
    several(draw)
    columns = draw.random.randint(1, 4)
    for k in range(draw.attributes["num_args"]):
        draw.given[f"arg{k}"] = (draw.random.randint(1, 4), columns)


@rule("dot", "batch_dot", "_linalg_gemm", "_linalg_gemm2")
def product(draw):
    r = draw.random
    m, k, n = (r.randint(1, 6) for _ in range(3))
    ta, tb = r.random() < 0.5, r.random() < 0.5
    lead = draw.shape(1) if draw.operator == "batch_dot" else draw.shape(draw.pick(0, 1, 2))
    draw.set(transpose_a=ta, transpose_b=tb)
    a, b = (k, m) if ta else (m, k), (n, k) if tb else (k, n)
    names = ("lhs", "rhs") if "dot" in draw.operator else ("A", "B")
    if draw.operator == "dot":
        lead = ()
        if draw.chance(0.3):
            extra = draw.shape(draw.pick(1, 2))
            a = a + extra if ta else extra + a
        if draw.chance(0.3):
            extra = draw.shape(draw.pick(1, 2))
            b = extra + b if tb else b + extra
        if draw.chance(0.2):
            a = b = (k,)
            draw.forget("transpose_a", "transpose_b")
    draw.base = lead + a
    draw.given.update({names[0]: lead + a, names[1]: lead + b, "C": lead + (m, n)})
    draw.forget("axis", "forward_stype")


@rule("_linalg_det", "_linalg_inverse", "_linalg_potrf", "_linalg_potri", "_linalg_slogdet",
      "_linalg_sumlogdiag", "_linalg_syevd", "_linalg_extractdiag", "_linalg_extracttrian")
def square(draw):
    n = draw.random.randint(1, 5)
    draw.base = draw.shape(draw.pick(0, 1, 2)) + (n, n)
    draw.type = draw.pick("float32", "float64")

    def spread(shape):
        found = draw.numpy.uniform(-1, 1, size=shape)
        if draw.operator in ("_linalg_potrf", "_linalg_syevd"):
            found = found @ np.swapaxes(found, -1, -2)
        return (found + 2 * np.eye(n)).round(3).astype(draw.type)

    draw.given["="] = {"A": spread}


@rule("_linalg_trmm", "_linalg_trsm")
def triangular(draw):
    square(draw)
    draw.forget("alpha")
    n = draw.base[-1]
    other = draw.random.randint(1, 4)
    lead = draw.base[:-2]
    right = draw.attributes.get("rightside")
    draw.given["B"] = lead + ((other, n) if right else (n, other))
    draw.given["="]["B"] = lambda shape: draw.numpy.uniform(-2, 2, size=shape).round(3).astype(
        draw.type)


@rule("_linalg_syrk", "_linalg_makediag", "_linalg_gelqf")
def floating(draw):
    draw.base = draw.shape(draw.pick(2, 3, 4), 2, 5)
    draw.type = draw.pick("float32", "float64")
    draw.values = "real"


@rule("_linalg_maketrian")
def linalg_maketrian(draw):
    draw.type = draw.pick("float32", "float64")
    draw.base = draw.shape(draw.pick(0, 1)) + (draw.pick(1, 3, 6, 10),)
    draw.set(offset=draw.pick(0, 0, 1, -1))
