// Any trace as the tables of a trace directory: what a report carries. The recorder writes the same tables while a cluster
// runs (traceEncoder.ts); here they are made from the rows that a trace holds.
import { ACTIONS, TASK_STATES } from '../../protocol/clusterObserver.js';
import { ArrowEncoder } from '../formats/arrowEncoder.js';
import type { ArrowValues } from '../formats/arrowTypes.js';
import type { Texts } from '../texts.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from '../trace.js';
import { FIGURE_COLUMNS, fieldsOf, type RecordedTable } from './traceTables.js';

/** Rows of a batch. Large ones pack better; a column of one is some 0.5 MB. */
const BATCH_ROWS = 1 << 16;

/** A column of a whole table: `slice` gives what a batch of it holds. */
type ColumnSource = (from: number, to: number) => ArrowValues;

interface TableSource {
  readonly rows: number;
  /** In the order of `fieldsOf`. */
  readonly columns: readonly ColumnSource[];
}

/**
 * The Arrow stream of one table. Ids of tasks are those of the trace where its computations name them; a trace without
 * computations gets one that names all tasks, so that edges can be told.
 */
export function encodeTable(trace: Trace, table: RecordedTable): Uint8Array {
  const { rows, columns } = sourceOf(trace, table);
  const encoder = new ArrowEncoder(fieldsOf(table));
  const parts = encoder.start();
  for (let from = 0; from < rows; from += BATCH_ROWS) {
    const to = Math.min(rows, from + BATCH_ROWS);
    parts.push(
      ...encoder.batch(
        to - from,
        columns.map((column) => column(from, to)),
      ),
    );
  }
  parts.push(...encoder.end());
  return joined(parts);
}

function sourceOf(trace: Trace, table: RecordedTable): TableSource {
  switch (table) {
    case 'workers':
      return workerColumns(trace);
    case 'computations':
      return computationColumns(trace);
    case 'dependencies':
      return edgeColumns(trace);
    case 'tasks':
      return taskColumns(trace);
    case 'intervals':
      return intervalColumns(trace);
    case 'transfers':
      return transferColumns(trace);
    case 'memory':
      return memoryColumns(trace);
    case 'resources':
      return resourceColumns(trace);
    case 'metrics':
      return metricColumns(trace);
    case 'frames':
      return frameColumns(trace);
    case 'samples':
      return sampleColumns(trace);
    case 'events':
      return eventColumns(trace);
  }
}

/** By row the id that the tables use. */
function idsOf({ tasks, computations }: Trace): Float64Array {
  return computations.length > 0 ? tasks.id : Float64Array.from(tasks.key);
}

function taskColumns(trace: Trace): TableSource {
  const { tasks, strings, keys, computations } = trace;
  const number = tasks.computation.map(
    (index) => computations[index]?.number ?? (computations.length > 0 ? -1 : 1),
  );
  return {
    rows: tasks.length,
    columns: [
      long(idsOf(trace)),
      (from, to) => ({
        type: 'utf8',
        values: Array.from({ length: to - from }, (_, i) => tasks.keyOf(from + i)),
      }),
      words(tasks.prefix, strings),
      words(tasks.group, keys),
      words(tasks.functionName, strings),
      words(tasks.span, strings),
      int(number),
      int(tasks.worker),
      int(tasks.thread),
      chosen(tasks.state, TASK_STATES),
      (from, to) => ({ type: 'uint8', values: tasks.attempt.subarray(from, to) }),
      words(tasks.resultType, strings),
      float(tasks.nbytes),
      float(tasks.submitted),
      float(tasks.ready),
      float(tasks.dispatched),
      float(tasks.received),
      float(tasks.started),
      float(tasks.stopped),
      float(tasks.acknowledged),
    ],
  };
}

