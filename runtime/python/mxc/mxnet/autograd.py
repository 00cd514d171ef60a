# SPDX-License-Identifier: Apache-2.0
"""Gradients of what was called: mx.autograd.

    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()            # x.grad is 2 * x
"""

import threading

from .. import _ndarray
from .base import MXNetError
from .ndarray import NDArray
from .ndarray._empty import EmptyArray
from .ndarray.ndarray import head_gradient

_interrupted = threading.local()
_REQUESTS = {"null": "null", "write": "write", "add": "add"}


def set_recording(is_recording):
    """Whether this thread notes what is called; returns what was so before."""
    return _ndarray.set_recording(bool(is_recording))


def set_training(train_mode):
    """Whether operators compute as in training (Dropout); returns what was so
    before."""
    return _ndarray.set_training(bool(train_mode))


def is_recording():
    """Whether this thread notes what is called."""
    return _ndarray.is_recording()


def is_training():
    """Whether this thread's operators compute as in training."""
    return _ndarray.is_training()


def _pauses():
    return getattr(_interrupted, "depth", 0)


def is_interrupted():
    """Whether this thread pauses within what it notes."""
    return _pauses() > 0 and not is_recording()


class _Scope:
    """Sets one or both flags in a with block, and puts them back behind it."""

    def __init__(self, recording, training):
        self._recording = recording
        self._training = None if training is None else bool(training)
        self._before = []

    def __enter__(self):
        recording = (None if self._recording is None else
                     _ndarray.set_recording(self._recording))
        training = (None if self._training is None else
                    _ndarray.set_training(self._training))
        if recording and not self._recording:
            _interrupted.depth = _pauses() + 1
        self._before.append((recording, training))
        return self

    def __exit__(self, *_):
        recording, training = self._before.pop()
        if recording and not self._recording:
            _interrupted.depth = _pauses() - 1
        if recording is not None:
            _ndarray.set_recording(recording)
        if training is not None:
            _ndarray.set_training(training)


def record(train_mode=True):
    """With block in which calls are noted, as in training."""
    return _Scope(True, train_mode)


def pause(train_mode=False):
    """With block in which calls are not noted."""
    return _Scope(False, train_mode)


def train_mode():
    """With block of training, whether recorded or not."""
    return _Scope(None, True)


def predict_mode():
    """With block of inference, whether recorded or not."""
    return _Scope(None, False)


def _as_list(arrays):
    return [arrays] if isinstance(arrays, NDArray) else list(arrays)


def mark_variables(variables, gradients, grad_reqs="write"):
    """Makes arrays variables, each with the array that its gradient goes to and
    "write", "add" or "null": what is done with it."""
    variables, gradients = _as_list(variables), _as_list(gradients)
    if isinstance(grad_reqs, (str, int)):
        grad_reqs = [grad_reqs] * len(variables)
    for variable, gradient, request in zip(variables, gradients, grad_reqs):
        # What was recorded of the handle is gone: views made before stay what
        # they are.
        if not isinstance(variable._array, EmptyArray):
            _ndarray.mark(variable._array, gradient._array, _REQUESTS[request])
        variable._grad = None if request == "null" else gradient
        variable._grad_req = request


def _heads(heads, head_grads):
    heads = _as_list(heads)
    if head_grads is None:
        return heads, [None] * len(heads)
    head_grads = _as_list(head_grads)
    if len(heads) != len(head_grads):
        raise MXNetError(f"{len(heads)} heads have {len(head_grads)} gradients")
    return heads, [None if grad is None else head_gradient(head, grad)
                   for head, grad in zip(heads, head_grads)]


def backward(heads, head_grads=None, retain_graph=False, train_mode=True):
    """Computes the gradients of the heads' sum for all variables that they were
    computed from. head_grads: what each head is multiplied by; None: ones."""
    heads, given = _heads(heads, head_grads)
    pairs = [pair for pair in zip(heads, given)
             if not isinstance(pair[0]._array, EmptyArray)]
    if not pairs:
        return
    heads, given = zip(*pairs)
    given = list(given)
    _ndarray.backward([head._array for head in heads], given, bool(retain_graph),
                      bool(train_mode))


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False,
         train_mode=True):
    """A list of the gradients for these variables, as new arrays; `create_graph`:
    they are recorded, so that they have gradients, too."""
    heads, given = _heads(heads, head_grads)
    wanted = _as_list(variables)
    if not wanted:
        raise AssertionError("grad needs one variable at least")
    retain = create_graph if retain_graph is None else retain_graph
    arrays = _ndarray.gradient([head._array for head in heads],
                               [variable._array for variable in wanted], given,
                               bool(retain), bool(create_graph), bool(train_mode))
    return [variable._new(array) for variable, array in zip(wanted, arrays)]


def get_symbol(x):
    """Refused: what was recorded is no symbol."""
    raise NotImplementedError("autograd.get_symbol: what was recorded cannot be "
                              "had as a symbol")


class Function:
    """A function with a gradient of the user's own: a subclass has
    `forward(self, *inputs)` and `backward(self, *output_gradients)`, both over
    NDArrays. An instance is called once."""

    def __init__(self):
        self._used = False
        self.saved_tensors = ()

    def save_for_backward(self, *args):
        """What `backward` finds in `self.saved_tensors`."""
        self.saved_tensors = args

    def __call__(self, *inputs):
        if self._used:
            raise AssertionError(f"{type(self).__name__} was called already: a function "
                                 "is called once, another call needs another object")
        self._used = True
        with pause(train_mode=is_training()):
            outputs = self.forward(*inputs)
        if not is_recording():
            return outputs
        several = _as_list(outputs)
        # Views that nothing was recorded of: an output may be an input itself.
        with pause(train_mode=is_training()):
            made = [output._new(output._array.reshape(list(output.shape)))
                    for output in several]
        where = several[0]
        _ndarray.record_function(
            [array._array for array in inputs], [array._array for array in made],
            lambda head_grads: self._gradients(inputs, where, head_grads))
        return made[0] if isinstance(outputs, NDArray) else type(outputs)(made)

    def _gradients(self, inputs, where, head_grads):
        given = self.backward(*[where._new(array) for array in head_grads])
        given = _as_list(given)
        if len(given) != len(inputs):
            raise MXNetError(f"{type(self).__name__}.backward gives {len(given)} "
                             f"gradients for {len(inputs)} inputs")
        return [gradient._array for gradient in given]

    def forward(self, *inputs):
        """The outputs: an NDArray or a tuple."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, *output_grads):
        """The gradient of each input."""
        raise NotImplementedError(f"{type(self).__name__} has no backward")
