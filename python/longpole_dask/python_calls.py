"""Runs functions of Python for the Node processes of a worker, each call as a task of Dask on the worker.

A Node process connects to a socket, once per call. The event loop reads who calls, and the bridge submits a task of Dask. This
task reads the arguments, calls the function and writes the answer, all on a thread of Dask.
"""

import contextlib
import importlib
import json
import logging
import os
import socket
import struct
import sys
import time
import traceback

from distributed import get_worker

from .messages import LENGTH, receive, send
from .own_folder import OwnFolder
from .python_values import EXPECTED, NoCounterpart, decode, encode, type_name
from .tap import MAX_TEXT

logger = logging.getLogger("distributed.worker.longpole")

#: Longest path of a socket, on macOS.
MAX_PATH = 103
#: Seconds after a call in which another call finds the lease of its process unchanged.
GRACE_SECONDS = 0.05


class PythonCalls:
    """The calls of a worker. All methods but `run` are called on the event loop."""

    def __init__(self, worker, loop, folder, on_new, lease_over):
        self.worker = worker
        self.loop = loop
        self.on_new = on_new
        self.lease_over = lease_over
        self.waiting = {}
        self.next_call = 0
        #: Process → number of calls that have begun and not ended.
        self.calling = {}
        #: Processes whose lease has ended during a call.
        self.owed = set()
        #: [process, call, key] of calls that the bridge has to submit.
        self.new = []
        self.readers = set()
        #: Folder of the socket, if the path in the folder of the plugin is too long.
        self.folder = None
        self.path = os.path.join(folder, "python")
        if len(self.path) > MAX_PATH:
            self.folder = OwnFolder("/tmp")
            self.path = self.folder.file("python")
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.path)
        self.server.listen()
        self.server.setblocking(False)
        self.accepting = loop.create_task(self.accept())

    def close(self):
        self.accepting.cancel()
        self.server.close()
        for connection, _ in self.waiting.values():
            connection.close()
        self.waiting.clear()
        if self.folder is not None:
            self.folder.remove()

    async def accept(self):
        while True:
            connection, _ = await self.loop.sock_accept(self.server)
            connection.setblocking(False)
            reader = self.loop.create_task(self.begin(connection))
            # The event loop has only weak references to tasks.
            self.readers.add(reader)
            reader.add_done_callback(self.readers.discard)

    async def begin(self, connection):
        try:
            (length,) = struct.unpack(LENGTH, await self.read(connection, struct.calcsize(LENGTH)))
            head = json.loads(await self.read(connection, length))
        except OSError:
            connection.close()
            return
        if head["key"] is None:
            # A process whose call was not answered asks whether this worker lives.
            with contextlib.suppress(OSError):
                connection.send(b"\n")
            connection.close()
            return
        call, process = self.next_call, head["process"]
        self.next_call += 1
        self.waiting[call] = connection, process
        self.calling[process] = self.calling.get(process, 0) + 1
        self.new.append([process, call, head["key"]])
        self.on_new(process)

    async def read(self, connection, length):
        data = bytearray()
        while len(data) < length:
            part = await self.loop.sock_recv(connection, length - len(data))
            if not part:
                raise ConnectionError
            data += part
        return bytes(data)

    def take(self):
        new, self.new = self.new, []
        return new

    def fail(self, call, text):
        """Ends a call that Dask did not run."""
        connection, process = self.waiting.pop(call, (None, None))
        if connection is not None:
            logger.error("A task in Python was not run: %s", text)
            connection.close()
            self.over(process)

    def run(self, call):
        """Serves a call on the thread of a task."""
        since = time.perf_counter()
        connection, process = self.waiting.pop(call, (None, None))
        if connection is None:
            return
        try:
            with connection:
                connection.setblocking(True)
                serve(connection, self.worker, since)
        except OSError:
            # The Node process has ended, or does not need the result any more.
            pass
        finally:
            self.loop.call_soon_threadsafe(self.over, process)

    def over(self, process):
        self.calling[process] -= 1
        if self.calling[process] == 0:
            self.loop.call_later(GRACE_SECONDS, self.settle, process)

    def lease_ended(self, process):
        """Reports the end of a lease, after the calls of its process. Until then, their tasks occupy threads of Dask."""
        self.owed.add(process)
        self.settle(process)

    def settle(self, process):
        if process in self.owed and not self.calling.get(process):
            self.owed.discard(process)
            self.lease_over(process)


