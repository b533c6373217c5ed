"""Finds Node for the program of Longpole, and for functions of TypeScript that Python calls."""

import os
import re
import shutil
import subprocess
import sys
from functools import lru_cache

#: Oldest version of Node that is supported.
OLDEST_NODE = (20, 19)
#: Seconds in which Node must print its version.
VERSION_SECONDS = 60


def find_node():
    """Returns Node: ``LONGPOLE_NODE``, else ``node`` on the PATH, else ``node`` beside this Python, as conda installs it.

    Raises RuntimeError if there is none, or if it is too old.
    """
    return checked_node(os.environ.get("LONGPOLE_NODE") or None, os.environ.get("PATH"))


@lru_cache(maxsize=8)
def checked_node(named, path):
    wanted = "Install Node %d.%d or newer, or set LONGPOLE_NODE to its file." % OLDEST_NODE
    file = shutil.which(named or "node", path=path)
    if file is None and named is None:
        file = shutil.which("node", path=os.path.dirname(sys.executable))
    if file is None:
        where = f"LONGPOLE_NODE={named} is no program" if named else "No program node is on the PATH"
        raise RuntimeError(f"{where}, and Longpole needs Node. {wanted}")
    printed = printed_version(file)
    found = re.match(r"v(\d+)\.(\d+)\.", printed)
    if found is None:
        raise RuntimeError(f"{file} is not Node: {printed[:200]}. {wanted}")
    if (int(found[1]), int(found[2])) < OLDEST_NODE:
        raise RuntimeError(f"{file} is Node {printed}, which is too old. {wanted}")
    return file


def printed_version(file):
    try:
        done = subprocess.run(
            [file, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (done.stdout or done.stderr).decode("utf-8", "replace").strip()
