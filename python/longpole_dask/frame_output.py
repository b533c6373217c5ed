"""The output of the bridge that runs TypeScript: frames to the program."""

import json
import queue
import threading

from .bridge import LAST_WORDS
from .node_tap import EVENT, MAX_WAITING, frame


class FrameOutput:
    """The output. A thread writes, so that the bridge can call workers while the program is busy and does not read."""

    def __init__(self, file):
        self.file = file
        self.queue = queue.SimpleQueue()
        self.waiting = 0
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.pass_on, daemon=True)
        self.thread.start()

    @property
    def is_full(self):
        return self.waiting > MAX_WAITING

    def write(self, data):
        with self.lock:
            self.waiting += len(data)
        self.queue.put(data)

    def pass_on(self):
        for data in iter(self.queue.get, None):
            try:
                self.file.write(data)
                self.file.flush()
            except (OSError, ValueError):
                # The program has ended. The end of the input will end the bridge.
                pass
            with self.lock:
                self.waiting -= len(data)

    def close(self):
        """Waits until all frames are written, at most LAST_WORDS seconds."""
        self.queue.put(None)
        self.thread.join(LAST_WORDS)

    def event(self, **event):
        self.write(frame(EVENT, 0, json.dumps(event).encode()))

    def rows(self, rows):
        """Writes rows of the base class, which are warnings, as events."""
        for kind, text in rows:
            self.event(type=kind, text=text)
