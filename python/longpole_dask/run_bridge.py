"""The bridge between a TypeScript program and Node processes on the workers of a Dask cluster.

The bridge exchanges frames with the program over its input and output, see node_tap.py, and with workers by Client.run. For
each Dask worker, one call sends frames, and another call waits for frames. Events are frames with JSON.
"""

import asyncio
import json
import socket
import struct
import time
import uuid
from urllib.parse import urlsplit

import cloudpickle

from . import messages, node_tap, python_calls, python_values, tap
from .bridge import LAST_WORDS, MAX_SILENCE, Bridge, Refused, quietly
from .node_tap import CALL_FAILED, FILE, HEAD, HEAD_BYTES, LEASE, RELEASE, START, frame

#: Seconds between two polls of the list of workers.
INTERVAL = 0.5
#: Seconds in which new workers must load the plugin.
INSTALL_SECONDS = 60.0
#: Seconds that a call waits for frames.
POLL_SECONDS = 1.0
#: Seconds between two attempts of a failed call of a worker, and for which the call is repeated. The scheduler removes a
#: worker that is gone from its list, so the limit is for workers that the scheduler cannot reach.
RETRY_SECONDS = 0.1
MAX_RETRY_SECONDS = 60.0
#: Seconds in which a worker must answer that closes, or that the list of workers lacks.
LEAVING_SECONDS = 5.0
#: Seconds in which a worker in the network of the bridge accepts or refuses a connection.
CONNECT_SECONDS = 1.0
LEASE_TASK = node_tap.make_lease()
PYTHON_TASK = python_calls.make_task()


class Gone(Exception):
    """The worker has removed the plugin, or the plugin has lost frames."""


async def is_refused(address):
    """Returns whether nothing listens at the address. Dask itself would try to connect for 30 s."""
    place = urlsplit(address)
    if place.scheme not in ("tcp", "tls"):
        return False
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(place.hostname, place.port), CONNECT_SECONDS)
    except ConnectionRefusedError:
        return True
    except Exception:
        # The bridge may be outside the network of the workers: only the scheduler can ask them there.
        return False
    writer.close()
    return False


