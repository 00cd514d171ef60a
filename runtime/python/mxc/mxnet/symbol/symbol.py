# SPDX-License-Identifier: Apache-2.0
"""Symbol: a graph that is declared before it has values."""

from ..._whole_file import write_whole
from ..attribute import AttrScope
from ..base import MXNetError, NotImplementedForSymbol, dtype_name
from . import _infer, _json
from ._arithmetic import Arithmetic
from ._compose import entry_of, hidden
from ._json import HIDDEN_KEYS
from ._methods import Methods
from ._node import Node, copied, walk
from ._types import DTYPE_NUMBERS, STORAGE_NUMBERS


def _np_shape():
    from ..util import is_np_shape
    return bool(is_np_shape())


def _shown(attrs):
    """Attributes as users read them: __lr_mult__ as lr_mult, too."""
    shown = dict(attrs)
    for key in HIDDEN_KEYS:
        if f"__{key}__" in attrs:
            shown[key] = attrs[f"__{key}__"]
    return shown


class Symbol(Arithmetic, Methods):
    """Some outputs of a graph's nodes."""

    __array_priority__ = 1000.0

    def __init__(self, heads):
        self._heads = list(heads)

    def __repr__(self):
        if self.name is None:
            names = ", ".join(output.name for output in self)
            return f"<{type(self).__name__} group [{names}]>"
        return f"<{type(self).__name__} {self.name}>"

    def _not_implemented(self, function):
        return NotImplementedForSymbol(function, None, self)

    def __bool__(self):
        raise self._not_implemented("__bool__")

    __nonzero__ = __bool__

    # ---- Outputs -------------------------------------------------------------

    @property
    def name(self):
        """The node's name; None of outputs of several nodes."""
        nodes = {id(node) for node, _ in self._heads}
        return self._heads[0][0].name if len(nodes) == 1 else None

    @property
    def num_outputs(self):
        """How many outputs it has."""
        return len(self._heads)

    def __len__(self):
        return len(self._heads)

    def __iter__(self):
        return (self[i] for i in range(len(self._heads)))

    def __getitem__(self, index):
        """An output by its number or name, or several by a slice."""
        if isinstance(index, str):
            places = [i for i, name in enumerate(self.list_outputs())
                      if name == index]
            if not places:
                raise ValueError(f"there is no output {index!r}")
            if len(places) > 1:
                raise ValueError(f"several outputs are called {index!r}")
            index = places[0]
        if isinstance(index, slice):
            return type(self)(self._heads[index])
        if not isinstance(index, int):
            raise TypeError(f"an output's number is {type(index).__name__}, expected "
                            "an int")
        return type(self)([self._heads[index]])

    def list_outputs(self):
        """The outputs' names."""
        return [node.output_name(i) for node, i in self._heads]

    def get_internals(self):
        """All variables, and all outputs of all nodes."""
        return type(self)([(node, i) for node in walk(self._heads)
                           for i in range(node.outputs())])

    def get_children(self):
        """What the nodes of the outputs read; None of a variable."""
        nodes = dict.fromkeys(node for node, _ in self._heads)
        inputs = [entry for node in nodes for entry in node.inputs]
        return type(self)(inputs) if inputs else None

    # ---- Inputs --------------------------------------------------------------

    def list_arguments(self):
        """The names of the variables, without states that operators update."""
        return [node.name for node in _json.variables(self._heads)[0]]

    def list_auxiliary_states(self):
        """The names of the variables that operators update."""
        return [node.name for node in _json.variables(self._heads)[1]]

    def list_inputs(self):
        """The names of all variables."""
        return [node.name for node in walk(self._heads) if node.op is None]

    def __call__(self, *args, **kwargs):
        """A copy in which symbols take the place of variables: by the order of
        list_arguments(), or by name."""
        kwargs.pop("name", None)
        if args and kwargs:
            raise TypeError("symbols are given by position and by name, expected "
                            "one of the two")
        arguments = [node for node in walk(self._heads) if node.op is None]
        if len(args) > len(arguments):
            raise MXNetError(f"{len(args)} symbols for {len(arguments)} arguments")
        given = dict(zip((node.name for node in arguments), args))
        given.update(kwargs)
        unknown = set(given) - {node.name for node in arguments}
        if unknown:
            raise MXNetError(f"there is no argument {sorted(unknown)[0]!r}, expected "
                             "one of "
                             + ", ".join(node.name for node in arguments))
        replaced = {id(node): entry_of(given[node.name], node.name)
                    for node in arguments if node.name in given}
        return type(self)(copied(self._heads, replaced))

    # ---- Copies --------------------------------------------------------------

    def __copy__(self):
        return type(self)(copied(self._heads))

    def __deepcopy__(self, _):
        return type(self)(copied(self._heads))

    def __getstate__(self):
        return {"json": self.tojson()}

    def __setstate__(self, state):
        self._heads = _json.read(state["json"])

    def _gen_atomic_symbol(self):
        """The node of the first output without its inputs."""
        node = self._heads[0][0]
        inputs = [(Node(None, f"{node.name}_{name}"), 0)
                  for name in (node.signature.inputs if node.op else ())]
        alone = Node(node.op, node.name, node.attrs, inputs, node.subgraphs)
        return type(self)([(alone, i) for i in range(alone.outputs())])

    # ---- Attributes ----------------------------------------------------------

    def attr(self, key):
        """An attribute's text, or None."""
        return _shown(self._heads[0][0].attrs).get(key)

    def list_attr(self, recursive=False):
        """The attributes of the node."""
        if recursive:
            raise DeprecationWarning("attr_dict() has the attributes of all "
                                     "nodes")
        return _shown(self._heads[0][0].attrs)

    def attr_dict(self):
        """name -> attributes, of all nodes that have any."""
        return {node.name: _shown(node.attrs) for node in walk(self._heads)
                if node.attrs}

    def _set_attr(self, **kwargs):
        """Sets attributes, strings, of the outputs' nodes."""
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError(f"attribute {key} is {value!r}, expected a string")
            for node, _ in self._heads:
                node.attrs.update(hidden({key: value}))

    # ---- Shapes and types ----------------------------------------------------

    def infer_shape(self, *args, **kwargs):
        """(arguments' shapes, outputs', auxiliary states'), from the shapes of
        some arguments; (None, None, None) where these do not suffice."""
        return _infer.shapes(self, args, kwargs, partial=False)

    def infer_shape_partial(self, *args, **kwargs):
        """The same with what is known: 0 is an unknown extent, () an unknown
        shape (-1 and None under np_shape)."""
        return _infer.shapes(self, args, kwargs, partial=True)

    def infer_type(self, *args, **kwargs):
        """(arguments' types, outputs', auxiliary states'), numpy classes."""
        return _infer.types(self, args, kwargs, partial=False)

    def infer_type_partial(self, *args, **kwargs):
        """The same; None where a type is unknown."""
        return _infer.types(self, args, kwargs, partial=True)

    # ---- Texts ---------------------------------------------------------------

    def tojson(self, remove_amp_cast=True):
        """The graph as MXNet 1.9 writes it."""
        return _json.write(self._heads, _np_shape())

    def save(self, fname, remove_amp_cast=True):
        """Writes tojson() to a file."""
        if not isinstance(fname, str):
            raise TypeError("fname need to be string")
        with write_whole(fname, "w") as file:
            file.write(self.tojson(remove_amp_cast))

    def debug_str(self):
        """The nodes, a few lines each, for people."""
        lines = ["Symbol Outputs:"]
        lines += [f"\toutput[{i}]={node.name}({index})"
                  for i, (node, index) in enumerate(self._heads)]
        for node in walk(self._heads):
            if node.op is None:
                lines.append(f"Variable:{node.name}")
                continue
            lines += ["-" * 20, f"Op:{node.op}, Name={node.name}", "Inputs:"]
            for i, (of, index) in enumerate(node.inputs):
                version = (f" version={int(i in node.states())}" if of.op is None
                           else "")
                lines.append(f"\targ[{i}]={of.name}({index}){version}")
            if node.attrs:
                lines.append("Attrs:")
                lines += [f"\t{name}={text}"
                          for name, text in sorted(node.attrs.items())]
        return "\n".join(lines) + "\n"

    # ---- Values --------------------------------------------------------------

    def simple_bind(self, ctx, grad_req="write", type_dict=None, stype_dict=None,
                    group2ctx=None, shared_arg_names=None, shared_exec=None,
                    shared_buffer=None, **kwargs):
        """An Executor with new arrays of zeros; kwargs: shapes of arguments."""
        from .. import _bind
        return _bind.simple_bind(self, ctx, grad_req, type_dict, stype_dict,
                                 shared_arg_names, shared_exec, shared_buffer,
                                 group2ctx, kwargs)

    def bind(self, ctx, args, args_grad=None, grad_req="write", aux_states=None,
             group2ctx=None, shared_exec=None):
        """An Executor over the given arrays: lists in the order of
        list_arguments() and list_auxiliary_states(), or dicts by name."""
        from .. import _bind
        return _bind.bind(self, ctx, args, args_grad, grad_req, aux_states,
                          group2ctx)

    def eval(self, ctx=None, **kwargs):
        """The outputs' values, a list of arrays; kwargs: arguments' arrays."""
        from ..context import current_context
        ctx = current_context() if ctx is None else ctx
        return self.bind(ctx, kwargs).forward()

    def gradient(self, wrt):
        """Refused: gradients are computed by executors and autograd."""
        raise NotImplementedError("Symbol.gradient is not implemented; bind the "
                                  "symbol and call backward")

    def optimize_for(self, backend, *args, **kwargs):
        """Refused: the compiler optimizes whatever is bound."""
        raise NotImplementedError(f"there is no backend {backend!r}; a bound "
                                  "symbol is compiled as it is")

    get_backend_symbol = optimize_for


