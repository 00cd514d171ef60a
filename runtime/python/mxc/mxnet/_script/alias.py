# SPDX-License-Identifier: Apache-2.0
"""`mxnet`, and whatever lies in it, as other names of mxc.mxnet's modules."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys

_REAL = __name__.rsplit(".", 2)[0]  # "mxc.mxnet"
_ALIAS = "mxnet"
# Modules of MXNet that are a part of another one here.
_WITHIN = {f"{_ALIAS}.{name}": f"{_REAL}.{of}" for name, of in {
    "io.io": "io", "io.utils": "io", "kvstore.kvstore": "kvstore",
    "optimizer.optimizer": "optimizer", "rnn.rnn_cell": "rnn", "rnn.rnn": "rnn",
    "image.detection": "image", "symbol.op": "symbol", "ndarray.op": "ndarray",
    "contrib.onnx.mx2onnx": "contrib.onnx", "contrib.onnx.onnx2mx": "contrib.onnx",
}.items()}


def _real(fullname):
    return _WITHIN.get(fullname, _REAL + fullname[len(_ALIAS):])


class _Loader(importlib.abc.Loader):
    """Gives the module that there is already; it keeps its own name and spec."""

    def create_module(self, spec):
        module = importlib.import_module(_real(spec.name))
        self._own = module.__spec__, getattr(module, "__loader__", None)
        return module

    def exec_module(self, module):
        module.__spec__, module.__loader__ = self._own


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname != _ALIAS and not fullname.startswith(_ALIAS + "."):
            return None
        try:
            real = importlib.util.find_spec(_real(fullname))
        except ModuleNotFoundError:  # its parent is no package
            return None
        if real is None:
            return None
        return importlib.machinery.ModuleSpec(
            fullname, _Loader(),
            is_package=real.submodule_search_locations is not None)


def install():
    """From now on `import mxnet` gives mxc.mxnet, in this process alone."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    importlib.import_module(_ALIAS)
