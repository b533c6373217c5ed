// Rows of the bridge to a Dask cluster: lists whose first element is a tag, written by python/longpole_dask. The
// bridge numbers tasks and workers. Times are seconds since the epoch on the scheduler's clock. Exceptions are the
// times of a batch, and start and stop of an ended task; `times` of that row explains them.
//
// Each row is described once, by the function that reads its cells in order; its type follows from that. Every cell
// is checked, because another version of the bridge, or a damaged pipe, may send anything. A schema library (valibot)
// would need as much code and add a dependency for every user.
import { Cells, damagedRow } from './daskCells.js';
import { DIRECTIONS } from './traceNames.js';

/** Version of the rows; python/longpole_dask/__init__.py has the same. */
export const DASK_PROTOCOL = 1;

const LEFT_REASONS = ['lost', 'retried', 'cancelled', 'rescheduled'] as const;
const DROP_REASONS = ['skipped', 'cancelled', 'erred'] as const;
const REFUSALS = ['distributed', 'connect', 'versions', 'plugin'] as const;

/** Returns a function that reads the cells of a row after its tag. */
function tagged<T extends string, R extends object>(type: T, read: (cells: Cells) => R) {
  return (cells: Cells) => ({ type, ...read(cells) });
}

const ROWS = {
  /** The first row: the bridge is attached. */
  hello: tagged('hello', (cells) => ({
    protocol: cells.count(),
    time: cells.number(),
    /** Identifies the machine: equal texts mean one clock; empty if unknown. */
    bootId: cells.text(),
    facts: Object.fromEntries(cells.textMap()),
  })),
  worker: tagged('worker', (cells) => ({
    index: cells.count(),
    address: cells.text(),
    name: cells.text(),
    host: cells.text(),
    pid: cells.count(),
    threads: cells.count(),
    /** Memory limit in bytes; 0 for no limit. */
    memoryLimit: cells.number(),
    time: cells.number(),
  })),
  'worker-gone': tagged('worker-gone', (cells) => ({
    index: cells.count(),
    time: cells.number(),
    reason: cells.text(),
  })),
  /** The names of a span. Precedes the graphs that refer to it. */
  span: tagged('span', (cells) => ({ id: cells.text(), tags: cells.texts() })),
  /** Tasks that were submitted together, with the numbers `firstId`, `firstId + 1`, … */
  graph: tagged('graph', (cells) => checkedGraph(graphColumns(cells))),
  /** All inputs of the task are ready. */
  ready: tagged('ready', (cells) => ({ id: cells.count(), time: cells.number() })),
  sent: tagged('sent', (cells) => ({
    id: cells.count(),
    /** NaN if it happened before the bridge was attached. */
    time: cells.perhaps(),
    /** -1 if unknown. */
    worker: cells.index(),
  })),
  /** Bytes of the arguments of a task that took long to arrive. Precedes the end of its run. */
  arguments: tagged('arguments', (cells) => ({ id: cells.count(), nbytes: cells.number() })),
  /** A run that gave a result or an error. */
  ended: tagged('ended', (cells) => ({
    id: cells.count(),
    time: cells.number(),
    erred: cells.count() === 1,
    worker: cells.index(),
    /** Thread id of the operating system. */
    thread: cells.number(),
    nbytes: cells.number(),
    resultType: cells.text(),
    startstops: cells.rows(startStop),
    /**
     * Data of the worker's plugin at the start of the task; undefined if the plugin was not loaded yet. `delay` is
     * the correction that distributed adds to the worker's clock.
     */
    times: cells.row((row) => ({
      /** On the worker's clock; NaN if unknown. */
      received: row.perhaps(),
      /** Correction contained in the times of startstops, except transfers (see below) and disk, which has none. */
      delay: row.number(),
      /** For each transfer among the startstops: bytes, and the correction contained in its times. */
      transfers: row.rows((one) => ({ nbytes: one.number(), delay: one.number() })),
      /** Place among the tasks that the worker executes at the same time, from 0; NaN if unknown. */
      slot: row.perhaps(),
      /** Time on the worker's clock at which a long-running task left its slot to others; NaN for other tasks. */
      seceded: row.perhaps(),
    })),
  })),
  /** A run without a result. `rescheduled` if it returned its task to the scheduler, like tasks of P2P shuffles. */
  left: tagged('left', (cells) => ({
    id: cells.count(),
    time: cells.number(),
    why: cells.oneOf(LEFT_REASONS),
    /** Worker of a lost run; NaN for the worker to which the task was sent. */
    worker: cells.perhaps(),
  })),
  /** Tasks that have no result and will not run: another task failed, no client wants them any more, or they failed without a run. */
  dropped: tagged('dropped', (cells) => ({
    ids: Float64Array.from(cells.counts()),
    time: cells.number(),
    why: cells.oneOf(DROP_REASONS),
  })),
  /** The scheduler has forgotten the tasks. */
  forgotten: tagged('forgotten', (cells) => ({ ids: Float64Array.from(cells.counts()) })),
  /** A heartbeat of a worker. */
  beat: tagged('beat', (cells) => ({
    worker: cells.count(),
    time: cells.number(),
    /** Percent of a core. */
    cpu: cells.number(),
    /** Seconds between two ticks of its event loop. */
    tick: cells.number(),
    figures: cells.numberMap(),
    process: cells.number(),
    managed: cells.number(),
    spilled: cells.number(),
    tasks: cells.count(),
  })),
  /** The state of the whole cluster. */
  status: tagged('status', (cells) => ({
    time: cells.number(),
    /** Dask's state → tasks. */
    states: cells.numberMap(),
    workers: cells.rows((row) => ({
      index: row.count(),
      status: row.text(),
      processing: row.count(),
      occupancy: row.number(),
    })),
  })),
  /** The machine that scheduler and workers share, since the previous such row. Absent if they use several machines. */
  machine: tagged('machine', (cells) => ({
    time: cells.number(),
    cores: cells.count(),
    /**
     * Cores that were busy on average: all of them, those of the scheduler and the workers, and those of the workers
     * alone.
     */
    busy: cells.number(),
    used: cells.number(),
    workers: cells.number(),
    /** Longest delay of the scheduler's event loop since the previous such row, seconds; NaN if unknown. */
    delay: cells.perhaps(),
  })),
  /** The same delay if scheduler and workers use several machines. */
  loop: tagged('loop', (cells) => ({ time: cells.number(), delay: cells.number() })),
  event: tagged('event', (cells) => ({
    time: cells.number(),
    /** -1 for the scheduler. */
    worker: cells.index(),
    topic: cells.text(),
    text: cells.text(),
  })),
  /** Tasks that the scheduler took from a worker for another one, since the previous row of the two. */
  stolen: tagged('stolen', (cells) => ({
    time: cells.number(),
    worker: cells.count(),
    thief: cells.count(),
    tasks: cells.count(),
    /** Expected seconds of the tasks. */
    seconds: cells.number(),
  })),
  /** Data that a worker collected since the previous batch. All times are on its own clock. */
  batch: tagged('batch', (cells) => ({
    address: cells.text(),
    time: cells.number(),
    /** Present correction that distributed adds to this worker's clock. */
    delay: cells.number(),
    bootId: cells.text(),
    /** Seconds between two samples of the profiler, and of a cycle. */
    sampling:
      cells.row((row) => ({ interval: row.number(), cycle: row.number() })) ??
      damagedRow('a batch lacks its sampling intervals'),
    moved: cells.rows(moved),
    /** Additions of a worker or a span to sums; the span is an id, or empty. */
    metrics: cells.rows((row) => ({
      context: row.text(),
      span: row.text(),
      prefix: row.text(),
      activity: row.text(),
      unit: row.text(),
      value: row.number(),
    })),
    running: cells.rows((row) => ({ key: row.text(), started: row.number() })),
    profiles: cells.rows(profiledCycle),
    logs: cells.rows((row) => ({ time: row.number(), level: row.text(), text: row.text() })),
  })),
  warning: tagged('warning', (cells) => ({ text: cells.text() })),
  /** Replaces the hello row if the bridge cannot be attached. */
  refused: tagged('refused', (cells) => ({ code: cells.oneOf(REFUSALS), text: cells.text() })),
  /** The last row. The reason is `asked` if the bridge was ended on request. */
  closed: tagged('closed', (cells) => ({ reason: cells.text() })),
};

