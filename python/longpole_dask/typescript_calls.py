"""Calls functions of TypeScript, each on a Node process that no other thread uses meanwhile.

A process of Python has as many Node processes as threads have called at the same time. They remain for later calls, and end
with the process of Python. src/engine/worker/typescriptCalls.ts is their program.
"""

import atexit
import hashlib
import os
import socket
import subprocess
import threading
import zlib

from .by_value import reduced
from .find_node import find_node
from .messages import receive, send
from .own_folder import OwnFolder
from .python_values import EXPECTED, NoCounterpart, decode, encode


#: Seconds in which a process must end after its socket.
EXIT_SECONDS = 10


class TypeScriptError(RuntimeError):
    """An error that a function of TypeScript has thrown.

    ``function`` is the name of the function, ``name`` the name of the error, ``message`` its message and ``stack`` the stack
    of JavaScript. If another value than an error was thrown, ``message`` is its text, and the others are empty.
    """

    def __init__(self, function, name, message, stack):
        super().__init__(function, name, message, stack)
        self.function = function
        self.name = name
        self.message = message
        self.stack = stack

    def __str__(self):
        return f"{self.function} threw {self.stack or self.message}"

    def __reduce__(self):
        return reduced(self, self.args)


class TypeScriptFunction:
    """A function of TypeScript. A pickle contains its module, so that only Node is needed to call it."""

    def __init__(self, name, module, bundle, program):
        #: Name of the tasks of Dask.
        self.__name__ = self.__qualname__ = name
        self.module = module
        #: The module and the program of Node, as `packed` returns them.
        self.bundle = bundle
        self.program = program
        self.pickled = None

    def __call__(self, *arguments):
        buffers = []
        tree = [self.encoded(index, value, buffers) for index, value in enumerate(arguments)]
        call = {"file": pool.file(*self.bundle), "module": self.module, "name": self.__name__, "value": tree}
        answer, received = called(self.program, call, buffers)
        if "error" in answer:
            raise self.error(**answer["error"])
        try:
            return decode(answer["value"][0], received)
        except NoCounterpart as error:
            refused = str(error)
        # Dask pickles an error with the errors that it replaces, whose classes the client may not have.
        raise TypeError(f"The result of {self.__name__} cannot be received: {refused}.")

    def encoded(self, index, value, buffers):
        try:
            return encode(value, buffers)
        except NoCounterpart as error:
            refused = str(error)
        raise TypeError(f"Argument {index + 1} of {self.__name__} cannot be sent to TypeScript: {refused}. Pass {EXPECTED}.")

    def error(self, kind, name, message, stack):
        if kind == "thrown":
            return TypeScriptError(self.__name__, name, message, stack)
        return AttributeError(message) if kind == "missing" else TypeError(message)

    def __repr__(self):
        return f"longpole_dask.function({self.module!r}, {self.__name__!r})"

    def __dask_tokenize__(self):
        return "longpole_dask.function", self.bundle[0], self.__name__

    def __reduce__(self):
        if self.pickled is None:
            self.pickled = reduced(self, (self.__name__, self.module, self.bundle, self.program))
        return self.pickled


class NodeProcess:
    """A Node process, which runs one call at a time."""

    def __init__(self, program, folder):
        try:
            node = find_node()
        except RuntimeError as error:
            raise RuntimeError(f"{error} The machine is {socket.gethostname()}.") from None
        self.connection, other = socket.socketpair()
        with other:
            # Node ends with its input, which is never written to. Ctrl-C must not reach Node.
            self.process = subprocess.Popen(
                [node, "--enable-source-maps", program, str(other.fileno()), folder],
                stdin=subprocess.PIPE,
                pass_fds=(other.fileno(),),
                start_new_session=True,
            )

    def call(self, call, buffers):
        try:
            send(self.connection, call, buffers)
            return receive(self.connection)
        except OSError:
            # The socket ends with the process.
            code = self.end(EXIT_SECONDS)
            how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            text = f"Node {how} during {call['name']} of {call['module']}. The log of the worker may have its last words."
            raise RuntimeError(text) from None
        except BaseException:
            # The answer would be taken for that of the next call.
            self.end()
            raise

    def end(self, patience=0):
        """Ends the process, at the latest after some seconds. Returns its exit code."""
        self.connection.close()
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.process.stdin.close()


class Pool:
    """The Node processes of this process, and the files that they run."""

    def __init__(self):
        self.lock = threading.Lock()
        self.folder = None
        #: Program → processes without a call.
        self.idle = {}

    def take(self, program):
        with self.lock:
            idle = self.idle.setdefault(program, [])
            while idle:
                process = idle.pop()
                if process.process.poll() is None:
                    return process
                process.end()
        return NodeProcess(program, self.folder.path)

    def give_back(self, program, process):
        with self.lock:
            self.idle.setdefault(program, []).append(process)

    def file(self, name, data):
        """Returns the file with this content. Writes it on the first call."""
        with self.lock:
            if self.folder is None:
                self.folder = OwnFolder()
            path = self.folder.file(f"{name}.mjs")
            if not os.path.exists(path):
                with open(path, "wb") as file:
                    file.write(zlib.decompress(data))
            return path

    def close(self):
        with self.lock:
            idle, self.idle = self.idle, {}
            folder, self.folder = self.folder, None
        for process in sum(idle.values(), []):
            process.end()
        if folder is not None:
            folder.remove()


pool = Pool()
atexit.register(lambda: pool.close())


def after_fork():
    """Leaves the Node processes and their folder to the parent."""
    global pool
    pool = Pool()


os.register_at_fork(after_in_child=after_fork)


def packed(data):
    """Returns a hash of the data, and the data compressed."""
    return hashlib.sha256(data).hexdigest()[:16], zlib.compress(data, 9)


def called(program, call, buffers):
    """Runs a call on a process that has no other call."""
    file = pool.file(*program)
    process = pool.take(file)
    answer = process.call(call, buffers)
    pool.give_back(file, process)
    return answer