def var(name, attr=None, shape=None, lr_mult=None, wd_mult=None, dtype=None,
        init=None, stype=None, profiler_scope=None, **kwargs):
    """A variable. shape: 0 is an unknown extent; init: an initializer or its
    JSON; kwargs: further attributes with names like __this__."""
    if not isinstance(name, str):
        raise TypeError(f"a variable's name is {name!r}, expected a string")
    attrs = AttrScope.current.get(attr)
    given = {"__shape__": None if shape is None else str(_plain(shape)),
             "__lr_mult__": lr_mult, "__wd_mult__": wd_mult,
             "__dtype__": (None if dtype is None
                           else DTYPE_NUMBERS[dtype_name(dtype)]),
             "__init__": init if init is None or isinstance(init, str)
             else init.dumps(),
             "__storage_type__": None if stype is None else STORAGE_NUMBERS[stype]}
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ValueError(
                f"variable {name!r} has no attribute {key!r}; those of your own "
                "are written like __this__")
        given[key] = value
    attrs.update({key: str(value) for key, value in given.items()
                  if value is not None})
    return Symbol([(Node(None, name, hidden(attrs)), 0)])


def _plain(shape):
    return tuple(int(extent) for extent in
                 (shape if isinstance(shape, (tuple, list)) else (shape,)))


Variable = var


def Group(symbols, create_fn=Symbol):
    """A symbol with all outputs of several."""
    symbols = list(symbols)
    if not symbols or any(not isinstance(sym, Symbol) for sym in symbols):
        raise TypeError("a group is made of one symbol or more")
    return create_fn([head for sym in symbols for head in sym._heads])


def load(fname):
    """The symbol that a file holds."""
    if not isinstance(fname, str):
        raise TypeError("fname need to be string")
    try:
        with open(fname, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise MXNetError(f"{fname} cannot be read: {error.strerror}") from error
    return load_json(text)


def load_json(json_str):
    """The symbol that tojson() wrote, or an earlier MXNet."""
    if not isinstance(json_str, str):
        raise TypeError("the JSON must be a string")
    return Symbol(_json.read(json_str))


fromjson = load_json
__all__ = ["Group", "Symbol", "Variable", "fromjson", "load", "load_json", "var"]
