# SPDX-License-Identifier: Apache-2.0
"""Stores by name."""

import os
import sys

from ..base import MXNetError
from .base import KVStoreBase
from .local import KVStore

_LOCAL = ("local", "device", "nccl", "local_update_cpu", "local_allreduce_cpu",
          "local_allreduce_device")
_SYNC = ("dist", "dist_sync", "dist_device_sync", "dist_sync_device", "p3store_dist",
         "p3store_dist_sync_device")
_ASYNC = ("dist_async", "dist_device_async", "dist_async_device",
          "p3store_dist_async_device")


def create(name="local"):
    """The store of this name: "local", "device" and their like, a registered class,
    or of a job that `mxc launch` has started "dist_sync" and "dist_async". A process
    that is a server of the job is one until the workers have finished, and ends."""
    if not isinstance(name, str):
        raise TypeError("name must be a string")
    kind = name.lower()
    if kind in KVStoreBase.kv_registry:
        return KVStoreBase.kv_registry[kind]()
    if kind in _LOCAL:
        return KVStore(kind)
    if kind in _SYNC + _ASYNC:
        return _of_job(kind)
    raise MXNetError(f"unknown KVStore type {name!r}")


def _of_job(kind):
    role = os.environ.get("MXC_ROLE")
    if role not in ("server", "worker") or "MXC_SERVERS" not in os.environ:
        raise MXNetError(
            f"{kind}: this process is in no job; start one by `mxc launch --workers N "
            "-- python -m mxc.mxnet SCRIPT`" if role is None else
            f"{kind}: a process of role {role!r} is not supported")
    from . import distributed
    stores = distributed.SyncStore if kind in _SYNC else distributed.AsyncStore
    if role == "server":
        stores.serve()
        sys.exit(0)
    return stores(kind)
