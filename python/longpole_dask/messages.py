"""Messages between Python and Node on a socket.

A message has the length of its JSON in four bytes, big-endian, the JSON, and buffers of the lengths in the JSON.
src/engine/worker/pythonMessages.ts has the counterpart.
"""

import json
import struct

LENGTH = ">I"


def receive(connection):
    (length,) = struct.unpack(LENGTH, read(connection, struct.calcsize(LENGTH)))
    request = json.loads(bytes(read(connection, length)))
    return request, [read(connection, size) for size in request["buffers"]]


def read(connection, length):
    data = bytearray(length)
    view = memoryview(data)
    while view:
        count = connection.recv_into(view)
        if count == 0:
            raise ConnectionError
        view = view[count:]
    return data


def send(connection, head, buffers):
    data = json.dumps({**head, "buffers": [len(one) for one in buffers]}).encode()
    connection.sendall(struct.pack(LENGTH, len(data)) + data)
    for one in buffers:
        connection.sendall(one)
