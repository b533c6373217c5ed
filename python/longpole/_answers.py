"""The values that analyses return, as frozen dataclasses. Their fields are those of ``longpole/analysis`` in snake case.

Times are seconds since 1970, durations are seconds and sizes bytes. An unknown number is NaN.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

T = TypeVar("T")


def from_json(kind: type[T], values: Mapping[str, Any], **others: Any) -> T:
    """Returns a dataclass from a JSON object. Null is NaN for a float, otherwise None. ``others`` are fields as they are."""
    found = dict(others)
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name in found:
            continue
        value = values.get(re.sub(r"_([a-z])", lambda match: match[1].upper(), field.name))
        found[field.name] = math.nan if value is None and field.type == "float" else value
    return kind(**found)


@dataclass(frozen=True)
class Evidence:
    """Why a finding was made."""

    #: One or two sentences with the most important numbers.
    text: str
    #: The numbers by name. Names contain the unit; otherwise times are in seconds and sizes in bytes.
    numbers: dict[str, float]
    #: Keys of at most five tasks that show the problem.
    tasks: list[str]
    #: Name of the table of ``longpole analyze`` that shows more.
    question: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Finding:
    """A problem that made the run slow."""

    #: The rule, e.g. ``stragglers``; docs/findings.md lists all.
    code: str
    #: The problem in one sentence.
    title: str
    #: Seconds that the problem adds to the makespan: an upper limit of the gain from a fix.
    seconds: float
    #: ``high``: measured directly. ``medium``: inferred. ``low``: a hint.
    confidence: str
    evidence: Evidence
    #: A change to try.
    advice: str

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Finding:
        return from_json(cls, values, evidence=from_json(Evidence, values["evidence"]))


@dataclass(frozen=True)
class KindSeconds:
    """Seconds of the critical path by kind, e.g. ``compute`` or ``waiting for a worker``."""

    kind: str
    seconds: float


@dataclass(frozen=True)
class PrefixSeconds:
    """The part of the critical path that the tasks of a prefix caused, with its seconds by kind, largest first."""

    prefix: str
    seconds: float
    parts: list[KindSeconds]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> PrefixSeconds:
        return from_json(cls, values, parts=[from_json(KindSeconds, part) for part in values["parts"]])


@dataclass(frozen=True)
class PathPart:
    """One part of the critical path. A field that does not apply is None."""

    kind: str
    #: Key of the task that ran or waited.
    task: str | None
    prefix: str | None
    #: Name of the worker.
    worker: str | None
    #: Prefix of the tasks that the worker ran during ``waiting for a worker``.
    behind: str | None
    start: float
    stop: float


@dataclass(frozen=True)
class CriticalPath:
    """What determined the duration of the run. ``parts`` cover it without gaps, so ``by_kind`` adds up to ``makespan``."""

    start: float
    stop: float
    #: Seconds from start to stop.
    makespan: float
    #: Seconds that the run would take with unlimited workers and without overhead.
    floor: float
    #: Seconds by kind, largest first.
    by_kind: list[KindSeconds]
    #: Seconds by the prefix that caused them, largest first.
    by_prefix: list[PrefixSeconds]
    #: Parts in order of time.
    parts: list[PathPart]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> CriticalPath:
        return from_json(
            cls,
            values,
            by_kind=[from_json(KindSeconds, one) for one in values["byKind"]],
            by_prefix=[PrefixSeconds.of(one) for one in values["byPrefix"]],
            parts=[from_json(PathPart, part) for part in values["parts"]],
        )

    def __repr__(self) -> str:
        kinds = ", ".join(f"{one.kind} {one.seconds:.3g} s" for one in self.by_kind[:3])
        return f"<longpole.CriticalPath of {self.makespan:.3g} s, floor {self.floor:.3g} s: {kinds}>"


@dataclass(frozen=True)
class Prediction:
    """The run under other conditions. The makespan is expected between ``low`` and ``high``."""

    workers: int
    makespan: float
    low: float
    high: float
    #: Share of the workers' time in which tasks compute, 0 to 1.
    busy: float
    #: Largest number of bytes of results in the memory of a worker.
    held: float
    #: Bytes written to disk.
    spilled: float


@dataclass(frozen=True)
class DiffRow:
    """Seconds of something before and after."""

    #: ``run``, ``prefix``, ``span``, ``activity``, ``path`` or ``function``.
    kind: str
    name: str
    #: Seconds per run.
    before: float
    after: float
    #: Seconds that were added.
    change: float
    #: after / before; NaN for a new row.
    ratio: float
    #: Limits of the 95 % confidence interval of ``ratio``; NaN if there are too few data.
    low: float
    high: float
    #: Probability that the change is chance; NaN if there are too few data.
    p: float
    #: ``slower``, ``faster``, ``noise``, ``unclear``, ``new`` or ``gone``.
    verdict: str