class WorkerLink:
    """The connection to a Dask worker: one call sends frames, and another one waits for frames.

    The connection of a call may break although the worker and its processes continue. So failed calls are repeated. Numbers
    prevent that frames are lost or processed twice.
    """

    def __init__(self, bridge, address, name):
        self.bridge = bridge
        self.address = address
        self.name = name
        self.files = set()
        self.out = []
        self.wake = asyncio.Event()
        self.tasks = [asyncio.ensure_future(self.push()), asyncio.ensure_future(self.poll())]
        #: Process -> task that waits for the end of its lease.
        self.leases = {}
        #: Tasks that wait for calls of Python, or for the ends of leases that were requested again.
        self.calls = set()
        #: Whether the worker closes, and waits until its results have been moved.
        self.leaving = False
        #: Polls of the list of workers, in a row, that did not contain this worker.
        self.missing = 0
        #: Task that asks the worker why the list lacks it.
        self.asking = None

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
        held = self.leases.get(number)
        if held is not None and not held.done():
            # The process requests its next lease before the end of this one.
            self.calls.add(held)
            held.add_done_callback(self.calls.discard)
        self.leases[number] = asyncio.ensure_future(self.hold(number))

    async def hold(self, number):
        """Holds a thread of Dask. Asks again if another client cancels the task, or if it is lost with the connection."""
        # `release` and `close` remove the task. After a release, a new task may hold a thread for the same process.
        task = asyncio.current_task()
        while self.leases.get(number) is task:
            key = f"longpole-{number}-{uuid.uuid4().hex}"
            try:
                await self.bridge.client.submit(
                    LEASE_TASK, self.bridge.name, number, workers=[self.address], pure=False, key=key
                )
                return
            except (Exception, asyncio.CancelledError):
                if self.leases.get(number) is task:
                    await asyncio.sleep(INTERVAL)

    def release(self, number, data):
        task = self.leases.pop(number, None)
        if task is not None:
            task.cancel()
            self.post(data)

    async def run(self, function, *args):
        answers = await self.bridge.client.run(function, self.bridge.name, *args, workers=[self.address])
        return answers[self.address]

    async def repeat(self, function, *args):
        """Calls a function until it answers. Raises an exception if the worker is gone."""
        until = time.monotonic() + MAX_RETRY_SECONDS
        while True:
            try:
                running = self.run(function, *args)
                answer = await (asyncio.wait_for(running, LEAVING_SECONDS) if self.leaving else running)
            except Exception:
                if self.leaving or time.monotonic() > until:
                    raise
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if answer is None:
                raise Gone("it has removed the plugin")
            if isinstance(answer, str):
                raise Gone(answer)
            return answer

    async def push(self):
        number = 0
        while True:
            await self.wake.wait()
            self.wake.clear()
            data = b"".join(self.out)
            self.out.clear()
            number += 1
            try:
                await self.repeat(node_tap.push, number, data)
            except Exception as error:
                return self.bridge.failed(self, error)

    async def poll(self):
        received = 0
        while True:
            try:
                while self.bridge.out.is_full:
                    # A call without frames, so that the worker does not consider the bridge gone.
                    await self.repeat(node_tap.push, 0, b"")
                    await asyncio.sleep(POLL_SECONDS)
                number, data, calls, leaving = await self.repeat(node_tap.poll, received, POLL_SECONDS)
            except Exception as error:
                return self.bridge.failed(self, error)
            if leaving:
                self.begin_to_leave()
            if number == received:
                continue
            received = number
            if data:
                self.bridge.out.write(data)
            for _, call, key in calls:
                task = asyncio.ensure_future(self.call(call, key))
                self.calls.add(task)
                task.add_done_callback(self.calls.discard)

    def begin_to_leave(self):
        if not self.leaving:
            self.leaving = True
            self.bridge.out.event(type="leaving", address=self.address)

    async def ask(self):
        """Asks the worker whether it closes. Removes a worker that does not answer, or whose plugin has ended."""
        answer = None
        ended = await is_refused(self.address)
        if not ended:
            try:
                answer = await asyncio.wait_for(self.run(node_tap.is_leaving), LEAVING_SECONDS)
            except Exception:
                pass
        if answer:
            self.begin_to_leave()
        elif answer is None and self.missing > 1:
            self.bridge.failed(self, Gone("its process has ended" if ended else "the Dask cluster no longer lists it"))

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
        leases = list(self.leases.values())
        self.leases.clear()
        asking = [] if self.asking is None else [self.asking]
        for task in [*self.tasks, *self.calls, *leases, *asking]:
            if task is not asyncio.current_task():
                task.cancel()


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
        for module in (tap, messages, python_values, python_calls, node_tap):
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
                self.replaced(facts["name"])
                self.links[address] = WorkerLink(self, address, facts["name"])
        return list(found.values())

    async def follow(self, stop):
        stopped = asyncio.ensure_future(stop.wait())
        answered = time.monotonic()
        while not stopped.done():
            await asyncio.wait({stopped}, timeout=INTERVAL)
            # A client without a connection tries to connect again, and closes if that fails.
            if self.client.status == "closed":
                return "the scheduler closed the connection"
            try:
                addresses = await asyncio.wait_for(self.client.nthreads(), MAX_SILENCE)
            except Exception:
                # Dask raises MemoryError if another server answers while the network changes, because it reads a length.
                if time.monotonic() - answered > MAX_SILENCE:
                    return "the scheduler does not answer"
                continue
            answered = time.monotonic()
            self.missed(addresses)
            try:
                joined = await self.join(addresses)
            except Exception as error:
                # These workers are tried again.
                self.out.event(type="warning", text=f"New workers did not load the plugin: {error!r}")
                continue
            for facts in joined:
                if "missing" in facts:
                    self.out.event(type="warning", text=f"Worker {facts['address']} has no Node: {facts['missing']}")
                else:
                    self.out.event(type="joined", worker=facts)
        return "asked"

    def missed(self, addresses):
        """Asks the workers that two lists in a row lack. A worker that closes, and has results to move, leaves the list first."""
        for address, link in list(self.links.items()):
            link.missing = 0 if address in addresses or link.leaving else link.missing + 1
            if link.missing * INTERVAL > MAX_RETRY_SECONDS:
                self.left(address, "it left the Dask cluster")
            elif link.missing > 1 and (link.asking is None or link.asking.done()):
                link.asking = asyncio.ensure_future(link.ask())

    def replaced(self, name):
        """Removes an earlier worker with the name of a new one: Dask does not give a name to two workers."""
        for address, link in list(self.links.items()):
            if link.name == name and not link.leaving:
                self.left(address, "a new worker has its name")

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
