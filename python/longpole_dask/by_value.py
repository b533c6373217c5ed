"""Pickles objects of this package by value, for schedulers and workers that lack the package.

A pickle contains the source of the modules below. The first object that is restored in a process makes a package of them,
whose name contains their hash. So all objects share one copy, with its Node processes. A process that has imported the
same version of longpole_dask uses it.
"""

import hashlib
import json
import pickle
import pkgutil
import sys
import zlib
from functools import lru_cache

#: Modules, each after those that it imports.
MODULES = ("find_node", "messages", "python_values", "by_value", "own_folder", "typescript_calls")


@lru_cache(maxsize=1)
def shipped():
    """Returns the name and the packed source of the package for other processes."""
    package = sys.modules[__package__]
    packed = getattr(package, "packed", None)
    if packed is None:
        sources = [[name, pkgutil.get_data(__package__, f"{name}.py").decode()] for name in MODULES]
        packed = zlib.compress(json.dumps(sources).encode(), 9)
    return f"longpole_dask_{hashlib.sha256(packed).hexdigest()[:16]}", packed


def reduced(value, arguments):
    """Returns what `__reduce__` of an object of the module `typescript_calls` returns. The class is called with the arguments."""
    # Dask needs this package, a call without Dask does not.
    import cloudpickle

    call = Call(make_restore(), (*shipped(), type(value).__name__, arguments))
    return pickle.loads, (cloudpickle.dumps(call),)


class Call:
    """An object whose pickle calls a function, and has its result as value."""

    def __init__(self, function, arguments):
        self.function = function
        self.arguments = arguments

    def __reduce__(self):
        return self.function, self.arguments


def make_restore():
    """Returns a nested function, which is pickled by value."""

    def restore(name, packed, kind, arguments):
        import json
        import sys
        import threading
        import types
        import zlib

        own = sys.modules.get("longpole_dask.by_value")
        if own is not None and own.shipped()[0] == name:
            calls = sys.modules["longpole_dask.typescript_calls"]
            return getattr(calls, kind)(*arguments)
        package = sys.modules.setdefault(name, types.ModuleType(name))
        with vars(package).setdefault("lock", threading.RLock()):
            if not hasattr(package, "packed"):
                package.__path__ = []
                for part, source in json.loads(zlib.decompress(packed)):
                    module = types.ModuleType(f"{name}.{part}")
                    module.__package__ = name
                    sys.modules[module.__name__] = module
                    exec(compile(source, f"{name}/{part}.py", "exec"), vars(module))
                    setattr(package, part, module)
                package.packed = packed
        return getattr(package.typescript_calls, kind)(*arguments)

    return restore
