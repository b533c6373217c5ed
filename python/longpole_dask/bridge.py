"""The bridge: a client of the cluster that polls the rows of the plugins and writes them as frames.

Connecting, polling and detaching have time limits. The bridge ends when its input ends, the scheduler closes the
connection, or the scheduler does not answer for MAX_SILENCE.
"""

import asyncio
import sys
import time
import uuid

import cloudpickle
import distributed
import psutil
from distributed import Client

from . import PROTOCOL, argument_tap, known_tasks, loop_tap, machine_tap, roster_tap, scheduler_tap, steal_tap, tap, worker_tap
from .frames import Broken
from .refusal import WAYS, needs_passphrase, why_not

#: Seconds between two polls of a worker. The option --interval sets that of the scheduler.
WORKER_INTERVAL = 1.0
#: Seconds in which the scheduler must answer.
MAX_SILENCE = 300.0
#: Seconds for each step at the end.
LAST_WORDS = 5.0
#: Seconds for all remaining rows at the end. Longpole kills the bridge after 25 s.
LAST_ROWS = 10.0
#: Seconds in which the workers must answer at the end. A worker may be stopped, and the user waits.
WORKER_SECONDS = 3.0
#: Number of workers that a text names.
MAX_NAMES = 5
#: Seconds between two checks of the connection.
CHECK_INTERVAL = 0.5
GONE = "the scheduler closed the connection"
SILENT = "the scheduler did not answer at the end, so the last events may be missing"
MORE = f"the scheduler had more events than it could send within {LAST_ROWS:g} s at the end, so the last events are missing"


