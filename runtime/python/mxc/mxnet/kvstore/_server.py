# SPDX-License-Identifier: Apache-2.0
"""Servers of dist_async: values, and the optimizer that updates them.

An optimizer travels as its class' name and its numbers; servers make one of their
own. Nothing that comes over the wire is run."""

import zlib

import numpy as np

from .. import lr_scheduler, ndarray as nd, optimizer as opt
from ..base import MXNetError


def place_of(key, servers):
    """Which server has a key."""
    return key % servers if isinstance(key, int) else zlib.crc32(key.encode()) % servers


def describe(optimizer):
    """What JSON can carry of an optimizer of mxc.mxnet."""
    kind = type(optimizer)
    name = kind.__name__.lower()
    if opt.Optimizer.opt_registry.get(name) is not kind or not kind.__module__.startswith(
            opt.__name__):
        raise NotImplementedError(f"dist_async: servers have no optimizer {kind.__name__}"
                                  "; there are those of mx.optimizer")
    state = optimizer.__getstate__()
    of_params = {which: {index: getattr(param, which)
                         for index, param in optimizer.param_dict.items()}
                 for which in ("lr_mult", "wd_mult")}
    state.update({which: {**state[which], **found} for which, found in of_params.items()},
                 sym_info=())
    return {"optimizer": name, "state": _encode(state)}


def _encode(value):
    if isinstance(value, dict):
        return {"pairs": [[_encode(key), _encode(each)] for key, each in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [_encode(each) for each in value]}
    if isinstance(value, lr_scheduler.LRScheduler):
        return {"scheduler": type(value).__name__, "state": _encode(vars(value))}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise NotImplementedError("dist_async: servers cannot be told of an optimizer's "
                              f"{type(value).__name__}")


def _decode(value):
    if not isinstance(value, dict):
        return value
    if "pairs" in value:
        return {_decode(key): _decode(each) for key, each in value["pairs"]}
    if "list" in value:
        return [_decode(each) for each in value["list"]]
    return _made(getattr(lr_scheduler, value["scheduler"], None),
                 lr_scheduler.LRScheduler, value)


def _made(kind, base, described):
    if not (isinstance(kind, type) and issubclass(kind, base)):
        raise MXNetError(f"there is no {base.__name__} of this name")
    made = kind.__new__(kind)
    made.__dict__.update(_decode(described["state"]))
    return made


def make(described):
    """The optimizer of a description."""
    made = _made(opt.Optimizer.opt_registry.get(described["optimizer"]), opt.Optimizer,
                 described)
    made._index_update_count = made._all_index_update_counts.setdefault(0, {})
    return made


class Server:
    """Values by key; without an optimizer a push takes their place."""

    def __init__(self):
        self._values, self._updater, self._arrived = {}, None, 0

    def answer(self, words, arrays):
        """(words, arrays) in return."""
        do = words["do"]
        if do == "optimizer":
            self._updater = opt.get_updater(make(words["is"]))
        elif do == "arrive":
            self._arrived += 1
        elif do == "arrived":
            return {"count": self._arrived}, []
        elif do == "init":
            self._values[words["key"]] = nd.array(arrays[0], dtype=words["dtype"]).tostype(
                words["stype"])
        elif do == "push":
            self._push(words["key"], arrays[0], words.get("rows"))
        else:
            return {}, [self._pulled(words["key"], words.get("rows"))]
        return {}, []

    def _push(self, key, array, rows):
        value = self._values[key]
        if rows is None:
            pushed = nd.array(array, dtype=value.dtype)
        else:
            pushed = nd.sparse.row_sparse_array((array, rows), shape=value.shape,
                                                dtype=value.dtype)
        if self._updater is not None:
            self._updater(key, pushed, value)
        else:
            self._values[key] = pushed.tostype(value.stype)

    def _pulled(self, key, rows):
        value = self._values[key].tostype("default").asnumpy()
        return (value if rows is None else value[rows]).astype(np.float32)
