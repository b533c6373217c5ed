"""Opens the traces of its arguments with `longpole`. Prints what `open`, `Run` and `diff` return as a JSON object."""

import dataclasses
import json
import math
import sys
import warnings

import longpole


def plain(value):
    """Returns a value for JSON. NaN becomes null, and names of fields become those of JavaScript."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {camel(name): plain(getattr(value, name)) for name in names}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value


def camel(name):
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


def raised(action):
    try:
        action()
    except longpole.LongpoleError as error:
        return {"code": error.code, "text": str(error)}
    return None


def opened(files, with_tables=True):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = longpole.open(files)
    return {
        "repr": repr(run),
        "html": run._repr_html_(),
        "damage": run.damage,
        "warnings": [str(one.message) for one in caught],
        "findings": plain(run.findings),
        "criticalPath": plain(run.critical_path),
        **(tables(run) if with_tables else {}),
    }


def tables(run):
    return {
        "tables": run.tables,
        "rows": [run.table("tasks", as_=kind).shape for kind in ("pandas", "polars", "pyarrow")],
        "default": type(run.table("workers")).__module__.split(".")[0],
    }


def simulated(run):
    conditions = {"faster": {"load": 2}, "bandwidth": 1.25e9, "memory_limit": "1GB", "scheduler_overhead": 0.0002}
    return {
        "two": plain(run.simulate(workers=[1, 2])),
        "conditions": plain(run.simulate(2, **conditions)),
        "all": plain(run.simulate()),
    }


def refused(run, text):
    [file] = run.files
    return {
        "missing": raised(lambda: longpole.open("missing.trace")),
        "format": raised(lambda: longpole.open(text)),
        "none": raised(lambda: longpole.open([])),
        "several": raised(lambda: longpole.open([file, file])),
        "table": raised(lambda: run.table("task")),
        "kind": raised(lambda: run.table("tasks", as_="arrow")),
        "workers": raised(lambda: run.simulate(workers=[0])),
        "failOver": raised(lambda: longpole.diff(run, run, fail_over=5)),
        "comma": raised(lambda: longpole.diff("a,b", file)),
        "empty": raised(lambda: longpole.diff([], file)),
    }


def main():
    before, after, damaged, text, empty, *dasf = sys.argv[1:]
    run = longpole.open(before)
    compared = longpole.diff(run, after)
    print(
        json.dumps(
            {
                "opened": opened(before),
                "damaged": opened(damaged, with_tables=False),
                "empty": opened(empty, with_tables=False),
                "dasf": opened(dasf),
                "simulated": simulated(run),
                "refused": refused(run, text),
                "diff": plain(compared),
                "failed": plain(longpole.diff([before], [after], fail_over="5%")),
                "diffTexts": [repr(compared), compared._repr_html_()],
            }
        )
    )


if __name__ == "__main__":
    main()
