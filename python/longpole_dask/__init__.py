"""TypeScript on Dask clusters, and the bridge between a cluster and Longpole.

    resize = longpole_dask.function("dist/tasks.mjs", "resize")
    client.map(resize, images)

The bridge is started with `python -m longpole_dask ADDRESS`. It attaches to a running scheduler as a client and registers a
plugin on the scheduler and another one on the workers. It writes events as frames of msgpack to its output. When its input
ends, it removes both plugins.
"""

from .typescript_calls import TypeScriptError
from .typescript_function import function

__all__ = ["TypeScriptError", "function"]

#: Version of the rows. The reader rejects other versions.
PROTOCOL = 1

# Tracebacks name the class as a program catches it.
TypeScriptError.__module__ = __name__
