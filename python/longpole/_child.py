"""A command of Longpole's program that runs beside this one until its standard input receives a line.

Every wait has a limit. If this process ends without ``end``, the input of the command ends and so does the command.
"""

from __future__ import annotations

import os
import queue
import re
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import IO

from ._errors import LongpoleError, reported_error
from ._program import command

#: Lines of an output that are kept.
_KEPT_LINES = 1000
#: Seconds in which an ended process closes its outputs.
_CLOSING_SECONDS = 10


class Child:
    """A running command. ``stderr`` has its lines so far."""

    def __init__(self, arguments: Iterable[str], environment: Mapping[str, str]) -> None:
        self.stderr: deque[str] = deque(maxlen=_KEPT_LINES)
        #: Lines of both outputs by the name of the output; None at its end.
        self._lines: queue.SimpleQueue[tuple[str, str | None]] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            command(arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            # Ctrl-C in a terminal or a notebook is for the body of the `with` statement.
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        streams = {"stdout": self._process.stdout, "stderr": self._process.stderr}
        self._readers = [
            threading.Thread(target=self._read, args=item, name="longpole-output", daemon=True) for item in streams.items()
        ]
        for reader in self._readers:
            reader.start()

    def wait_for(self, output: str, pattern: str, seconds: float) -> str:
        """Returns the first line of ``output`` that matches. Raises LongpoleError if the command ends, or takes longer."""
        limit = time.monotonic() + seconds
        open_outputs = {"stdout", "stderr"}
        while open_outputs:
            try:
                name, line = self._lines.get(timeout=max(0.0, limit - time.monotonic()))
            except queue.Empty:
                self.kill()
                text = f"The cluster was not observed within {seconds:g} s. Try again when the scheduler is idle."
                raise LongpoleError("ERR_LONGPOLE_DASK_CONNECT", text) from None
            if line is None:
                open_outputs.discard(name)
            elif name == output and re.search(pattern, line):
                return line
        raise reported_error(self.stderr, self._ended(_CLOSING_SECONDS))

    def end(self, seconds: float) -> int:
        """Requests the end of the command and returns its exit code. Raises LongpoleError if it takes longer."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            # Closing alone is not enough: a forked process may hold the other end of the pipe.
            stdin.write(b"end\n")
            stdin.close()
        except OSError:
            # The command has ended already.
            pass
        try:
            return self._ended(seconds)
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """Kills the command. The bridge to the cluster ends with the command."""
        self._process.kill()
        self._process.wait()

    def _ended(self, seconds: float) -> int:
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            text = f"The observation did not end within {seconds:g} s and was killed. Its file may be incomplete; record again."
            raise LongpoleError("ERR_LONGPOLE_INTERNAL", text) from None
        for reader in self._readers:
            reader.join(_CLOSING_SECONDS)
        return code

    def _read(self, name: str, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                if name == "stderr":
                    self.stderr.append(text)
                self._lines.put((name, text))
        self._lines.put((name, None))
