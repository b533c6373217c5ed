"""Values as messages to TypeScript and back: a tree of JSON, and buffers for the content of arrays.

Values that JSON lacks are objects with the one property `$`. src/engine/worker/pythonValues.ts has the counterpart. numpy
and pyarrow are imported when a value needs them, because a worker need not have them.
"""

import datetime
import sys

#: Largest absolute value of an integer that a number of JavaScript represents exactly.
MAX_SAFE = 2**53 - 1
#: Deepest nesting of a value. A deeper value counts as cyclic.
MAX_DEPTH = 200
ARRAYS = ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")
EXPECTED = (
    "numbers, strings, booleans, None, bytes, datetimes with a time zone, numpy arrays of one dimension, tables of pyarrow, "
    "and lists, tuples and dicts of these"
)


class NoCounterpart(Exception):
    """A value cannot be sent, or cannot be received by this worker."""


def encode(value, buffers, path="", depth=0):
    """Returns the tree of a value, and appends its buffers."""
    if value is None or isinstance(value, (bool, str)):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        value = int(value)
        return value if -MAX_SAFE <= value <= MAX_SAFE else {"$": ["i", str(value)]}
    if isinstance(value, float):
        return encode_float(float(value))
    if depth > MAX_DEPTH:
        raise refused(path[:80], f"nested deeper than {MAX_DEPTH} levels, or contains itself")
    if isinstance(value, (list, tuple)):
        return [encode(part, buffers, f"{path}[{index}]", depth + 1) for index, part in enumerate(value)]
    if isinstance(value, dict):
        return encode_dict(value, buffers, path, depth)
    if isinstance(value, (bytes, bytearray)):
        return {"$": ["b", append(buffers, value)]}
    if isinstance(value, datetime.datetime):
        return encode_datetime(value, path)
    return encode_foreign(value, buffers, path, depth)


def encode_float(value):
    # JSON has neither infinities nor NaN.
    return value if value - value == 0 else {"$": ["f", {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")]}


def encode_dict(value, buffers, path, depth):
    entries = []
    for name, part in value.items():
        if not isinstance(name, str):
            raise refused(path, f"a dict with a key of type {type_name(name)}, but the keys of objects are strings")
        entries.append((str(name), encode(part, buffers, f"{path}[{name!r}]", depth + 1)))
    if len(value) == 1 and isinstance(value.get("$arrow"), (bytes, bytearray)):
        raise refused(path, "a dict with the one key '$arrow', which marks a table")
    return {"$": ["o", entries]} if "$" in value else dict(entries)


def encode_datetime(value, path):
    if value.utcoffset() is None:
        raise refused(path, "a datetime without a time zone; add one, such as datetime.timezone.utc")
    since = value - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return {"$": ["d", since // datetime.timedelta(milliseconds=1)]}


def encode_foreign(value, buffers, path, depth):
    """Handles types of packages. A package that is not loaded has no values."""
    numpy, pyarrow = sys.modules.get("numpy"), sys.modules.get("pyarrow")
    if numpy is not None and isinstance(value, numpy.generic):
        # A long double stays a scalar of numpy.
        number = value.item() if isinstance(value, (numpy.number, numpy.bool_)) else value
        if isinstance(number, (bool, int, float)):
            return encode(number, buffers, path, depth)
    if numpy is not None and isinstance(value, numpy.ndarray):
        return encode_array(numpy, value, buffers, path)
    if pyarrow is not None and isinstance(value, (pyarrow.Table, pyarrow.RecordBatch)):
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, value.schema) as writer:
            writer.write(value)
        return {"$": ["t", append(buffers, sink.getvalue())]}
    raise refused(path, f"a {type_name(value)}")


def encode_array(numpy, value, buffers, path):
    kind = value.dtype.str[1:]
    if type(value) not in (numpy.ndarray, numpy.memmap):
        raise refused(path, f"a {type_name(value)}")
    if kind not in ARRAYS:
        raise refused(path, f"a numpy array of {value.dtype}")
    if value.ndim != 1:
        raise refused(path, f"a numpy array of {value.ndim} dimensions; use array.ravel() and array.shape")
    native = numpy.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    return {"$": ["a", kind, append(buffers, native)]}


def append(buffers, data):
    buffers.append(memoryview(data).cast("B") if len(data) else memoryview(b""))
    return len(buffers) - 1


def refused(path, what):
    return NoCounterpart(f"{path or 'it'} is {what}")


def type_name(value):
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def decode(tree, buffers):
    """Returns the value of a tree. A buffer is a bytearray."""
    if isinstance(tree, list):
        return [decode(part, buffers) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if "$" not in tree:
        return {name: decode(part, buffers) for name, part in tree.items()}
    tag, first, *more = tree["$"]
    if tag == "f":
        return float(first.replace("Infinity", "inf"))
    if tag == "i":
        return int(first)
    if tag == "d":
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return epoch + datetime.timedelta(milliseconds=first)
    if tag == "b":
        return bytes(buffers[first])
    if tag == "t":
        return decode_table(buffers[first])
    if tag == "a":
        return decode_array(first, buffers[more[0]])
    return {name: decode(part, buffers) for name, part in first}


def decode_array(kind, buffer):
    try:
        import numpy
    except ImportError as error:
        raise NoCounterpart("a typed array becomes a numpy array, and this worker has no numpy; install it there") from error
    return numpy.frombuffer(buffer, dtype=f"<{kind}")


def decode_table(buffer):
    try:
        import pyarrow
    except ImportError as error:
        raise NoCounterpart("an arrowTable() becomes a pyarrow.Table, and this worker has no pyarrow; install it there") from error
    try:
        return pyarrow.ipc.open_stream(buffer).read_all()
    except pyarrow.ArrowInvalid as error:
        raise NoCounterpart(f"the bytes of an arrowTable() are not in Arrow's stream format: {error}") from error
