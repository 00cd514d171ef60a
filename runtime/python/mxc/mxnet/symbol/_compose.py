# SPDX-License-Identifier: Apache-2.0
"""Makes nodes: inputs by position and name, missing ones as new variables,
attributes checked against the table."""

import re

from ..attribute import AttrScope
from ..base import MXNetError, _Null, attribute_text
from ..name import NameManager
from . import _operators
from ._json import HIDDEN_KEYS, give_variables_inits
from ._node import Node

_OWN_ATTRIBUTE = re.compile(r"__.+__|" + "|".join(HIDDEN_KEYS))


def hidden(attrs):
    """The attributes with the names that graphs hold: lr_mult as __lr_mult__."""
    return {f"__{name}__" if name in HIDDEN_KEYS else name: value
            for name, value in attrs.items()}


def _sorted_arguments(operator, args, kwargs):
    """(inputs by position, inputs by name, attributes) of a call's arguments."""
    from .symbol import Symbol
    by_position, by_name, attrs = [], {}, {}
    if operator.variadic or operator.name == "Custom":
        by_position = list(args)
    else:
        names = (*operator.inputs, *operator.params)
        symbols = next((at for at, value in enumerate(args)
                        if not isinstance(value, Symbol)), len(args))
        if symbols > len(operator.inputs):
            # Attributes ask for more inputs than the operator has by itself.
            by_position, args, names = args[:symbols], args[symbols:], operator.params
        if len(args) > len(names):
            raise TypeError(f"{operator.name}() takes {len(names)} arguments by "
                            f"position, found {len(args)}")
        for name, value in zip(names, args):
            if name in kwargs:
                raise TypeError(f"{operator.name}() got multiple values for "
                                f"argument {name!r}")
            kwargs[name] = value
    for name, value in kwargs.items():
        if isinstance(value, Symbol):
            by_name[name] = value
        elif name in operator.inputs and name not in operator.params:
            if value is not None:
                raise AssertionError(f"the input {name} of {operator.name} is "
                                     f"{value!r}, expected a symbol")
        elif value is not _Null:
            attrs[name] = value
    return by_position, by_name, attrs


def _checked(operator, attrs):
    """The attributes as text; MXNetError for unknown ones."""
    for name in attrs:
        if (operator.params and operator.name != "Custom"
                and name not in operator.params
                and not _OWN_ATTRIBUTE.fullmatch(name)):
            raise MXNetError(
                f"{operator.name} has no attribute '{name}', expected one of "
                f"{', '.join(operator.params)}")
    return hidden({name: attribute_text(value) for name, value in attrs.items()})


def entry_of(symbol, name):
    """The one output of a symbol that is to be read as the input `name`."""
    from .symbol import Symbol
    if not isinstance(symbol, Symbol):
        raise AssertionError(f"the input {name} is {symbol!r}, expected a "
                             "symbol")
    if len(symbol._heads) != 1:
        raise MXNetError(f"the input {name} has {len(symbol._heads)} outputs, "
                         "expected a symbol with one")
    return symbol._heads[0]


def _joined(operator, by_position, by_name, node):
    """The node's inputs, in order; None where one is missing."""
    wanted = node.signature.inputs
    if len(by_position) > len(wanted):
        raise MXNetError(f"{operator.name} takes {len(wanted)} inputs, found "
                         f"{len(by_position)}")
    found = dict(zip(wanted, by_position))
    for name, symbol in by_name.items():
        if name not in wanted:
            raise MXNetError(f"{operator.name} has no input {name!r}, expected "
                             f"one of {', '.join(wanted)}")
        found[name] = symbol
    return [entry_of(found[name], name) if name in found else None
            for name in wanted]


def create(op_name, hint, args, kwargs):
    """The symbol of a call of the operator; kwargs may hold name and attr."""
    from .symbol import Symbol
    operator = _operators.find(op_name)
    kwargs = dict(kwargs)
    name, attr = kwargs.pop("name", None), kwargs.pop("attr", None)
    kwargs.pop("out", None)
    by_position, by_name, attrs = _sorted_arguments(operator, args, kwargs)
    name = NameManager.current.get(name, hint.lower())
    if operator.variadic and operator.variadic not in attrs:
        attrs[operator.variadic] = len(by_position) + len(by_name)
    texts = _checked(operator, attrs)
    for key, value in AttrScope.current.get(attr).items():
        if not isinstance(value, str):
            raise ValueError(f"Attribute values must be strings, found {value!r} "
                             f"for {key}")
        texts.update(hidden({key: value}))
    # What is stored alone: an operator's other name, which the executor knows.
    own = op_name if op_name.startswith("_scatter_") else operator.name
    node = Node(own, name, texts)
    if operator.variadic:
        node.inputs = [None] * (len(by_position) + len(by_name))
        if operator.name == "UpSampling" and not node.inputs:
            node.inputs = [None] * int(texts["num_args"])
    inputs = _joined(operator, by_position, by_name, node)
    node.inputs = [
        entry or (Node(None, f"{name}_{wanted}", texts), 0)
        for wanted, entry in zip(node.signature.inputs, inputs)]
    give_variables_inits(node)
    # Of mx.sym.np's symbols come mx.sym.np's.
    given = next((value for value in (*by_position, *by_name.values(), *args)
                  if isinstance(value, Symbol)), None)
    return (type(given) if given is not None else Symbol)(
        [(node, i) for i in range(node.outputs())])


def function(op_name, public_name):
    """The function by which users make symbols of an operator."""
    operator = _operators.find(op_name)

    def make(*args, **kwargs):
        return create(op_name, public_name, args, kwargs)

    make.__name__ = make.__qualname__ = public_name
    inputs = ("*data" if operator.variadic else
              ", ".join(f"{name}=None" for name in operator.inputs))
    params = ", ".join(f"{name}={param.get('default', 'required')}"
                       for name, param in operator.params.items())
    lines = [f"    {name}: {param['doc']} ({param['type']})"
             for name, param in operator.params.items() if param["doc"]]
    signature = ", ".join(part for part in (inputs, params, "name=None") if part)
    make.__doc__ = (f"{public_name}({signature})\n\n{operator.doc}\n\n"
                    + "\n".join(lines))
    return make
