# SPDX-License-Identifier: Apache-2.0
"""Shapes, joining, cutting, creating."""
import numpy as np

from rules import rule, window


@rule("Crop")
def crop(draw):
    draw.base = draw.shape(2, 1, 3) + draw.shape(2, 3, 8)
    draw.set(num_args=draw.pick(1, 2), offset=draw.shape(2, 0, 2), h_w=draw.shape(2, 1, 3))
    draw.given["arg1"] = draw.shape(2, 1, 3) + draw.shape(2, 1, 3)


@rule("add_n", "stack")
def several(draw):
    count = draw.random.randint(1, 4)
    draw.set(num_args=count)
    for k in range(count):
        draw.given[f"arg{k}"] = draw.base


@rule("Concat", "_rnn_param_concat")
def concatenation(draw):
    several(draw)
    axis = draw.random.randint(-draw.rank, draw.rank - 1)
    draw.set(dim=axis)
    for k in range(draw.attributes["num_args"]):
        shape = list(draw.base)
        shape[axis] = draw.random.randint(1, 5)
        draw.given[f"arg{k}"] = tuple(shape)


@rule("amp_multicast")
def amp_multicast(draw):
    count = draw.random.randint(1, 3)
    draw.set(num_outputs=count)


@rule("broadcast_axis")
def broadcast_axis(draw):
    axes = draw.random.sample(range(draw.rank), draw.random.randint(1, draw.rank))
    draw.base = tuple(1 if k in axes else each for k, each in enumerate(draw.base))
    draw.set(axis=tuple(axes), size=draw.shape(len(axes), 1, 4))


@rule("broadcast_to")
def broadcast_to(draw):
    ones = tuple(1 if draw.chance(0.5) else each for each in draw.base)
    draw.set(shape=tuple(0 if draw.chance(0.2) and one == each else each
                         for one, each in zip(ones, draw.base)))
    draw.base = ones


@rule("broadcast_like")
def broadcast_like(draw):
    draw.given["rhs"] = draw.base
    draw.base = tuple(1 if draw.chance(0.5) else each for each in draw.base)
    draw.forget("lhs_axes", "rhs_axes")


@rule("clip")
def clip(draw):
    draw.set(a_min=draw.pick(-1, 0, -0.5), a_max=draw.pick(0.5, 1, 1.5))


@rule("col2im")
def col2im(draw):
    window(draw, 2)
    size = draw.shape(2, 4, 7)
    draw.set(output_size=size)
    cells = 1
    for k in range(2):
        kernel = (draw.attributes["kernel"][k] - 1) * draw.attributes.get("dilate", (1, 1))[k] + 1
        cells *= (size[k] + 2 * draw.attributes.get("pad", (0, 0))[k] - kernel) \
            // draw.attributes.get("stride", (1, 1))[k] + 1
    taps = int(np.prod(draw.attributes["kernel"]))
    draw.base = (draw.pick(1, 2), taps * draw.pick(1, 2), max(1, cells))
    draw.type = "float32"


@rule("im2col")
def im2col(draw):
    axes = draw.pick(1, 2, 2)
    window(draw, axes)
    draw.base = draw.shape(2, 1, 3) + draw.shape(axes, 4, 8)
    draw.type = "float32"


@rule("depth_to_space")
def depth_to_space(draw):
    block = draw.pick(1, 2, 3)
    draw.set(block_size=block)
    draw.base = draw.shape(1) + (block * block * draw.pick(1, 2),) + draw.shape(2, 1, 3)


@rule("space_to_depth")
def space_to_depth(draw):
    block = draw.pick(1, 2, 3)
    draw.set(block_size=block)
    draw.base = draw.shape(2) + (block * draw.pick(1, 2), block * draw.pick(1, 2))


@rule("diag")
def diag(draw):
    draw.forget("axis1", "axis2")
    draw.set(k=draw.random.randint(-2, 2))
    if draw.rank > 2 and draw.chance(0.6):
        one, other = draw.random.sample(range(-draw.rank, 0), 2)
        draw.set(axis1=one, axis2=other)


@rule("expand_dims")
def expand_dims(draw):
    draw.set(axis=draw.random.randint(-draw.rank - 1, draw.rank))


@rule("Pad")
def pad(draw):
    axes = draw.pick(2, 2, 3)
    draw.base = draw.shape(2, 1, 3) + draw.shape(axes, 3, 6)
    draw.set(pad_width=(0,) * 4 + draw.shape(2 * axes, 0, 2))
    draw.type = "float32"


