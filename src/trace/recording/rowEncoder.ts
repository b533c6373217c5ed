// Encodes rows that are in a trace already, live or opened, as the tables of a trace directory: what a dashboard gets when it
// comes late, and of a recorded trace. Batches bring their dictionaries, so each stands for itself behind the schema.
import {
  ACTIONS,
  type Action,
  TASK_STATES,
  type TaskRuns,
  type Transfer,
} from '../../protocol/clusterObserver.js';
import { Float64Column } from '../columns.js';
import { ArrowEncoder } from '../formats/arrowEncoder.js';
import type { ArrowValues } from '../formats/arrowTypes.js';
import { frameFactsAt, sampleFacts } from '../samples/sampleRows.js';
import type { Texts } from '../texts.js';
import { DIRECTIONS, type TableName, TRANSFER_KINDS, type Trace, type TraceComputation } from '../trace.js';
import { BatchTexts } from './batchTexts.js';
import { RowBatch } from './rowBatch.js';
import { TaskBatch } from './taskBatch.js';
import { type TableSink, TraceEncoder } from './traceEncoder.js';
import { fieldsOf, type RecordedTable } from './traceTables.js';

/** What is told of a computation. */
export type ComputationFacts = Pick<
  TraceComputation,
  'number' | 'firstId' | 'size' | 'start' | 'client' | 'code'
>;

/** A computation of which the edges are known by local id. */
export interface ComputationEdges extends ComputationFacts {
  readonly slot: number;
  readonly page: { addDependencies(slot: number, to: Float64Column): void };
}

/** Rows of a table that are encoded in one go, so some milliseconds. */
const STEP_ROWS = 8192;
/** Their texts may be long. */
const STEP_EVENTS = 256;

export class RowEncoder {
  readonly #sink: TableSink;
  readonly #rest: TraceEncoder;
  readonly #tasks = new ArrowEncoder(fieldsOf('tasks'), undefined, true);
  readonly #edges = new ArrowEncoder(fieldsOf('dependencies'), undefined, true);
  readonly #batch = new TaskBatch(STEP_ROWS, undefined, true);
  readonly #computations = new RowBatch('computations', undefined, true);

  constructor(sink: TableSink) {
    this.#sink = sink;
    this.#rest = new TraceEncoder(sink, { standalone: true, batchRows: STEP_ROWS });
  }

  /** The schemas, once. */
  start(): void {
    this.#rest.start();
  }

  /** Frames of samples are told again, for somebody who has not got them. */
  retellFrames(): void {
    this.#rest.retellFrames();
  }

  workers({ workers, strings }: Trace): void {
    const text = (id: number): string => (id < 0 ? '' : strings.get(id));
    const number = (value: number): number => (Number.isNaN(value) ? -1 : value);
    for (let index = 0; index < workers.length; index++) {
      const worker = {
        index,
        name: text(workers.name[index]!),
        address: text(workers.address[index]!),
        host: text(workers.host[index]!),
        pid: number(workers.pid[index]!),
        threads: number(workers.threads[index]!),
        memoryLimit: workers.memoryLimit[index]!,
        startTime: workers.started[index]!,
      };
      this.#rest.workerAdded(worker);
      const stopped = workers.stopped[index]!;
      if (!Number.isNaN(stopped)) this.#rest.workerRemoved(worker, stopped, text(workers.reason[index]!));
    }
    this.#rest.flush();
  }

  computations(list: readonly ComputationFacts[]): void {
    for (const { number, firstId, size, start, client, code } of list)
      this.#computations.add({ number, first_id: firstId, size, submitted: start, client, code });
    const rows = this.#computations.length;
    if (rows > 0) this.#sink('computations', this.#computations.take(), rows);
  }

  /** The edges of a computation, in steps. */
  *computationEdges({ firstId, size, page, slot }: ComputationEdges): Generator<undefined> {
    const task = new Float64Column();
    const dependency = new Float64Column();
    for (let local = 0; local < size; local++) {
      page.addDependencies(slot + local, dependency);
      while (task.length < dependency.length) task.push(firstId + local);
      if (task.length < STEP_ROWS) continue;
      this.#writeEdges(task, dependency);
      yield;
    }
    this.#writeEdges(task, dependency);
  }

  /** The edges of all tasks of a trace, each task once, in steps. */
  *taskEdges({ tasks }: Trace): Generator<undefined> {
    const { id, dependencyOffsets, dependencyIds } = tasks;
    const seen = new Set<number>();
    const task = new Float64Column();
    const dependency = new Float64Column();
    for (let row = 0; row < tasks.length; row++) {
      const end = dependencyOffsets[row + 1]!;
      const first = dependencyOffsets[row]!;
      // Every run of a task has the same edges.
      if (first === end || seen.size === seen.add(id[row]!).size) continue;
      for (let edge = first; edge < end; edge++) {
        task.push(id[row]!);
        dependency.push(dependencyIds[edge]!);
      }
      if (task.length < STEP_ROWS) continue;
      this.#writeEdges(task, dependency);
      yield;
    }
    this.#writeEdges(task, dependency);
  }

