"""The command ``longpole``: Longpole's program with these arguments."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

from ._errors import WRONG_USAGE, LongpoleError
from ._program import command


def main() -> int:
    """Runs the program. Returns its exit code; on POSIX, the program replaces this process."""
    try:
        line = command(sys.argv[1:])
    except LongpoleError as error:
        print(f"longpole: {error}", file=sys.stderr)
        return WRONG_USAGE
    environment = dict(os.environ)
    # `longpole dask` needs a Python with distributed, which usually is this one.
    if not environment.get("LONGPOLE_PYTHON") and sys.executable and find_spec("distributed") is not None:
        environment["LONGPOLE_PYTHON"] = sys.executable
    if os.name == "posix":
        os.execve(line[0], line, environment)
    return subprocess.run(line, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
