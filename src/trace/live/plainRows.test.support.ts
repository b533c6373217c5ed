// The expected rows of a played script and the rows of a trace, as plain objects with texts instead of ids.
import { TASK_MEMORY, TASK_STATES } from '../../protocol/clusterObserver.js';
import { type Column, columnsOf, fileColumns, GROWING_TABLES } from '../../protocol/traceSchema.js';
import { keyGroup } from '../keyGroup.js';
import type { Texts } from '../stringTable.js';
import type { TableName, Trace } from '../trace.js';
import type { PlayedScript } from './clusterScript.test.support.js';

export interface PlainTask {
  readonly key: string | null;
  readonly prefix: string | null;
  readonly state: string | undefined;
  readonly worker: string | null;
  readonly stopped: number | undefined;
  readonly [column: string]: unknown;
}

/** Returns the expected row of every run, in order. */
export function expectedTasks(played: PlayedScript): PlainTask[] {
  const keyOf = new Map<number, string>();
  for (const { firstId, keys } of played.computations) {
    for (const [id, key] of keys.entries()) keyOf.set(firstId + id, key);
  }
  return played.runs.flatMap((runs) =>
    Array.from({ length: runs.count }, (_, i) => {
      const { computation } = runs;
      const id = runs.ids[i]!;
      const { dependencyOffsets, dependencies, externals, firstId, size, prefixes } = computation;
      const needs = [...dependencies.subarray(dependencyOffsets[id], dependencyOffsets[id + 1])];
      const key = computation.keys[id] ?? '';
      const prefix = prefixes[computation.prefixOf[id]!] ?? '';
      const state = runs.states[i]!;
      return {
        id: firstId + id,
        key,
        prefix,
        group: keyGroup(key, prefix),
        functionName: computation.functions[computation.functionOf[id]!] ?? null,
        span: computation.spans[computation.spanOf?.[id] ?? 0]?.join('/'),
        computation: computation.number,
        worker: `threads-${runs.worker}`,
        thread: runs.threads?.[i] ?? 0,
        call: null,
        state: TASK_STATES[state],
        attempt: runs.attempts[i],
        resultType: state === TASK_MEMORY ? runs.typeNames[runs.types[i]!] : null,
        nbytes: runs.nbytes[i],
        submitted: computation.submitted,
        ready: runs.ready[i],
        dispatched: runs.dispatched[i],
        received: runs.received[i],
        started: runs.started[i],
        stopped: runs.stopped[i],
        coreWait: runs.coreWaits?.[i] ?? Number.NaN,
        seceded: runs.seceded?.[i] ?? Number.NaN,
        resumed: runs.resumed?.[i] ?? Number.NaN,
        waited: runs.waited?.[i] ?? Number.NaN,
        acknowledged: runs.acknowledged,
        needs: needs.map((local) => keyOf.get(local < size ? firstId + local : externals[local - size]!)),
      };
    }),
  );
}

const textOf = (table: Texts, id: number): string | null => (id < 0 ? null : table.get(id));

/** Returns the columns of tasks that files contain. */
export function tasksOf(trace: Trace): PlainTask[] {
  const { tasks, keys } = trace;
  const rowAt = plainRows(trace, 'tasks', fileColumns('tasks'));
  return Array.from({ length: tasks.length }, (_, row) =>
    Object.assign(rowAt(row), {
      // Columns that tests read by name; the schema lists all.
      key: textOf(keys, tasks.key[row]!),
      prefix: textOf(trace.strings, tasks.prefix[row]!),
      state: TASK_STATES[tasks.state[row]!],
      worker: textOf(trace.strings, trace.workers.name[tasks.worker[row]!] ?? -1),
      stopped: tasks.stopped[row],
      needs: Array.from(
        tasks.dependencies.subarray(tasks.dependencyOffsets[row], tasks.dependencyOffsets[row + 1]),
        (key) => textOf(keys, key),
      ),
    }),
  );
}

type PlainTable = 'workers' | TableName;

/** Returns a function that returns a row with texts instead of ids, in the columns of the schema. */
function plainRows(
  trace: Trace,
  table: PlainTable,
  columns: readonly Column[],
): (row: number) => Record<string, unknown> {
  const cells = columns.flatMap((column): [string, (row: number) => unknown][] => {
    const { name, kind } = column;
    const values: unknown = Reflect.get(trace[table], name);
    if (kind === 'keys') return [[name, (row) => keysOf(trace, row)]];
    if (isNumbers(values)) return [[name, (row) => plainValue(trace, column, values[row]!)]];
    if (ELSEWHERE.has(kind)) return [];
    throw new Error(`${table} has no column ${name}`);
  });
  // Copies of an object that JSON made are compared twice as fast as objects that get their properties one by one.
  const empty: Record<string, unknown> = JSON.parse(
    JSON.stringify(Object.fromEntries(cells.map(([name]) => [name, null]))),
  );
  return (row) => {
    const plain = { ...empty };
    for (const [name, cell] of cells) plain[name] = cell(row);
    return plain;
  };
}

/** Kinds of columns that memory lacks: the number of the row, and the figures of a resource sample. */
const ELSEWHERE: ReadonlySet<string> = new Set(['index', 'figure', 'figures']);

function isNumbers(values: unknown): values is Float64Array | Int32Array | Uint8Array {
  return ArrayBuffer.isView(values);
}

function plainValue(trace: Trace, { kind, among }: Column, value: number): unknown {
  const { strings, keys, workers, computations } = trace;
  if (kind === 'name' || kind === 'text') return textOf(strings, value);
  if (kind === 'key' || kind === 'group') return textOf(keys, value);
  if (kind === 'worker') return textOf(strings, workers.name[value] ?? -1);
  if (kind === 'computation') return computations[value]?.number;
  if (kind === 'frame') return stackOf(trace, value);
  return kind === 'choice' ? among?.[value] : value;
}

function keysOf({ transfers, keys }: Trace, row: number): string[] {
  const { keyOffsets } = transfers;
  return Array.from(transfers.keys.subarray(keyOffsets[row], keyOffsets[row + 1]), (key) => keys.get(key));
}

/** Returns the frames of a stack as texts, the innermost first. */
function stackOf({ frames, strings }: Trace, frame: number): string[] {
  const stack: string[] = [];
  for (let at = frame; at >= 0; at = frames.parent[at]!) {
    const [name, file] = [textOf(strings, frames.functionName[at]!), textOf(strings, frames.file[at]!)];
    stack.push(`${name} ${file}:${frames.line[at]}`);
  }
  return stack;
}

/** Returns the rows of all other tables as objects. */
export function restOf(trace: Trace): Record<string, unknown> {
  const { figures } = trace.resources;
  const rows = (table: PlainTable): Record<string, unknown>[] => {
    const rowAt = plainRows(trace, table, columnsOf(table));
    return Array.from({ length: trace[table].length }, (_, row) => rowAt(row));
  };
  const resources = rows('resources').map((row, i) => ({
    ...row,
    figures: Object.fromEntries(
      [...figures]
        .map(([name, values]) => [name, values[i]] as const)
        .filter(([, value]) => value !== undefined && !Number.isNaN(value))
        .sort(),
    ),
  }));
  const tables = ['workers', ...GROWING_TABLES.filter((table) => table !== 'tasks')] as const;
  return { ...Object.fromEntries(tables.map((table) => [table, rows(table)])), resources };
}
