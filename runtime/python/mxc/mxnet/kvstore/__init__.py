# SPDX-License-Identifier: Apache-2.0
"""Values by key, which devices push gradients to and pull weights from."""

from .base import KVStoreBase, TestStore
from .create import create
from .local import KVStore

__all__ = ["KVStore", "KVStoreBase", "TestStore", "create"]
