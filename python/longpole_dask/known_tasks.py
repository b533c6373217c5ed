"""Numbers the scheduler's tasks, each once, and makes the rows that describe them.

Like scheduler_tap.py, the module is sent to the scheduler by value.
"""

from dask.utils import funcname

from .tap import MAX_TEXT


class KnownTasks:
    def __init__(self, scheduler, add_row):
        self.scheduler = scheduler
        self.add_row = add_row
        self.ids = {}
        self.next_id = 0
        self.spans = set()
        #: Number of tasks by state.
        self.states = {}

    def number(self, ts):
        self.ids[ts.key] = self.next_id
        self.next_id += 1
        self.states[ts.state] = self.states.get(ts.state, 0) + 1

    def graph(self, tasks, submitted, client):
        """Adds a row with new tasks, which have consecutive numbers."""
        if not tasks:
            return
        ids, spans_ext = self.ids, self.scheduler.extensions.get("spans")
        prefixes, functions, spans = {}, {}, {}
        prefix_of, function_of, span_of, given, counts, edges = [], [], [], [], [], []
        names = {}
        for local, ts in enumerate(tasks):
            group = ts.group
            prefix_of.append(prefixes.setdefault(ts.prefix.name, len(prefixes)))
            # Almost always, all tasks of a group have the same function.
            name = names.get(group)
            if name is None:
                name = names[group] = function_name(ts)
            function_of.append(functions.setdefault(name, len(functions)))
            span_of.append(spans.setdefault(group.span_id or "", len(spans)))
            if not ts.run_spec or ts.state == "memory":
                given.append(local)
            counts.append(len(ts.dependencies))
            for dependency in ts.dependencies:
                edges.append(ids[dependency.key])
        for span_id in spans:
            if span_id and span_id not in self.spans and spans_ext is not None:
                self.spans.add(span_id)
                span = spans_ext.spans.get(span_id)
                if span is not None:
                    self.add_row(["span", span_id, [str(tag) for tag in span.name]])
        self.add_row(
            [
                "graph",
                submitted,
                client,
                self.code() if client else "",
                ids[tasks[0].key],
                [str(ts.key) for ts in tasks],
                list(prefixes),
                prefix_of,
                list(functions),
                function_of,
                list(spans),
                span_of,
                counts,
                edges,
                given,
            ]
        )

    def code(self):
        """Returns the line of the user's program that submitted the newest tasks, if the client sends it."""
        computations = self.scheduler.computations
        if not computations or not computations[-1].code:
            return ""
        frames = list(computations[-1].code)[-1]
        if not frames:
            return ""
        last = frames[-1]
        lines = str(last.code).splitlines()
        line = lines[last.lineno_relative - 1].strip() if 0 < last.lineno_relative <= len(lines) else ""
        return f"{last.filename}:{last.lineno_frame}: {line}"[:MAX_TEXT]

    def known(self, key, now):
        """Returns the number of a task; None if the scheduler has forgotten the task."""
        number = self.ids.get(key)
        if number is None:
            ts = self.scheduler.tasks.get(key)
            if ts is None:
                return None
            self.add(self.with_dependencies([ts]), now, "")
            number = self.ids[key]
        return number

    def with_dependencies(self, tasks):
        """Returns the tasks without a number, and their dependencies without a number, e.g. scattered data."""
        new, todo = {}, list(tasks)
        while todo:
            ts = todo.pop()
            if ts.key in self.ids or ts.key in new:
                continue
            new[ts.key] = ts
            todo.extend(ts.dependencies)
        return list(new.values())

    def add(self, tasks, submitted, client):
        for ts in tasks:
            self.number(ts)
        self.graph(tasks, submitted, client)

    def count(self, start, finish):
        states = self.states
        states[start] = states.get(start, 0) - 1
        if finish != "forgotten":
            states[finish] = states.get(finish, 0) + 1

    def forget(self, key):
        del self.ids[key]


def function_name(ts):
    """Returns the name of the task's function; its prefix if only the workers can unpickle the function."""
    func = getattr(ts.run_spec, "func", None)
    if func is None:
        return ts.prefix.name
    try:
        return str(funcname(func))
    except Exception:
        return ts.prefix.name
