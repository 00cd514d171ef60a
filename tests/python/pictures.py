# SPDX-License-Identifier: Apache-2.0
"""Folders of pictures, for tests."""
import struct
import zlib

import numpy as np


def write_png(path, pixels):
    """RGB, uint8."""
    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body +
                struct.pack(">I", zlib.crc32(kind + body)))
    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_colours(folder, count=24):
    """A subfolder of pictures, 8x8, for each of three colours."""
    draw = np.random.default_rng(3)
    for name, channel in (("blue", 2), ("green", 1), ("red", 0)):
        (folder / name).mkdir(parents=True)
        for i in range(count):
            pixels = draw.integers(0, 90, (8, 8, 3), np.uint8)
            pixels[:, :, channel] += 150
            write_png(folder / name / f"{i}.png", pixels)
