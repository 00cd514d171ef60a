# SPDX-License-Identifier: Apache-2.0
"""RecordIO files: records of bytes, with headers of pictures, with an index."""

import os
import struct
from collections import namedtuple

import numpy as np

_MAGIC = 0xced7230a
_MAGIC_BYTES = struct.pack("<I", _MAGIC)
_LENGTH_BITS = 29
_LONGEST = (1 << _LENGTH_BITS) - 1


class MXRecordIO:
    """Writes ("w") or reads ("r") a file record by record."""

    def __init__(self, uri, flag):
        self.uri = os.fspath(uri)
        self.flag = flag
        self.is_open = False
        self.open()

    def open(self):
        """Opens the file; a second time from the beginning."""
        if self.flag not in ("r", "w"):
            raise ValueError(f"Invalid flag {self.flag}")
        self.writable = self.flag == "w"
        self._file = open(self.uri, self.flag + "b")
        self.pid = os.getpid()
        self.is_open = True

    def close(self):
        """Closes the file."""
        if self.is_open:
            self._file.close()
            self.is_open = False
            self.pid = None

    def reset(self):
        """Back to the beginning; what was written is lost."""
        self.close()
        self.open()

    def __del__(self):
        self.close()

    def __getstate__(self):
        state = dict(self.__dict__)
        state["_was_open"] = self.is_open
        state.pop("_file", None)
        state["is_open"] = False
        return state

    def __setstate__(self, state):
        was_open = state.pop("_was_open")
        self.__dict__.update(state)
        if was_open:
            self.open()

    def _check_pid(self, allow_reset=False):
        """A file belongs to the process that opened it."""
        if self.pid != os.getpid():
            if not allow_reset:
                raise RuntimeError("Forbidden operation in multiple processes")
            self.reset()

    def write(self, buf):
        """Appends a record. Where the bytes of the format's own mark stand at a
        multiple of 4 it is stored in parts."""
        if not self.writable:
            raise AssertionError(f"{self.uri} is open to read")
        self._check_pid()
        if len(buf) > _LONGEST:
            raise ValueError(f"a record has at most {_LONGEST} bytes, found "
                             f"{len(buf)}")
        parts = _parts(bytes(buf))
        for i, part in enumerate(parts):
            kind = 0 if len(parts) == 1 else (1 if i == 0 else
                                              3 if i == len(parts) - 1 else 2)
            self._file.write(struct.pack("<II", _MAGIC,
                                         kind << _LENGTH_BITS | len(part)))
            self._file.write(part + b"\0" * (-len(part) % 4))

    def read(self):
        """The next record's bytes; None at the end."""
        if self.writable:
            raise AssertionError(f"{self.uri} is open to write")
        self._check_pid(allow_reset=True)
        parts = []
        while True:
            head = self._file.read(8)
            if not head and not parts:
                return None
            if len(head) < 8 or head[:4] != _MAGIC_BYTES:
                raise IOError(f"{self.uri}: no record begins at byte "
                              f"{self._file.tell() - len(head)}")
            word = struct.unpack("<I", head[4:])[0]
            length = word & _LONGEST
            part = self._file.read(length)
            if len(part) < length:
                raise IOError(f"{self.uri} ends within a record")
            self._file.seek(-length % 4, os.SEEK_CUR)
            parts.append(part)
            if word >> _LENGTH_BITS in (0, 3):
                return _MAGIC_BYTES.join(parts)

    def tell(self):
        """Where the next record is written, in bytes."""
        if not self.writable:
            raise AssertionError(f"{self.uri} is open to read")
        return self._file.tell()


def _parts(data):
    """The record, cut where its bytes are the mark."""
    parts, begin, at = [], 0, data.find(_MAGIC_BYTES)
    while at >= 0:
        if at % 4 == 0:
            parts.append(data[begin:at])
            begin = at + 4
            at = data.find(_MAGIC_BYTES, begin)
        else:
            at = data.find(_MAGIC_BYTES, at + 1)
    return [*parts, data[begin:]]


