// Collects all facts about one task for the panel that a click opens. Scans all tables, which takes some 10 ns per row.
import { ACTIONS, TASK_STATES } from '../protocol/clusterObserver.js';
import { mentions, textOf } from '../trace/names.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from '../trace/trace.js';

export interface TaskDetails {
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
  readonly group: string;
  readonly functionName: string;
  readonly span: string;
  /** Runs of the task, oldest first; more than one if a run failed or was lost. */
  readonly runs: readonly TaskRunDetails[];
  readonly computation: { readonly number: number; readonly client: string; readonly code: string } | null;
  /** Dependencies and dependents; at most 1,000 of each. */
  readonly dependencies: readonly TaskReference[];
  readonly dependents: readonly TaskReference[];
  readonly dependencyCount: number;
  readonly dependentCount: number;
  /** Transfers of its result; at most 1,000. */
  readonly transfers: readonly TaskTransfer[];
  /** Work for the task beside its own code; at most 1,000 intervals. */
  readonly intervals: readonly TaskInterval[];
  /** Errors with their stacks, and lines of logs that name the task; at most 200, newest last. */
  readonly events: readonly TaskEvent[];
}

interface TaskRunDetails {
  readonly worker: string;
  readonly thread: number;
  /** Outcome: `memory`, `erred`, `cancelled`, `lost`. */
  readonly state: string;
  readonly attempt: number;
  readonly submitted: number | null;
  readonly ready: number | null;
  readonly dispatched: number | null;
  readonly received: number | null;
  readonly started: number | null;
  readonly stopped: number | null;
  readonly acknowledged: number | null;
  readonly nbytes: number | null;
  readonly resultType: string;
}

/** A reference to a task. `id` is -1 if the trace has no run of it. */
interface TaskReference {
  readonly id: number;
  readonly key: string;
}

interface TaskTransfer {
  readonly worker: string;
  /** The other worker; empty for a client. */
  readonly peer: string;
  readonly direction: string;
  readonly what: string;
  readonly nbytes: number | null;
  readonly start: number | null;
  readonly stop: number | null;
}

interface TaskInterval {
  readonly worker: string;
  readonly action: string;
  readonly start: number | null;
  readonly stop: number | null;
  readonly nbytes: number | null;
}

interface TaskEvent {
  readonly time: number | null;
  readonly worker: string;
  readonly topic: string;
  readonly text: string;
}

/** Largest number of entries in each list. */
const MAX_ENTRIES = 1000;
const MAX_EVENTS = 200;
/** Largest number of characters of an event. */
const MAX_TEXT = 20_000;

/** Returns the facts about a task; undefined if the trace has no run of it. */
export function taskDetails(trace: Trace, id: number): TaskDetails | undefined {
  const { tasks, strings, keys, computations } = trace;
  const rows: number[] = [];
  for (let row = 0; row < tasks.length; row++) if (tasks.id[row] === id) rows.push(row);
  const row = rows.at(-1);
  if (row === undefined) return undefined;
  const key = tasks.keyOf(row);
  const computation = computations[tasks.computation[row]!];
  const needed = dependenciesOf(trace, row);
  const needing = dependentsOf(trace, id);
  return {
    id,
    key,
    prefix: textOf(strings, tasks.prefix[row]),
    group: textOf(keys, tasks.group[row]),
    functionName: textOf(strings, tasks.functionName[row]),
    span: textOf(strings, tasks.span[row]),
    runs: rows.slice(-MAX_ENTRIES).map((one) => runOf(trace, one)),
    computation:
      computation === undefined
        ? null
        : { number: computation.number, client: computation.client, code: computation.code },
    dependencies: needed.slice(0, MAX_ENTRIES),
    dependents: needing.slice(0, MAX_ENTRIES),
    dependencyCount: needed.length,
    dependentCount: needing.length,
    transfers: transfersOf(trace, key),
    intervals: intervalsOf(trace, id),
    events: eventsOf(trace, key),
  };
}

function known(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : value;
}

