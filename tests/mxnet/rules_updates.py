# SPDX-License-Identifier: Apache-2.0
"""Updates of weights."""
import numpy as np

from rules import rule

# States that are no sums of what may be negative, and means that are small beside
# the mean of the squares.
POSITIVE, SMALL = ("n", "v", "d", "var"), ("g",)


@rule("sgd_update", "sgd_mom_update", "nag_mom_update", "signsgd_update", "signum_update",
      "adam_update", "rmsprop_update", "rmspropalex_update", "ftrl_update", "ftml_update",
      "lamb_update_phase1", "lamb_update_phase2", "_adamw_update", "mp_sgd_update",
      "mp_sgd_mom_update", "mp_nag_mom_update", "mp_lamb_update_phase1",
      "mp_lamb_update_phase2", "_mp_adamw_update")
def update(draw):
    copied = "mp_" in draw.operator
    draw.type = draw.pick("float16", "float32") if copied else draw.pick("float32", "float64")
    draw.values = "real"
    for name in ("lr", "eta"):
        if name in draw.attributes:
            draw.set(**{name: round(draw.random.uniform(0.01, 1), 3)})
    for name in ("beta1", "beta2", "gamma1", "gamma2", "momentum"):
        if name in draw.attributes:
            draw.set(**{name: round(draw.random.uniform(0.1, 0.95), 3)})
    if "t" in draw.attributes:
        draw.set(t=draw.random.randint(1, 20))
    if "epsilon" in draw.attributes:
        draw.set(epsilon=draw.pick(1e-6, 1e-3))
    if "beta" in draw.attributes:
        draw.set(beta=draw.pick(0.5, 1, 2))

    def drawn(low, high, dtype="float32"):
        return lambda shape: draw.numpy.uniform(low, high, size=shape).round(3).astype(dtype)

    values = {name: drawn(0.3, 2) for name in POSITIVE}
    own = "float32" if copied else draw.type
    if "phase2" in draw.operator:
        draw.given.update(r1=(1,), r2=(1,), g=draw.base)
        values.update(r1=drawn(0, 3, own), r2=drawn(0.1, 3, own), g=drawn(-2, 2, own))
    else:
        values.update({name: drawn(-0.2, 0.2) for name in SMALL})
    if "adamw" in draw.operator:
        draw.given.update({name: draw.base for name in ("mean", "var", "weight32")})
        draw.given["rescale_grad"] = (1,)
        values["rescale_grad"] = drawn(0.5, 2)
    if copied:
        values["weight32"] = drawn(-2, 2)
        draw.given["weight32"] = draw.base
    draw.given["="] = values


@rule("multi_sum_sq", "multi_all_finite", "multi_lars")
def several(draw):
    draw.type, draw.values = draw.pick("float32", "float32", "float16", "float64"), "positive"
    draw.forget("init_output")
    if draw.operator == "multi_lars":
        draw.type = "float32"
        draw.set(eta=0.01, eps=draw.pick(0, 0.1), rescale_grad=draw.pick(0.5, 1))
        return
    draw.set(num_arrays=draw.random.randint(1, 4))
    for k in range(draw.attributes["num_arrays"]):
        draw.given[f"array_{k}"] = draw.shape(draw.pick(1, 2, 3))


SEVERAL = ("multi_sgd_update", "multi_mp_sgd_update", "multi_mp_sgd_mom_update",
           "preloaded_multi_sgd_update", "preloaded_multi_mp_sgd_update",
           "preloaded_multi_mp_sgd_mom_update", "_multi_adamw_update",
           "_multi_mp_adamw_update", "_multi_lamb_update", "_multi_mp_lamb_update")


@rule(*SEVERAL)
def several_weights(draw):
    """MXNet names the inputs of some of them wrongly, so that all are named here."""
    copied, moments = "_mp_" in draw.operator, "sgd" not in draw.operator
    draw.type = draw.pick("float16", "float32") if copied else draw.pick("float32", "float64")
    draw.values = "real"
    count = draw.random.randint(1, 3)
    each = ["weight", "grad"] + (["mean", "var"] if moments else [])
    each += ["mom"] * ("mom" in draw.operator) + ["weight32"] * copied
    draw.inputs = [f"{name}_{k}" for k in range(count) for name in each]
    for k in range(count):
        shape = draw.shape(draw.pick(1, 2, 3))
        draw.given.update({f"{name}_{k}": shape for name in each})

    def numbers(low=0.01, high=1):
        return tuple(round(draw.random.uniform(low, high), 3) for _ in range(count))

    draw.set(**{"num_tensors" if "lamb" in draw.operator else "num_weights": count})
    for name in ("lrs", "wds", "etas", "learning_rates"):
        if name in draw.attributes:
            draw.set(**{name: numbers()})
    if "lamb" in draw.operator:
        draw.set(step_count=tuple(draw.random.randint(1, 20) for _ in range(count)))
    for name in ("beta1", "beta2", "momentum"):
        if name in draw.attributes:
            draw.set(**{name: round(draw.random.uniform(0.1, 0.95), 3)})
    if moments:
        draw.set(epsilon=draw.pick(1e-6, 1e-3))
    values = {f"weight32_{k}": lambda shape: draw.numpy.uniform(-2, 2, size=shape)
              .round(3).astype("float32") for k in range(count)}
    if "preloaded" in draw.operator:
        draw.inputs += ["lrs", "wds"]
        draw.given.update(lrs=(count,), wds=(count,))
        values.update({name: lambda _: np.asarray(numbers(), "float32")
                       for name in ("lrs", "wds")})
    if "adamw" in draw.operator:
        draw.inputs.append("rescale_grad")
        draw.given["rescale_grad"] = (1,)
        values["rescale_grad"] = lambda _: np.asarray(
            [draw.random.uniform(0.5, 2)], "float32")
    draw.given["="] = values
