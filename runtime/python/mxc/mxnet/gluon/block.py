# SPDX-License-Identifier: Apache-2.0
"""Block: a layer or a network, with parameters and children."""
import json
import re
import warnings
from collections import OrderedDict

from ..._whole_file import write_whole
from .. import initializer, ndarray
from ..context import Context
from ._scope import BlockScope
from .parameter import Parameter
from .parameter_dict import ParameterDict, brief
from .utils import HookHandle, indented

__all__ = ["Block", "HybridBlock", "SymbolBlock"]

_BlockScope = BlockScope  # As MXNet's users find it.


class Block:
    """A layer or a network: `forward` computes, `collect_params` are its weights.

    Blocks and parameters that are assigned to attributes become children and
    parameters. `prefix` begins the names of all of them; `params` (of another block) are
    shared.
    """

    def __init__(self, prefix=None, params=None):
        self._empty_prefix = prefix == ""
        self._prefix, self._params = BlockScope.create(prefix, params, self._alias())
        self._name = self._prefix[:-1] if self._prefix.endswith("_") else self._prefix
        self._scope = BlockScope(self, owned=True)
        self._children = OrderedDict()
        self._reg_params = {}
        self._forward_hooks = OrderedDict()
        self._forward_pre_hooks = OrderedDict()

    def __repr__(self):
        lines = [f"  ({key}): {indented(repr(value))}"
                 for key, value in self.__dict__.items() if isinstance(value, Block)]
        return type(self).__name__ + "(\n" + "\n".join(lines) + "\n)"

    def __setattr__(self, name, value):
        existing = getattr(self, name, None)
        if isinstance(existing, (Parameter, Block)) and not isinstance(value, type(existing)):
            raise TypeError(f"{name} of {self.name} is a {type(existing).__name__} and cannot "
                            f"become a {type(value).__name__}.")
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            assert name not in self._reg_params, (
                f"{self.name} has a parameter {name} already, which cannot be replaced.")
            self._reg_params[name] = value
        super().__setattr__(name, value)

    def _alias(self):
        return type(self).__name__.lower()

    # Names and children.

    @property
    def prefix(self):
        """What the names of its parameters begin with."""
        return self._prefix

    @property
    def name(self):
        """Its prefix without the last underscore."""
        return self._name

    def name_scope(self):
        """`with self.name_scope():` blocks made there have names and parameters of this."""
        return self._scope

    def register_child(self, block, name=None):
        """Makes `block` a child; done by assignment to an attribute."""
        self._children[str(len(self._children)) if name is None else name] = block

    def apply(self, fn):
        """Calls `fn` with each child, at every depth, and with this block."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    # Parameters.

    @property
    def params(self):
        """Its own parameters, without those of its children."""
        return self._params

    def collect_params(self, select=None):
        """All parameters, children's too; of names that the regular expression matches."""
        self._warn_of_hidden_blocks()
        found = ParameterDict(self._params.prefix)
        matches = re.compile(select or "").match
        found.update({name: param for name, param in self.params.items() if matches(name)})
        for child in self._children.values():
            found.update(child.collect_params(select=select))
        return found

    def _warn_of_hidden_blocks(self):
        children = {id(child) for child in self._children.values()}
        for name, value in self.__dict__.items():
            if name.startswith("_") or not isinstance(value, (list, tuple, dict)):
                continue
            for each in value.values() if isinstance(value, dict) else value:
                if isinstance(each, Block) and id(each) not in children:
                    warnings.warn(f"{self.name}.{name} holds blocks that are no children: "
                                  "Sequential, HybridSequential or register_child makes them "
                                  "so.", stacklevel=3)
                    return

    def _collect_params_with_prefix(self, prefix=""):
        if prefix:
            prefix += "."
        found = {prefix + name: param for name, param in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    def initialize(self, init=initializer.Uniform(), ctx=None, verbose=False,
                   force_reinit=False):
        """Draws the values of all parameters; see `Parameter.initialize`."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def cast(self, dtype):
        """Changes the type of all parameters."""
        for child in self._children.values():
            child.cast(dtype)
        for param in self.params.values():
            param.cast(dtype)

    def hybridize(self, active=True, **kwargs):
        """Compiles the hybrid blocks among its children; see `HybridBlock.hybridize`."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    # Files.

    def save_parameters(self, filename, deduplicate=False):
        """Writes all values by the names of attributes, as "features.0.weight".

        A parameter that is shared is written once for each name, or with `deduplicate` once."""
        params = self._collect_params_with_prefix()
        if deduplicate:
            last_name = {param: name for name, param in params.items()}
            params = {name: param for param, name in last_name.items()}
        ndarray.save(filename, {name: param._reduce() for name, param in params.items()})

    def save_params(self, filename):
        """Deprecated form of `save_parameters`: by the names of parameters."""
        warnings.warn("save_params is deprecated: save_parameters writes what load_parameters "
                      "reads.", DeprecationWarning, stacklevel=2)
        self.collect_params().save(filename, strip_prefix=self.prefix)

    def load_parameters(self, filename, ctx=None, allow_missing=False, ignore_extra=False,
                        cast_dtype=False, dtype_source="current"):
        """Reads values that `save_parameters`, `save_params` or `export` wrote."""
        loaded = ndarray.load(filename)
        params = self._collect_params_with_prefix()
        if not loaded and not params:
            return
        if not any("." in name for name in loaded):
            if not set(loaded) <= set(params):
                # A file by the names of parameters: of save_params, or of export.
                self.collect_params().load(filename, ctx, allow_missing, ignore_extra,
                                           "" if self._has_full_names(loaded) else self.prefix,
                                           cast_dtype, dtype_source)
                return
        self._load_by_attribute(loaded, params, filename, ctx, allow_missing, ignore_extra,
                                cast_dtype, dtype_source)

    def _has_full_names(self, loaded):
        return any(name.startswith(("arg:", "aux:")) for name in loaded)

    def _load_by_attribute(self, loaded, params, filename, ctx, allow_missing, ignore_extra,
                           cast_dtype, dtype_source):
        if not allow_missing:
            present = {params[name] for name in loaded if name in params}
            for name, param in params.items():
                assert param in present, (
                    f"Parameter '{name}' is missing in file '{filename}', which has "
                    f"{brief(loaded)}; allow_missing=True passes over it.")
        if isinstance(ctx, Context):
            ctx = [ctx]
        for name, value in loaded.items():
            if name in params:
                params[name]._load_init(value, ctx, cast_dtype, dtype_source)
            elif not ignore_extra:
                raise ValueError(
                    f"Parameter '{name}' of file '{filename}' is none of {brief(params)}; "
                    "ignore_extra=True passes over it.")

    def load_params(self, filename, ctx=None, allow_missing=False, ignore_extra=False):
        """Deprecated name of `load_parameters`."""
        warnings.warn("load_params is deprecated: load_parameters does the same.",
                      DeprecationWarning, stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def save(self, prefix):
        """Writes the values to `prefix-model.params` and the names to `prefix-model.json`."""
        values = {}
        structure = self._structure(values)
        with write_whole(f"{prefix}-model.json", "w") as file:
            json.dump(structure, file)
        ndarray.save(f"{prefix}-model.params", values)

    def _structure(self, values):
        """Parameters by attribute and children in order; adds to `values` by full name."""
        values.update({param.name: param._reduce() for param in self._reg_params.values()})
        return {"type": type(self).__name__,
                "params": {key: param.name for key, param in self._reg_params.items()},
                "children": [child._structure(values) for child in self._children.values()]}

    def load(self, prefix):
        """Reads what `save` wrote of a block with the same children, whatever their names."""
        with open(f"{prefix}-model.json", encoding="utf-8") as file:
            structure = json.load(file)
        self._load_structure(structure, ndarray.load(f"{prefix}-model.params"))

    def _load_structure(self, structure, values):
        if structure["params"].keys() != self._reg_params.keys() or \
                len(structure["children"]) != len(self._children):
            raise ValueError(
                f"{self.name} has the parameters {list(self._reg_params)} and "
                f"{len(self._children)} children; saved was a {structure['type']} with "
                f"{list(structure['params'])} and {len(structure['children'])}.")
        for key, name in structure["params"].items():
            self._reg_params[key]._load_init(values[name], None)
        for child, part in zip(self._children.values(), structure["children"]):
            child._load_structure(part, values)

    # Calls.

    def __call__(self, *args):
        """`forward(*args)`, between its hooks."""
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                hook(self, args)
        out = self.forward(*args)
        if self._forward_hooks:
            for hook in list(self._forward_hooks.values()):
                hook(self, args, out)
        return out

    def forward(self, *args):
        """Computes its outputs; each block has its own."""
        raise NotImplementedError(f"{type(self).__name__} has no forward.")

    def register_forward_pre_hook(self, hook):
        """`hook(block, inputs)` is called before each forward; returns a handle to detach."""
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook):
        """`hook(block, inputs, outputs)` is called after each forward."""
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(self, callback, monitor_all=False):
        """`callback(name, operator, array)` is called with outputs of operators of hybridized
        children, with `monitor_all` with their inputs, too."""
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def summary(self, *inputs):
        """Prints layers, output shapes and numbers of parameters, as `inputs` give them."""
        from ._summary import print_summary
        print_summary(self, inputs)


from .hybrid_block import HybridBlock  # noqa: E402
from .symbol_block import SymbolBlock  # noqa: E402