function startStop(cells: Cells) {
  return { action: cells.text(), start: cells.number(), stop: cells.number() };
}

function moved(cells: Cells) {
  return {
    direction: cells.oneOf(DIRECTIONS),
    /** Address of the other worker; any other text for a client. */
    peer: cells.text(),
    start: cells.number(),
    stop: cells.number(),
    nbytes: cells.number(),
    /** NaN if unknown. */
    compressed: cells.perhaps(),
    keys: cells.texts(),
  };
}

/** A node of a call tree as distributed samples it: one per line of a function. */
function treeNode(cells: Cells) {
  return {
    /** Index of the caller, which is an earlier node; -1 for the root, which is no function. */
    parent: cells.index(),
    /** Number of samples, including those of callees. */
    count: cells.count(),
    functionName: cells.text(),
    file: cells.text(),
    line: cells.count(),
  };
}

function profiledCycle(cells: Cells) {
  /** `time` is the end of the cycle. */
  const [time, prefix, nodes] = [cells.number(), cells.text(), cells.rows(treeNode)];
  if (nodes.some(({ parent }, place) => parent >= place))
    damagedRow('a node of a call tree comes before its caller');
  return { time, prefix, nodes };
}

function graphColumns(cells: Cells) {
  return {
    /** NaN if submitted before the bridge was attached. */
    submitted: cells.perhaps(),
    /** Name of the client; empty for tasks without one, e.g. scattered data. */
    client: cells.text(),
    code: cells.text(),
    firstId: cells.count(),
    keys: cells.texts(),
    prefixes: cells.texts(),
    prefixOf: Int32Array.from(cells.counts()),
    functions: cells.texts(),
    functionOf: Int32Array.from(cells.counts()),
    /** Ids of spans; empty for none. */
    spans: cells.texts(),
    spanOf: Int32Array.from(cells.counts()),
    /** Number of `dependencies` of each task. */
    dependencyCounts: Int32Array.from(cells.counts()),
    /** Numbers of tasks, also of tasks in earlier or later graphs. */
    dependencies: Float64Array.from(cells.counts()),
    /** Indices into `keys` of results that exist already. */
    given: Int32Array.from(cells.counts()),
  };
}