class Refused(Exception):
    """The bridge cannot attach: a code for the reader, and a text for the user."""

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
        #: Whether the scheduler has more rows of the present poll.
        self.more = False
        self.polls = {}
        #: Address of a worker -> its last poll
        self.takes = {}
        self.client = None
        #: Whether the scheduler did not answer within LAST_WORDS at the end.
        self.silent = False
        #: Addresses of the workers that did not answer within WORKER_SECONDS at the end.
        self.silent_workers = []

    async def run(self, stop):
        """Runs until `stop` is set or the cluster has ended. Returns the reason of the end."""
        await self.connect()
        try:
            await self.check_versions()
            await self.register()
            reason = await self.follow(stop)
        finally:
            await self.detach()
        if self.silent:
            return SILENT
        if self.more and reason == "asked":
            return MORE
        return missing_rows(self.silent_workers) if reason == "asked" and self.silent_workers else reason

    async def connect(self):
        limit = time_left(self.timeout)
        if needs_passphrase(self.address):
            raise Refused("connect", f"the private key needs a passphrase, which Dask cannot pass: give a key without one {WAYS}")
        try:
            # The limit of Client gives the better error, but does not work if the port is open and never answers.
            self.client = await asyncio.wait_for(
                Client(self.address, asynchronous=True, timeout=0.9 * limit, set_as_default=False, name="longpole"),
                limit,
            )
        except Exception as error:
            # Another server may answer anything, e.g. a length of exabytes.
            if "Scheduler.identity()" in str(error):
                raise Refused("versions", f"the scheduler is too old for distributed {distributed.__version__} ({sys.executable})") from error
            raise Refused("connect", await why_not(error, self.address, self.timeout)) from error
        # To connect again, the client has all of the time.
        self.client._timeout = self.timeout

    async def check_versions(self):
        """Checks the version of Python, because pickled code needs the same one. Other versions of distributed only warn."""
        try:
            versions = await asyncio.wait_for(self.client.scheduler.versions(packages=[]), self.timeout)
            there = dict(versions["host"])["python"] if "host" in versions else versions["packages"]["python"]
        except (OSError, KeyError, TypeError, TimeoutError, asyncio.TimeoutError) as error:
            raise Refused("connect", f"the scheduler did not report its versions ({error!r}): try again when it is idle") from error
        here = ".".join(str(part) for part in sys.version_info[:2])
        if there.split(".")[:2] != here.split("."):
            raise Refused("versions", f"the scheduler runs Python {there}, this is Python {here} ({sys.executable})")
        packages = versions.get("packages") or {}
        other = packages.get("distributed")
        if other and other != distributed.__version__:
            text = f"The scheduler has distributed {other}, the bridge {distributed.__version__}."
            self.out.rows([["warning", text]])

    async def register(self):
        for module in (tap, argument_tap, known_tasks, loop_tap, machine_tap, roster_tap, steal_tap, scheduler_tap, worker_tap):
            cloudpickle.register_pickle_by_value(module)
        plugin = scheduler_tap.SchedulerTap(self.scheduler_plugin, self.worker_plugin, self.client.id, PROTOCOL)
        try:
            await asyncio.wait_for(registering(self.client, "scheduler")(plugin, name=self.scheduler_plugin), self.timeout)
        except Exception as error:
            raise Refused("plugin", f"the scheduler refused the plugin ({error!r}): allow plugins with distributed.scheduler.pickle") from error
        workers = worker_tap.WorkerTap(self.worker_plugin, self.client.id)
        try:
            await asyncio.wait_for(registering(self.client, "worker")(workers, name=self.worker_plugin), self.timeout)
        except (TimeoutError, asyncio.TimeoutError):
            self.out.rows([["warning", f"Some workers did not load the plugin within {self.timeout:g} s."]])
        except Exception as error:
            raise Refused("plugin", f"the workers refused the plugin ({error!r}): read the log of the workers") from error

    async def follow(self, stop):
        stopped = asyncio.ensure_future(stop.wait())
        try:
            while True:
                reason = await self.take(stopped)
                if reason is not None:
                    return reason
                await asyncio.wait({stopped}, timeout=0 if self.more else self.interval)
                if stopped.done():
                    return "asked"
        except Broken:
            return "asked"
        finally:
            stopped.cancel()

    async def take(self, stopped):
        """Polls rows of the scheduler. Returns the reason of the end, if any."""
        self.more = False
        call = asyncio.ensure_future(getattr(self.client.scheduler, self.scheduler_plugin)())
        for _ in range(int(MAX_SILENCE / CHECK_INTERVAL)):
            done, _ = await asyncio.wait({call, stopped}, timeout=CHECK_INTERVAL, return_when=asyncio.FIRST_COMPLETED)
            # The plugins end with the connection, although the client would try long to connect again.
            if done or self.client.status != "running":
                break
        if not call.done() and stopped.done():
            await asyncio.wait({call}, timeout=LAST_WORDS)
        if not call.done():
            call.cancel()
            if stopped.done():
                self.silent = self.client.status == "running"
                return "asked"
            if self.client.status != "running":
                return GONE
            return f"the scheduler did not answer for {MAX_SILENCE:g} s"
        try:
            answer = call.result()
        except Exception as error:
            if self.client.status != "running" or isinstance(error, OSError):
                return GONE
            # The plugin removes itself if it holds too many rows.
            return f"the scheduler does not answer any more: {error!r}"
        payload, addresses, more = answer
        self.out.frame(payload)
        self.poll(addresses)
        self.more = more
        return None

    async def take_all(self):
        """Polls all rows of the scheduler, within LAST_ROWS. Returns False if an answer takes longer than LAST_WORDS."""
        loop = asyncio.get_running_loop()
        end = loop.time() + LAST_ROWS
        self.more = True
        while self.more and loop.time() < end:
            if not await quietly(self.take(loop.create_future())):
                return False
        return True

    def poll(self, addresses):
        """Starts one polling task per worker, so that a worker without an answer does not delay the others."""
        for address in set(self.polls) - set(addresses):
            self.polls.pop(address).cancel()
            self.takes.pop(address, None)
        for address in addresses:
            if address not in self.polls:
                self.polls[address] = asyncio.ensure_future(self.poll_worker(address))

    async def poll_worker(self, address):
        while True:
            self.takes[address] = asyncio.ensure_future(self.take_worker(address))
            # The worker gives each row once, so a cancelled call would lose rows.
            await asyncio.shield(self.takes[address])
            await asyncio.sleep(WORKER_INTERVAL)

    async def take_worker(self, address):
        try:
            answers = await self.client.run(
                worker_tap.take, self.worker_plugin, workers=[address], on_error="ignore"
            )
        except (OSError, ValueError, RuntimeError):
            # The worker has left or is leaving. The scheduler reports that.
            return
        payload = answers.get(address)
        if payload is not None:
            self.out.frame(payload)

    async def last_take(self, address):
        """Waits for the present poll of a worker, and polls its last rows."""
        if address in self.takes:
            await self.takes[address]
        await self.take_worker(address)

    async def detach(self):
        """Polls the last rows and removes both plugins. Ignores errors, because the other side may have ended.

        A scheduler that does not answer removes the plugins when it finds that the connection is closed.
        """
        for poll in self.polls.values():
            poll.cancel()
        if self.client.status == "running" and not self.silent:
            self.silent = not await self.take_all()
        if self.client.status == "running" and not self.silent:
            self.silent_workers = await without_answer({address: self.last_take(address) for address in self.polls})
            if not self.more:
                await self.take_all()
            for poll in self.polls.values():
                poll.cancel()
            # The scheduler asks all workers at once, and continues without the bridge if one does not answer.
            limit = CHECK_INTERVAL if self.silent_workers else LAST_WORDS
            await quietly(self.client.unregister_worker_plugin(self.worker_plugin), limit)
            await quietly(self.client.close(timeout=LAST_WORDS))
        else:
            await quietly(self.client.close(timeout=CHECK_INTERVAL), CHECK_INTERVAL)


def time_left(timeout):
    """Returns the timeout less the time that Python took to start, but at least half of the timeout."""
    return max(timeout / 2, timeout - (time.time() - psutil.Process().create_time()))


def registering(client, kind):
    """Returns the method that registers a plugin. Before 2023.9, distributed has one for each kind of plugin."""
    return getattr(client, "register_plugin", None) or getattr(client, f"register_{kind}_plugin")


async def quietly(awaitable, seconds=None):
    """Waits for it without its errors, for LAST_WORDS by default. Returns False if the time was over."""
    try:
        await asyncio.wait_for(awaitable, LAST_WORDS if seconds is None else seconds)
    except (TimeoutError, asyncio.TimeoutError):
        return False
    except Exception:
        pass
    return True


async def without_answer(calls):
    """Waits for calls of workers, by address, for WORKER_SECONDS. Returns the addresses without an answer."""
    answered = await asyncio.gather(*(quietly(call, WORKER_SECONDS) for call in calls.values()))
    return [address for address, answer in zip(calls, answered) if not answer]


def missing_rows(addresses):
    """Returns a text about workers that did not answer at the end."""
    count = "a worker" if len(addresses) == 1 else f"{len(addresses)} workers"
    names = ", ".join(addresses[:MAX_NAMES]) + (", …" if len(addresses) > MAX_NAMES else "")
    return f"{count} did not answer at the end ({names}), so the last transfers, metrics and samples there may be missing"
