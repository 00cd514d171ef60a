# SPDX-License-Identifier: Apache-2.0
"""Densities of distributions."""
from rules import rule

# What a sample, and each parameter, is drawn from.
DENSITIES = {
    "uniform": ((0.1, 2), {"low": (-1, 0), "high": (2, 4)}),
    "normal": ((-2, 2), {"mu": (-1, 1), "sigma": (0.5, 2)}),
    "gamma": ((0.1, 3), {"alpha": (0.5, 3), "beta": (0.5, 2)}),
    "exponential": ((0.1, 3), {"lam": (0.5, 2)}),
    "poisson": ((0, 6), {"lam": (0.5, 3)}),
    "negative_binomial": ((0, 6), {"k": (1, 5), "p": (0.2, 0.8)}),
    "generalized_negative_binomial": ((0, 6), {"mu": (0.5, 3), "alpha": (0.2, 1)}),
    "dirichlet": ((0.1, 0.9), {"alpha": (0.5, 3)}),
}


def density(draw):
    distribution = draw.operator.removeprefix("_random_pdf_")
    sample, parameters = DENSITIES[distribution]
    draw.type = draw.pick("float32", "float64")
    lead, rest = draw.shape(draw.pick(0, 1, 2)), draw.shape(draw.pick(1, 2))
    draw.base = lead + rest

    def drawn(low, high):
        return lambda shape: draw.numpy.uniform(low, high, size=shape).round(3).astype(draw.type)

    draw.given["="] = {"sample": drawn(*sample)}
    for name, bounds in parameters.items():
        draw.given[name] = lead + (rest[-1:] if distribution == "dirichlet" else ())
        draw.given["="][name] = drawn(*bounds)
    if not lead and distribution != "dirichlet":
        draw.base = (2,) + rest
        draw.given.update({name: (2,) for name in parameters})


for _distribution in DENSITIES:
    rule("_random_pdf_" + _distribution)(density)
