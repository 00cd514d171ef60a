# SPDX-License-Identifier: Apache-2.0
"""Samplers with steps."""
from ...data.sampler import Sampler

__all__ = ["IntervalSampler"]


class IntervalSampler(Sampler):
    """0, interval, 2 interval, …; with `rollover` then from 1, from 2, until all were there."""

    def __init__(self, length, interval, rollover=True):
        assert interval <= length, f"interval {interval} is more than the length {length}."
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self):
        for begin in range(self._interval if self._rollover else 1):
            yield from range(begin, self._length, self._interval)

    def __len__(self):
        return self._length if self._rollover else -(-self._length // self._interval)
