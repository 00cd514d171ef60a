# SPDX-License-Identifier: Apache-2.0
"""Operators of mx.np."""
import numpy as np

from rules_indexing import argmax
from rules import distinct, floats, fractions, rule
from rules_shapes import broadcast_to, concatenation


@rule("_npi_concatenate")
def npi_concatenate(draw):
    concatenation(draw)
    draw.set(axis=draw.attributes["dim"])
    draw.forget("dim")


@rule("_npi_matmul")
def npi_matmul(draw):
    m, k, n = draw.shape(3)
    lead = draw.shape(draw.pick(0, 1, 2))
    draw.base = lead + (m, k)
    draw.given["b"] = draw.pick(lead, lead[1:], ()) + (k, n)


@rule("_npx_reshape")
def npx_reshape(draw):
    draw.forget("order")
    draw.set(newshape=tuple(draw.pick(-1, -2, -3, -4, -5, -6, 1, 2, 3)
                            for _ in range(draw.random.randint(1, 5))))
    draw.base = tuple(draw.pick(1, 2, 4, 6) for _ in draw.base)


@rule("_np_reshape")
def np_reshape(draw):
    draw.forget("order")
    draw.base = tuple(draw.pick(1, 2, 4, 6) for _ in draw.base)
    total, shape = int(np.prod(draw.base)), []
    for each in (2, 3, 4):
        if total % each == 0 and draw.chance(0.6):
            shape.append(each)
            total //= each
    draw.set(newshape=tuple(shape) + (draw.pick(-1, total),))


@rule("transpose", "_np_transpose")
def permutation(draw):
    axes = draw.random.sample(range(draw.rank), draw.rank)
    if draw.chance(0.8):
        draw.set(axes=tuple(axes))
    else:
        draw.forget("axes")


@rule("_npi_bitwise_and_scalar", "_npi_bitwise_or_scalar", "_npi_bitwise_xor_scalar")
def whole(draw):
    draw.type = draw.pick("int32", "int64", "uint8", "int8")
    draw.set(scalar=draw.random.randint(0, 7), is_int=True)


@rule("_npi_around")
def npi_around(draw):
    fractions(draw)
    draw.forget("decimals")  # at halves the rounding of a product decides


@rule("_npi_where", "_npi_where_lscalar", "_npi_where_rscalar")
def npi_where(draw):
    draw.given["condition"] = draw.alike(draw.base)
    draw.given["="] = {"condition": lambda shape: draw.numpy.randint(0, 2, size=shape).astype(
        draw.pick("float32", "int32"))}


@rule("_npi_hstack", "_npi_vstack", "_npi_dstack", "_npi_column_stack", "_np_atleast_1d",
      "_np_atleast_2d", "_np_atleast_3d")
def several_named(draw):
    draw.set(num_args=draw.random.randint(1, 3))
    draw.forget("dim")
    draw.base = draw.shape(draw.pick(1, 1, 2, 3))
    for k in range(draw.attributes["num_args"]):
        for name in ("arg", "data", "ary", "arys"):
            draw.given[f"{name}{k}"] = draw.base


@rule("_np_diag")
def np_diag(draw):
    draw.base = draw.shape(draw.pick(1, 2), 2, 6)
    draw.set(k=draw.random.randint(-1, 1))


@rule("_np_diagflat")
def np_diagflat(draw):
    draw.base = draw.shape(draw.pick(1, 2))
    draw.set(k=draw.random.randint(-3, 3))


@rule("_np_diagonal", "_np_trace")
def np_diagonal(draw):
    draw.base = draw.shape(draw.pick(2, 3, 4), 2, 6)
    one, other = draw.random.sample(range(len(draw.base)), 2)
    draw.set(offset=draw.random.randint(-1, 1), axis1=one, axis2=other)


@rule("_np_moveaxis")
def np_moveaxis(draw):
    count = draw.random.randint(1, draw.rank)
    draw.set(source=tuple(draw.random.sample(range(draw.rank), count)),
             destination=tuple(draw.random.sample(range(-draw.rank, 0), count)))


@rule("_np_roll")
def np_roll(draw):
    draw.forget("axis")
    draw.set(shift=(draw.random.randint(-7, 7),))
    if draw.chance(0.7):
        axes = draw.random.sample(range(draw.rank), draw.random.randint(1, draw.rank))
        draw.set(axis=tuple(axes), shift=tuple(draw.random.randint(-7, 7) for _ in axes))


