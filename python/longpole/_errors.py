"""The error of this package, and how it follows from the output of Longpole's program."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: A line in which the program reports an error, with its code if the error has one.
_REPORTED = re.compile(r"^longpole: (?P<text>.*?)(?: \((?P<code>ERR_LONGPOLE_\w+)\))?$")

#: Beginnings of lines that report no error.
_NO_ERRORS = ("longpole: warning: ", "longpole: observing ")

#: Exit code of the program for wrong usage or unreadable input.
WRONG_USAGE = 2
#: Exit code of the program if a check failed or an output could not be written.
FAILED = 1


class LongpoleError(Exception):
    """Any failure of Longpole.

    ``code`` is stable, for example ``ERR_LONGPOLE_TRACE_FORMAT``; docs/errors.md lists every code with its remedy. The
    text says what happened, to which file or cluster, and what to do. It may change.
    """

    code: str

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __str__(self) -> str:
        return f"{self.args[0]} ({self.code})"

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.code, self.args[0])


def invalid_argument(message: str) -> LongpoleError:
    """Returns the error for an argument with a wrong type or value."""
    return LongpoleError("ERR_LONGPOLE_INVALID_ARGUMENT", message)


def reported_error(stderr: Iterable[str], exit_code: int) -> LongpoleError:
    """Returns the error that the lines of the program report last. The exit code classifies an error without a code."""
    lines = [line.rstrip() for line in stderr if line.strip()]
    for line in reversed(lines) if exit_code > 0 else ():
        found = _REPORTED.match(line)
        if found is not None and not line.startswith(_NO_ERRORS):
            code = found.groupdict().get("code") or _code_of(exit_code)
            return LongpoleError(code, found["text"])
    how = f"was killed by signal {-exit_code}" if exit_code < 0 else f"ended with exit code {exit_code}"
    last = f"; its last line was: {lines[-1]}" if lines else ""
    return LongpoleError("ERR_LONGPOLE_INTERNAL", f"The program longpole {how}{last}. Try again. If it ends again, report it.")


def _code_of(exit_code: int) -> str:
    if exit_code == WRONG_USAGE:
        return "ERR_LONGPOLE_INVALID_ARGUMENT"
    return "ERR_LONGPOLE_TRACE_FILE" if exit_code == FAILED else "ERR_LONGPOLE_INTERNAL"
