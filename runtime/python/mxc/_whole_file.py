# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole, or stay as they were."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from typing import IO, Any


@contextlib.contextmanager
def write_whole(path: str | os.PathLike[str], mode: str = "wb") -> Iterator[IO[Any]]:
    """A file to write, which has the name `path`, and is on the disk, once the block has
    ended. Where that raises, what had the name still has it.

    Links are written through, and a file keeps its mode. What is no regular file, a pipe
    or /dev/null, is written as it is."""
    encoding = None if "b" in mode else "utf-8"
    present = _mode_of(path)
    if _is_stream(path, present):
        with open(path, mode, encoding=encoding) as file:
            yield file
        return
    target = os.path.realpath(path)
    if present is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
    unfinished = _unfinished_name(target)
    try:
        with _open_new(unfinished, mode, encoding, path) as file:
            if present is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(present))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, target)
    finally:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(unfinished)


def _mode_of(path: str | os.PathLike[str]) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _is_stream(path: str | os.PathLike[str], present: int | None) -> bool:
    # Behind /dev/stdout may be a file that others write to, too.
    return os.path.abspath(path).startswith(("/dev/", "/proc/")) or (
        present is not None and not stat.S_ISREG(present))


def _unfinished_name(target: str) -> str:
    """As the runtime names what it writes: NAME.PID.0xRANDOM, of 255 bytes at most."""
    folder, name = os.path.split(target)
    ending = f".{os.getpid()}.0x{secrets.token_hex(8)}"
    return os.path.join(
        folder, os.fsdecode(os.fsencode(name)[:255 - len(ending)]) + ending)


def _open_new(name: str, mode: str, encoding: str | None,
              asked: str | os.PathLike[str]) -> IO[Any]:
    try:
        return open(name, mode.replace("w", "x"), encoding=encoding)
    except OSError as error:  # of the name that the caller knows
        raise OSError(error.errno, error.strerror, os.fspath(asked)) from None
