// Creates the arguments with which a cluster calls an observer: computations, task runs and metrics.
import {
  type Computation,
  type MetricSample,
  TASK_MEMORY,
  type TaskRuns,
  type WorkerInfo,
} from '../../protocol/clusterObserver.js';

/** Returns a computation of tasks without dependencies, one per given span, e.g. `["Alice", "load"]`. */
export function computationOf(
  spans: readonly (readonly string[])[],
  { submitted = 100, code = '' }: { readonly submitted?: number; readonly code?: string } = {},
): Computation {
  const size = spans.length;
  const distinct = [...new Map(spans.map((tags) => [tags.join('/'), tags])).values()];
  return {
    number: 1,
    firstId: 0,
    size,
    keys: spans.map((_tags, id) => `inc-${id}`),
    prefixOf: new Int32Array(size),
    prefixes: ['inc'],
    functionOf: new Int32Array(size),
    functions: ['inc'],
    spanOf: Int32Array.from(spans, (tags) => distinct.findIndex((each) => each.join('/') === tags.join('/'))),
    spans: distinct,
    dependencyOffsets: new Int32Array(size + 1),
    dependencies: new Int32Array(0),
    externals: new Float64Array(0),
    submitted,
    client: 'client',
    code,
  };
}

/** Returns runs of tasks, each from `start` to `stop`. */
export function runsOf(
  computation: Computation,
  ids: readonly number[],
  {
    start,
    stop,
    state = TASK_MEMORY,
    nbytes = 8,
  }: { start: number; stop: number; state?: number; nbytes?: number },
): TaskRuns {
  const count = ids.length;
  const fill = (value: number): Float64Array => new Float64Array(count).fill(value);
  return {
    computation,
    worker: 0,
    count,
    ids: Int32Array.from(ids),
    states: new Uint8Array(count).fill(state),
    types: new Uint16Array(count),
    typeNames: ['number'],
    nbytes: fill(nbytes),
    attempts: new Uint8Array(count).fill(1),
    ready: fill(computation.submitted),
    dispatched: fill(computation.submitted),
    received: fill(start),
    started: fill(start),
    stopped: fill(stop),
    acknowledged: stop,
  };
}

export function workerOf(threads: number, startTime: number, index = 0): WorkerInfo {
  return {
    index,
    name: `threads-${index}`,
    address: `thread://1/threads-${index}`,
    host: 'localhost',
    pid: 1,
    threads,
    memoryLimit: 0,
    startTime,
  };
}

export function metricOf(span: string, activity: string, value: number, unit = 'seconds'): MetricSample {
  return { worker: 0, time: 101, context: 'execute', span, prefix: 'inc', activity, unit, value };
}
