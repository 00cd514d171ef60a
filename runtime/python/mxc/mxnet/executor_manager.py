# SPDX-License-Identifier: Apache-2.0
"""What stands below Module in older programs: how a batch is shared out."""

import logging

from .module.executor_group import DataParallelExecutorGroup

__all__ = ["DataParallelExecutorGroup"]


def _split_input_slice(batch_size, work_load_list):
    """Slices of a batch, in proportion to the numbers of the list."""
    total, reached = sum(work_load_list), 0
    ends = []
    for load in work_load_list:
        reached = min(batch_size, reached + round(load * batch_size / total))
        ends.append(reached)
    ends[-1] = batch_size
    slices = [slice(begin, end) for begin, end in zip([0, *ends], ends)]
    if any(part.start >= part.stop for part in slices):
        raise ValueError(f"a batch of {batch_size} is too small for "
                         f"{len(work_load_list)} devices")
    return slices


def _check_arguments(symbol):
    """That no name stands for two arguments or two states."""
    for names in (symbol.list_arguments(), symbol.list_auxiliary_states()):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            logging.error("the names %s stand for several variables", twice)
            raise ValueError(f"the name {twice[0]!r} stands for several variables")
