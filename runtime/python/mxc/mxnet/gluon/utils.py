# SPDX-License-Identifier: Apache-2.0
"""Batches over contexts, norms of gradients, and files."""
import hashlib
import os
import ssl
import urllib.request
import uuid
import warnings
import weakref

import numpy as np

from .. import ndarray

__all__ = ["split_data", "split_and_load", "clip_global_norm", "check_sha1", "download",
           "replace_file"]


def split_data(data, num_slice, batch_axis=0, even_split=True):
    """`data` in `num_slice` parts along `batch_axis`.

    Without `even_split` the first parts may have one more than the last; with it a size
    that `num_slice` does not divide is a ValueError."""
    size = data.shape[batch_axis]
    if even_split and size % num_slice != 0:
        raise ValueError(
            f"An array of shape {data.shape} cannot be split into {num_slice} even parts along "
            f"axis {batch_axis}: {num_slice} must divide {size}; even_split=False splits "
            "unevenly.")
    if size < num_slice:
        raise ValueError(f"An array of shape {data.shape} has fewer than {num_slice} slices "
                         f"along axis {batch_axis}.")
    each, more = divmod(size, num_slice)
    ends = np.cumsum([each + (i < more) for i in range(num_slice)]).tolist()
    begins = [0] + ends[:-1]
    if batch_axis == 0:
        return [data[begin:end] for begin, end in zip(begins, ends)]
    return [ndarray.slice_axis(data, axis=batch_axis, begin=begin, end=end)
            for begin, end in zip(begins, ends)]


def split_and_load(data, ctx_list, batch_axis=0, even_split=True):
    """`split_data` with the parts on the contexts of `ctx_list`, one each."""
    if not isinstance(data, ndarray.NDArray):
        data = ndarray.array(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    parts = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(parts, ctx_list)]


def clip_global_norm(arrays, max_norm, check_isfinite=True):
    """Scales `arrays` in place so that the norm of all of them is at most `max_norm`.

    Returns that norm before: a number, or without `check_isfinite` an array that nothing
    waits for. A norm that is not finite is a warning."""
    assert arrays, "clip_global_norm wants at least one array."
    ctx = arrays[0].context
    squares = [ndarray.reshape(ndarray.square(each.astype("float32", copy=False)),
                               shape=(-1,)).sum().as_in_context(ctx) for each in arrays]
    norm = ndarray.sqrt(ndarray.add_n(*squares))
    if check_isfinite:
        value = norm.asscalar()
        if not np.isfinite(value):
            warnings.warn(f"The global norm is {value}: gradients vanished or exploded.",
                          stacklevel=2)
    scale = ndarray.broadcast_minimum(max_norm / (norm + 1e-8),
                                      ndarray.ones((1,), dtype="float32", ctx=ctx))
    for each in arrays:
        each *= scale.astype(each.dtype, copy=False).as_in_context(each.context)
    return float(value) if check_isfinite else norm


def indented(text, spaces=2):
    """`text` with `spaces` before each line but the first."""
    return text.replace("\n", "\n" + " " * spaces)


def check_sha1(filename, sha1_hash):
    """Whether the file's SHA-1 is `sha1_hash` (hexadecimal)."""
    digest = hashlib.sha1()
    with open(filename, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest() == sha1_hash


def replace_file(src, dst):
    """Moves `src` over `dst` at once: a reader sees one or the other."""
    os.replace(src, dst)


def download(url, path=None, overwrite=False, sha1_hash=None, retries=5, verify_ssl=True):
    """The path of a local copy of `url`: `path`, a file or a folder, or the URL's last word.

    It is fetched where there is none, where its SHA-1 is not `sha1_hash`, or with
    `overwrite`; an OSError says why that failed after 1 + `retries` attempts."""
    name = url.split("/")[-1]
    if path is None:
        assert name, f"'{url}' names no file: path= is needed."
        path = name
    else:
        path = os.path.expanduser(path)
        if os.path.isdir(path):
            path = os.path.join(path, name)
    if not overwrite and os.path.exists(path) and (
            not sha1_hash or check_sha1(path, sha1_hash)):
        return path
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    for attempt in range(max(retries, 0), -1, -1):
        try:
            _fetch(url, path, sha1_hash, verify_ssl)
            return path
        except Exception as error:
            if attempt == 0:
                raise OSError(f"{url} cannot be fetched ({error}): put its file at "
                              f"{path}.") from error


def _fetch(url, path, sha1_hash, verify_ssl):
    """Writes what `url` has beside `path`, then moves it there."""
    part = f"{path}.{uuid.uuid4().hex}"
    try:
        with open(part, "wb") as file:
            for block in _blocks(url, verify_ssl):
                file.write(block)
        if sha1_hash and not check_sha1(part, sha1_hash):
            raise OSError(f"its SHA-1 is not {sha1_hash}")
        replace_file(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)


def _blocks(url, verify_ssl):
    """The bytes of `url`, by requests where that is installed."""
    try:
        import requests
    except ImportError:
        context = None if verify_ssl else ssl._create_unverified_context()
        with urllib.request.urlopen(url, timeout=60, context=context) as answer:
            yield from iter(lambda: answer.read(1 << 20), b"")
        return
    answer = requests.get(url, stream=True, verify=verify_ssl, timeout=60)
    if answer.status_code != 200:
        raise OSError(f"the server answers {answer.status_code}")
    yield from answer.iter_content(chunk_size=1 << 20)


class HookHandle:
    """A hook's place: `detach`, or the end of a `with`, removes it."""

    def __init__(self):
        self._hooks = None
        self._id = None

    def attach(self, hooks, hook):
        """Puts `hook` into the dict `hooks`."""
        assert self._hooks is None, "The handle holds a hook already."
        self._id = id(hook)
        hooks[self._id] = hook
        self._hooks = weakref.ref(hooks)

    def detach(self):
        """Removes the hook; again is nothing."""
        hooks = self._hooks and self._hooks()
        if hooks is not None:
            hooks.pop(self._id, None)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.detach()


def shape_is_known(shape):
    """Whether `shape` has no unknown extent."""
    from ._shapes import known
    return known(shape)