/** Each task once, however often it ran. */
function edgeColumns(trace: Trace): TableSource {
  const { tasks } = trace;
  const ids = idsOf(trace);
  const seen = new Set<number>();
  const task: number[] = [];
  const dependency: number[] = [];
  for (let row = 0; row < tasks.length; row++) {
    const [from, to] = [tasks.dependencyOffsets[row]!, tasks.dependencyOffsets[row + 1]!];
    if (from === to || seen.has(ids[row]!)) continue;
    seen.add(ids[row]!);
    for (let edge = from; edge < to; edge++) {
      const made = tasks.dependencyRows[edge]!;
      task.push(ids[row]!);
      dependency.push(made < 0 ? -1 : ids[made]!);
    }
  }
  return { rows: task.length, columns: [long(Float64Array.from(task)), long(Float64Array.from(dependency))] };
}

function computationColumns({ computations, keys, tasks }: Trace): TableSource {
  const list =
    computations.length > 0 || tasks.length === 0
      ? computations
      : [{ number: 1, firstId: 0, size: keys.length, start: Number.NaN, client: '', code: '' }];
  const texts = (text: (i: number) => string): ColumnSource => {
    return (from, to) => ({
      type: 'utf8',
      values: Array.from({ length: to - from }, (_, i) => text(from + i)),
    });
  };
  return {
    rows: list.length,
    columns: [
      int(Int32Array.from(list, ({ number }) => number)),
      long(Float64Array.from(list, ({ firstId }) => firstId)),
      int(Int32Array.from(list, ({ size }) => size)),
      float(Float64Array.from(list, ({ start }) => start)),
      texts((i) => list[i]!.client),
      texts((i) => list[i]!.code),
    ],
  };
}

function workerColumns({ workers, strings }: Trace): TableSource {
  return {
    rows: workers.length,
    columns: [
      int(Int32Array.from({ length: workers.length }, (_, row) => row)),
      texts(workers.name, strings),
      texts(workers.address, strings),
      texts(workers.host, strings),
      int(Int32Array.from(workers.pid, (pid) => (pid >= 0 ? pid : -1))),
      int(Int32Array.from(workers.threads, (threads) => (threads >= 0 ? threads : -1))),
      float(workers.memoryLimit),
      float(workers.started),
      float(workers.stopped),
      texts(workers.reason, strings),
    ],
  };
}

function intervalColumns(trace: Trace): TableSource {
  const { intervals, tasks, computations } = trace;
  const task = computations.length > 0 ? intervals.task : keyIds(intervals.task, tasks);
  return {
    rows: intervals.length,
    columns: [
      int(intervals.worker),
      int(intervals.thread),
      chosen(intervals.action, ACTIONS),
      float(intervals.start),
      float(intervals.stop),
      long(task),
      float(intervals.nbytes),
    ],
  };
}

/** Ids of tasks as ids of their keys. */
function keyIds(ids: Float64Array, { id, key }: Trace['tasks']): Float64Array {
  const keyOf = new Map(Array.from(id, (one, row) => [one, key[row]!]));
  return ids.map((one) => keyOf.get(one) ?? -1);
}

function transferColumns({ transfers, keys }: Trace): TableSource {
  const { keyOffsets } = transfers;
  return {
    rows: transfers.length,
    columns: [
      int(transfers.worker),
      int(transfers.peer),
      chosen(transfers.direction, DIRECTIONS),
      chosen(transfers.what, TRANSFER_KINDS),
      (from, to) => ({
        type: 'utf8-list',
        values: Array.from({ length: to - from }, (_, i) =>
          Array.from(transfers.keys.subarray(keyOffsets[from + i]!, keyOffsets[from + i + 1]!), (id) =>
            keys.get(id),
          ),
        ),
      }),
      float(transfers.nbytes),
      float(transfers.compressed),
      float(transfers.start),
      float(transfers.stop),
    ],
  };
}

function memoryColumns({ memory }: Trace): TableSource {
  return {
    rows: memory.length,
    columns: [
      float(memory.time),
      int(memory.worker),
      float(memory.managed),
      float(memory.unmanaged),
      float(memory.spilled),
      float(memory.process),
      float(memory.tasks),
    ],
  };
}

