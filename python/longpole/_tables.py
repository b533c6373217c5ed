"""Reads the tables of a trace, which ``longpole export --to parquet`` has written, with the library that the caller wants."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ._errors import LongpoleError, invalid_argument

#: Packages that each kind of table needs, in the order in which an installed one becomes the default.
NEEDS = {"pandas": ("pandas", "pyarrow"), "polars": ("polars",), "pyarrow": ("pyarrow",)}


def table_names(folder: str) -> tuple[str, ...]:
    """Returns the names of the tables in a folder."""
    return tuple(sorted(os.path.splitext(file)[0] for file in os.listdir(folder) if file.endswith(".parquet")))


def chosen_kind(kind: str | None) -> str:
    """Returns a kind of table whose packages are installed. Raises LongpoleError."""
    if kind is not None and kind not in NEEDS:
        raise invalid_argument(f"There is no kind of table {kind!r}. as_ may be: {', '.join(NEEDS)}.")
    for name in NEEDS if kind is None else (kind,):
        if all(find_spec(package) is not None for package in NEEDS[name]):
            return name
    missing = " and ".join(NEEDS[kind]) if kind is not None else "pandas and pyarrow, or polars, or pyarrow"
    raise LongpoleError(
        "ERR_LONGPOLE_INSTALLATION", f"A table needs a package that this Python lacks. Install {missing}."
    )


def read_table(folder: str, name: str, kind: str) -> Any:
    """Returns a table as ``kind``. Raises LongpoleError ``ERR_LONGPOLE_INVALID_ARGUMENT`` for an unknown name."""
    names = table_names(folder)
    if name not in names:
        raise invalid_argument(f"There is no table {name!r}. The tables are: {', '.join(names)}.")
    file = os.path.join(folder, f"{name}.parquet")
    if kind == "pyarrow":
        return import_module("pyarrow.parquet").read_table(file)
    if kind == "polars":
        # The file is removed with its Run, so the table must not be read later.
        return import_module("polars").read_parquet(file, memory_map=False)
    return import_module("pandas").read_parquet(file, engine="pyarrow")
