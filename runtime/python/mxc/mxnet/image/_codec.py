# SPDX-License-Identifier: Apache-2.0
"""Files of pictures to arrays (height, width, channels) of bytes, and back.

JPEG and PNG are decoded by mxc's own decoders (runtime/data/picture), turned as
stored. PNG is written here, JPEG by Pillow where that is installed."""
import io
import struct
import zlib

import numpy as np

_PNG = b"\x89PNG\r\n\x1a\n"


def size_of(data):
    """(height, width) of a JPEG or PNG, or None."""
    if data[:8] == _PNG and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return height, width
    if data[:2] != b"\xff\xd8":
        return None
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # filling
            at += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return struct.unpack(">HH", data[at + 5:at + 9])
        if marker in (0x01, 0xD8) or 0xD0 <= marker <= 0xD7:
            at += 2
        else:
            at += 2 + struct.unpack(">H", data[at + 2:at + 4])[0]
    return None


def decode(data, color=True):
    """The picture, red first, or grey with one channel; a ValueError where it is none."""
    data = bytes(data)
    if not data:
        raise ValueError("There are no bytes to decode a picture from.")
    size = size_of(data)
    if size is None:
        return _by_pillow(data, color)
    from ... import _train
    height, width = size
    text = f"data_shape={3 if color else 1},{height},{width} fit=crop " \
           f"order={'rgb' if color else 'grey'} layout=NCHW orientation=stored"
    try:
        planes = _train.Pictures(text).load(data)
    except Exception as error:
        raise ValueError(f"The picture cannot be decoded: {error}") from error
    return np.ascontiguousarray(np.asarray(planes).reshape(-1, height, width)
                                .transpose(1, 2, 0)).astype(np.uint8)


def _by_pillow(data, color):
    try:
        from PIL import Image
    except ImportError:
        raise ValueError("The bytes are neither a JPEG nor a PNG; Pillow, which reads others, "
                         "is not installed.") from None
    try:
        picture = Image.open(io.BytesIO(data)).convert("RGB" if color else "L")
    except Exception as error:
        raise ValueError(f"The picture cannot be decoded: {error}") from error
    values = np.array(picture, dtype=np.uint8)
    return values if color else values[..., np.newaxis]


def encode(values, form=".jpg", quality=95):
    """The bytes of a file; `values` (H, W), (H, W, 1) or (H, W, 3), red first."""
    values = np.ascontiguousarray(values, dtype=np.uint8)
    if form.lower() == ".png":
        return _png(values, quality if 0 <= quality <= 9 else 3)
    if form.lower() not in (".jpg", ".jpeg"):
        raise ValueError(f"Pictures are written as .jpg or .png, not as {form}.")
    try:
        from PIL import Image
    except ImportError:
        raise NotImplementedError("Pillow, which writes JPEG files, is not installed: write "
                                  ".png, which needs nothing, or install it.") from None
    out = io.BytesIO()
    flat = values[..., 0] if values.ndim == 3 and values.shape[2] == 1 else values
    Image.fromarray(flat).save(out, format="JPEG", quality=quality)
    return out.getvalue()


def _png(values, level):
    if values.ndim == 2:
        values = values[..., np.newaxis]
    height, width, channels = values.shape
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + \
            struct.pack(">I", zlib.crc32(name + data))

    rows = np.zeros((height, 1 + width * channels), dtype=np.uint8)  # 0: rows as they are
    rows[:, 1:] = values.reshape(height, -1)
    return (_PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows.tobytes(), level)) + chunk(b"IEND", b""))
