"""The connection of the bridge to a Dask worker with Node processes, see run_bridge.py."""

import asyncio
import time
import uuid
from urllib.parse import urlsplit

from . import node_tap, python_calls
from .node_tap import CALL_FAILED, frame

#: Seconds between two requests of a lease that another client has cancelled.
LEASE_SECONDS = 0.5
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


class Unable(Gone):
    """The worker cannot pass on frames, e.g. because its disk is full."""


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

    @property
    def label(self):
        return self.address if self.name == self.address else f"{self.name} ({self.address})"

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
                    await asyncio.sleep(LEASE_SECONDS)

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
                raise Unable(answer)
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