class ImportFailed(Exception):
    """The worker cannot import a function. The text names the worker and says what to do."""


def serve(connection, worker, since):
    """Reads a request, calls its function, and writes the answer."""
    times = {"cpu": 0.0, "deserialize": 0.0, "serialize": 0.0}
    buffers = []
    begin = time.perf_counter()
    request, received = receive(connection)
    target = request["target"]
    try:
        arguments = decoded(target, request["value"], received)
        times["deserialize"] = time.perf_counter() - begin
        result = measured(load(target, worker), arguments, times)
        begin = time.perf_counter()
        answer = {"value": encoded(target, result, buffers)}
        times["serialize"] = time.perf_counter() - begin
    except ImportFailed as error:
        cause = error.__cause__
        answer = {"error": failure("import", cause or error, str(error), with_trace=cause is not None)}
    except NoCounterpart as error:
        buffers.clear()
        answer = {"error": failure("value", error, str(error), with_trace=False)}
    except BaseException as error:
        answer = {"error": failure("raised", error, text_of(error), with_trace=True)}
    send(connection, {**answer, **times, "since": time.perf_counter() - since}, buffers)


def decoded(target, tree, received):
    try:
        return decode(tree, received)
    except NoCounterpart as error:
        raise NoCounterpart(f"An argument of {target} cannot be received: {error}.") from error


def encoded(target, result, buffers):
    try:
        return encode(result, buffers)
    except NoCounterpart as error:
        raise NoCounterpart(f"The result of {target} cannot be sent to TypeScript: {error}. Return {EXPECTED}.") from error


def measured(function, arguments, times):
    cpu = time.thread_time()
    try:
        return function(*arguments)
    finally:
        times["cpu"] = time.thread_time() - cpu


def load(target, worker):
    module_name, _, path = target.partition(":")
    where = f"Dask worker {worker.address} (name {worker.name!r})"
    try:
        if module_name not in sys.modules:
            # The module may have been installed since the worker started.
            importlib.invalidate_caches()
        found = importlib.import_module(module_name)
    except BaseException as error:
        raise ImportFailed(
            f"{where} cannot import the module '{module_name}': {type_name(error)}: {text_of(error)}. Install the module "
            f"for the Python of the worker ({sys.executable}), or add its folder to PYTHONPATH in the worker's environment."
        ) from error
    for name in path.split("."):
        found = getattr(found, name, None)
    if not callable(found):
        file = getattr(sys.modules[module_name], "__file__", None) or "built in"
        what = "no function" if found is None else f"a {type_name(found)} and no function"
        raise ImportFailed(
            f"{where} found {what} '{path}' in the module '{module_name}' ({file}). Correct the name, or install the version "
            "of the module that has the function."
        )
    return found


def failure(kind, error, message, with_trace):
    trace = ""
    if with_trace:
        # The frames of this module say nothing about the error.
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
            frames = frames.tb_next
        trace = "".join(traceback.format_exception(type(error), error, frames))[-MAX_TEXT:]
    return {"kind": kind, "name": type_name(error), "message": message[:MAX_TEXT], "traceback": trace}


def text_of(error):
    try:
        return str(error)
    except Exception:
        return "an error whose text cannot be read"


def make_task():
    """Returns a nested function, which is pickled by value. The scheduler cannot import a function of this module."""

    def longpole_python(name, call):
        tap = get_worker().plugins.get(name)
        if tap is not None:
            tap.python.run(call)

    return longpole_python
