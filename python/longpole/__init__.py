"""Longpole for Dask: what a computation waited for, without writing TypeScript.

    import longpole

    with longpole.report("run.html"):        # or record("run.trace"), or watch() for a live page
        result = x.compute()                 # on the cluster of the current distributed.Client

    run = longpole.open("run.html")
    run.findings, run.critical_path, run.simulate(workers=[4, 8]), run.table("tasks")
    longpole.diff("monday.trace", "tuesday.trace")

Every function runs a command of Longpole's program, which needs Node 20.19 or newer: that of ``LONGPOLE_NODE``, else
``node`` on the PATH. Failures are ``LongpoleError``, which has a ``code``.
"""

from ._answers import (
    CriticalPath,
    DiffRow,
    Evidence,
    Finding,
    KindSeconds,
    PathPart,
    Prediction,
    PrefixSeconds,
)
from ._diff import Diff, diff
from ._errors import LongpoleError
from ._observe import Recording, Watch, record, report, watch
from ._run import Run, open

__all__ = [
    "CriticalPath",
    "Diff",
    "DiffRow",
    "Evidence",
    "Finding",
    "KindSeconds",
    "LongpoleError",
    "PathPart",
    "Prediction",
    "PrefixSeconds",
    "Recording",
    "Run",
    "Watch",
    "diff",
    "open",
    "record",
    "report",
    "watch",
]

# Tracebacks name the class as a program catches it.
LongpoleError.__module__ = __name__


def __getattr__(name: str) -> str:
    if name == "__version__":
        from ._program import version

        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
