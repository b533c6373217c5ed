"""The output: frames with a length of four bytes, big-endian, and an array of rows in msgpack of that length."""

import struct

import msgpack


class Broken(Exception):
    """The reader has closed the output."""


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
