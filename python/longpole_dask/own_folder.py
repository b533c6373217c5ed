"""Temporary folders, each of one process. If the process was killed, the next process that creates such a folder removes it.

The owner locks a file in its folder. The system releases the lock when the process ends.
"""

import glob
import os
import shutil
import tempfile

try:
    import fcntl
except ImportError:
    # Windows has no such locks. A folder that is left there stays.
    fcntl = None

PREFIX = "longpole-"
#: A name that no other program uses, because the folder is removed.
LOCK = "longpole-owner.lock"


class OwnFolder:
    def __init__(self, directory=None):
        parent = directory or tempfile.gettempdir()
        remove_left(parent)
        self.path = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        self.lock = None
        if fcntl is not None:
            # The file has its name when it is locked, so no other process finds it unlocked.
            unlocked = os.path.join(self.path, "unlocked")
            self.lock = os.open(unlocked, os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            os.rename(unlocked, os.path.join(self.path, LOCK))

    def file(self, name):
        return os.path.join(self.path, name)

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
        if self.lock is not None:
            os.close(self.lock)


def remove_left(parent):
    """Removes the folders of processes that have ended. Those of other users are not accessible, and stay."""
    if fcntl is None:
        return
    for path in glob.glob(os.path.join(glob.escape(parent), f"{PREFIX}*", LOCK)):
        try:
            lock = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)
        except OSError:
            # The owner lives.
            pass
        finally:
            os.close(lock)
