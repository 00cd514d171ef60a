# SPDX-License-Identifier: Apache-2.0
"""The older names of mx.autograd."""
import functools

from .. import autograd as _autograd
from .. import ndarray
from ..ndarray import NDArray

__all__ = ["set_is_training", "TrainingStateScope", "train_section", "test_section",
           "mark_variables", "backward", "compute_gradient", "grad_and_loss", "grad"]


def set_is_training(is_train):
    """Sets recording and training together; returns what training was."""
    before = _autograd.set_training(is_train)
    _autograd.set_recording(is_train)
    return before


class TrainingStateScope:
    """`with` it recording and training are on, or off."""

    def __init__(self, enter_state):
        self._enter_state = enter_state
        self._before = None

    def __enter__(self):
        self._before = _autograd.set_training(self._enter_state), \
            _autograd.set_recording(self._enter_state)

    def __exit__(self, kind, value, trace):
        _autograd.set_training(self._before[0])
        _autograd.set_recording(self._before[1])


def train_section():
    """`with train_section():` calls are recorded, as of training."""
    return TrainingStateScope(True)


def test_section():
    """`with test_section():` calls are not recorded, as of inference."""
    return TrainingStateScope(False)


def mark_variables(variables, gradients, grad_reqs="write"):
    """Makes arrays variables, with arrays for their gradients."""
    _autograd.mark_variables(variables, gradients, grad_reqs)


def backward(outputs, out_grads=None, retain_graph=False):
    """Writes the gradients of all variables that `outputs` depend on."""
    assert isinstance(outputs, (list, tuple)), "outputs is a list or a tuple of arrays."
    _autograd.backward(list(outputs), out_grads, retain_graph=retain_graph)


def compute_gradient(outputs):
    """`backward(outputs)`."""
    backward(outputs)


def grad_and_loss(func, argnum=None):
    """The function that returns (gradients of the arguments, outputs) of `func`.

    `argnum`: the arguments to derive by, one or a list; all if None."""
    @functools.wraps(func)
    def wrapped(*args):
        chosen = args if argnum is None else \
            [args[i] for i in (argnum if isinstance(argnum, list) else [argnum])]
        for each in chosen:
            assert isinstance(each, NDArray), "Gradients are of arrays."
        grads = [ndarray.zeros_like(each) for each in chosen]
        mark_variables(chosen, grads)
        with train_section():
            outputs = func(*args)
        backward([outputs] if isinstance(outputs, NDArray) else outputs)
        return grads, outputs
    return wrapped


def grad(func, argnum=None):
    """The function that returns the gradients of `func`'s arguments; see `grad_and_loss`."""
    both = grad_and_loss(func, argnum)

    @functools.wraps(both)
    def wrapped(*args):
        return both(*args)[0]
    return wrapped
