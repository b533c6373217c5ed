"""``report``, ``record`` and ``watch``: context managers that observe the cluster of a distributed Client.

Each runs a command ``longpole dask …`` beside this process. The command attaches to the scheduler by its address, so
nothing has to be installed on the cluster.
"""

from __future__ import annotations

import asyncio
import os
import sys
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar

from ._child import Child
from ._cluster import address_of, certificates_of, current_client
from ._errors import FAILED, LongpoleError, invalid_argument, reported_error

if TYPE_CHECKING:
    from distributed import Client

    from ._run import Run

T = TypeVar("T")
Path = str | os.PathLike[str]

#: Seconds for the start of Node and of the bridge to the cluster, beside the steps that ``timeout`` limits.
_START_SECONDS = 90.0
#: Seconds for the end: leaving the cluster, and writing a report of many millions of rows.
_END_SECONDS = 600.0
#: How the command reports that the cluster or the connection to it ended first.
_EARLY = "longpole: the observation ended early: "


class Observation(Generic[T]):
    """A context manager, for ``with``, and for ``async with`` where the Client is asynchronous. It is used once."""

    #: Name and pattern of the output line that says that the cluster is observed.
    _ready = ("stderr", "^longpole: observing ")

    def __init__(self, arguments: list[str], client: Client | None, timeout: float) -> None:
        if not timeout > 0:
            raise invalid_argument(f"timeout must be a number of seconds above 0, not {timeout!r}.")
        self._arguments = arguments
        self._client = client
        self._timeout = timeout
        self._child: Child | None = None

    def __enter__(self) -> T:
        client = current_client(self._client)
        if client.asynchronous:
            raise invalid_argument("The Client is asynchronous. Write 'async with' instead of 'with'.")
        return self._start(client)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end(error)

    async def __aenter__(self) -> T:
        client = current_client(self._client)
        try:
            return await asyncio.to_thread(self._start, client)
        except asyncio.CancelledError:
            if self._child is not None:
                self._child.kill()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._end, error)

    def _start(self, client: Client) -> T:
        if self._child is not None:
            raise invalid_argument("This context manager was used before. Create another one.")
        address, certificates = address_of(client), certificates_of(client)
        name, *options = self._arguments
        python = ["--python", sys.executable] if sys.executable else []
        timeout = ["--timeout", f"{self._timeout:.3f}"]
        child = Child(["dask", name, address, *options, *python, *timeout, "--until-input"], certificates)
        self._child = child
        try:
            return self._entered(child.wait_for(*self._ready, seconds=_START_SECONDS + 3 * self._timeout))
        except BaseException:
            child.kill()
            raise

    def _entered(self, line: str) -> T:
        """Returns the value of ``with … as``, from the line that says that the cluster is observed."""
        raise NotImplementedError

    def _end(self, error: BaseException | None) -> None:
        """Ends the command. An error of the body wins; an error of the command is then a warning."""
        assert self._child is not None
        try:
            code = self._child.end(_END_SECONDS)
            self._check(code, list(self._child.stderr))
        except LongpoleError as problem:
            if error is None:
                raise
            warnings.warn(str(problem), RuntimeWarning, stacklevel=3)

    def _check(self, code: int, lines: list[str]) -> None:
        early = [line[len("longpole: ") :] for line in lines if line.startswith(_EARLY)]
        if code == FAILED and early:
            warnings.warn(early[-1], RuntimeWarning, stacklevel=4)
        elif code != 0:
            raise reported_error(lines, code)


class Recording(Observation["Recording"]):
    """An observation that writes a file or a folder at ``path``."""

    #: Absolute path of the report or the trace.
    path: str

    def __init__(self, arguments: list[str], path: Path, client: Client | None, timeout: float) -> None:
        self.path = os.path.abspath(os.fspath(path))
        super().__init__([*arguments, "-o", self.path], client, timeout)

    @property
    def summary(self) -> str:
        """The summary of what the cluster did, as ``longpole dask`` prints it. Empty before the end of the block."""
        lines = [] if self._child is None else list(self._child.stderr)
        return "\n".join(line for line in lines if not line.startswith("longpole: "))

    def open(self) -> Run:
        """Opens the recording after the end of the block; see ``longpole.open``."""
        from . import _run

        return _run.open(self.path)

    def _entered(self, line: str) -> Recording:
        return self

    def __repr__(self) -> str:
        return f"<longpole.Recording {self.path}>"


class Watch(Observation[str]):
    """An observation that serves the dashboard."""

    _ready = ("stdout", "^https?://")

    def _entered(self, line: str) -> str:
        return line


def report(path: Path = "longpole-report.html", client: Client | None = None, *, timeout: float = 10.0) -> Recording:
    """Observes the cluster during the block and writes a performance report: all pages in one HTML file.

    The file is also written if the block raises; the error of the block is raised then. An existing file is replaced.
    If the cluster ends before the block, the report has what was recorded, and a RuntimeWarning names the reason.

    Parameters
    ----------
    path : path of the HTML file; missing folders are created.
    client : the ``distributed.Client`` whose cluster is observed. Default: the current Client.
    timeout : seconds in which the scheduler must answer each request of the start.

    Returns
    -------
    A context manager. ``with longpole.report("run.html") as recording:`` gives ``recording.path``, after the block
    ``recording.summary`` (text), and ``recording.open()``, which is a ``Run``. With an asynchronous Client, write
    ``async with``.

    Raises
    ------
    LongpoleError
        ``ERR_LONGPOLE_INVALID_ARGUMENT`` without a running Client that other processes can reach,
        ``ERR_LONGPOLE_INSTALLATION`` without Node, ``ERR_LONGPOLE_DASK_CONNECT`` if the scheduler does not answer,
        ``ERR_LONGPOLE_DASK_BRIDGE`` if the connection fails, ``ERR_LONGPOLE_PAGE_FILE`` if the file cannot be written.
    """
    return Recording(["report"], path, client, timeout)


def record(
    path: Path = "dask.trace", client: Client | None = None, *, overwrite: bool = False, timeout: float = 10.0
) -> Recording:
    """Observes the cluster during the block and records a trace directory, which ``longpole.open`` reads.

    The trace is also complete if the block raises; the error of the block is raised then. If this process is killed, the
    rows until then are in the trace. ``overwrite=True`` replaces an existing trace; any other existing file is kept. The
    other parameters, the result and the errors are those of ``report``, and ``ERR_LONGPOLE_TRACE_FILE`` if the trace exists
    or cannot be written.
    """
    return Recording(["record", *(["--overwrite"] if overwrite else [])], path, client, timeout)


def watch(client: Client | None = None, *, port: int | None = None, timeout: float = 10.0) -> Watch:
    """Serves Longpole's dashboard of the cluster during the block, on this machine.

    Parameters
    ----------
    client : the ``distributed.Client`` whose cluster is observed. Default: the current Client.
    port : port of the dashboard. Default: 8787, or a free port if it is taken.
    timeout : seconds in which the scheduler must answer each request of the start.

    Returns
    -------
    A context manager. ``with longpole.watch() as link:`` gives the link of the page, e.g. ``http://127.0.0.1:8787/…``.

    Raises
    ------
    LongpoleError
        As ``report``, and ``ERR_LONGPOLE_DASHBOARD`` if the port is taken.
    """
    return Watch(["attach", "--no-open", *([] if port is None else ["--port", str(int(port))])], client, timeout)
