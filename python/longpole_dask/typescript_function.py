"""Makes functions of Python from functions of TypeScript."""

import os
import subprocess

from .find_node import find_node
from .typescript_calls import TypeScriptFunction, packed

#: Exit code of the program that bundles a module, if the module has no such function.
NO_FUNCTION = 2


def function(module, name):
    """Returns a function of Python that calls a function of TypeScript.

    ``module`` is the path of a module for Node, or of one in TypeScript; ``name`` is the name of an exported function. The
    module and what it imports become one file, which travels with the function: a worker of Dask needs only Node.

        resize = longpole_dask.function("dist/tasks.mjs", "resize")
        client.submit(resize, image, 0.5)

    Raises FileNotFoundError if there is no such file, AttributeError if the module exports no such function, and RuntimeError
    if there is no Node or if the module cannot be bundled. A call raises TypeError for a value that has no counterpart in the
    other language, and TypeScriptError if the function throws.
    """
    path = os.path.abspath(os.fspath(module))
    if not os.path.isfile(path):
        raise FileNotFoundError(f"There is no module {path}. Pass the path of a file, relative to {os.getcwd()} or absolute.")
    # The program of Longpole is beside the package `longpole`.
    from longpole._program import root

    bundles = root() / "dist" / "bundle"
    done = subprocess.run(
        [find_node(), str(bundles / "functionBundle.js"), path, name],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        text = done.stderr.decode("utf-8", "replace").strip()
        raise (AttributeError if done.returncode == NO_FUNCTION else RuntimeError)(text)
    program = (bundles / "typescriptCalls.js").read_bytes()
    return TypeScriptFunction(name, os.fspath(module), packed(done.stdout), packed(program))
