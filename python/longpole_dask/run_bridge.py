"""The bridge between a TypeScript program and Node processes on the workers of a Dask cluster.

The bridge exchanges frames with the program over its input and output, see node_tap.py, and with workers by Client.run, see
worker_link.py. Events are frames with JSON.
"""

import asyncio
import contextlib
import json
import math
import multiprocessing
import socket
import struct
import time
import uuid
from urllib.parse import urlsplit

import cloudpickle
import psutil

from . import messages, node_tap, own_folder, python_calls, python_values, tap
from .bridge import CHECK_INTERVAL, GONE, LAST_WORDS, MAX_SILENCE, Bridge, Refused, quietly, without_answer
from .node_tap import FILE, HEAD, HEAD_BYTES, LEASE, RELEASE, START, frame
from .worker_link import MAX_RETRY_SECONDS, Unable, WorkerLink

#: Seconds between two polls of the list of workers.
INTERVAL = 0.5
#: Seconds in which new workers must load the plugin.
INSTALL_SECONDS = 60.0
#: Seconds after which a worker that could not run Node is tried again.
AGAIN_SECONDS = 60.0
#: Name of the scheduler among the addresses of the workers.
SCHEDULER = "scheduler"


class RunBridge(Bridge):
    def __init__(self, address, out, timeout, node, local):
        super().__init__(address, out, timeout, INTERVAL)
        self.name = f"longpole-node-{uuid.uuid4().hex}"
        self.node = node
        self.local = local
        self.cluster = None
        #: Whether the client has lost its connection, and connects again.
        self.connecting = False
        self.links = {}
        self.processes = {}
        self.files = {}
        #: Address of a worker that cannot run Node -> time from which it is tried again
        self.refused = {}

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
        for module in (tap, messages, own_folder, python_values, python_calls, node_tap):
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
        now = time.monotonic()
        new = [address for address in addresses if address not in self.links and self.refused.get(address, now) <= now]
        if not new:
            return []
        installing = self.client.run(node_tap.install, self.name, self.node, workers=new, on_error="return")
        answers = await asyncio.wait_for(installing, INSTALL_SECONDS)
        # Skips unreachable workers. They have left, or the next poll tries them again.
        found = {address: facts_of(address, answer) for address, answer in answers.items() if not isinstance(answer, OSError)}
        for address, facts in found.items():
            if "missing" in facts:
                self.refused[address] = math.inf
            else:
                self.replaced(facts["name"])
                self.links[address] = WorkerLink(self, address, facts["name"])
        return list(found.values())

    async def follow(self, stop):
        stopped = asyncio.ensure_future(stop.wait())
        answered = time.monotonic()
        while True:
            await asyncio.wait({stopped}, timeout=INTERVAL)
            poll = asyncio.ensure_future(self.poll_workers())
            while not (poll.done() or stopped.done() or self.is_lost()):
                await asyncio.wait({poll, stopped}, timeout=CHECK_INTERVAL, return_when=asyncio.FIRST_COMPLETED)
                self.report_connection()
            if stopped.done() or self.is_lost():
                poll.cancel()
                return "asked" if stopped.done() else f"{GONE}, and accepted no new one for {self.timeout:.0f} s"
            # Dask cancels calls, too, when it connects again.
            if not poll.cancelled() and poll.exception() is None:
                answered = time.monotonic()
            elif time.monotonic() - answered > MAX_SILENCE:
                # Dask raises MemoryError if another server answers while the network changes, because it reads a length.
                return "the scheduler does not answer"

    def is_lost(self):
        """Returns whether the client could not connect again. It may take long to close then."""
        return self.client.status in ("closing", "closed")

    def report_connection(self):
        """Reports that the client connects again, or has connected again. It closes if that fails."""
        if self.client.status == "connecting" and not self.connecting:
            self.connecting = True
            self.out.event(type="disconnected", seconds=round(self.timeout))
        elif self.client.status == "running" and self.connecting:
            self.connecting = False
            self.out.event(type="reconnected")

    async def poll_workers(self):
        """Compares the scheduler's list of workers with the present ones. Raises an exception if there is no list."""
        addresses = await asyncio.wait_for(self.client.nthreads(), MAX_SILENCE)
        self.missed(addresses)
        try:
            joined = await self.join(addresses)
        except Exception as error:
            # These workers are tried again.
            self.out.event(type="warning", text=f"New workers did not load the plugin: {error!r}")
            return
        for facts in joined:
            if "missing" in facts:
                self.out.event(type="warning", text=f"Worker {facts['address']} has no Node: {facts['missing']}")
            else:
                self.out.event(type="joined", worker=facts)

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
        if self.links.get(link.address) is not link:
            return
        if isinstance(error, Unable):
            self.refused[link.address] = time.monotonic() + AGAIN_SECONDS
            self.left(link.address, f"it cannot run Node, and is tried again after {AGAIN_SECONDS:g} s: {error}")
        else:
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
        links, self.links = self.links, {}
        for link in links.values():
            link.close()
        if self.client is not None:
            is_open = self.client.status == "running"
            if is_open:
                calls = {address: self.remove_plugin(address) for address in links}
                # The calls of workers pass through the scheduler.
                silent = await without_answer({SCHEDULER: self.client.nthreads(), **calls})
                self.silent = SCHEDULER in silent
                self.silent_workers = [address for address in silent if address != SCHEDULER]
            await quietly(self.client.close(timeout=LAST_WORDS), LAST_WORDS if is_open else CHECK_INTERVAL)
        if self.cluster is not None:
            await quietly(self.cluster.close(timeout=LAST_WORDS), CHECK_INTERVAL if self.silent_workers else LAST_WORDS)
            kill_workers()
        elif self.silent or self.silent_workers:
            workers = [] if self.silent else [links[address].label for address in self.silent_workers]
            self.out.event(type="unanswered", workers=workers)

    async def remove_plugin(self, address):
        await self.client.run(node_tap.remove, self.name, workers=[address], on_error="ignore")


def kill_workers():
    """Kills the workers of this process that have not ended, e.g. because they are stopped, and their Node processes."""
    for worker in multiprocessing.active_children():
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(worker.pid)
            for one in [process, *process.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    one.kill()


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
