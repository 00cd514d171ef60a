# SPDX-License-Identifier: Apache-2.0
"""Registers of classes by name, for bases of the user's own."""

from __future__ import annotations

import json
import warnings

_registers = {}


def get_registry(base_class):
    """A copy of the register of `base_class`: lower-cased name -> class."""
    return dict(_registers.get(base_class, {}))


def get_register_func(base_class, nickname):
    """A function register(klass, name=None) that can decorate classes."""
    register_of = _registers.setdefault(base_class, {})

    def register(klass, name=None):
        if not (isinstance(klass, type) and issubclass(klass, base_class)):
            raise AssertionError(f"{klass!r} is no subclass of "
                                 f"{base_class.__name__}")
        key = (name or klass.__name__).lower()
        if register_of.get(key, klass) is not klass:
            warnings.warn(f"{nickname} {key!r} of {register_of[key]!r} is "
                          f"replaced by {klass!r}", UserWarning, stacklevel=2)
        register_of[key] = klass
        return klass

    register.__doc__ = f"Registers a {nickname} under its lower-cased name."
    return register


def get_alias_func(base_class, nickname):
    """A function alias(*names) that makes decorators of classes."""
    register = get_register_func(base_class, nickname)

    def alias(*names):
        def decorate(klass):
            for name in names:
                register(klass, name)
            return klass
        return decorate

    return alias


def get_create_func(base_class, nickname):
    """A function create(what, *args, **kwargs): `what` is an instance, a name,
    a dict {nickname: name, **kwargs}, or the text of '["name", {kwargs}]' or of
    such a dict."""
    register_of = _registers.setdefault(base_class, {})

    def create(*args, **kwargs):
        if args:
            what, args = args[0], args[1:]
        else:
            what = kwargs.pop(nickname)
        if isinstance(what, base_class):
            if args or kwargs:
                raise AssertionError(f"{nickname} is an instance already: it "
                                     "takes no further arguments")
            return what
        if isinstance(what, dict):
            return create(**what)
        if not isinstance(what, str):
            raise AssertionError(f"{nickname} must be a string, not "
                                 f"{type(what).__name__}")
        if what.startswith("["):
            name, kwargs = json.loads(what)
            return create(name, **kwargs)
        if what.startswith("{"):
            return create(**json.loads(what))
        if what.lower() not in register_of:
            known = ", ".join(sorted(register_of))
            raise AssertionError(f"{what} is not registered as {nickname}; there "
                                 f"are {known}")
        return register_of[what.lower()](*args, **kwargs)

    create.__doc__ = f"Creates a {nickname} from its name or configuration."
    return create
