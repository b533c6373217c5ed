"""Calls functions of TypeScript, on a cluster and without Dask. Prints a JSON object with the outcome of one part.

The arguments are the name of the part, the module, the address of a cluster, and more for some parts. The cluster runs in other
processes, which cannot import longpole_dask.
"""

import datetime
import json
import os
import pickle
import sys
import time
from concurrent.futures import ThreadPoolExecutor

if sys.argv[1] == "alone":
    # As if they were not installed.
    sys.modules["distributed"] = sys.modules["cloudpickle"] = None

import longpole_dask

MODULE = sys.argv[2]
#: Module beside it, with `square`.
TASKS = os.path.join(os.path.dirname(MODULE), "calledTasks.ts")
MADE = {}


def function(name):
    if name not in MADE:
        MADE[name] = longpole_dask.function(TASKS if name == "square" else MODULE, name)
    return MADE[name]


def raised(action, *arguments):
    """Returns the class and the text of the error of a function."""
    try:
        return {"class": None, "text": repr(action(*arguments))}
    except Exception as error:
        return {"class": type(error).__name__, "text": str(error)}


def values(client):
    import dask
    import numpy
    import pyarrow

    plain = [1, -0.5, 2**70, "a\u00e9", True, None, [1, [2]], {"a": {"b": None}, "$": 1}, b"ab"]
    plain += [datetime.datetime(2026, 1, 2, 3, 4, 5, 6000, tzinfo=datetime.timezone.utc), float("inf")]
    echo = function("echo")
    back = client.gather([client.submit(echo, value, pure=False) for value in plain])
    same = [type(one) is type(two) and one == two for one, two in zip(plain, back)]
    arrays = [numpy.arange(3, dtype=kind) for kind in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2")]
    arrays.append(numpy.arange(6.0)[::2])
    same += [numpy.array_equal(one, two) and one.dtype == two.dtype for one, two in zip(arrays, client.gather(client.map(echo, arrays)))]
    table = pyarrow.table({"name": ["a", "b"], "value": [1.5, 2.5]})
    same.append(client.submit(echo, table).result().equals(table))
    arguments = [1, 2**70, numpy.float32(0.5), (1, 2), b"a", numpy.zeros(1), numpy.zeros(1, "u1"), table]
    delayed = dask.delayed(function("square"))
    return {
        "same": same,
        "classes": client.submit(function("classes"), *arguments).result(),
        "total": client.submit(function("total"), client.submit(numpy.ones, 1000)).result(),
        "map": client.gather(client.map(function("square"), range(5))),
        "delayed": delayed(delayed(3)).compute(),
        "later": client.submit(function("later"), "awaited").result(),
        "key": client.submit(echo, 1).key == client.submit(pickle.loads(pickle.dumps(echo)), 1).key,
        "prefix": client.submit(echo, 1).key.rpartition("-")[0],
        "package": list(client.run(has_package).values()),
    }


def has_package():
    import importlib.util

    return importlib.util.find_spec("longpole_dask") is not None


def errors(client):
    import numpy

    def failed(name, *arguments):
        return raised(client.submit(function(name), *arguments, pure=False).result)

    class Own:
        pass

    echo = function("echo")
    try:
        client.submit(function("outOfRange"), 3).result()
    except longpole_dask.TypeScriptError as error:
        thrown = {"function": error.function, "name": error.name, "message": error.message, "stack": error.stack}
    return {
        "thrown": thrown,
        "text": failed("throwsText"),
        "set": failed("echo", 1, {"a": [1, {2}]}),
        "instance": raised(echo, Own()),
        "grid": failed("echo", numpy.zeros((2, 2))),
        "map": failed("nested"),
        "keyword": raised(lambda: echo(value=1)),
        "exits": failed("exits"),
        "after": failed("echo", 5),
        "name": raised(longpole_dask.function, MODULE, "ecko"),
        "file": raised(longpole_dask.function, "no/such.mjs", "square"),
        "module": raised(longpole_dask.function, sys.argv[4], "square"),
    }


def together(client):
    """Calls on all threads of the workers meet."""
    folder, count = sys.argv[4], int(sys.argv[5])
    os.mkdir(folder)
    calls = client.map(function("meet"), [folder] * count, [count] * count, pure=False)
    return sorted(set(client.gather(calls)))


def held(client):
    """A call that never returns, and one that has ended, on the same worker."""
    worker = sys.argv[4]
    ended = client.submit(function("process_id"), workers=[worker], pure=False).result()
    # The program ends before the call.
    future = client.submit(function("spins"), sys.argv[5], workers=[worker], pure=False, retries=0)
    while not os.path.exists(sys.argv[5]) or not os.path.getsize(sys.argv[5]):
        if future.status == "error":
            future.result()
        time.sleep(0.02)
    with open(sys.argv[5], encoding="utf-8") as file:
        return [ended, int(file.read())]


def spinning(_client):
    function("spins")(sys.argv[4])


def alone(_client):
    square = function("square")
    try:
        function("outOfRange")(3)
    except longpole_dask.TypeScriptError as error:
        stack = error.stack
    results = [square(7), function("later")([1])]
    meet = function("meet")
    os.mkdir(sys.argv[4])
    with ThreadPoolExecutor(3) as threads:
        pids = list(threads.map(lambda _: meet(sys.argv[4], 3), range(3)))
    child = os.fork()
    if child == 0:
        # The child has Node processes of its own.
        os._exit(0 if square(5) == 25 and function("process_id")() not in pids else 1)
    forked = os.waitpid(child, 0)[1]
    os.environ["LONGPOLE_NODE"] = "/no/such/node"
    from longpole_dask import typescript_calls

    typescript_calls.pool.close()
    return {
        "results": results,
        "processes": len(set(pids)),
        "forked": forked,
        "stack": stack,
        "missing": raised(square, 1),
        "made": raised(longpole_dask.function, TASKS, "square"),
        "distributed": sys.modules["distributed"],
    }


def main():
    part, address = globals()[sys.argv[1]], sys.argv[3]
    if address == "none":
        outcome = part(None)
    else:
        from distributed import Client

        with Client(address) as client:
            outcome = part(client)
    print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
