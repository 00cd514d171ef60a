# SPDX-License-Identifier: Apache-2.0
"""mx.nd: arrays, and operators called one by one.

All operators of `mxc ops` are functions here: inputs first, then attributes, by
position or by name; `out=` an array that is written; `name=` is ignored."""

from . import _arithmetic, _methods, _register
from ._cached import CachedOp
from ._functions import *  # noqa: F403
from ._invoke import _invoke
from .creation import *  # noqa: F403
from .creation import array
from .exchange import *  # noqa: F403
from .ndarray import NDArray
from .utils import load, load_frombuffer, save

# Functions of this module are those of the table, but where they have a form of
# their own.
_own = set(globals())
globals().update({name: function
                  for name, function in _register.MODULES[""].items()
                  if name not in _own})
globals().update(_arithmetic.FUNCTIONS)
_methods.install(NDArray, globals(), _register.MODULES[""])

from . import _internal, contrib, image, linalg, op, random, sparse  # noqa: E402
from .sparse import cast_storage  # noqa: E402

random_normal = normal = random.normal
random_uniform = uniform = random.uniform
