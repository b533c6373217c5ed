"""The plugin of a Dask worker that runs Node processes, and passes bytes between them and the bridge.

The module is sent to the cluster by value, see run_bridge.py. The bridge calls its functions with Client.run, so they run
on the worker's event loop and need no thread. Such a call adds the plugin. The scheduler does not know the plugin, and the
plugin removes itself when the bridge is gone. A frame has a length, a kind, the number of a process, and the bytes.
"""

import asyncio
import functools
import json
import os
import shutil
import socket
import struct
import threading

from distributed import WorkerPlugin, get_worker

from .python_calls import PythonCalls
from .tap import boot_id

#: Format of a head: a format can be pickled, a struct cannot.
HEAD = ">IBI"
HEAD_BYTES = 9
#: Kinds of frames to a worker.
START, DATA, KILL, FILE, LEASE, RELEASE = range(6)
#: Kind of frames from the bridge to a worker: a call of Python that Dask did not run. The number is that of the call.
CALL_FAILED = 6
#: Kinds of frames from a worker, in addition to DATA.
EVENT, ENDED, LEASED, LEASE_OVER, LEASE_ENDS = 0, 2, 4, 5, 6
#: Ticks of a second without a call of the bridge after which it counts as gone. Ticks do not advance while a task holds
#: the interpreter.
MAX_SILENCE = 60
#: Bytes waiting for the bridge above which the output of the processes is not read.
MAX_WAITING = 64 * 2**20
#: Maximum number of bytes in one answer to the bridge.
MAX_ANSWER = 32 * 2**20
#: Seconds to read the remaining output of a process that has ended.
DRAIN_SECONDS = 1.0
#: Seconds for which a closing worker waits until its results have been moved, and ticks without a call of the bridge after
#: which it does not wait.
LEAVE_SECONDS = 10.0
LEAVE_SILENCE = 3
#: Seconds for which a task of Node keeps a thread of Dask, before other tasks of Dask may run.
LEASE_SECONDS = 2.0
#: Seconds before the end of a lease at which its process may request the next one, which Dask then has ready.
RENEWAL_SECONDS = 0.5


def frame(kind, process, payload=b""):
    return struct.pack(HEAD, len(payload), kind, process) + payload


def frames(data):
    at = 0
    while at < len(data):
        length, kind, process = struct.unpack_from(HEAD, data, at)
        at += HEAD_BYTES
        yield kind, process, data[at : at + length]
        at += length