@rule("_npi_rot90")
def npi_rot90(draw):
    draw.base = draw.shape(draw.pick(2, 3, 4))
    draw.set(k=draw.random.randint(-3, 5), axes=tuple(draw.random.sample(range(len(draw.base)), 2)))


@rule("_npi_broadcast_to")
def npi_broadcast_to(draw):
    broadcast_to(draw)
    shape = tuple(-2 if each == 0 else each for each in draw.attributes["shape"])
    draw.set(shape=draw.shape(draw.pick(0, 0, 1, 2)) + shape)


@rule("_npi_identity")
def npi_identity(draw):
    draw.set(shape=(draw.random.randint(1, 6),) * 2)


@rule("_npi_indices")
def npi_indices(draw):
    draw.set(dimensions=draw.shape(draw.pick(1, 2, 3)))


@rule("_npi_blackman", "_npi_hamming", "_npi_hanning")
def windowed(draw):
    draw.set(M=draw.random.randint(1, 9))
    draw.forget("dtype")


@rule("_npi_logspace")
def npi_logspace(draw):
    draw.set(num=draw.random.randint(1, 9), start=draw.pick(0, -1, 1.5), stop=draw.pick(2, 3, 0.5),
             base=draw.pick(2, 10, 1.5))
    draw.forget("dtype")


@rule("_npi_diff")
def npi_diff(draw):
    draw.set(n=draw.pick(1, 1, 2), axis=draw.random.randint(-draw.rank, draw.rank - 1))
    draw.base = tuple(each + 2 for each in draw.base)


@rule("_np_dot")
def np_dot(draw):
    floats(draw)
    k = draw.random.randint(1, 5)
    left, right = draw.shape(draw.pick(0, 1, 2)), draw.shape(draw.pick(0, 1, 2))
    draw.base = left + (k,)
    draw.given["b"] = right[:-1] + (k,) + right[-1:]


@rule("_npi_tensordot")
def npi_tensordot(draw):
    floats(draw)
    a, b = list(draw.shape(draw.pick(1, 2, 3))), list(draw.shape(draw.pick(1, 2, 3)))
    count = draw.random.randint(0, min(len(a), len(b)))
    of_a = draw.random.sample(range(len(a)), count)
    of_b = draw.random.sample(range(len(b)), count)
    for one, other in zip(of_a, of_b):
        b[other] = a[one]
    draw.base, draw.given["b"] = tuple(a), tuple(b)
    draw.set(a_axes_summed=tuple(of_a), b_axes_summed=tuple(of_b))


@rule("_npi_tensordot_int_axes")
def npi_tensordot_int_axes(draw):
    floats(draw)
    summed = draw.shape(draw.pick(0, 1, 2))
    draw.base = draw.shape(draw.pick(1, 2)) + summed
    draw.given["b"] = summed + draw.shape(draw.pick(1, 2))
    draw.set(axes=len(summed))


@rule("_npi_einsum")
def npi_einsum(draw):
    floats(draw)
    count = draw.pick(1, 2, 2, 3)
    extents = {letter: draw.random.randint(1, 4) for letter in "abcd"}
    parts = ["".join(draw.random.sample("abcd", draw.random.randint(1, 3))) for _ in range(count)]
    letters = sorted(set("".join(parts)))
    output = "".join(draw.random.sample(letters, draw.random.randint(0, len(letters))))
    spare = "..." if draw.chance(0.2) else ""
    draw.set(num_args=count, subscripts=",".join(spare + part for part in parts)
             + ("" if draw.chance(0.2) else "->" + spare + output))
    lead = (2,) if spare else ()
    for k, part in enumerate(parts):
        shape = lead + tuple(extents[letter] for letter in part)
        draw.given[f"data{k}"] = draw.given[f"arg{k}"] = shape
    draw.base = draw.given["data0"]


@rule("_npi_argmax", "_npi_argmin")
def npi_argmax(draw):
    argmax(draw)
    distinct(draw)


@rule("_npi_pad")
def npi_pad(draw):
    floats(draw)
    draw.base = draw.shape(draw.pick(1, 2, 3, 4), 3, 6)
    draw.set(pad_width=tuple((draw.random.randint(0, 2), draw.random.randint(0, 2))
                             for _ in draw.base),
             mode=draw.pick("constant", "edge", "reflect", "symmetric"))
    draw.forget("reflect_type")


