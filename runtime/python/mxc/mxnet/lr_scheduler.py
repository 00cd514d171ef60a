# SPDX-License-Identifier: Apache-2.0
"""Learning rates by the number of updates."""

import logging
import math


class LRScheduler:
    """scheduler(num_update) is the rate of that update; the first is 1.

    While num_update < warmup_steps the rate rises from warmup_begin_lr to
    base_lr ("linear"), or is warmup_begin_lr ("constant").
    """

    def __init__(self, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0,
                 warmup_mode="linear"):
        self.base_lr = base_lr
        if not isinstance(warmup_steps, int):
            raise AssertionError("warmup_steps must be an int")
        self.warmup_steps = warmup_steps
        self.warmup_final_lr = base_lr
        self.warmup_begin_lr = warmup_begin_lr
        if warmup_begin_lr > base_lr:
            raise ValueError(f"warmup_begin_lr is {warmup_begin_lr}, expected at "
                             f"most base_lr, {base_lr}")
        if warmup_steps < 0:
            raise ValueError("warmup_steps has to be 0 or more")
        if warmup_mode not in ("linear", "constant"):
            raise ValueError("warmup_mode is linear or constant, not "
                             f"{warmup_mode!r}")
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update):
        """The rate of an update before warmup_steps."""
        if num_update >= self.warmup_steps:
            raise AssertionError("the warm-up is over")
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * num_update / self.warmup_steps

    def __call__(self, num_update):
        raise NotImplementedError("a scheduler has to define __call__")


class _AfterWarmup(LRScheduler):
    """A subclass has _rate(num_update), asked when the warm-up is over."""

    def __call__(self, num_update):
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        return self._rate(num_update)

    def _rate(self, num_update):
        raise NotImplementedError

    def _cut(self, num_update, lowest=0.0):
        """Multiplies the rate by `factor`, down to `lowest`."""
        self.base_lr = max(self.base_lr * self.factor, lowest)
        logging.info("Update[%d]: the learning rate is %0.5e", num_update,
                     self.base_lr)


def _require_factor(factor):
    if factor > 1.0:
        raise ValueError("factor must be at most 1, that the rate falls")


class FactorScheduler(_AfterWarmup):
    """Multiplies the rate by `factor` after each `step` updates, down to
    stop_factor_lr."""

    def __init__(self, step, factor=1, stop_factor_lr=1e-8, base_lr=0.01,
                 warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError("step must be at least 1")
        _require_factor(factor)
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def _rate(self, num_update):
        while self.count + self.step < num_update:
            self.count += self.step
            self._cut(num_update, self.stop_factor_lr)
        return self.base_lr


class MultiFactorScheduler(_AfterWarmup):
    """Multiplies the rate by `factor` after each of the updates that the list
    `step` tells, in rising order."""

    def __init__(self, step, factor=1, base_lr=0.01, warmup_steps=0,
                 warmup_begin_lr=0, warmup_mode="linear"):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not (isinstance(step, list) and step):
            raise AssertionError("step must be a list that is not empty")
        if any(later <= earlier for earlier, later in zip(step, step[1:])):
            raise ValueError("the numbers in step must rise")
        if step[0] < 1:
            raise ValueError("the numbers in step must be at least 1")
        _require_factor(factor)
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def _rate(self, num_update):
        for step in self.step[self.cur_step_ind:]:
            if num_update <= step:
                break
            self.count = step
            self.cur_step_ind += 1
            self._cut(num_update)
        return self.base_lr


class _Falling(_AfterWarmup):
    """From base_lr at the end of the warm-up to final_lr at max_update."""

    def __init__(self, max_update, base_lr, final_lr, warmup_steps,
                 warmup_begin_lr, warmup_mode):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(max_update, int):
            raise AssertionError("max_update must be an int")
        if max_update < 1:
            raise ValueError("max_update must be at least 1")
        self.max_update = max_update
        self.base_lr_orig = base_lr
        self.final_lr = final_lr
        self.max_steps = max_update - warmup_steps

    def _share(self, done):
        """What is left of the way when the part `done` of it is gone."""
        raise NotImplementedError

    def _rate(self, num_update):
        if num_update <= self.max_update:
            done = (num_update - self.warmup_steps) / self.max_steps
            self.base_lr = (self.final_lr + (self.base_lr_orig - self.final_lr)
                            * self._share(done))
        return self.base_lr


class PolyScheduler(_Falling):
    """Falls with the power `pwr` of the updates that are left."""

    def __init__(self, max_update, base_lr=0.01, pwr=2, final_lr=0,
                 warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        super().__init__(max_update, base_lr, final_lr, warmup_steps,
                         warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _share(self, done):
        return pow(1 - done, self.power)


class CosineScheduler(_Falling):
    """Falls with half a wave of the cosine."""

    def __init__(self, max_update, base_lr=0.01, final_lr=0, warmup_steps=0,
                 warmup_begin_lr=0, warmup_mode="linear"):
        super().__init__(max_update, base_lr, final_lr, warmup_steps,
                         warmup_begin_lr, warmup_mode)

    def _share(self, done):
        return (1 + math.cos(math.pi * done)) / 2
