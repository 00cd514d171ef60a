# SPDX-License-Identifier: Apache-2.0
"""Monitor: statistics of what an executor computes."""

import logging
import re

from . import ndarray as nd


def _size(array):
    """The norm divided by the root of the number of elements."""
    return nd.norm(array) / (array.size ** 0.5)


class Monitor:
    """Every `interval` batches stat_func of all outputs and parameters whose
    names match `pattern`; sort: by name; monitor_all: of inputs, too."""

    def __init__(self, interval, stat_func=None, pattern=".*", sort=False,
                 monitor_all=False):
        self.stat_func = stat_func or _size
        self.interval = interval
        self.activated = False
        self.queue = []
        self.step = 0
        self.exes = []
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all

    def stat_helper(self, name, array):
        """Notes an array's statistic; names may be bytes."""
        if isinstance(name, bytes):
            name = name.decode()
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe):
        """Watches an executor."""
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def tic(self):
        """Before a batch: it is watched, where its turn has come."""
        if self.step % self.interval == 0:
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self):
        """After it: [(number, name, text of the statistic)]."""
        if not self.activated:
            return []
        for exe in self.exes:
            for names, arrays in (
                    (exe._symbol.list_arguments(), exe.arg_arrays),
                    (exe._symbol.list_auxiliary_states(), exe.aux_arrays)):
                for name, array in zip(names, arrays):
                    self.stat_helper(name, array)
        self.activated = False
        found = self.queue
        self.queue = []
        if self.sort:
            found.sort(key=lambda row: row[1])
        return [(number, name, _text_of(stat)) for number, name, stat in found]

    def toc_print(self):
        """Logs what toc() gives."""
        for number, name, text in self.toc():
            logging.info("Batch: %7d %30s %s", number, name, text)


def _text_of(stats):
    texts = []
    for stat in stats if isinstance(stats, list) else [stats]:
        if not isinstance(stat, nd.NDArray):
            raise AssertionError("stat_func has to give arrays")
        texts.append(str(stat.asscalar() if stat.size == 1 else stat.asnumpy()))
    return "".join(text + "\t" for text in texts)