  #writeEdges(task: Float64Column, dependency: Float64Column): void {
    const rows = task.length;
    if (rows === 0) return;
    const parts = this.#edges.batch(rows, [
      { type: 'int64', values: task.values },
      { type: 'int64', values: dependency.values },
    ]);
    this.#sink('dependencies', parts, rows);
    task.length = 0;
    dependency.length = 0;
  }

  /** Runs of tasks as they were told, in steps. Cheaper than `rows`, for traces that are live. */
  *runs(batches: Iterable<TaskRuns>): Generator<undefined> {
    const batch = this.#batch;
    const write = (): void => {
      const rows = batch.length;
      if (rows > 0) this.#sink('tasks', batch.take(), rows);
    };
    for (const runs of batches) {
      for (let from = 0; from < runs.count; ) {
        from = batch.add(runs, from);
        if (batch.length < STEP_ROWS) continue;
        write();
        yield;
      }
    }
    write();
  }

  /** All rows of the trace but those above, or of one table of them, in steps. */
  *rows(trace: Trace, only?: RecordedTable): Generator<undefined> {
    if (only === undefined || only === 'tasks') yield* this.#taskRows(trace);
    yield* this.rest(trace, only);
  }

  /** Rows of the smaller tables, or of one of them, in steps. `told`: those of transfers as they were told. */
  *rest(trace: Trace, only?: RecordedTable, told?: readonly Transfer[]): Generator<undefined> {
    for (const step of this.#otherRows(trace, only, told)) {
      step();
      this.#rest.flush();
      yield;
    }
  }

  *#taskRows(trace: Trace): Generator<undefined> {
    const { length } = trace.tasks;
    trace.keys.decodeAll();
    for (let from = 0; from < length; from += STEP_ROWS) {
      const to = Math.min(length, from + STEP_ROWS);
      this.#sink('tasks', this.#tasks.batch(to - from, taskValues(trace, from, to)), to - from);
      yield;
    }
  }

  *#otherRows(
    trace: Trace,
    only: RecordedTable | undefined,
    told: readonly Transfer[] | undefined,
  ): Generator<() => void> {
    const each = function* (
      table: Exclude<TableName, 'tasks'>,
      tell: (row: number) => void,
      rows?: ArrayLike<unknown>,
    ): Generator<() => void> {
      if (only !== undefined && only !== table) return;
      const { length } = rows ?? trace[table];
      const size = table === 'events' ? STEP_EVENTS : STEP_ROWS;
      for (let from = 0; from < length; from += size) {
        const to = Math.min(length, from + size);
        yield () => {
          for (let row = from; row < to; row++) tell(row);
        };
      }
    };
    yield* each('intervals', (row) => this.#interval(trace, row));
    if (told === undefined) yield* each('transfers', (row) => this.#transfer(trace, row));
    else yield* each('transfers', (row) => this.#rest.transfer(told[row]!), told);
    yield* each('memory', (row) => this.#memory(trace, row));
    yield* each('resources', (row) => this.#resources(trace, row));
    yield* each('metrics', (row) => this.#metric(trace, row));
    if (only === 'frames' && trace.frames.length > 0) yield () => this.#allFrames(trace);
    yield* each('samples', (row) => this.#sample(trace, row));
    yield* each('events', (row) => this.#event(trace, row));
  }

  #interval({ intervals }: Trace, row: number): void {
    this.#rest.interval({
      worker: intervals.worker[row]!,
      thread: intervals.thread[row]!,
      action: actionOf(intervals.action[row]!),
      start: intervals.start[row]!,
      stop: intervals.stop[row]!,
      task: intervals.task[row]!,
      nbytes: intervals.nbytes[row]!,
    });
  }

  #transfer({ transfers, keys }: Trace, row: number): void {
    const { keyOffsets } = transfers;
    this.#rest.transfer({
      worker: transfers.worker[row]!,
      peer: transfers.peer[row]!,
      direction: DIRECTIONS[transfers.direction[row]!] ?? 'incoming',
      what: TRANSFER_KINDS[transfers.what[row]!] ?? 'gather-dep',
      keys: Array.from(transfers.keys.subarray(keyOffsets[row], keyOffsets[row + 1]), (id) => keys.get(id)),
      nbytes: transfers.nbytes[row]!,
      compressed: transfers.compressed[row]!,
      start: transfers.start[row]!,
      stop: transfers.stop[row]!,
    });
  }

  #memory({ memory }: Trace, row: number): void {
    this.#rest.memory({
      time: memory.time[row]!,
      worker: memory.worker[row]!,
      managed: memory.managed[row]!,
      unmanaged: memory.unmanaged[row]!,
      spilled: memory.spilled[row]!,
      process: memory.process[row]!,
      tasks: memory.tasks[row]!,
    });
  }

  #resources({ resources }: Trace, row: number): void {
    const figures = new Map(
      Array.from(resources.figures, ([name, column]): [string, number] => [name, column[row]!]),
    );
    figures.set('gpu_utilization', resources.gpuUtilization[row]!);
    figures.set('gpu_memory_used', resources.gpuMemoryUsed[row]!);
    const of = (name: string): number => figures.get(name) ?? Number.NaN;
    this.#rest.resources({
      worker: resources.worker[row]!,
      time: resources.time[row]!,
      cpu: of('cpu'),
      rss: of('rss'),
      heap: of('heap'),
      external: of('external'),
      eventLoopDelay: of('eventLoopDelay'),
      figures,
    });
  }

  #metric({ metrics, strings }: Trace, row: number): void {
    const text = (ids: Int32Array): string => (ids[row]! < 0 ? '' : strings.get(ids[row]!));
    this.#rest.metric({
      worker: metrics.worker[row]!,
      time: metrics.time[row]!,
      context: text(metrics.context),
      span: text(metrics.span),
      prefix: text(metrics.prefix),
      activity: text(metrics.activity),
      unit: text(metrics.unit),
      value: metrics.value[row]!,
    });
  }

  #allFrames({ frames, strings }: Trace): void {
    for (let row = 0; row < frames.length; row++) this.#rest.frame(frameFactsAt(frames, row, strings));
  }

  #sample({ samples, frames, strings }: Trace, row: number): void {
    const path: number[] = [];
    for (let at = samples.frame[row]!; at >= 0; at = frames.parent[at]!) path.push(at);
    for (const at of path.reverse()) this.#rest.frame(frameFactsAt(frames, at, strings));
    this.#rest.sample(sampleFacts(samples, row, strings, frames));
  }

  #event({ events, strings }: Trace, row: number): void {
    const text = (ids: Int32Array): string => (ids[row]! < 0 ? '' : strings.get(ids[row]!));
    this.#rest.event({
      time: events.time[row]!,
      worker: events.worker[row]!,
      topic: text(events.topic),
      text: text(events.text),
    });
  }
}