@rule("_npi_average")
def npi_average(draw):
    floats(draw)
    draw.values = "positive"
    weighted = draw.attributes["weighted"] = draw.pick(True, False)
    axis = draw.random.randint(0, len(draw.base) - 1)
    draw.forget("axis")
    if draw.chance(0.7):
        draw.set(axis=(axis,))
    if weighted:
        vector = draw.attributes.get("axis") and draw.chance(0.5)
        draw.given["weights"] = (draw.base[axis],) if vector else draw.base


@rule("_npi_norm")
def npi_norm(draw):
    draw.type = draw.pick("float32", "float64")
    draw.values = "positive"
    draw.set(flag=draw.pick(-2, 1, -1), ord=2, axis=None, keepdims=draw.pick(True, False))
    if draw.attributes["flag"] == -1:
        draw.set(ord=draw.pick(1, 2, 3))
    if draw.attributes["flag"] != -2:
        draw.set(axis=(draw.random.randint(0, len(draw.base) - 1),))


@rule("_npi_polyval")
def npi_polyval(draw):
    draw.type = draw.pick("float32", "float64")
    draw.values = "real"
    draw.base = draw.shape(1)
    draw.given["x"] = draw.shape(draw.pick(1, 2, 3))


@rule("_npi_ediff1d")
def npi_ediff1d(draw):
    draw.forget("to_begin_scalar", "to_end_scalar")
    for side in ("begin", "end"):
        given = draw.attributes[f"to_{side}_arr_given"] = draw.pick(True, False)
        if not given and draw.chance(0.5):
            draw.set(**{f"to_{side}_scalar": draw.pick(0, 1, -2)})
    draw.base = tuple(each + 1 for each in draw.base)
    for name in ("input2", "input3"):
        draw.given[name] = draw.shape(draw.pick(1, 2))


def regular(draw):
    """Matrices that are far from singular."""
    n = draw.random.randint(1, 5)
    draw.type = draw.pick("float32", "float64")
    draw.base = draw.shape(draw.pick(0, 1, 2)) + (n, n)

    def spread(shape):
        found = draw.numpy.uniform(-1, 1, size=shape)
        return (found + 3 * np.eye(n)).round(3).astype(draw.type)

    draw.given["="] = {"A": spread, "a": spread}


@rule("_npi_solve")
def npi_solve(draw):
    regular(draw)
    draw.given["B"] = draw.base[:-1] + draw.shape(draw.pick(0, 1))


@rule("_npi_tensorinv")
def npi_tensorinv(draw):
    draw.type = draw.pick("float32", "float64")
    n = draw.pick(4, 6)
    sides = {4: [(4,), (2, 2)], 6: [(6,), (2, 3), (3, 2)]}[n]
    rows, columns = draw.pick(*sides), draw.pick(*sides)
    draw.base = rows + columns
    draw.set(ind=len(rows))
    draw.given["="] = {"a": lambda shape: (
        draw.numpy.uniform(-1, 1, size=(n, n)) + 3 * np.eye(n)).round(3).astype(
            draw.type).reshape(shape)}


@rule("_npi_eigvalsh", "_npi_eigh")
def npi_eigen(draw):
    regular(draw)
    draw.set(UPLO=draw.pick("L", "U"))

    def symmetric(shape):
        found = draw.numpy.uniform(-2, 2, size=shape)
        return (found + np.swapaxes(found, -1, -2)).round(3).astype(draw.type)

    draw.given["="] = {"A": symmetric}


@rule("_npi_pinv_scalar_rcond")
def npi_pinv(draw):
    draw.type = draw.pick("float32", "float64")
    draw.base = draw.shape(draw.pick(2, 3), 1, 5)
    draw.values = "real"
    draw.set(rcond=1e-5, hermitian=False)


@rule("_npi_tensorsolve")
def npi_tensorsolve(draw):
    npi_tensorinv(draw)
    draw.forget("ind")
    draw.set(a_axes=())
    rows, elements = (), 1
    for extent in draw.base:
        if elements * elements >= int(np.prod(draw.base)):
            break
        rows, elements = rows + (extent,), elements * extent
    draw.given["b"] = rows
    draw.given["="]["b"] = lambda shape: draw.numpy.uniform(
        -2, 2, size=shape).round(3).astype(draw.type)


@rule("_npi_lcm")
def npi_lcm(draw):
    draw.type = draw.pick("int32", "int64", "int8", "uint8")
    draw.given["rhs"] = draw.alike(draw.base)