class NodeTap(WorkerPlugin):
    def __init__(self, name, node):
        self.name = name
        self.node = node

    def setup(self, worker):
        self.worker = worker
        self.loop = asyncio.get_running_loop()
        self.folder = os.path.join(worker.local_directory, self.name)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        modules = os.environ.get("LONGPOLE_NODE_MODULES") or os.path.join(os.getcwd(), "node_modules")
        if os.path.isdir(modules):
            os.symlink(os.path.abspath(modules), os.path.join(self.folder, "node_modules"))
        self.processes = {}
        self.readers = {}
        self.leases = {}
        self.lock = threading.Lock()
        self.up = []
        self.waiting = 0
        self.has_some = asyncio.Event()
        self.has_room = asyncio.Event()
        self.has_room.set()
        over = functools.partial(self.send, LEASE_OVER)
        self.python = PythonCalls(worker, self.loop, self.folder, self.called, over)
        #: The last answer of `give`, which is given again if it was lost with its connection.
        self.answer = (0, b"", [])
        #: Number of the last bytes that were taken.
        self.taken = 0
        #: The exception that kept frames from being processed, as text. Later frames may need these frames.
        self.failure = None
        self.taking = asyncio.Lock()
        #: False when the plugin is removed on request, so that nothing has to be moved.
        self.wanted = True
        self.leaving = False
        #: Whether an answer of `give` has reported that the worker closes.
        self.reported = False
        self.silence = 0
        self.watch = self.loop.create_task(self.watch_bridge())

    async def teardown(self, worker):
        if self.wanted and self.processes:
            # Dask has removed the plugin, but the bridge calls it until the program has moved the results of the processes.
            worker.plugins[self.name] = self
            self.leaving = True
            self.has_some.set()
            end = self.loop.time() + LEAVE_SECONDS
            while (waits := self.unended()) and self.silence < LEAVE_SILENCE and self.loop.time() < end:
                await asyncio.wait(waits, timeout=1)
            worker.plugins.pop(self.name, None)
        self.watch.cancel()
        for event in list(self.leases.values()):
            event.set()
        for process in list(self.processes.values()):
            kill(process)
        self.python.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def unended(self):
        """Returns tasks that end with the processes. A worker without a nanny may have cancelled the readers."""
        waits = [reader for reader in self.readers.values() if not reader.done()]
        for number, process in self.processes.items():
            if self.readers[number].done() and process.returncode is None:
                waits.append(self.loop.create_task(process.wait()))
        return waits

    async def watch_bridge(self):
        while self.silence < MAX_SILENCE:
            self.silence += 1
            await asyncio.sleep(1)
        await remove(self.name, self.worker)

    def send(self, kind, process, payload=b""):
        self.up.append(frame(kind, process, payload))
        self.waiting += len(payload)
        self.has_some.set()
        if self.waiting > MAX_WAITING:
            self.has_room.clear()

    def called(self, process):
        """Passes on a call of Python. It needs the thread that the process holds."""
        self.has_some.set()
        event = self.leases.get(process)
        if event is not None:
            event.set()

    async def take(self, number, data):
        """Takes bytes of the bridge, unless these have been taken before. Returns the exception if frames were lost."""
        self.silence = 0
        async with self.taking:
            if number > self.taken:
                self.taken = number
                try:
                    await self.take_frames(data)
                except Exception as error:
                    self.failure = repr(error)
        return self.failure

    async def take_frames(self, data):
        for kind, number, payload in frames(data):
            if kind == FILE:
                self.write_file(payload)
            elif kind == START:
                await self.start(number, json.loads(payload))
            elif kind == RELEASE:
                event = self.leases.get(number)
                if event is not None:
                    event.set()
            elif kind == CALL_FAILED:
                self.python.fail(number, bytes(payload).decode())
            elif number in self.processes:
                if kind == DATA:
                    stdin = self.processes[number].stdin
                    # asyncio logs warnings about bytes for a process that has ended.
                    if not stdin.is_closing():
                        stdin.write(payload)
                elif kind == KILL:
                    kill(self.processes[number])

    def write_file(self, payload):
        (length,) = struct.unpack_from(">H", payload)
        path = os.path.join(self.folder, payload[2 : 2 + length].decode())
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".part", "wb") as file:
            file.write(payload[2 + length :])
        os.replace(path + ".part", path)

    async def start(self, number, options):
        reader, writer = os.pipe()
        environment = {
            **options["env"],
            **os.environ,
            "LONGPOLE_CHANNEL": str(writer),
            "LONGPOLE_FOLDER": self.folder,
            "LONGPOLE_PYTHON_SOCKET": f"{number}:{self.python.path}",
        }
        try:
            process = await asyncio.create_subprocess_exec(
                self.node,
                os.path.join(self.folder, options["entry"]),
                stdin=asyncio.subprocess.PIPE,
                env=environment,
                # If machines share files, relative paths have the same meaning in tasks.
                cwd=options["cwd"] if os.path.isdir(options["cwd"]) else None,
                pass_fds=(writer,),
            )
        except OSError as error:
            os.close(reader)
            self.send(ENDED, number, f"Node could not be started: {error}".encode())
            return
        finally:
            os.close(writer)
        self.processes[number] = process
        # The event loop has only weak references to tasks.
        self.readers[number] = self.loop.create_task(self.read(number, process, os.fdopen(reader, "rb", buffering=0)))

    async def read(self, number, process, pipe):
        stream = asyncio.StreamReader()
        transport, _ = await self.loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), pipe)
        passing = self.loop.create_task(self.pass_on(number, stream))
        ended = self.loop.create_task(process.wait())
        try:
            await asyncio.wait({passing, ended}, return_when=asyncio.FIRST_COMPLETED)
            # A program that a task has started may keep the channel open after the end of the process.
            await asyncio.wait({passing}, timeout=DRAIN_SECONDS)
        finally:
            passing.cancel()
            transport.close()
        code = await ended
        del self.processes[number], self.readers[number]
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        self.send(ENDED, number, f"The worker process ended {how}.".encode())

    async def pass_on(self, number, stream):
        while data := await stream.read(2**20):
            self.send(DATA, number, data)
            await self.has_room.wait()

    async def give(self, received, seconds):
        """Returns a number, frames, the calls of Python that the bridge has to submit, and whether the worker closes.

        `received` is the number of the last answer that the bridge has received.
        """
        self.silence = 0
        self.acknowledge(received)
        # The scheduler's list lacks a closing worker at once, so the bridge must know soon that the worker waits.
        is_news = self.leaving and not self.reported
        if self.answer[0] <= received and not self.up and not self.python.new and not is_news:
            self.has_some.clear()
            try:
                await asyncio.wait_for(self.has_some.wait(), seconds)
            except asyncio.TimeoutError:
                pass
            self.silence = 0
        # Another call, whose connection was lost, may have made an answer meanwhile.
        if self.answer[0] <= received and (self.up or self.python.new):
            self.answer = (received + 1, self.take_up(), self.python.take())
        self.reported = self.leaving
        return *self.answer, self.leaving

    def acknowledge(self, received):
        if received >= self.answer[0]:
            self.answer = (received, b"", [])

    def take_up(self):
        count = size = 0
        while count < len(self.up) and size < MAX_ANSWER:
            size += len(self.up[count])
            count += 1
        data = b"".join(self.up[:count])
        del self.up[:count]
        if not self.up:
            self.waiting = 0
            self.has_room.set()
        return data


