#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: libpng 1.6.39, from Debian 12
# expected: a grey PNG of 16 bits that says nothing of gamma, read as 8 bits by
#   the simplified API (png_image_finish_read), gives the upper 8 bits of its
#   numbers: the same picture as the file of 8 bits it was made of
# seen: 50, 100 and 200 of 255 become 121, 167 and 228. Numbers of 16 bits are
#   taken for linear light, those of 8 bits for sRGB, and converted.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

python=${PYTHON:-python3}
"$python" -c "import ctypes" 2>/dev/null || skip "no Python with ctypes"
install_debian 'libpng16-16=1.6.39-2*'
seen=$("$python" - \
  "$folder/root/usr/lib/x86_64-linux-gnu/libpng16.so.16" <<'END'
import ctypes
import struct
import sys
import zlib

png = ctypes.CDLL(sys.argv[1])


class Image(ctypes.Structure):  # png_image
    _fields_ = [("opaque", ctypes.c_void_p)] + [
        (name, ctypes.c_uint32) for name in (
            "version", "width", "height", "format", "flags", "colors",
            "warning_or_error")] + [("message", ctypes.c_char * 64)]


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


def grey_file(bits, numbers):
    header = struct.pack(">IIBBBBB", len(numbers), 1, bits, 0, 0, 0, 0)
    row = b"\0" + struct.pack(f">{len(numbers)}{'BH'[bits // 16]}", *numbers)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b""))


def read_8_bits(file):
    image = Image(version=1)
    assert png.png_image_begin_read_from_memory(
        ctypes.byref(image), file, ctypes.c_size_t(len(file)))
    image.format = 0  # PNG_FORMAT_GRAY
    pixels = (ctypes.c_ubyte * image.width)()
    assert png.png_image_finish_read(ctypes.byref(image), None, pixels, 0, None)
    return list(pixels)


numbers = [0, 50, 100, 200, 255]
print(*read_8_bits(grey_file(8, numbers)))
print(*read_8_bits(grey_file(16, [257 * each for each in numbers])))
END
)
same "$seen" "0 50 100 200 255
0 121 167 228 255"
