"""``diff``: what became slower or faster between two runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from ._answers import DiffRow, from_json
from ._errors import FAILED, invalid_argument
from ._program import answer
from ._run import Path, Run

#: Rows that a notebook shows.
_SHOWN_ROWS = 20

Side = Path | Run | Iterable[Path | Run]


@dataclass(frozen=True, repr=False)
class Diff:
    """The comparison of two runs, or of two sets of runs of one program."""

    #: Rows of the whole run, then the other rows, the largest change first.
    rows: list[DiffRow]
    #: True if the run became slower by more than ``fail_over``, and by more than noise.
    failed: bool
    #: Reason for ``failed`` in one sentence.
    reason: str

    def __repr__(self) -> str:
        return f"<longpole.Diff {'failed' if self.failed else 'passed'}: {self.reason}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(row.kind)}</td><td>{escape(row.name)}</td><td>{row.before:.3g}</td><td>{row.after:.3g}</td>"
            f"<td>{escape(row.verdict)}</td></tr>"
            for row in self.rows[:_SHOWN_ROWS]
        )
        head = "<tr><th>what</th><th>name</th><th>before</th><th>after</th><th>verdict</th></tr>"
        return f"<p>{escape(self.reason)}</p><table>{head}{rows}</table>"


def diff(a: Side, b: Side, fail_over: float | str | None = None) -> Diff:
    """Compares two runs and separates changes from noise.

    Parameters
    ----------
    a, b : before and after: a path, a Run, or a list of these. Three or more runs of a program on each side make smaller
        differences significant.
    fail_over : share of the makespan, e.g. ``0.05`` or ``"5%"``, above which ``failed`` is True.

    Returns
    -------
    A Diff with ``rows``, ``failed`` and ``reason``.

    Raises
    ------
    LongpoleError
        The errors of ``open``, and ``ERR_LONGPOLE_INVALID_ARGUMENT`` for another ``fail_over``.
    """
    limit = [] if fail_over is None else [f"--fail-over={fail_over}"]
    result = answer(["diff", "--json", *limit, _side(a), _side(b)], exit_codes=(0, FAILED)).json()
    rows = [from_json(DiffRow, row) for row in result["rows"]]
    return Diff(rows, result["failed"], result["reason"])


def _side(side: Side) -> str:
    """Returns the traces of a side as the command line takes them."""
    runs = [side] if isinstance(side, (str, os.PathLike, Run)) else list(side)
    if not runs:
        raise invalid_argument("diff() needs at least one run on each side.")
    return ",".join(_file(run) for run in runs)


def _file(run: Path | Run) -> str:
    if isinstance(run, Run) and len(run.files) != 1:
        raise invalid_argument(f"{run.name} consists of several files. Compare runs of one file each.")
    file = run.files[0] if isinstance(run, Run) else os.path.abspath(os.fspath(run))
    if "," in file:
        raise invalid_argument(f"The path {file!r} has a comma, which separates paths. Rename it.")
    return file
