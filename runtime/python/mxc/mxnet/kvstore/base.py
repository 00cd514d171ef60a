# SPDX-License-Identifier: Apache-2.0
"""The interface of stores, for further ones of the user's own."""

from .. import ndarray as nd


def as_list(value):
    """[value] of one; lists and tuples as they are."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


class KVStoreBase:
    """A store has broadcast() and pushpull(); those with optimizers have
    set_optimizer(). Subclasses decorated with register() are created by name."""

    OPTIMIZER = "optimizer"
    kv_registry = {}

    @staticmethod
    def register(klass):
        """Registers a class by its lower-cased name."""
        KVStoreBase.kv_registry[klass.__name__.lower()] = klass
        return klass

    @staticmethod
    def is_capable(capability):
        """Whether it can do what the word says ("optimizer")."""
        raise NotImplementedError

    def broadcast(self, key, value, out, priority=0):
        """Stores a value and copies it to the arrays `out`."""
        raise NotImplementedError

    def pushpull(self, key, value, out=None, priority=0):
        """Sums the arrays of `value` and writes the sum to `out`, or back."""
        raise NotImplementedError

    def set_optimizer(self, optimizer):
        """Weights are updated in the store from now on."""
        raise NotImplementedError

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Writes the optimizer's states to a file."""
        raise NotImplementedError

    def load_optimizer_states(self, fname):
        """Reads them again."""
        raise NotImplementedError

    @property
    def type(self):
        """The name that it was created by."""
        return type(self).__name__.lower()

    @property
    def rank(self):
        """Which worker this process is."""
        raise NotImplementedError

    @property
    def num_workers(self):
        """How many processes there are."""
        raise NotImplementedError


@KVStoreBase.register
class TestStore(KVStoreBase):
    """Adds up and copies; keeps nothing."""

    __test__ = False

    @staticmethod
    def is_capable(capability):
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return False
        raise ValueError(f"Unknown capability: {capability}")

    def broadcast(self, key, value, out, priority=0):
        for each in as_list(out):
            each[:] = value

    def pushpull(self, key, value, out=None, priority=0):
        total = summed(as_list(value))
        for each in as_list(value if out is None else out):
            each[:] = total

    @property
    def rank(self):
        return 0

    @property
    def num_workers(self):
        return 1


def summed(arrays):
    """A new array: the sum."""
    if len(arrays) == 1:
        return arrays[0].copy()
    here = arrays[0].context
    return nd.add_n(*[array.as_in_context(here) for array in arrays])
