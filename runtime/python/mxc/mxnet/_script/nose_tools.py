# SPDX-License-Identifier: Apache-2.0
"""A small `nose` for test files that import it, where it is not installed."""

import functools
import importlib.util
import re
import sys
import types
import unittest


def make_decorator(func):
    """Gives a wrapper the name, the documentation and the fixtures of `func`."""
    def decorate(wrapper):
        wrapper.__dict__.update(func.__dict__)
        return functools.update_wrapper(wrapper, func)
    return decorate


def raises(*exceptions):
    """The test passes where it raises one of these."""
    def decorate(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            try:
                func(*args, **kwargs)
            except exceptions:
                return
            names = " or ".join(kind.__name__ for kind in exceptions)
            raise AssertionError(f"{func.__name__}() did not raise {names}")
        return wrapper
    return decorate


def with_setup(setup=None, teardown=None):
    """Runs one function before the test and one after it."""
    def decorate(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            if setup is not None:
                setup()
            try:
                return func(*args, **kwargs)
            finally:
                if teardown is not None:
                    teardown()
        return wrapper
    return decorate


def timed(limit):
    """The test fails where it takes more than `limit` seconds."""
    import time

    def decorate(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            begin = time.monotonic()
            result = func(*args, **kwargs)
            if time.monotonic() - begin > limit:
                raise AssertionError(f"{func.__name__}() took over {limit} s")
            return result
        return wrapper
    return decorate


def istest(func):
    """Marks a test."""
    func.__test__ = True
    return func


def nottest(func):
    """Marks what is no test."""
    func.__test__ = False
    return func


def ok_(expression, msg=None):
    """assert expression."""
    assert expression, msg


def eq_(a, b, msg=None):
    """assert a == b."""
    assert a == b, msg or f"{a!r} != {b!r}"


def _assertions():
    """unittest's, by names with underscores: assert_raises."""
    case = unittest.TestCase()
    case.maxDiff = None
    for name in dir(case):
        if name.startswith("assert") and not name.endswith("_"):
            snake = re.sub(r"([A-Z])", lambda m: "_" + m.group(1).lower(), name)
            yield snake, getattr(case, name)


def _runmodule(name="__main__", **kwargs):
    """Runs the functions of a module whose names begin with "test"."""
    module = sys.modules[name]
    failed = 0
    for key, test in list(vars(module).items()):
        if not key.startswith("test") or not callable(test):
            continue
        try:
            test()
            print(f"{key} ... ok", file=sys.stderr)
        except unittest.SkipTest as reason:
            print(f"{key} ... skipped: {reason}", file=sys.stderr)
        except Exception as error:
            failed += 1
            print(f"{key} ... {type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(1 if failed else 0)


def install():
    """Makes `import nose` and `from nose.tools import …` work."""
    if "nose" in sys.modules or _works():
        return
    tools = types.ModuleType("nose.tools", __doc__)
    for function in (make_decorator, raises, with_setup, timed, istest, nottest,
                     ok_, eq_):
        setattr(tools, function.__name__, function)
    for name, function in _assertions():
        setattr(tools, name, function)
    nose = types.ModuleType("nose", __doc__)
    nose.__path__ = []
    nose.tools = tools
    nose.SkipTest = unittest.SkipTest
    nose.runmodule = nose.main = nose.run = _runmodule
    plugins = types.ModuleType("nose.plugins")
    plugins.__path__ = []
    skip = types.ModuleType("nose.plugins.skip")
    skip.SkipTest = unittest.SkipTest
    attrib = types.ModuleType("nose.plugins.attrib")
    attrib.attr = lambda *args, **kwargs: lambda func: func
    nose.plugins, plugins.skip, plugins.attrib = plugins, skip, attrib
    for module in (nose, tools, plugins, skip, attrib):
        sys.modules[module.__name__] = module


def _works():
    """Whether nose is installed, of a version for this Python."""
    if importlib.util.find_spec("nose") is None:
        return False
    try:
        importlib.import_module("nose.tools")
        return True
    except Exception:
        return False