/**
 * Returns the row. Throws if a column has another length than `keys`, or refers to a text, span or task that the row
 * lacks.
 */
function checkedGraph(graph: ReturnType<typeof graphColumns>): typeof graph {
  const { keys, prefixes, prefixOf, functions, functionOf, spans, spanOf, dependencyCounts, given } = graph;
  const within = (places: Int32Array, length: number): boolean =>
    places.every((place) => place >= 0 && place < length);
  for (const column of [prefixOf, functionOf, spanOf, dependencyCounts])
    if (column.length !== keys.length) damagedRow('a column of a graph has another length than its keys');
  if (!within(prefixOf, prefixes.length) || !within(functionOf, functions.length))
    damagedRow('a graph refers to a text that it lacks');
  if (!within(spanOf, spans.length)) damagedRow('a graph refers to a span that it lacks');
  if (!within(given, keys.length)) damagedRow('a graph refers to a task that it lacks');
  const edges = dependencyCounts.reduce((sum, count) => sum + Math.max(0, count), 0);
  if (edges !== graph.dependencies.length)
    damagedRow('a graph has more or fewer dependencies than its tasks');
  return graph;
}

type Rows = { readonly [Type in keyof typeof ROWS]: Readonly<ReturnType<(typeof ROWS)[Type]>> };

/** A row of any type, or of one. */
export type DaskRow<T extends keyof Rows = keyof Rows> = Rows[T];
export type StartStop = Readonly<ReturnType<typeof startStop>>;
export type Moved = Readonly<ReturnType<typeof moved>>;
export type TreeNode = Readonly<ReturnType<typeof treeNode>>;
export type ProfiledCycle = Readonly<ReturnType<typeof profiledCycle>>;

/**
 * Returns the row after checking its cells. References to earlier rows, e.g. ids of tasks, are not checked.
 *
 * @throws LongpoleError ERR_LONGPOLE_DASK_BRIDGE if it is no row
 */
export function parseDaskRow(value: unknown): DaskRow {
  const cells = new Cells(value);
  const type = cells.text();
  return isRowType(type)
    ? ROWS[type](cells)
    : damagedRow(`the type '${type.slice(0, 40)}' of a row is unknown`);
}

function isRowType(type: string): type is keyof typeof ROWS {
  return Object.hasOwn(ROWS, type);
}
