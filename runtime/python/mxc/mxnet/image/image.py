# SPDX-License-Identifier: Apache-2.0
"""Functions of pictures: (height, width, channels), red first unless said otherwise."""
import math
import random
from numbers import Number

import numpy as np

from .. import ndarray
from ..base import MXNetError
from ..ndarray import NDArray
from . import _codec, _resize

__all__ = ["imread", "imdecode", "imresize", "imencode", "copyMakeBorder", "scale_down",
           "resize_short", "fixed_crop", "random_crop", "center_crop", "color_normalize",
           "random_size_crop", "imrotate", "random_rotate"]


def imread(filename, flag=1, to_rgb=True, out=None):
    """The picture of a JPEG or PNG file, uint8; see `imdecode`."""
    try:
        with open(filename, "rb") as file:
            data = file.read()
    except OSError as error:
        raise MXNetError(f"imread: {error}") from error
    return imdecode(data, flag, to_rgb, out)


def imdecode(buf, flag=1, to_rgb=True, out=None):
    """The picture of a file's bytes, uint8 (H, W, 3), or (H, W, 1) with `flag` 0.

    `to_rgb` False has blue first. Turned as the file stores it, whatever EXIF says."""
    if isinstance(buf, NDArray):
        buf = buf.asnumpy().astype(np.uint8).tobytes()
    elif isinstance(buf, np.ndarray):
        buf = buf.tobytes()
    try:
        values = _codec.decode(buf, color=bool(flag))
    except ValueError as error:
        raise MXNetError(f"imdecode: {error}") from error
    if not to_rgb and values.shape[2] == 3:
        values = values[..., ::-1]
    return _given(values, out)


def imencode(ext, img, params=None):
    """(True, bytes as a NumPy array), as OpenCV has it; `img` has blue first."""
    values = img.asnumpy() if isinstance(img, NDArray) else np.asarray(img)
    if values.ndim == 3 and values.shape[2] == 3:
        values = values[..., ::-1]
    quality = params[1] if params else 95
    return True, np.frombuffer(_codec.encode(values, ext, quality), dtype=np.uint8)


def _given(values, out):
    made = ndarray.array(np.ascontiguousarray(values), dtype=values.dtype)
    if out is None:
        return made
    out[:] = made
    return out


def imresize(src, w, h, interp=1, out=None):
    """`src` as (h, w, channels).

    `interp`: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by the sizes, 10 drawn."""
    interp = _method(interp, (src.shape[0], src.shape[1], h, w))
    if interp >= _resize.CUBIC:
        return _given(_resize.resize(src.asnumpy(), w, h, interp), out)
    return ndarray.image.resize(src, size=(w, h), keep_ratio=False, interp=interp,
                                **({} if out is None else {"out": out}))