/** Returns the name of a worker; empty if there is none. */
function nameOf({ workers, strings }: Trace, worker: number): string {
  return textOf(strings, workers.name[worker]);
}

function runOf(trace: Trace, row: number): TaskRunDetails {
  const { tasks, strings } = trace;
  return {
    worker: nameOf(trace, tasks.worker[row]!),
    thread: Math.max(0, tasks.thread[row]!),
    state: TASK_STATES[tasks.state[row]!] ?? 'memory',
    attempt: tasks.attempt[row]!,
    submitted: known(tasks.submitted[row]),
    ready: known(tasks.ready[row]),
    dispatched: known(tasks.dispatched[row]),
    received: known(tasks.received[row]),
    started: known(tasks.started[row]),
    stopped: known(tasks.stopped[row]),
    acknowledged: known(tasks.acknowledged[row]),
    nbytes: known(tasks.nbytes[row]),
    resultType: textOf(strings, tasks.resultType[row]),
  };
}

function dependenciesOf({ tasks, keys }: Trace, row: number): TaskReference[] {
  const list: TaskReference[] = [];
  for (let edge = tasks.dependencyOffsets[row]!; edge < tasks.dependencyOffsets[row + 1]!; edge++)
    list.push({ id: tasks.dependencyIds[edge]!, key: keys.get(tasks.dependencies[edge]!) });
  return list;
}

function dependentsOf({ tasks }: Trace, id: number): TaskReference[] {
  const { dependencyOffsets, dependencyIds } = tasks;
  const found = new Map<number, number>();
  for (let row = 0; row < tasks.length; row++) {
    const end = dependencyOffsets[row + 1]!;
    for (let edge = dependencyOffsets[row]!; edge < end; edge++)
      if (dependencyIds[edge] === id) found.set(tasks.id[row]!, row);
  }
  return Array.from(found, ([dependent, row]) => ({ id: dependent, key: tasks.keyOf(row) }));
}

function transfersOf(trace: Trace, key: string): TaskTransfer[] {
  const { transfers, keys } = trace;
  const list: TaskTransfer[] = [];
  for (let row = 0; row < transfers.length && list.length < MAX_ENTRIES; row++) {
    let moved = false;
    for (let at = transfers.keyOffsets[row]!; at < transfers.keyOffsets[row + 1]! && !moved; at++)
      moved = keys.get(transfers.keys[at]!) === key;
    if (!moved) continue;
    list.push({
      worker: nameOf(trace, transfers.worker[row]!),
      peer: nameOf(trace, transfers.peer[row]!),
      direction: DIRECTIONS[transfers.direction[row]!] ?? 'incoming',
      what: TRANSFER_KINDS[transfers.what[row]!] ?? 'gather-dep',
      nbytes: known(transfers.nbytes[row]),
      start: known(transfers.start[row]),
      stop: known(transfers.stop[row]),
    });
  }
  return list;
}

function intervalsOf(trace: Trace, id: number): TaskInterval[] {
  const { intervals } = trace;
  const list: TaskInterval[] = [];
  for (let row = 0; row < intervals.length && list.length < MAX_ENTRIES; row++) {
    if (intervals.task[row] !== id) continue;
    list.push({
      worker: nameOf(trace, intervals.worker[row]!),
      action: ACTIONS[intervals.action[row]!] ?? 'compute',
      start: known(intervals.start[row]),
      stop: known(intervals.stop[row]),
      nbytes: known(intervals.nbytes[row]),
    });
  }
  return list;
}

/** Returns the events with the key as a separate word in their text. */
function eventsOf(trace: Trace, key: string): TaskEvent[] {
  const { events, strings } = trace;
  const list: TaskEvent[] = [];
  for (let row = events.length - 1; row >= 0 && list.length < MAX_EVENTS; row--) {
    const text = textOf(strings, events.text[row]);
    if (!mentions(text, key)) continue;
    list.push({
      time: known(events.time[row]),
      worker: nameOf(trace, events.worker[row]!),
      topic: textOf(strings, events.topic[row]),
      text: text.slice(0, MAX_TEXT),
    });
  }
  return list.reverse();
}