def kill(process):
    try:
        process.kill()
    except ProcessLookupError:
        pass


async def install(name, node, dask_worker):
    """Adds the plugin. Returns facts about the worker, or the reason why it cannot run Node."""
    node = node or os.environ.get("LONGPOLE_NODE") or "node"
    try:
        process = await asyncio.create_subprocess_exec(node, "--version", stdout=asyncio.subprocess.PIPE)
        output, _ = await asyncio.wait_for(process.communicate(), 30)
    except (OSError, asyncio.TimeoutError) as error:
        return {"address": dask_worker.address, "missing": f"{node}: {error or 'no answer within 30 s'}"}
    version = output.decode(errors="replace").strip()
    # Replaces a plugin that is left from a failed call, and ends its processes.
    await remove(name, dask_worker)
    await dask_worker.plugin_add(plugin=NodeTap(name, node), name=name, catch_errors=False)
    resources = getattr(dask_worker.state, "total_resources", None) or {}
    return {
        "address": dask_worker.address,
        "node": version,
        "threads": dask_worker.state.nthreads,
        "memory": getattr(dask_worker.memory_manager, "memory_limit", None) or 0,
        "directory": dask_worker.plugins[name].folder,
        "name": str(dask_worker.name),
        "resources": dict(resources),
        "place": process_place(),
    }


def process_place():
    """Returns where the number of a process counts: host, boot and PID namespace, as in processIdentity.ts."""
    host = socket.gethostname()
    try:
        return f"{host} {boot_id()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return host


async def push(name, number, data, dask_worker):
    """Returns True, or None if the plugin has been removed, or the text of an exception if frames were lost."""
    tap = dask_worker.plugins.get(name)
    if tap is None:
        return None
    return await tap.take(number, data) or True


async def poll(name, received, seconds, dask_worker):
    """Returns what `give` returns, or None if the plugin has been removed."""
    tap = dask_worker.plugins.get(name)
    return None if tap is None else await tap.give(received, seconds)


async def is_leaving(name, dask_worker):
    """Returns whether the worker closes and waits for the bridge, or None if the plugin has been removed."""
    tap = dask_worker.plugins.get(name)
    return None if tap is None else tap.leaving


async def remove(name, dask_worker):
    tap = dask_worker.plugins.get(name)
    if tap is not None:
        tap.wanted = False
        await dask_worker.plugin_remove(name=name)


def make_lease():
    """Returns a nested function, which is pickled by value. The scheduler cannot import a function of this module."""

    def longpole(name, number):
        """Keeps a thread of Dask busy while a Node process runs a task."""
        tap = get_worker().plugins.get(name)
        if tap is None:
            return
        over = threading.Event()
        with tap.lock:
            before = tap.leases.get(number)
            tap.leases[number] = over
        if before is not None:
            # The process has this thread now.
            before.set()
        tap.loop.call_soon_threadsafe(tap.send, LEASED, number)
        # A call of Python needs this thread.
        if not tap.python.calling.get(number) and not over.wait(LEASE_SECONDS - RENEWAL_SECONDS):
            tap.loop.call_soon_threadsafe(tap.send, LEASE_ENDS, number)
            over.wait(RENEWAL_SECONDS)
        with tap.lock:
            if tap.leases.get(number) is not over:
                return
            del tap.leases[number]
        tap.loop.call_soon_threadsafe(tap.python.lease_ended, number)

    return longpole