def resize(src, size, keep_ratio=False, interp=1):
    """(H, W, C), or (N, H, W, C), to `size`: (width, height), or a number, with `keep_ratio`
    that of the shorter side. Methods as `imresize` has them."""
    if interp < _resize.CUBIC:
        return ndarray.image.resize(src, size=size, keep_ratio=keep_ratio, interp=interp)
    h, w = src.shape[-3:-1]
    if isinstance(size, (tuple, list)) and len(size) == 2:
        width, height = size
    else:
        width = height = size if isinstance(size, int) else size[0]
        if keep_ratio:
            width, height = (width, width * h // w) if w <= h else (height * w // h, height)
    return ndarray.array(_resize.resize(src.asnumpy(), width, height, interp), dtype=src.dtype)


_BORDERS = {0: "constant", 1: "edge", 2: "symmetric", 3: "wrap", 4: "reflect"}


def copyMakeBorder(src, top, bot, left, right, type=0, value=0.0, values=(), out=None):
    """`src` with rows and columns around it.

    `type`: 0 `values` (of each channel), 1 the edge's, 2 mirrored with it, 3 from the other
    side, 4 mirrored without it."""
    source = src.asnumpy()
    around = ((top, bot), (left, right), (0, 0))
    if type == 0:
        fill = np.array(values if len(values) else [value] * source.shape[2])
        result = np.empty((source.shape[0] + top + bot, source.shape[1] + left + right,
                           source.shape[2]), dtype=source.dtype)
        result[:] = fill[:source.shape[2]]
        result[top:top + source.shape[0], left:left + source.shape[1]] = source
    else:
        result = np.pad(source, around, mode=_BORDERS[type])
    return _given(result, out)


def scale_down(src_size, size):
    """`size` (w, h), made smaller in its ratio until it fits into `src_size`."""
    w, h = size
    width, height = src_size
    if height < h:
        w, h = float(w * height) / h, height
    if width < w:
        w, h = width, float(h * width) / w
    return int(w), int(h)


def _method(interp, sizes=()):
    """The method that 9 (by the sizes: old h, w, new h, w) and 10 (drawn) mean."""
    if interp == 9:
        if not sizes:
            return 2
        height, width, new_height, new_width = sizes
        if new_height > height and new_width > width:
            return 2
        return 3 if new_height < height and new_width < width else 1
    if interp == 10:
        return random.randint(0, 4)
    if interp not in range(5):
        raise MXNetError(f"interp is from 0 to 4, 9 or 10, not {interp}.")
    return interp


def resize_short(src, size, interp=2):
    """`src` with a shorter side of `size`, in its ratio."""
    h, w = src.shape[:2]
    new_h, new_w = (size * h // w, size) if h > w else (size, size * w // h)
    return imresize(src, new_w, new_h, interp=_method(interp, (h, w, new_h, new_w)))


def fixed_crop(src, x0, y0, w, h, size=None, interp=2):
    """`w` x `h` pixels from (x0, y0), resized to `size` (width, height) if given."""
    out = src[y0:y0 + h, x0:x0 + w]
    if size is not None and (w, h) != size:
        out = imresize(out, *size, interp=_method(interp, (h, w, size[1], size[0])))
    return out


def random_crop(src, size, interp=2):
    """(a random part of the ratio of `size`, resized to it, (x0, y0, w, h) of the part)."""
    h, w = src.shape[:2]
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = random.randint(0, w - new_w), random.randint(0, h - new_h)
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def center_crop(src, size, interp=2):
    """(the middle part of the ratio of `size`, resized to it, (x0, y0, w, h) of the part)."""
    h, w = src.shape[:2]
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = int((w - new_w) / 2), int((h - new_h) / 2)
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def color_normalize(src, mean, std=None):
    """(src - mean) / std of each channel."""
    if mean is not None:
        src = src - mean
    return src if std is None else src / std


def random_size_crop(src, size, area, ratio, interp=2, **kwargs):
    """(a random part, resized to `size`, (x0, y0, w, h) of the part).

    Its share of the area is within `area` (or from it to 1), width by height within
    `ratio`; where ten draws do not fit, the middle is taken."""
    area = kwargs.pop("min_area", area)
    assert not kwargs, f"random_size_crop has no {', '.join(kwargs)}."
    h, w = src.shape[:2]
    if isinstance(area, Number):
        area = (area, 1.0)
    for _ in range(10):
        target = random.uniform(*area) * h * w
        shape = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        new_w, new_h = int(round(math.sqrt(target * shape))), \
            int(round(math.sqrt(target / shape)))
        if new_w <= w and new_h <= h:
            x0, y0 = random.randint(0, w - new_w), random.randint(0, h - new_h)
            return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)
    return center_crop(src, size, interp)


def imrotate(src, rotation_degrees, zoom_in=False, zoom_out=False):
    """Turns (C, H, W), or each of (N, C, H, W), float32, against the clock, bilinearly.

    `rotation_degrees` is a number, or for a batch an array (N,). Beyond the edges is 0:
    `zoom_out` shows the whole picture, `zoom_in` none of what is beyond."""
    if zoom_in and zoom_out:
        raise ValueError("imrotate zooms in or out, not both.")
    if np.dtype(src.dtype) != np.float32:
        raise TypeError(f"imrotate wants float32, not {np.dtype(src.dtype).name}.")
    alone = len(src.shape) == 3
    if alone:
        if not isinstance(rotation_degrees, Number):
            raise TypeError("One picture is turned by one number.")
        src = src.expand_dims(axis=0)
    elif len(src.shape) != 4:
        raise ValueError(f"imrotate wants 3 or 4 axes; the shape is {src.shape}.")
    if isinstance(rotation_degrees, Number):
        degrees = np.full(src.shape[0], float(rotation_degrees))
    else:
        degrees = np.asarray(rotation_degrees.asnumpy() if isinstance(rotation_degrees, NDArray)
                             else rotation_degrees, dtype=np.float64)
    if len(degrees) != src.shape[0]:
        raise ValueError(f"There are {src.shape[0]} pictures and {len(degrees)} angles.")
    grid = ndarray.array(_grid(degrees, src.shape[2], src.shape[3], zoom_in, zoom_out),
                         ctx=src.context)
    out = ndarray.BilinearSampler(src, grid)
    return out[0] if alone else out


def _grid(degrees, h, w, zoom_in, zoom_out):
    """For each pixel where it comes from: (N, 2, h, w), x then y from -1 to 1."""
    angle = np.deg2rad(degrees)[:, np.newaxis, np.newaxis]
    x = (np.arange(w) - (w - 1) / 2)[np.newaxis, np.newaxis, :]
    y = (np.arange(h) - (h - 1) / 2)[np.newaxis, :, np.newaxis]
    cos, sin = np.cos(angle), np.sin(angle)
    scale = 1.0
    if zoom_in or zoom_out:
        # The box around the turned picture.
        wide = np.abs(w * cos) + np.abs(h * sin)
        high = np.abs(w * sin) + np.abs(h * cos)
        scale = np.maximum(wide / w, high / h) if zoom_out else np.minimum(w / wide, h / high)
    from_x = (x * cos - y * sin) * scale / max((w - 1) / 2, 0.5)
    from_y = (x * sin + y * cos) * scale / max((h - 1) / 2, 0.5)
    return np.stack([from_x, from_y], axis=1).astype(np.float32)


def random_rotate(src, angle_limits, zoom_in=False, zoom_out=False):
    """`imrotate` by an angle within `angle_limits`, of each picture its own."""
    if len(src.shape) == 3:
        angle = float(np.random.uniform(*angle_limits))
    else:
        angle = ndarray.array(np.random.uniform(*angle_limits, size=src.shape[0]))
    return imrotate(src, angle, zoom_in=zoom_in, zoom_out=zoom_out)