/** What recorded traces without computations have instead: one that has all ids. */
export function computationsOf(trace: Trace): readonly ComputationFacts[] {
  const { computations, tasks } = trace;
  if (computations.length > 0 || tasks.length === 0) return computations;
  let last = 0;
  for (const id of tasks.id) last = Math.max(last, id);
  for (const id of tasks.dependencyIds) last = Math.max(last, id);
  return [{ number: 1, firstId: 0, size: last + 1, start: Number.NaN, client: '', code: '' }];
}

function actionOf(action: number): Action {
  return ACTIONS[action] ?? 'compute';
}

/** The columns of tasks in the order of the table. */
function taskValues(trace: Trace, from: number, to: number): ArrowValues[] {
  const { tasks, strings, keys, computations } = trace;
  const numbers = (column: Float64Array): ArrowValues => ({
    type: 'float64',
    values: column.subarray(from, to),
  });
  const integers = (column: Int32Array): ArrowValues => ({
    type: 'int32',
    values: column.subarray(from, to),
  });
  const dictionary = (column: Int32Array, table: Texts): ArrowValues =>
    coded(column.subarray(from, to), table);
  return [
    { type: 'int64', values: tasks.id.subarray(from, to) },
    { type: 'utf8', values: Array.from(tasks.key.subarray(from, to), (id) => keys.get(id)) },
    dictionary(tasks.prefix, strings),
    dictionary(tasks.group, keys),
    dictionary(tasks.functionName, strings),
    dictionary(tasks.span, strings),
    {
      type: 'int32',
      values: tasks.computation.subarray(from, to).map((index) => computations[index]?.number ?? -1),
    },
    integers(tasks.worker),
    integers(tasks.thread),
    {
      type: 'dictionary',
      values: Int32Array.from(tasks.state.subarray(from, to)),
      texts: TASK_STATES,
      generation: 0,
    },
    { type: 'uint8', values: tasks.attempt.subarray(from, to) },
    dictionary(tasks.resultType, strings),
    numbers(tasks.nbytes),
    numbers(tasks.submitted),
    numbers(tasks.ready),
    numbers(tasks.dispatched),
    numbers(tasks.received),
    numbers(tasks.started),
    numbers(tasks.stopped),
    numbers(tasks.acknowledged),
  ];
}

function coded(ids: Int32Array, table: Texts): ArrowValues {
  const texts = new BatchTexts();
  const codes = new Map<number, number>();
  const values = ids.map((id) => {
    if (id < 0) return -1;
    let code = codes.get(id);
    if (code === undefined) {
      code = texts.codeOf(table.get(id));
      codes.set(id, code);
    }
    return code;
  });
  return { type: 'dictionary', values, texts: texts.texts, generation: 0 };
}