function resourceColumns({ resources }: Trace): TableSource {
  const { figures, length } = resources;
  const absent = new Float64Array(length).fill(Number.NaN);
  const own = new Map([
    ['gpu_utilization', resources.gpuUtilization],
    ['gpu_memory_used', resources.gpuMemoryUsed],
  ]);
  const others = [...figures].filter(([name]) => !FIGURE_COLUMNS.includes(name));
  const json = (row: number): string | null => {
    const there = others.filter(([, values]) => !Number.isNaN(values[row]!));
    return there.length === 0
      ? null
      : JSON.stringify(Object.fromEntries(there.map(([name, values]) => [name, values[row]!])));
  };
  return {
    rows: length,
    columns: [
      float(resources.time),
      int(resources.worker),
      ...FIGURE_COLUMNS.map((name) => float(own.get(name) ?? figures.get(name) ?? absent)),
      (from, to) => ({ type: 'utf8', values: Array.from({ length: to - from }, (_, i) => json(from + i)) }),
    ],
  };
}

function metricColumns({ metrics, strings }: Trace): TableSource {
  return {
    rows: metrics.length,
    columns: [
      float(metrics.time),
      int(metrics.worker),
      words(metrics.context, strings),
      words(metrics.span, strings),
      words(metrics.prefix, strings),
      words(metrics.activity, strings),
      words(metrics.unit, strings),
      float(metrics.value),
    ],
  };
}

/** A frame's number here is its row: they are fewer bits than those that recorders agree on. */
function frameColumns({ frames, strings }: Trace): TableSource {
  return {
    rows: frames.length,
    columns: [
      long(Float64Array.from({ length: frames.length }, (_, row) => row)),
      long(Float64Array.from(frames.parent)),
      words(frames.functionName, strings),
      words(frames.file, strings),
      int(frames.line),
    ],
  };
}

function sampleColumns({ samples, strings }: Trace): TableSource {
  return {
    rows: samples.length,
    columns: [
      float(samples.time),
      int(samples.worker),
      int(samples.thread),
      long(samples.task),
      words(samples.prefix, strings),
      words(samples.span, strings),
      long(Float64Array.from(samples.frame)),
      int(samples.line),
      float(samples.count),
      float(samples.interval),
    ],
  };
}

function eventColumns({ events, strings }: Trace): TableSource {
  return {
    rows: events.length,
    columns: [
      float(events.time),
      int(events.worker),
      words(events.topic, strings),
      texts(events.text, strings),
    ],
  };
}

function float(values: Float64Array): ColumnSource {
  return (from, to) => ({ type: 'float64', values: values.subarray(from, to) });
}

function long(values: Float64Array): ColumnSource {
  return (from, to) => ({ type: 'int64', values: values.subarray(from, to) });
}

function int(values: Int32Array): ColumnSource {
  return (from, to) => ({ type: 'int32', values: values.subarray(from, to) });
}

function chosen(values: Uint8Array, names: readonly string[]): ColumnSource {
  return (from, to) => ({
    type: 'dictionary',
    values: Int32Array.from(values.subarray(from, to)),
    texts: names,
    generation: 0,
  });
}

function texts(ids: Int32Array, strings: Texts): ColumnSource {
  return (from, to) => ({
    type: 'utf8',
    values: Array.from(ids.subarray(from, to), (id) => (id < 0 ? null : strings.get(id))),
  });
}

/** One dictionary for the whole table, in the order of first use. */
function words(ids: Int32Array, strings: Texts): ColumnSource {
  const codes = new Map<number, number>();
  const list: string[] = [];
  return (from, to) => {
    const values = new Int32Array(to - from);
    let [last, code] = [-1, -1];
    for (let row = from; row < to; row++) {
      const id = ids[row]!;
      if (id !== last) {
        last = id;
        code = id < 0 ? -1 : (codes.get(id) ?? -1);
        if (id >= 0 && code < 0) {
          code = list.push(strings.get(id)) - 1;
          codes.set(id, code);
        }
      }
      values[row - from] = code;
    }
    return { type: 'dictionary', values, texts: list, generation: 0 };
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
