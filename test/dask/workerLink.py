"""Drives a WorkerLink of the bridge that runs TypeScript, without a cluster. Prints what happened as JSON."""

import asyncio
import json
import tempfile
from types import SimpleNamespace

from longpole_dask import node_tap, run_bridge, worker_link

ADDRESS = "tcp://127.0.0.1:1"


class Leases:
    """A client whose tasks hold their threads until they are cancelled."""

    def __init__(self):
        self.held = 0

    async def submit(self, *_, **__):
        self.held += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.held -= 1

    async def run(self, *_, **__):
        await asyncio.Event().wait()


class Bridge:
    name = "longpole"

    def __init__(self, client):
        self.client = client
        self.failures = []

    @property
    def out(self):
        return self

    @property
    def is_full(self):
        return False

    def failed(self, _, error):
        self.failures.append(str(error))


async def turns():
    for _ in range(20):
        await asyncio.sleep(0)


async def leases():
    """Returns the number of held threads after a release that a lease follows at once, and after the next release."""
    worker_link.LEASE_SECONDS = 0
    client = Leases()
    link = worker_link.WorkerLink(Bridge(client), ADDRESS, "w0")
    link.lease(1)
    await turns()
    link.release(1, b"")
    link.lease(1)
    await turns()
    again = client.held
    link.release(1, b"")
    await turns()
    link.close()
    return [again, client.held]


class Worker:
    def __init__(self, folder):
        self.local_directory = folder
        self.plugins = {}


class Direct:
    """A client that calls the functions of the plugin."""

    def __init__(self, worker):
        self.worker = worker

    async def run(self, function, *args, workers):
        return {ADDRESS: await function(*args, dask_worker=self.worker)}


async def lost_file():
    """Returns the failures of a bridge whose file the worker cannot write."""
    worker_link.RETRY_SECONDS = 0
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(folder)
        tap = node_tap.NodeTap(Bridge.name, "node")
        worker.plugins[Bridge.name] = tap
        tap.setup(worker)
        bridge = Bridge(Direct(worker))
        link = worker_link.WorkerLink(bridge, ADDRESS, "w0")
        # There is a folder where the file should be.
        link.post(node_tap.frame(node_tap.FILE, 0, b"\0\1."))
        link.post(node_tap.frame(node_tap.KILL, 1))
        await turns()
        link.close()
        tap.wanted = False
        await tap.teardown(worker)
    return bridge.failures


class Process:
    """A process that ends when `end` is called."""

    def __init__(self):
        self.returncode = None
        self.ended = asyncio.Event()
        self.waits = 0

    async def wait(self):
        self.waits += 1
        await self.ended.wait()

    def end(self):
        self.returncode = 0
        self.ended.set()

    kill = end


async def closing():
    """Returns how often a closing worker waited for a process whose reader was cancelled, and whether it ended with it."""
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(folder)
        tap = node_tap.NodeTap(Bridge.name, "node")
        tap.setup(worker)
        process = tap.processes[1] = Process()
        reader = tap.readers[1] = tap.loop.create_task(asyncio.Event().wait())
        reader.cancel()
        teardown = tap.loop.create_task(tap.teardown(worker))
        await turns()
        waits, early = process.waits, teardown.done()
        process.end()
        await turns()
        late = teardown.done()
        await teardown
    return [waits, early, late]


class Asked:
    """A client whose worker does not answer."""

    calls = 0

    async def run(self, *_, workers, **__):
        self.calls += 1
        return dict.fromkeys(workers, OSError())


async def unable():
    """Returns how often a worker that could not write a file was asked again: at once, and when the time is over."""
    bridge = run_bridge.RunBridge(ADDRESS, SimpleNamespace(event=lambda **_: None), 1, "node", None)
    bridge.client = client = Asked()
    link = bridge.links[ADDRESS] = SimpleNamespace(address=ADDRESS, close=lambda: None)
    bridge.failed(link, worker_link.Unable("its disk is full"))
    await bridge.join([ADDRESS])
    early = client.calls
    run_bridge.time = SimpleNamespace(monotonic=lambda: bridge.refused[ADDRESS])
    await bridge.join([ADDRESS])
    return [early, client.calls]


class Loop(asyncio.SelectorEventLoop):
    """An event loop whose clock moves only when the loop has nothing to do, so that no time is over before its turns are."""

    now = 0.0

    def time(self):
        return self.now

    def _run_once(self):
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0]._when)
        super()._run_once()


async def main():
    seen = {"leases": await leases(), "failures": await lost_file(), "closing": await closing(), "unable": await unable()}
    print(json.dumps(seen))


Loop().run_until_complete(main())
