# SPDX-License-Identifier: Apache-2.0
"""What all optimizers share: rates and decays of each parameter, how often each
was updated, weights of 16 bits with a copy of 32."""

import logging
import warnings

import numpy as np

from .. import ndarray as nd


class Optimizer:
    """The base class.

    learning_rate: None is 0.01, or the scheduler's; with both the scheduler's
    base_lr becomes it. wd: weight decay. rescale_grad: gradients are multiplied
    by it; clip_gradient: and then limited to ±this. param_idx2name: names of
    indices; parameters whose names end in neither _weight nor _gamma are not
    decayed. sym: its variables' lr_mult and wd_mult count. param_dict: objects
    with lr_mult and wd_mult by index. multi_precision: float16 weights are
    updated through a float32 copy.
    """

    opt_registry = {}

    def __init__(self, rescale_grad=1.0, param_idx2name=None, wd=0.0,
                 clip_gradient=None, learning_rate=None, lr_scheduler=None,
                 sym=None, begin_num_update=0, multi_precision=False,
                 param_dict=None, aggregate_num=0):
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        if lr_scheduler is None and learning_rate is None:
            learning_rate = 0.01
        self.lr = learning_rate
        if lr_scheduler is not None:
            if learning_rate is None:
                self.lr = lr_scheduler.base_lr
            else:
                lr_scheduler.base_lr = learning_rate
        self.wd = wd
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = aggregate_num
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self._all_index_update_counts = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        if param_idx2name is None:
            param_idx2name = {}
        if not isinstance(param_idx2name, dict):
            raise AssertionError("param_idx2name is no dict from numbers to "
                                 "names")
        self.idx2name = dict(param_idx2name)
        self.param_dict = param_dict or {}
        self.sym_info = ((sym.attr_dict(), sym.list_arguments())
                         if sym is not None else ())
        self.set_lr_mult({})
        self.set_wd_mult({})

    def __getstate__(self):
        state = dict(self.__dict__)
        state["param_dict"] = {}
        return state

    # ---- Registry ------------------------------------------------------------

    @staticmethod
    def register(klass):
        """Registers a subclass by its lower-cased name."""
        name = klass.__name__.lower()
        if Optimizer.opt_registry.get(name, klass) is not klass:
            warnings.warn(f"optimizer {name} is replaced by {klass!r}",
                          stacklevel=2)
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name, **kwargs):
        """The optimizer of this name, in any case of letters."""
        if name.lower() not in Optimizer.opt_registry:
            known = ", ".join(sorted(Optimizer.opt_registry))
            raise ValueError(f"Cannot find optimizer {name}; there are {known}")
        return Optimizer.opt_registry[name.lower()](**kwargs)

    # ---- Rates and decays ----------------------------------------------------

    @property
    def learning_rate(self):
        """Of the next update, by the scheduler where there is one."""
        if self.lr_scheduler is not None:
            return self.lr_scheduler(self.num_update)
        return self.lr

    def set_learning_rate(self, lr):
        """Refused where a scheduler says it."""
        if self.lr_scheduler is not None:
            raise UserWarning("the optimizer's lr_scheduler says its rate; "
                              "without one it can be set")
        self.lr = lr

    def set_lr_scale(self, args_lrscale):
        """Refused: see set_lr_mult."""
        raise DeprecationWarning("set_lr_mult has taken its place")

    def _of_variables(self, key):
        if not self.sym_info:
            return {}
        attrs, names = self.sym_info
        return {name: float(attrs[name][key]) for name in names
                if key in attrs.get(name, ())}

    def set_lr_mult(self, args_lr_mult):
        """Factors of the rate by index or name, besides those of variables."""
        self.lr_mult = {**self._of_variables("__lr_mult__"), **args_lr_mult}

    def set_wd_mult(self, args_wd_mult):
        """Factors of the decay by index or name, besides those of variables."""
        self.wd_mult = {name: 0.0 for name in self.idx2name.values()
                        if not name.endswith(("_weight", "_gamma"))}
        self.wd_mult.update(self._of_variables("__wd_mult__"))
        self.wd_mult.update(args_wd_mult)

    def _multiplier(self, index, which):
        param = self.param_dict.get(index)
        if param is not None:
            return getattr(param, which)
        factors = getattr(self, which)
        if index in factors:
            return factors[index]
        return factors.get(self.idx2name.get(index, index), 1.0)

    def _get_lrs(self, indices):
        lr = self.learning_rate
        return [lr * self._multiplier(index, "lr_mult") for index in indices]

    def _get_lr(self, index):
        return self.learning_rate * self._multiplier(index, "lr_mult")

    def _get_wds(self, indices):
        return [self.wd * self._multiplier(index, "wd_mult") for index in indices]

    def _get_wd(self, index):
        return self.wd * self._multiplier(index, "wd_mult")

    def _set_current_context(self, device_id):
        self._index_update_count = self._all_index_update_counts.setdefault(
            device_id, {})

    def _update_count(self, index):
        counts = self._index_update_count
        for each in index if isinstance(index, (list, tuple)) else (index,):
            count = counts[each] = counts.get(each, self.begin_num_update) + 1
            if count > self.num_update:
                self.num_update = count

    # ---- Updates -------------------------------------------------------------

    def create_state(self, index, weight):
        """What the rule keeps of a weight: None, an array, or a tuple."""

    def create_state_multi_precision(self, index, weight):
        """The same, with a float32 copy of a float16 weight."""
        if weight.dtype == np.float16:
            if self.multi_precision:
                copy = weight.astype("float32")
                return self.create_state(index, copy), copy
            logging.warning("weight %s is updated in float16, where small steps "
                            "are lost; multi_precision=True keeps a float32 copy",
                            self.idx2name.get(index, index))
        return self.create_state(index, weight)

    def update(self, index, weight, grad, state):
        """Changes weight and state."""
        raise NotImplementedError(f"{type(self).__name__} has no update")

    def update_multi_precision(self, index, weight, grad, state):
        """update(), of a float16 weight through its float32 copy; lists of each
        argument are taken, too."""
        if isinstance(index, (list, tuple)):
            for each in zip(index, weight, grad, state):
                self.update_multi_precision(*each)
            return
        if not (self.multi_precision and weight.dtype == np.float16):
            self.update(index, weight, grad, state)
            return
        inner, copy = state
        self.update(index, copy, grad.astype("float32"), inner)
        weight[:] = copy.astype("float16")

    def _begin(self, index):
        """Counts an update; its rate and decay."""
        self._update_count(index)
        return self._get_lr(index), self._get_wd(index)

    def _scaled(self, grad):
        """The gradient, rescaled and limited."""
        grad = grad * self.rescale_grad
        if self.clip_gradient is not None:
            grad = nd.clip(grad, -self.clip_gradient, self.clip_gradient)
        return grad

    def _lazy(self, grad):
        """The attribute that says whether rows without gradients stay as they
        are; for row_sparse gradients alone."""
        if grad.stype != "row_sparse":
            return {}
        return {"lazy_update": self.lazy_update}

    def _options(self, wd):
        """The attributes that most operators take."""
        return {"wd": wd, "rescale_grad": self.rescale_grad,
                "clip_gradient": self.clip_gradient}


def zeros_like(weight, dtype=None):
    """What states begin as."""
    return nd.zeros(weight.shape, weight.context, dtype or weight.dtype)


register = Optimizer.register
create = Optimizer.create_optimizer
