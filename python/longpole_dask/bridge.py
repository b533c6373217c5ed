"""The bridge's own process: a client of the cluster that takes rows from the plugins and writes them as frames.

Every wait has an end: connecting, taking, detaching. What ends it is that its input ends, that the scheduler goes, or that
the scheduler does not answer for MAX_SILENCE.
"""

import asyncio
import sys
import time
import uuid

import cloudpickle
import distributed
import psutil
from distributed import Client

from . import PROTOCOL, known_tasks, machine_tap, scheduler_tap, tap, worker_tap
from .frames import Broken
from .refusal import why_not

#: Seconds between two looks at a worker; the scheduler is asked as often as the bridge was told to.
WORKER_INTERVAL = 1.0
#: Seconds that the scheduler may be busy with something else.
MAX_SILENCE = 300.0
#: Seconds for each of the things that are done at the end.
LAST_WORDS = 5.0
#: Seconds between two looks whether the connection is still there.
LOOK = 0.5
GONE = "the scheduler closed the connection"


class Refused(Exception):
    """Why the bridge cannot be: a code that the reader knows, and a text for people."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Bridge:
    def __init__(self, address, out, timeout, interval):
        self.address = address
        self.out = out
        self.timeout = timeout
        self.interval = interval
        unique = uuid.uuid4().hex
        self.scheduler_plugin = f"longpole-scheduler-{unique}"
        self.worker_plugin = f"longpole-worker-{unique}"
        self.polls = {}
        self.client = None

    async def run(self, stop):
        """Until `stop` is set or the cluster is gone; returns why."""
        await self.connect()
        try:
            await self.check_versions()
            await self.register()
            return await self.follow(stop)
        finally:
            await self.detach()

    async def connect(self):
        limit = time_left(self.timeout)
        try:
            # Where the port is open and silent, Client's own limit does not end the wait; elsewhere it says more.
            self.client = await asyncio.wait_for(
                Client(self.address, asynchronous=True, timeout=0.9 * limit, set_as_default=False, name="longpole"),
                limit,
            )
        except Exception as error:
            # What is no scheduler may answer anything, e.g. a length of exabytes.
            raise Refused("connect", await why_not(error, self.address, self.timeout)) from error

    async def check_versions(self):
        """Code travels between Pythons of one version only. distributed's own may differ: it says so itself."""
        try:
            versions = await asyncio.wait_for(self.client.scheduler.versions(packages=[]), self.timeout)
            there = dict(versions["host"])["python"] if "host" in versions else versions["packages"]["python"]
        except (OSError, KeyError, TypeError, TimeoutError, asyncio.TimeoutError) as error:
            raise Refused("connect", f"the scheduler does not say its versions: {error!r}") from error
        here = ".".join(str(part) for part in sys.version_info[:2])
        if there.split(".")[:2] != here.split("."):
            raise Refused("versions", f"the scheduler runs Python {there}, this is Python {here} ({sys.executable})")
        packages = versions.get("packages") or {}
        other = packages.get("distributed")
        if other and other != distributed.__version__:
            text = f"The scheduler has distributed {other}, the bridge {distributed.__version__}."
            self.out.rows([["warning", text]])

    async def register(self):
        for module in (tap, known_tasks, machine_tap, scheduler_tap, worker_tap):
            cloudpickle.register_pickle_by_value(module)
        plugin = scheduler_tap.SchedulerTap(self.scheduler_plugin, self.worker_plugin, self.client.id, PROTOCOL)
        try:
            await asyncio.wait_for(self.client.register_plugin(plugin, name=self.scheduler_plugin), self.timeout)
        except Exception as error:
            raise Refused("plugin", f"the scheduler does not take a plugin: {error!r}") from error
        workers = worker_tap.WorkerTap(self.worker_plugin, self.client.id)
        try:
            await asyncio.wait_for(self.client.register_plugin(workers, name=self.worker_plugin), self.timeout)
        except (TimeoutError, asyncio.TimeoutError):
            self.out.rows([["warning", f"Some workers do not take the plugin within {self.timeout:g} s."]])
        except Exception as error:
            raise Refused("plugin", f"the workers do not take a plugin: {error!r}") from error

    async def follow(self, stop):
        stopped = asyncio.ensure_future(stop.wait())
        try:
            while True:
                reason = await self.take(stopped)
                if reason is not None:
                    return reason
                await asyncio.wait({stopped}, timeout=self.interval)
                if stopped.done():
                    return "asked"
        except Broken:
            return "asked"
        finally:
            stopped.cancel()

    async def take(self, stopped):
        """Rows of the scheduler; returns why there will be no more, if so."""
        asked = asyncio.ensure_future(getattr(self.client.scheduler, self.scheduler_plugin)())
        for _ in range(int(MAX_SILENCE / LOOK)):
            done, _ = await asyncio.wait({asked, stopped}, timeout=LOOK, return_when=asyncio.FIRST_COMPLETED)
            # A client that has lost its connection tries for long to get another; the plugins have gone with it.
            if done or self.client.status != "running":
                break
        if not asked.done() and stopped.done():
            await asyncio.wait({asked}, timeout=LAST_WORDS)
        if not asked.done():
            asked.cancel()
            if stopped.done():
                return "asked"
            if self.client.status != "running":
                return GONE
            return f"the scheduler did not answer for {MAX_SILENCE:g} s"
        try:
            answer = asked.result()
        except Exception as error:
            if self.client.status != "running" or isinstance(error, OSError):
                return GONE
            # The plugin took itself off because nobody took what it had kept.
            return f"the scheduler does not answer any more: {error!r}"
        payload, addresses = answer
        self.out.frame(payload)
        self.poll(addresses)
        return None

    def poll(self, addresses):
        """Each worker by itself, and none twice at a time: one that does not answer holds up nobody."""
        for address in set(self.polls) - set(addresses):
            self.polls.pop(address).cancel()
        for address in addresses:
            if address not in self.polls:
                self.polls[address] = asyncio.ensure_future(self.poll_worker(address))

    async def poll_worker(self, address):
        while True:
            await self.take_worker(address)
            await asyncio.sleep(WORKER_INTERVAL)

    async def take_worker(self, address):
        try:
            answers = await self.client.run(
                worker_tap.take, self.worker_plugin, workers=[address], on_error="ignore"
            )
        except (OSError, ValueError, RuntimeError):
            # It has gone, or goes: the scheduler tells.
            return
        payload = answers.get(address)
        if payload is not None:
            self.out.frame(payload)

    async def detach(self):
        """What is still there is taken, then both plugins are taken off. Whatever fails here has gone already."""
        for poll in self.polls.values():
            poll.cancel()
        if self.client.status == "running":
            await quietly(asyncio.gather(*(self.take_worker(address) for address in self.polls)))
            await quietly(self.take(asyncio.get_running_loop().create_future()))
            for poll in self.polls.values():
                poll.cancel()
            await quietly(self.client.unregister_worker_plugin(self.worker_plugin))
            await quietly(self.client.close(timeout=LAST_WORDS))
        else:
            await quietly(self.client.close(timeout=LOOK), LOOK)


def time_left(timeout):
    """Python's own start counts, but for at most half of the time."""
    return max(timeout / 2, timeout - (time.time() - psutil.Process().create_time()))


async def quietly(awaitable, seconds=LAST_WORDS):
    try:
        await asyncio.wait_for(awaitable, seconds)
    except Exception:
        pass