@rule("Reshape")
def reshape(draw):
    draw.forget("target_shape", "keep_highest")
    draw.base = tuple(draw.pick(1, 2, 4, 6) for _ in draw.base)
    left, shape, free = list(draw.base), [], True
    if draw.attributes.get("reverse"):
        left.reverse()
    while left:
        choice = draw.random.random()
        if choice < 0.3:
            shape.append(draw.pick(0, left.pop(0)))
        elif choice < 0.5 and len(left) > 1:
            shape.append(-3)
            del left[:2]
        elif choice < 0.7 and left[0] % 2 == 0:
            shape += [-4, 2, draw.pick(-1, left.pop(0) // 2)]
        elif choice < 0.8 and free and -1 not in shape:
            shape.append(-1)
            del left[:draw.random.randint(1, len(left))]
            free = False
        elif choice < 0.9:
            shape.append(-2)
            left.clear()
        else:
            shape.append(1)
    if draw.attributes.get("reverse"):
        shape.reverse()
    draw.set(shape=tuple(shape))


@rule("reshape_like")
def reshape_like(draw):
    if draw.chance(0.5):
        draw.forget("lhs_begin", "lhs_end", "rhs_begin", "rhs_end")
        shuffled = list(draw.base)
        draw.random.shuffle(shuffled)
        draw.given["rhs"] = tuple(shuffled)
    else:
        draw.given["rhs"] = draw.base


@rule("slice")
def draw_slice(draw):
    begin, end, step = [], [], []
    for size in draw.base[:draw.random.randint(1, draw.rank)]:
        backwards = draw.chance(0.25)
        one, other = sorted(draw.random.sample(range(size + 1), 2))
        if backwards:
            begin.append(draw.pick(other - 1, None))
            end.append(draw.pick(one - 1 if one else None, None))
        else:
            begin.append(draw.pick(one, one - size, None))
            end.append(draw.pick(other, other - size if other < size else None, None, size + 2))
        step.append(-draw.pick(1, 2) if backwards else draw.pick(1, 1, 2, 3, None))
    draw.set(begin=tuple(begin), end=tuple(end))
    if any(each not in (1, None) for each in step) or draw.chance(0.2):
        draw.set(step=tuple(step))
    else:
        draw.forget("step")


@rule("slice_axis")
def slice_axis(draw):
    axis = draw.random.randint(-draw.rank, draw.rank - 1)
    size = draw.base[axis]
    begin, end = sorted(draw.random.sample(range(size + 1), 2))
    draw.set(axis=axis, begin=draw.pick(begin, begin - size),
             end=draw.pick(end, end - size if end < size else None))


@rule("SliceChannel")
def slice_channel(draw):
    count, axis = draw.random.randint(1, 4), draw.random.randint(-draw.rank, draw.rank - 1)
    shape = list(draw.base)
    shape[axis] = count * draw.pick(1, 1, 2)
    draw.base = tuple(shape)
    draw.set(num_outputs=count, axis=axis)


@rule("_split_v2")
def split_v2(draw):
    axis = draw.random.randint(-draw.rank, draw.rank - 1)
    shape = list(draw.base)
    shape[axis] = draw.pick(2, 4, 6)
    draw.base = tuple(shape)
    draw.set(axis=axis)
    if draw.chance(0.5):
        draw.set(sections=draw.pick(1, 2, shape[axis]), indices=())
    else:
        points = sorted(draw.random.sample(range(1, shape[axis]), 1))
        draw.set(indices=(0,) + tuple(points))
        draw.forget("sections", "squeeze_axis")


@rule("slice_like")
def slice_like(draw):
    draw.given["shape_like"] = tuple(draw.random.randint(1, each) for each in draw.base)
    if "axes" not in draw.attributes:
        return
    axes = draw.random.sample(range(draw.rank), draw.random.randint(1, draw.rank))
    draw.set(axes=tuple(axes))


@rule("squeeze")
def squeeze(draw):
    draw.base = tuple(1 if draw.chance(0.5) else each for each in draw.base)
    ones = [k for k, each in enumerate(draw.base) if each == 1]
    if ones and draw.chance(0.6):
        draw.set(axis=tuple(draw.random.sample(ones, draw.random.randint(1, len(ones)))))
    else:
        draw.forget("axis")


@rule("SwapAxis")
def swap_axis(draw):
    draw.set(dim1=draw.random.randint(-draw.rank, draw.rank - 1),
             dim2=draw.random.randint(-draw.rank, draw.rank - 1))


@rule("tile")
def tile(draw):
    draw.set(reps=draw.shape(draw.random.randint(1, 5), 1, 3))


@rule("repeat")
def draw_repeat(draw):
    draw.set(repeats=draw.random.randint(1, 4))
    if "axis" in draw.attributes:
        draw.set(axis=draw.random.randint(-draw.rank, draw.rank - 1))


@rule("_arange")
def arange(draw):
    if draw.attributes.get("dtype") == "float16":  # counted in whole numbers by MXNet
        draw.forget("dtype")
    draw.set(start=draw.pick(0, -1, 2.5), stop=draw.pick(None, 5, 7.3), step=draw.pick(1, 0.5, 2))


@rule("_linspace")
def linspace(draw):
    arange(draw)
    draw.set(num=draw.random.randint(1, 6), stop=draw.pick(5, 7.3))
    draw.forget("repeat", "infer_range")


@rule("_eye")
def draw_eye(draw):
    draw.set(N=draw.random.randint(1, 5), M=draw.random.randint(0, 5), k=draw.random.randint(-2, 3))


@rule("_zeros", "_ones", "_full")
def created(draw):
    draw.set(shape=draw.shape(draw.pick(1, 2, 3)))


@rule("cast_storage")
def cast_storage(draw):
    draw.set(stype="default")


@rule("all_finite")
def all_finite(draw):
    draw.forget("init_output")  # False reads what the output was before


@rule("_contrib_arange_like")
def contrib_arange_like(draw):
    draw.type = draw.pick("float32", "float64", "int32")
    draw.set(repeat=draw.pick(1, 1, 2, 3))
    draw.forget("axis")
    if draw.chance(0.5):
        draw.set(axis=draw.random.randint(-draw.rank, draw.rank - 1))
