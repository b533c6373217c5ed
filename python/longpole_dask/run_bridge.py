"""The bridge between a TypeScript program and Node processes on the workers of a Dask cluster.

The bridge exchanges frames with the program over its input and output, see node_tap.py, and with workers by Client.run. For
each Dask worker, one call sends frames, and another call waits for frames. Events are frames with JSON.
"""

import asyncio
import json
import queue
import socket
import struct
import threading
import uuid
from urllib.parse import urlsplit

import cloudpickle

from . import node_tap, python_calls, python_values, tap
from .bridge import LAST_WORDS, Bridge, Refused, quietly
from .node_tap import CALL_FAILED, EVENT, FILE, HEAD, HEAD_BYTES, LEASE, MAX_WAITING, RELEASE, START, frame

#: Seconds between two polls of the list of workers.
INTERVAL = 0.5
#: Seconds in which new workers must load the plugin.
INSTALL_SECONDS = 60.0
#: Seconds that a call waits for frames.
POLL_SECONDS = 1.0
LEASE_TASK = node_tap.make_lease()
PYTHON_TASK = python_calls.make_task()


class FrameOutput:
    """The output. A thread writes, so that the bridge can call workers while the program is busy and does not read."""

    def __init__(self, file):
        self.file = file
        self.queue = queue.SimpleQueue()
        self.waiting = 0
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.pass_on, daemon=True)
        self.thread.start()

    @property
    def is_full(self):
        return self.waiting > MAX_WAITING

    def write(self, data):
        with self.lock:
            self.waiting += len(data)
        self.queue.put(data)

    def pass_on(self):
        for data in iter(self.queue.get, None):
            try:
                self.file.write(data)
                self.file.flush()
            except (OSError, ValueError):
                # The program has ended. The end of the input will end the bridge.
                pass
            with self.lock:
                self.waiting -= len(data)

    def close(self):
        """Waits until all frames are written, at most LAST_WORDS seconds."""
        self.queue.put(None)
        self.thread.join(LAST_WORDS)

    def event(self, **event):
        self.write(frame(EVENT, 0, json.dumps(event).encode()))

    def rows(self, rows):
        """Writes rows of the base class, which are warnings, as events."""
        for kind, text in rows:
            self.event(type=kind, text=text)


class WorkerLink:
    """The connection to a Dask worker: one call sends frames, and another one waits for frames."""

    def __init__(self, bridge, address):
        self.bridge = bridge
        self.address = address
        self.files = set()
        self.out = []
        self.wake = asyncio.Event()
        self.tasks = [asyncio.ensure_future(self.push()), asyncio.ensure_future(self.poll())]
        self.leases = {}
        #: Tasks that wait for calls of Python.
        self.calls = set()

    def post(self, data):
        self.out.append(data)
        self.wake.set()

    def start(self, data):
        for name, file in self.bridge.files.items():
            self.send_file(name, file)
        self.post(data)

    def send_file(self, name, data):
        if name not in self.files:
            self.files.add(name)
            self.post(data)

    def lease(self, number):
        submit = self.bridge.client.submit
        key = f"longpole-{number}-{uuid.uuid4().hex}"
        self.leases[number] = submit(LEASE_TASK, self.bridge.name, number, workers=[self.address], pure=False, key=key)

    def release(self, number, data):
        if self.leases.pop(number, None) is not None:
            self.post(data)

    async def run(self, function, *args):
        answers = await self.bridge.client.run(function, self.bridge.name, *args, workers=[self.address])
        return answers[self.address]

    async def push(self):
        while True:
            await self.wake.wait()
            self.wake.clear()
            data = b"".join(self.out)
            self.out.clear()
            try:
                await self.run(node_tap.push, data)
            except Exception as error:
                return self.bridge.failed(self, error)

    async def poll(self):
        while True:
            try:
                while self.bridge.out.is_full:
                    # An empty call, so that the worker does not consider the bridge gone.
                    await self.run(node_tap.push, b"")
                    await asyncio.sleep(POLL_SECONDS)
                data, calls = await self.run(node_tap.poll, POLL_SECONDS)
            except Exception as error:
                return self.bridge.failed(self, error)
            if data:
                self.bridge.out.write(data)
            for _, call, key in calls:
                task = asyncio.ensure_future(self.call(call, key))
                self.calls.add(task)
                task.add_done_callback(self.calls.discard)

    async def call(self, call, key):
        """Submits a call of Python as a task of Dask, whose key begins with the key of the task in TypeScript."""
        try:
            await self.bridge.client.submit(
                PYTHON_TASK,
                self.bridge.name,
                call,
                workers=[self.address],
                pure=False,
                key=f"{key}-{uuid.uuid4().hex}",
            )
        except (Exception, asyncio.CancelledError) as error:
            # Dask also raises CancelledError if another client cancels the task. After `close`, nothing is posted.
            self.post(frame(CALL_FAILED, call, repr(error).encode()))

    def close(self):
        for task in [*self.tasks, *self.calls]:
            if task is not asyncio.current_task():
                task.cancel()
        self.leases.clear()


