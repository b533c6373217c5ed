"""The output: frames of four bytes of length, big-endian, and so many bytes of msgpack, an array of rows."""

import struct

import msgpack


class Broken(Exception):
    """Nobody reads any more."""


class FrameWriter:
    def __init__(self, file):
        self.file = file

    def frame(self, payload):
        try:
            self.file.write(struct.pack(">I", len(payload)) + payload)
            self.file.flush()
        except (BrokenPipeError, ValueError) as error:
            raise Broken from error

    def rows(self, rows):
        self.frame(msgpack.packb(rows, default=str, unicode_errors="replace"))
