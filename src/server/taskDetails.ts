// Collects all facts about one task for the panel that a click opens. Scans all tables, which takes some 10 ns per row.

import { rowsWhere } from '../base/groups.js';
import { recordOf } from '../base/lookUps.js';
import { ACTIONS, TASK_STATES } from '../protocol/clusterObserver.js';
import {
  DIRECTIONS,
  newestMentions,
  TRANSFER_KINDS,
  type Trace,
  textOf,
  workerName,
} from '../trace/trace.js';

/** Numbers of a run in the table of tasks. Absent numbers are NaN, which is null in JSON, as in all parts of the details. */
const RUN_NUMBERS = [
  ...(['attempt', 'submitted', 'ready', 'dispatched', 'received'] as const),
  ...(['started', 'stopped', 'acknowledged', 'nbytes'] as const),
] as const;
const SPAN_NUMBERS = ['start', 'stop', 'nbytes'] as const;

/** A reference to a task. `id` is -1 if the trace has no run of it. */
interface TaskReference {
  readonly id: number;
  readonly key: string;
}

/** Largest number of entries in each list. */
const MAX_ENTRIES = 1000;
const MAX_EVENTS = 200;
/** Largest number of characters of an event. */
const MAX_TEXT = 20_000;

/** Returns the facts about a task; undefined if the trace has no run of it. */
export function taskDetails(trace: Trace, id: number) {
  const { tasks, strings, keys, computations } = trace;
  const rows = [...rowsWhere(tasks.length, (row) => tasks.id[row] === id)];
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
    /** Oldest first; more than one if a run failed or was lost. */
    runs: rows.slice(-MAX_ENTRIES).map((one) => runOf(trace, one)),
    computation:
      computation === undefined
        ? null
        : { number: computation.number, client: computation.client, code: computation.code },
    dependencies: needed.slice(0, MAX_ENTRIES),
    dependents: needing.slice(0, MAX_ENTRIES),
    dependencyCount: needed.length,
    dependentCount: needing.length,
    /** Transfers of its result. */
    transfers: transfersOf(trace, key),
    /** Work for the task beside its own code. */
    intervals: intervalsOf(trace, id),
    /** Errors with their stacks, and lines of logs that name the task; newest last. */
    events: eventsOf(trace, key),
  };
}

/** Returns the name of a worker; empty if there is none. */
function nameOf(trace: Trace, worker: number): string {
  return worker < 0 ? '' : workerName(trace, worker);
}

function runOf(trace: Trace, row: number) {
  const { tasks, strings } = trace;
  return {
    worker: nameOf(trace, tasks.worker[row]!),
    thread: Math.max(0, tasks.thread[row]!),
    state: TASK_STATES[tasks.state[row]!] ?? 'memory',
    ...recordOf(RUN_NUMBERS, (name) => tasks[name][row]!),
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

function transfersOf(trace: Trace, key: string) {
  const { transfers, keys } = trace;
  const moved = (row: number): boolean =>
    transfers.keys
      .subarray(transfers.keyOffsets[row]!, transfers.keyOffsets[row + 1]!)
      .some((one) => keys.get(one) === key);
  return firstRows(transfers.length, moved).map((row) => ({
    worker: nameOf(trace, transfers.worker[row]!),
    /** The other worker; empty for a client. */
    peer: nameOf(trace, transfers.peer[row]!),
    direction: DIRECTIONS[transfers.direction[row]!] ?? 'incoming',
    what: TRANSFER_KINDS[transfers.what[row]!] ?? 'gather-dep',
    ...recordOf(SPAN_NUMBERS, (name) => transfers[name][row]!),
  }));
}

function intervalsOf(trace: Trace, id: number) {
  const { intervals } = trace;
  return firstRows(intervals.length, (row) => intervals.task[row] === id).map((row) => ({
    worker: nameOf(trace, intervals.worker[row]!),
    action: ACTIONS[intervals.action[row]!] ?? 'compute',
    ...recordOf(SPAN_NUMBERS, (name) => intervals[name][row]!),
  }));
}

/** Returns the first rows of a table that match, at most 1,000. */
function firstRows(length: number, matches: (row: number) => boolean): number[] {
  const rows: number[] = [];
  for (let row = 0; row < length && rows.length < MAX_ENTRIES; row++) if (matches(row)) rows.push(row);
  return rows;
}

/** Returns the events with the key as a separate word in their text. */
function eventsOf(trace: Trace, key: string) {
  const lines = newestMentions(trace, key, MAX_EVENTS, MAX_TEXT);
  return lines.map(({ row, ...line }) => ({ ...line, worker: nameOf(trace, trace.events.worker[row]!) }));
}
