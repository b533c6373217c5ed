"""``open`` and ``Run``: a recorded run and the answers to questions about it, each from a command of the program."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from html import escape
from math import isnan
from typing import TYPE_CHECKING, Any, Literal, overload

from ._answers import CriticalPath, Finding, Prediction, from_json
from ._errors import FAILED, invalid_argument
from ._program import answer
from ._tables import chosen_kind, read_table, table_names

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Path = str | os.PathLike[str]

#: How the program begins a warning about a file.
_WARNING = "longpole: warning: "


class Run:
    """A recorded run, opened by ``longpole.open``. Answers are computed once and kept."""

    #: Absolute paths of the files.
    files: tuple[str, ...]
    #: Name of the trace.
    name: str
    #: What is missing in a damaged trace (``stretches``, ``bytes``, ``offset``, ``reason``); None for an intact one.
    damage: dict[str, Any] | None

    def __init__(self, files: tuple[str, ...]) -> None:
        self.files = files
        result = answer(["analyze", "--json", "-a", "findings,critical-path", *files], exit_codes=(0, FAILED))
        runs = result.json()
        if len(runs) != 1:
            raise invalid_argument("The files are several traces. Open them one by one.")
        for line in result.stderr:
            if line.startswith(_WARNING):
                warnings.warn(line[len(_WARNING) :], RuntimeWarning, stacklevel=3)
        self.name = os.path.basename(files[0]) if len(files) == 1 else runs[0]["trace"]
        self.damage = runs[0]["damage"]
        self._answers: dict[str, Any] = runs[0]["analyses"]
        self._problem = result.error() if result.exit_code != 0 else None

    @cached_property
    def findings(self) -> list[Finding]:
        """What made the run slow: at most seven problems, those with the highest cost first. See docs/findings.md."""
        return [Finding.of(values) for values in self._result("findings")]

    @cached_property
    def critical_path(self) -> CriticalPath:
        """The chain of tasks, transfers and waits that determined the duration of the run."""
        return CriticalPath.of(self._result("critical-path"))

    def simulate(
        self,
        workers: int | Iterable[int] | None = None,
        *,
        faster: Mapping[str, float] | None = None,
        split: Mapping[str, float] | None = None,
        bandwidth: float | str | None = None,
        memory_limit: float | str | None = None,
        scheduler_overhead: float | None = None,
    ) -> list[Prediction]:
        """Predicts the run under other conditions. Omitted conditions are those of the recording.

        Parameters
        ----------
        workers : numbers of workers, e.g. ``[4, 8]``. Default: 1, 2, 4, … as long as another worker helps.
        faster : factors by prefix, e.g. ``{"load": 2}``: tasks of this prefix become twice as fast.
        split : numbers by prefix: each task of this prefix becomes so many tasks.
        bandwidth : between two workers, in bytes per second, or a text such as ``"10Gbit"``.
        memory_limit : of each worker, in bytes, or a text such as ``"4GB"``; 0 for no limit.
        scheduler_overhead : the scheduler's seconds per task; 0 for none.

        Returns
        -------
        A Prediction for each number of workers.

        Raises
        ------
        LongpoleError
            ``ERR_LONGPOLE_INVALID_ARGUMENT`` for a condition with a wrong value.
        """
        counts = [workers] if isinstance(workers, int) else None if workers is None else list(workers)
        options = [
            *([] if counts is None else [f"--workers={','.join(str(count) for count in counts)}"]),
            *(f"--faster={prefix}={factor}" for prefix, factor in (faster or {}).items()),
            *(f"--split={prefix}={factor}" for prefix, factor in (split or {}).items()),
            *_option("bandwidth", bandwidth),
            *_option("memory-limit", memory_limit),
            *_option("scheduler-overhead", scheduler_overhead),
        ]
        rows = answer(["simulate", "--json", *options, *self.files]).json()["rows"]
        return [from_json(Prediction, row) for row in rows]

    @overload
    def table(self, name: str, as_: Literal["pandas"]) -> pandas.DataFrame: ...
    @overload
    def table(self, name: str, as_: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def table(self, name: str, as_: Literal["pyarrow"]) -> pyarrow.Table: ...
    @overload
    def table(self, name: str, as_: None = None) -> Any: ...
    def table(self, name: str, as_: str | None = None) -> Any:
        """Returns a table of the trace, e.g. ``"tasks"``, with one row per run of a task.

        Parameters
        ----------
        name : one of ``tables``. docs/trace-format.md has the columns. Workers and peers are names, times are seconds since
            1970, sizes bytes. An unknown value is null.
        as_ : ``"pandas"``, ``"polars"`` or ``"pyarrow"``. Default: the first of these that is installed.

        Raises
        ------
        LongpoleError
            ``ERR_LONGPOLE_INVALID_ARGUMENT`` for an unknown name, ``ERR_LONGPOLE_INSTALLATION`` without the package.
        """
        return read_table(self._exported.name, name, chosen_kind(as_))

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables."""
        return table_names(self._exported.name)

    @cached_property
    def _exported(self) -> tempfile.TemporaryDirectory[str]:
        """A folder with a Parquet file for each table. It is removed with this object."""
        folder = tempfile.TemporaryDirectory(prefix="longpole-", ignore_cleanup_errors=True)
        answer(["export", "--to", "parquet", "-o", folder.name, *self.files])
        return folder

    def _result(self, name: str) -> Any:
        found = self._answers.get(name)
        if found is not None:
            return found["result"]
        assert self._problem is not None
        raise self._problem

    def __repr__(self) -> str:
        if "critical-path" not in self._answers:
            return f"<longpole.Run {self.name}>"
        count = len(self.findings)
        found = "1 finding" if count == 1 else f"{count} findings"
        seconds = self.critical_path.makespan
        took = "no tasks" if isnan(seconds) else f"{seconds:.3g} s"
        return f"<longpole.Run {self.name}: {took}, {found}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{finding.seconds:.3g} s</td><td style='text-align: left'>{escape(finding.title)}<br>"
            f"<small>{escape(finding.advice)}</small></td></tr>"
            for finding in (self.findings if "findings" in self._answers else [])
        )
        table = f"<table><tr><th>costs</th><th>finding</th></tr>{rows}</table>" if rows else ""
        return f"<p>{escape(repr(self)[1:-1])}</p>{table}"


def open(path: Path | Iterable[Path]) -> Run:
    """Opens a recorded run.

    Parameters
    ----------
    path : a trace directory, a report (HTML), Chrome Trace JSON, or an event file of DASF. Several event files of one run are
        passed as a list. The content decides the format, not the name.

    Returns
    -------
    A Run with ``findings``, ``critical_path``, ``simulate(…)`` and ``table(…)``. A damaged or empty file gives a
    RuntimeWarning, and a Run of its readable part.

    Raises
    ------
    LongpoleError
        ``ERR_LONGPOLE_TRACE_FILE`` if a file cannot be read, ``ERR_LONGPOLE_TRACE_FORMAT`` if it has no trace,
        ``ERR_LONGPOLE_TRACE_VERSION`` if a newer Longpole recorded it, ``ERR_LONGPOLE_INSTALLATION`` without Node.
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not paths:
        raise invalid_argument("open() needs at least one file.")
    return Run(tuple(os.path.abspath(os.fspath(one)) for one in paths))


def _option(name: str, value: float | str | None) -> list[str]:
    """Returns an option of the program. Texts have units."""
    if value is None:
        return []
    return [f"--{name}={value}" if isinstance(value, str) else f"--{name}={value:.12f}"]
