# SPDX-License-Identifier: Apache-2.0
"""What reads or writes at positions that data hold, and orders."""
import numpy as np

from rules import distinct, rule


@rule("Embedding")
def embedding(draw):
    rows = draw.random.randint(2, 9)
    draw.set(input_dim=rows, output_dim=draw.random.randint(1, 5))
    draw.forget("dtype", "sparse_grad")
    draw.given["weight"] = None
    draw.given["="] = {"data": lambda shape: draw.numpy.randint(-1, rows + 1, size=shape).astype(
        draw.pick("float32", "int32"))}


@rule("batch_take")
def batch_take(draw):
    draw.base = draw.shape(2)
    draw.given["indices"] = draw.base[:1]
    draw.given["="] = {"indices": lambda shape: draw.numpy.randint(
        0, draw.base[1], size=shape).astype("int32")}


@rule("take")
def draw_take(draw):
    draw.set(axis=draw.random.randint(-draw.rank, draw.rank - 1))
    draw.given["indices"] = draw.shape(draw.pick(1, 2, 3), 1, 4)
    if draw.attributes.get("mode") == "raise":
        draw.set(mode=draw.pick("wrap", "clip"))
    draw.given["="] = {"indices": lambda shape: draw.numpy.randint(-9, 9, size=shape).astype(
        draw.pick("float32", "int32", "int64"))}


@rule("pick")
def pick(draw):
    axis = draw.random.randint(-draw.rank, draw.rank - 1)
    draw.set(axis=axis)
    keep = list(draw.base)
    keep[axis] = 1
    draw.given["index"] = tuple(keep) if draw.chance(0.5) else tuple(
        each for k, each in enumerate(draw.base) if k != axis % draw.rank) or (1,)
    draw.given["="] = {"index": lambda shape: draw.numpy.randint(-9, 9, size=shape).astype(
        draw.pick("float32", "int32"))}


@rule("gather_nd")
def gather_nd(draw):
    depth = draw.random.randint(1, draw.rank)
    draw.given["indices"] = (depth,) + draw.shape(draw.pick(1, 2), 1, 4)
    draw.given["="] = {"indices": lambda shape: np.stack([draw.numpy.randint(
        0, draw.base[k], size=shape[1:]) for k in range(depth)]).astype(
            draw.pick("float32", "int32", "int64"))}


@rule("scatter_nd")
def scatter_nd(draw):
    target = draw.shape(draw.pick(1, 2, 3), 2, 5)
    depth = draw.random.randint(1, len(target))
    points = draw.random.randint(1, min(target[:depth]))
    draw.set(shape=target)
    draw.base = (points,) + target[depth:]
    draw.given["indices"] = (depth, points)
    draw.given["="] = {"indices": lambda shape: np.stack([draw.numpy.permutation(
        target[k])[:points] for k in range(depth)]).astype(draw.pick("float32", "int32"))}


@rule("_ravel_multi_index")
def ravel_multi_index(draw):
    target = draw.shape(draw.pick(1, 2, 3))
    draw.set(shape=target)
    draw.base = (len(target),) + draw.shape(draw.pick(1, 2))
    draw.given["="] = {"data": lambda shape: np.stack([draw.numpy.randint(
        0, each, size=shape[1:]) for each in target]).astype(draw.pick("float32", "int32", "int64"))}


@rule("_unravel_index")
def unravel_index(draw):
    target = draw.shape(draw.pick(1, 2, 3))
    draw.set(shape=target)
    draw.base = draw.shape(1)  # more axes overrun the output in MXNet
    draw.given["="] = {"data": lambda shape: draw.numpy.randint(
        0, int(np.prod(target)), size=shape).astype(draw.pick("float32", "int32", "int64"))}


@rule("_contrib_index_copy")
def contrib_index_copy(draw):
    rows = draw.base[0]
    count = draw.random.randint(1, rows)
    draw.given.update(index_vector=(count,), new_tensor=(count,) + draw.base[1:])
    draw.given["="] = {"index_vector": lambda shape: draw.numpy.permutation(
        rows)[:count].astype(draw.pick("int32", "int64"))}


@rule("topk")
def topk(draw):
    draw.values, draw.type = "real", "float32"
    axis = draw.random.randint(-draw.rank, draw.rank - 1)
    draw.set(axis=axis, k=draw.random.randint(0, draw.base[axis]))
    distinct(draw)


@rule("sort", "argsort")
def ordered(draw):
    if draw.chance(0.8):
        draw.set(axis=draw.random.randint(-draw.rank, draw.rank - 1))
    distinct(draw)


@rule("argmax", "argmin")
def argmax(draw):
    if "axis" in draw.attributes:
        draw.set(axis=draw.pick(None, draw.random.randint(-draw.rank, draw.rank - 1)))


@rule("_histogram")
def histogram(draw):
    draw.type = draw.pick("float32", "float64")
    draw.set(bin_cnt=draw.random.randint(1, 6), range=(-1, 2))
    draw.forget("bins")


@rule("one_hot")
def one_hot(draw):
    draw.set(depth=draw.random.randint(1, 6))


@rule("where")
def draw_where(draw):
    draw.given["x"] = draw.given["y"] = draw.base
    draw.given["condition"] = draw.pick(draw.base, draw.base[:1])
    draw.given["="] = {"condition": lambda shape: draw.numpy.randint(0, 2, size=shape).astype(
        draw.pick("float32", "int32"))}


def python_slice(draw):
    """begin, end and step of some axes, each with elements."""
    begin, end, step = [], [], []
    for extent in draw.base[:draw.random.randint(1, len(draw.base))]:
        first = draw.random.randint(0, extent - 1)
        last = draw.random.randint(first, extent - 1)
        back = draw.chance(0.3) and first > 0
        begin.append(last if back else first)
        end.append(first - 1 if back else last + 1)
        step.append(draw.pick(-1, -2) if back else draw.pick(1, 2))
    draw.set(begin=tuple(begin), end=tuple(end), step=tuple(step))
    chosen = [len(range(*each)) for each in zip(begin, end, step)]
    return tuple(chosen) + draw.base[len(chosen):]


@rule("_slice_assign")
def slice_assign(draw):
    draw.given["rhs"] = python_slice(draw)


@rule("_slice_assign_scalar")
def slice_assign_scalar(draw):
    python_slice(draw)
