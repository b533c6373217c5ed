"""Functions for the tests of tasks in Python. Dask workers import the module, because the cluster's script is beside it."""

import os
import signal
import threading
import time

import numpy
from distributed import Future, fire_and_forget, get_client, get_worker

both = threading.Barrier(2, timeout=60)


class Counter:
    @staticmethod
    def count(values):
        return len(values)


def echo(value):
    return value


def kinds(*values):
    return [f"{type(value).__module__}.{type(value).__name__}" for value in values]


def total(values):
    return values.sum()


def squares(length):
    return numpy.arange(length, dtype="f8") ** 2


def scale(array, by):
    array *= by
    return array


def where():
    worker = get_worker()
    return {"key": str(worker.get_current_task()), "thread": threading.current_thread().name, "pid": os.getpid()}


def raises(reason):
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise LookupError(reason) from error


def returns(kind):
    return {
        "set": {1},
        "nested": {"a": [1, {"b": object()}]},
        "key": {1: 2},
        "grid": numpy.zeros((2, 2)),
        "complex": numpy.zeros(2, dtype="c16"),
        "naive": __import__("datetime").datetime(2020, 1, 1),
    }[kind]


def scalars():
    integers = [numpy.int8(-1), numpy.uint64(2**64 - 1), 2**53 - 1, 2**53]
    return [*integers, numpy.float32(0.5), numpy.bool_(True), 3.0, float("nan"), (1, 2)]


def arrays():
    grid = numpy.arange(6, dtype=">i4").reshape(2, 3)
    return [grid[:, 1], numpy.arange(3, dtype="u1"), numpy.zeros(0), bytearray(b"ab")]


def fails_once(file):
    if os.path.exists(file):
        return "done"
    open(file, "w").close()
    raise OSError("once")


def dies_once(file):
    if os.path.exists(file):
        return "alive"
    open(file, "w").close()
    os.kill(os.getpid(), signal.SIGKILL)


def hold(begun, gate):
    """Creates a file and waits for another one. Returns the seconds in between."""
    since = time.perf_counter()
    open(begun, "w").close()
    while not os.path.exists(gate):
        time.sleep(0.01)
    return time.perf_counter() - since


def occupy(begun, gate):
    """Makes another client's task hold the thread of the other worker."""
    client = get_client()
    others = [address for address in client.scheduler_info()["workers"] if address != get_worker().address]
    fire_and_forget(client.submit(hold, begun, gate, workers=others, pure=False))


def cancel(start):
    """Cancels the task of Dask whose key begins with this text, as soon as Dask has the task."""
    client = get_client()
    keys = []
    while not keys:
        time.sleep(0.02)
        keys = client.run_on_scheduler(lambda dask_scheduler: [key for key in dask_scheduler.tasks if key.startswith(start)])
    client.cancel([Future(key, client) for key in keys], force=True)


def meet():
    """Returns when two threads of this process have called it."""
    both.wait()
    return True


def table():
    import pyarrow

    return pyarrow.table({"name": ["a", "b"], "value": [1.5, 2.5]})


def rows(table):
    return [type(table).__name__, table.to_pydict()]
