"""Longpole's program, which needs Node: where both are, and how a command of the program gives an answer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longpole_dask.find_node import find_node

from ._errors import LongpoleError, reported_error

#: Seconds in which a command must answer. All tables of ten million tasks take ten seconds.
_ANSWER_SECONDS = 3600


@dataclass(frozen=True)
class Answer:
    """What a command printed."""

    stdout: bytes
    stderr: tuple[str, ...]
    exit_code: int

    def json(self) -> Any:
        """Returns the printed JSON. Raises LongpoleError if the command printed none."""
        if not self.stdout.strip():
            raise self.error()
        return json.loads(self.stdout)

    def error(self) -> LongpoleError:
        return reported_error(self.stderr, self.exit_code)


def answer(arguments: Iterable[str], exit_codes: Iterable[int] = (0,)) -> Answer:
    """Runs a command to its end.

    Raises LongpoleError with the code and the sentence of the command if its exit code is another one, and
    ``ERR_LONGPOLE_INSTALLATION`` if Node or the program is missing.
    """
    arguments = list(arguments)
    try:
        done = subprocess.run(
            command(arguments), stdin=subprocess.DEVNULL, capture_output=True, timeout=_ANSWER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        text = f"longpole {arguments[0]} did not end within {_ANSWER_SECONDS} s and was killed. Try a smaller trace, or run the command in a terminal."
        raise LongpoleError("ERR_LONGPOLE_INTERNAL", text) from None
    stderr = tuple(done.stderr.decode("utf-8", "replace").splitlines())
    result = Answer(done.stdout, stderr, done.returncode)
    if result.exit_code not in exit_codes:
        raise result.error()
    return result


def command(arguments: Iterable[str]) -> list[str]:
    """Returns the command line that runs the program. Raises LongpoleError ``ERR_LONGPOLE_INSTALLATION``."""
    return [node(), str(root() / "dist" / "bundle" / "main.js"), *arguments]


def root() -> Path:
    """Returns the folder of the program: that of the wheel, or that of a checkout or npm package around this file."""
    here = Path(__file__).resolve().parent
    for folder in (here / "_node", here.parent.parent):
        if (folder / "dist" / "bundle" / "main.js").is_file():
            return folder
    raise LongpoleError(
        "ERR_LONGPOLE_INSTALLATION",
        f"The program of Longpole is not beside {here}. Install the wheel again. In a checkout, run: npm ci && npm run build.",
    )


def version() -> str:
    """Returns the version of the program."""
    with open(root() / "package.json", encoding="utf-8") as file:
        return str(json.load(file)["version"])


def node() -> str:
    """Returns Node, as ``find_node`` does. Raises LongpoleError ``ERR_LONGPOLE_INSTALLATION``."""
    try:
        return find_node()
    except RuntimeError as error:
        raise LongpoleError("ERR_LONGPOLE_INSTALLATION", str(error)) from None