class RunBridge(Bridge):
    def __init__(self, address, out, timeout, node, local):
        super().__init__(address, out, timeout, INTERVAL)
        self.name = f"longpole-node-{uuid.uuid4().hex}"
        self.node = node
        self.local = local
        self.cluster = None
        self.links = {}
        self.processes = {}
        self.files = {}
        self.refused = set()

    async def connect(self):
        if self.address == "dask":
            from distributed import LocalCluster

            workers, threads = self.local
            try:
                self.cluster = await LocalCluster(
                    n_workers=workers, threads_per_worker=threads, dashboard_address=":0", asynchronous=True
                )
            except Exception as error:
                raise Refused("connect", f"no local cluster could be started ({error!r}): check the memory and the limits of this machine") from error
            self.address = self.cluster.scheduler_address
        await super().connect()

    async def register(self):
        for module in (tap, python_values, python_calls, node_tap):
            cloudpickle.register_pickle_by_value(module)
        try:
            facts = await self.join(await self.client.nthreads())
        except (TimeoutError, asyncio.TimeoutError) as error:
            raise Refused("connect", f"its workers did not load the plugin within {INSTALL_SECONDS:g} s: try again when they are idle") from error
        for worker in facts:
            if "missing" in worker:
                raise Refused("node", f"worker {worker['address']} has no Node ({worker['missing']})")
        self.out.event(
            type="hello", scheduler=self.address, host=own_host(self.client.scheduler.address), workers=facts
        )

    async def join(self, addresses):
        """Installs the plugin on new workers. Returns facts about them."""
        new = [address for address in addresses if address not in self.links and address not in self.refused]
        if not new:
            return []
        installing = self.client.run(node_tap.install, self.name, self.node, workers=new, on_error="return")
        answers = await asyncio.wait_for(installing, INSTALL_SECONDS)
        # Skips unreachable workers. They have left, or the next poll tries them again.
        found = {address: facts_of(address, answer) for address, answer in answers.items() if not isinstance(answer, OSError)}
        for address, facts in found.items():
            if "missing" in facts:
                self.refused.add(address)
            else:
                self.links[address] = WorkerLink(self, address)
        return list(found.values())

    async def follow(self, stop):
        stopped = asyncio.ensure_future(stop.wait())
        while not stopped.done():
            await asyncio.wait({stopped}, timeout=INTERVAL)
            if self.client.status != "running":
                return "the scheduler closed the connection"
            try:
                addresses = await asyncio.wait_for(self.client.nthreads(), 300)
            except (OSError, TimeoutError, asyncio.TimeoutError):
                return "the scheduler does not answer"
            for address in set(self.links) - set(addresses):
                self.left(address, "it left the Dask cluster")
            try:
                joined = await self.join(addresses)
            except (TimeoutError, asyncio.TimeoutError):
                # These workers are tried again.
                self.out.event(type="warning", text=f"New workers did not load the plugin within {INSTALL_SECONDS:g} s.")
                continue
            for facts in joined:
                if "missing" in facts:
                    self.out.event(type="warning", text=f"Worker {facts['address']} has no Node: {facts['missing']}")
                else:
                    self.out.event(type="joined", worker=facts)
        return "asked"

    def left(self, address, why):
        link = self.links.pop(address, None)
        if link is not None:
            link.close()
            self.out.event(type="left", address=address, why=why)

    def failed(self, link, error):
        """Removes a worker after a failed call. If only its plugin has ended, the worker joins again."""
        if self.links.get(link.address) is link:
            self.left(link.address, f"it does not answer: {error}")

    def take(self, kind, number, payload):
        """Handles a frame of the program."""
        data = frame(kind, number, payload)
        if kind == FILE:
            (length,) = struct.unpack_from(">H", payload)
            name = payload[2 : 2 + length]
            self.files[name] = data
            for link in {link.address: link for link in map(self.links.get, self.processes.values()) if link}.values():
                link.send_file(name, data)
            return
        if kind == START:
            self.processes[number] = json.loads(payload)["worker"]
        link = self.links.get(self.processes.get(number))
        if link is None:
            return
        if kind == START:
            link.start(data)
        elif kind == LEASE:
            link.lease(number)
        elif kind == RELEASE:
            link.release(number, data)
        else:
            link.post(data)

    async def detach(self):
        links = list(self.links.values())
        self.links.clear()
        for link in links:
            link.close()
        if self.client is not None:
            if self.client.status == "running" and links:
                addresses = [link.address for link in links]
                await quietly(
                    self.client.run(node_tap.remove, self.name, workers=addresses, on_error="ignore"), LAST_WORDS
                )
            await quietly(self.client.close(timeout=LAST_WORDS))
        if self.cluster is not None:
            await quietly(self.cluster.close(timeout=LAST_WORDS), 2 * LAST_WORDS)


def facts_of(address, answer):
    """Returns the facts of a worker from the result or the exception of `install`."""
    return {"address": address, "missing": repr(answer)} if isinstance(answer, BaseException) else answer


def read_frames(file, loop, bridge, stop):
    """Reads frames until the input ends, on a separate thread."""
    try:
        while True:
            head = file.read(HEAD_BYTES)
            if len(head) < HEAD_BYTES:
                break
            length, kind, number = struct.unpack(HEAD, head)
            payload = file.read(length)
            loop.call_soon_threadsafe(bridge.take, kind, number, payload)
    except (OSError, ValueError):
        pass
    try:
        loop.call_soon_threadsafe(stop.set)
    except RuntimeError:
        # The bridge has ended already.
        pass


def own_host(scheduler):
    """Returns the address under which workers reach this machine: that of the interface towards the scheduler."""
    parts = urlsplit(scheduler)
    try:
        family, kind, _, _, target = socket.getaddrinfo(parts.hostname, parts.port or 1, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(target)
            return probe.getsockname()[0]
    except (OSError, ValueError, IndexError):
        return "127.0.0.1"