@rule("_npi_lcm_scalar")
def npi_lcm_scalar(draw):
    draw.type = draw.pick("int32", "int64")
    draw.set(scalar=draw.random.randint(-12, 12), is_int=True)


@rule("_npi_hsplit", "_npi_dsplit")
def npi_split(draw):
    axis = 1 if draw.operator == "_npi_hsplit" else 2
    draw.base = draw.shape(draw.pick(axis, axis + 1, axis + 1, axis + 2))
    cut = min(axis, len(draw.base) - 1)
    extent = draw.pick(2, 4, 6)
    draw.base = draw.base[:cut] + (extent,) + draw.base[cut + 1:]
    draw.forget("squeeze_axis", "sections")
    draw.set(axis=axis)
    if draw.chance(0.5):
        draw.set(sections=draw.pick(1, 2, extent), indices=())
    else:
        draw.set(indices=(0, draw.random.randint(1, extent - 1)))


@rule("_npi_percentile")
def npi_percentile(draw):
    draw.type = draw.pick("float32", "float32", "float64", "int32")
    draw.forget("axis", "q_scalar")
    if draw.chance(0.7):
        draw.set(axis=tuple(draw.random.sample(range(draw.rank), draw.pick(1, draw.rank))))
    percents = [0, 10, 25, 30, 50, 75, 100]
    if draw.chance(0.4):
        draw.set(q_scalar=draw.pick(*percents))
    else:
        draw.given["q"] = draw.pick((), (1,), (3,))
        draw.given["="] = {"q": lambda shape: draw.numpy.choice(percents, size=shape).astype(
            "float32")}


def inserted(draw, arr, axis, count):
    """A shape of values for `count` places along an axis."""
    shape = list(arr)
    shape[axis] = draw.pick(1, count)
    for k in range(len(shape)):
        if draw.chance(0.2):
            shape[k] = 1
    return shape


@rule("_npi_insert_scalar", "_npi_insert_slice", "_npi_insert_tensor")
def npi_insert(draw):
    draw.forget("val", "start", "stop", "step", "int_ind", "axis")
    draw.base = draw.shape(draw.pick(1, 2, 3), 2, 5)
    arr, axis = draw.base, 0
    if draw.chance(0.3):
        arr = (int(np.prod(arr)),)
    else:
        axis = draw.random.randrange(len(arr))
        draw.set(axis=axis - len(arr) * draw.pick(0, 1))
    n = arr[axis]
    if draw.operator == "_npi_insert_scalar":
        draw.set(int_ind=draw.random.randint(-n, n))
        shape = inserted(draw, arr, axis, draw.pick(1, 2, 3))
        shape = [shape[axis]] + shape[:axis] + shape[axis + 1:]
    elif draw.operator == "_npi_insert_slice":
        draw.set(start=draw.random.randint(0, n - 1), step=draw.pick(1, 2))
        draw.set(stop=draw.random.randint(draw.attributes["start"] + 1, n))
        start, stop, step = (draw.attributes[k] for k in ("start", "stop", "step"))
        shape = inserted(draw, arr, axis, len(range(start, stop, step)))
    else:
        count = draw.random.randint(1, 4)
        draw.given["obj"] = (count,)
        draw.given["="] = {"obj": lambda shape: draw.numpy.randint(-n, n + 1, size=shape)}
        shape = inserted(draw, arr, axis, count)
    while len(shape) > 1 and shape[0] == 1 and draw.chance(0.5):
        shape = shape[1:]
    draw.given["values"] = tuple(shape)


@rule("_npi_boolean_mask_assign_scalar", "_npi_boolean_mask_assign_tensor")
def npi_boolean_mask_assign(draw):
    draw.base = draw.shape(draw.pick(1, 2, 3))
    start = draw.random.randrange(len(draw.base))
    masked = draw.random.randint(1, len(draw.base) - start)
    shape = draw.base[start:start + masked]
    mask = draw.numpy.randint(0, 2, size=shape).astype("bool")
    draw.set(start_axis=start)
    draw.given["mask"] = shape
    draw.given["="] = {"mask": lambda _: mask}
    if draw.operator == "_npi_boolean_mask_assign_scalar":
        return draw.set(value=draw.random.randint(-3, 3))
    draw.forget("value")
    places = max(1, int(mask.sum()))
    draw.given["value"] = draw.base[:start] + (draw.pick(1, places),) + draw.base[start + masked:]
    if draw.chance(0.2):
        draw.given["value"] = (1,)