class MXIndexedRecordIO(MXRecordIO):
    """The same with a second file: a line "key<tab>place" for each record.

    keys: in the order of the file; idx: the place of each.
    """

    def __init__(self, idx_path, uri, flag, key_type=int):
        self.idx_path = os.fspath(idx_path)
        self.idx = {}
        self.keys = []
        self.key_type = key_type
        self.fidx = None
        super().__init__(uri, flag)

    def open(self):
        super().open()
        self.idx = {}
        self.keys = []
        self.fidx = open(self.idx_path, self.flag, encoding="utf-8")
        if not self.writable:
            for line in self.fidx:
                key, place = line.rstrip("\n").split("\t")[:2]
                key = self.key_type(key)
                self.idx[key] = int(place)
                self.keys.append(key)

    def close(self):
        if self.is_open:
            super().close()
            self.fidx.close()

    def __getstate__(self):
        state = super().__getstate__()
        state["fidx"] = None
        return state

    def seek(self, idx):
        """The next read() gives the record of this key."""
        if self.writable:
            raise AssertionError(f"{self.uri} is open to write")
        self._check_pid(allow_reset=True)
        self._file.seek(self.idx[idx])

    def read_idx(self, idx):
        """The record of this key."""
        self.seek(idx)
        return self.read()

    def write_idx(self, idx, buf):
        """Appends a record under a key."""
        key = self.key_type(idx)
        place = self.tell()
        self.write(buf)
        self.fidx.write(f"{key}\t{place}\n")
        self.idx[key] = place
        self.keys.append(key)


IRHeader = namedtuple("HEADER", ["flag", "label", "id", "id2"])
_HEADER = struct.Struct("<IfQQ")


def pack(header, s):
    """Bytes of a header and of what it heads. A label of several numbers stands
    between them; flag says how many."""
    _, label, first, second = header
    if np.ndim(label) == 0:
        return _HEADER.pack(0, label, first, second) + s
    numbers = np.asarray(label, np.float32)
    return (_HEADER.pack(numbers.size, 0, first, second) + numbers.tobytes()
            + s)


def unpack(s):
    """(header, bytes) of what pack() made."""
    header = IRHeader(*_HEADER.unpack(s[:_HEADER.size]))
    s = s[_HEADER.size:]
    if header.flag > 0:
        header = header._replace(
            label=np.frombuffer(s, np.float32, header.flag))
        s = s[header.flag * 4:]
    return header, s


def unpack_img(s, iscolor=-1):
    """(header, picture) of what pack_img() made: bytes (height, width, channels),
    blue first; iscolor=0: grey, (height, width)."""
    header, s = unpack(s)
    return header, _decode(s, iscolor)


def pack_img(header, img, quality=95, img_fmt=".jpg"):
    """Bytes of a header and of a picture, (height, width, channels) bytes, blue
    first; quality: 0 to 100 of JPEG, 0 to 9 of PNG, where more is 9."""
    return pack(header, _encode(np.asarray(img), quality, img_fmt))


def _decode(data, iscolor):
    try:
        import cv2
        return cv2.imdecode(np.frombuffer(data, dtype=np.uint8), iscolor)
    except ImportError:
        from .image import imdecode
        picture = imdecode(data, flag=0 if iscolor == 0 else 1).asnumpy()
        return picture[:, :, 0] if iscolor == 0 else picture[:, :, ::-1]


def _encode(img, quality, img_fmt):
    jpeg = img_fmt.lower() in (".jpg", ".jpeg")
    if not jpeg and img_fmt.lower() != ".png":
        raise ValueError(f"pictures are .jpg or .png, not {img_fmt}")
    try:
        import cv2
        option = (cv2.IMWRITE_JPEG_QUALITY if jpeg
                  else cv2.IMWRITE_PNG_COMPRESSION)
        good, data = cv2.imencode(img_fmt, img, [option, quality])
        if not good:
            raise ValueError("failed to encode image")
        return data.tobytes()
    except ImportError:
        pass
    try:
        import io

        from PIL import Image
    except ImportError:
        raise NotImplementedError("pack_img needs OpenCV or Pillow to write "
                                  "pictures") from None
    file = io.BytesIO()
    picture = Image.fromarray(img if img.ndim == 2 else img[:, :, ::-1])
    options = {"quality": quality} if jpeg else {"compress_level": min(quality, 9)}
    picture.save(file, "JPEG" if jpeg else "PNG", **options)
    return file.getvalue()
