// The spans of a cluster, on the scheduler: the tasks of each, their states, times and costs. This is an ordinary
// observer of the cluster.
import { ThreadSeconds } from '../../base/threadSeconds.js';
import {
  type ClusterObserver,
  type Computation,
  type EndReason,
  type MetricSample,
  prefixOf,
  TASK_CANCELLED,
  TASK_LOST,
  TASK_MEMORY,
  type TaskRuns,
  type WorkerInfo,
} from '../../protocol/clusterObserver.js';
import { DEFAULT_SPAN, type MetricKey, spanId, spanTags } from '../../protocol/metrics.js';
import { TaskCounts } from '../../protocol/taskCounts.js';
import { MetricLedger } from './metricLedger.js';

/** A span including all spans inside it. */
export interface SpanSummary {
  readonly id: string;
  readonly name: readonly string[];
  /** Ids of the spans directly inside. */
  readonly children: readonly string[];
  readonly tasks: number;
  /** Number of tasks by state. `pending` tasks have not ended; `erred`, `cancelled` and `skipped` tasks will not run again. */
  readonly states: {
    readonly pending: number;
    readonly memory: number;
    readonly erred: number;
    readonly cancelled: number;
    /** Tasks that did not run because another one failed. */
    readonly skipped: number;
  };
  /** Runs that were lost with their worker; their tasks run again. */
  readonly lostRuns: number;
  /** Bytes of all results. */
  readonly nbytes: number;
  /** Seconds of all task runs. */
  readonly duration: number;
  /** Prefix → number of finished tasks, and their seconds. */
  readonly prefixes: ReadonlyMap<string, { readonly count: number; readonly seconds: number }>;
  /**
   * Times at which the first task was submitted, the first started and the last ended, in seconds since the epoch;
   * NaN before that.
   */
  readonly enqueued: number;
  readonly start: number;
  readonly stop: number;
  readonly done: boolean;
  /** Thread-seconds that the cluster offered while the span had tasks to run. */
  readonly activeCpuSeconds: number;
  /** Lines of the user's program that opened the span or submitted its tasks, each once. */
  readonly code: readonly string[];
  /**
   * `["execute", prefix, activity, unit]` → sum; `["execute", "N/A", "idle", "seconds"]` is the rest of
   * activeCpuSeconds.
   */
  readonly cumulativeWorkerMetrics: ReadonlyMap<MetricKey, number>;
}

/** Most spans that are kept. Tasks of further ones count for the nearest enclosing span, or for the default. */
const MAX_SPANS = 10_000;
const MAX_CODE = 20;
/** State of a result that exists already. */
const NO_TASK = 255;

class SpanNode {
  readonly id: string;
  readonly tags: readonly string[];
  readonly parent: SpanNode | undefined;
  readonly children: SpanNode[] = [];
  readonly metrics = new MetricLedger(20_000);
  readonly code = new Set<string>();
  readonly prefixes: PrefixRuns = new Map();
  readonly counts = new TaskCounts();
  nbytes = 0;
  enqueued = Number.NaN;
  start = Number.NaN;
  stop = Number.NaN;
  /** Unfinished tasks of this span and of all spans inside. */
  pending = 0;
  /** Thread-seconds of periods with pending tasks, and the start of the present period. */
  offered = 0;
  activeSince = Number.NaN;

  constructor(tags: readonly string[], parent: SpanNode | undefined) {
    this.tags = tags;
    this.id = spanId(tags);
    this.parent = parent;
    parent?.children.push(this);
  }
}

interface SpannedComputation {
  /** Index of a span → the span. */
  readonly nodes: readonly SpanNode[];
  /** State of each task: 0 pending, NO_TASK, else the state + 1. A recomputed task is reported again. */
  readonly states: Uint8Array;
}

export class Spans implements ClusterObserver {
  /** The span around all others, without tags. */
  readonly #root = new SpanNode([], undefined);
  readonly #spans = new Map<string, SpanNode>();
  readonly #threads = new ThreadSeconds();
  /** The computations that the cluster has not forgotten. */
  readonly #computations = new Map<Computation, SpannedComputation>();
  readonly #clock: () => number;

  /** @param clock seconds since the epoch, for active spans */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  workerAdded({ startTime, threads }: WorkerInfo): void {
    this.#threads.change(startTime, threads);
  }

  workerRemoved({ threads }: WorkerInfo, time: number): void {
    this.#threads.change(time, -threads);
  }

  computationAdded(computation: Computation): void {
    const { spans, spanOf, size, submitted, code, given } = computation;
    const nodes = spans.map((tags) => this.#node(tags));
    const states = new Uint8Array(size);
    this.#computations.set(computation, { nodes, states });
    const counts = nodes.map(() => 0);
    if (spanOf === null) counts[0] = size;
    else for (const span of spanOf) counts[span]!++;
    if (given !== undefined)
      for (const id of given) {
        states[id] = NO_TASK;
        counts[spanOf?.[id] ?? 0]!--;
      }
    for (let span = 0; span < nodes.length; span++) {
      const node = nodes[span]!;
      const count = counts[span]!;
      if (count === 0) continue;
      node.counts.total += count;
      node.enqueued = earlier(node.enqueued, submitted);
      if (code !== '' && node.code.size < MAX_CODE) node.code.add(code);
      this.#pending(node, count, submitted);
    }
  }

  tasksEnded(runs: TaskRuns): void {
    const { computation, count, ids, states, acknowledged } = runs;
    const known = this.#computations.get(computation);
    if (known === undefined) return;
    const { nodes, states: earlierStates } = known;
    // Tasks of one span end together.
    let last = this.#root;
    let ended = 0;
    for (let index = 0; index < count; index++) {
      const id = ids[index]!;
      const node = nodes[computation.spanOf?.[id] ?? 0] ?? this.#root;
      const state = states[index]!;
      this.#note(node, runs, index);
      const before = earlierStates[id]!;
      node.counts.ended(state, before);
      if (state === TASK_LOST) continue;
      earlierStates[id] = state + 1;
      if (before !== 0) continue;
      if (node !== last) {
        this.#pending(last, -ended, acknowledged);
        last = node;
        ended = 0;
      }
      ended++;
    }
    this.#pending(last, -ended, acknowledged);
  }

  tasksDropped(computation: Computation, ids: readonly number[], why: EndReason): void {
    const known = this.#computations.get(computation);
    if (known === undefined) return;
    const { nodes, states } = known;
    for (const id of ids) {
      const before = states[id]!;
      if (before !== 0 && before !== 1 + TASK_CANCELLED) continue;
      const node = nodes[computation.spanOf?.[id] ?? 0] ?? this.#root;
      node.counts.ended(why, before);
      states[id] = 1 + why;
      if (before === 0) this.#pending(node, -1, this.#clock());
    }
  }

  computationForgotten(computation: Computation): void {
    const known = this.#computations.get(computation);
    if (known === undefined) return;
    this.#computations.delete(computation);
    const { nodes, states } = known;
    for (let id = 0; id < states.length; id++) {
      if (states[id]! > 0) continue;
      // The task is not needed any more.
      const node = nodes[computation.spanOf?.[id] ?? 0] ?? this.#root;
      node.counts.cancelled++;
      this.#pending(node, -1, this.#clock());
    }
  }

  metric({ context, span, prefix, activity, unit, value }: MetricSample): void {
    if (context !== 'execute') return;
    this.#node(span === '' ? DEFAULT_SPAN : spanTags(span)).metrics.add(
      [context, prefix, activity, unit],
      value,
    );
  }

  /** Records the lines that opened a span. */
  opened(tags: readonly string[], code: readonly string[]): void {
    const node = this.#node(tags);
    for (const line of code) if (node.code.size < MAX_CODE) node.code.add(line);
  }

  /** Number of unfinished tasks. */
  get pending(): number {
    return this.#root.pending;
  }

  /** Ids of all spans, in the order of their first appearance. */
  get ids(): readonly string[] {
    return [...this.#spans.keys()];
  }

  /**
   * Returns the span with these tags and the spans inside; without tags, all spans together. Undefined if there is
   * none.
   */
  get(tags: readonly string[] = []): SpanSummary | undefined {
    const node = tags.length === 0 ? this.#root : this.#spans.get(spanId(tags));
    return node === undefined ? undefined : this.#summary(node);
  }

  /** Yields all spans, in the order of their first use. */
  [Symbol.iterator](): Iterator<SpanSummary> {
    return this.find([])[Symbol.iterator]();
  }

  /** Returns all spans whose tags begin with these. */
  find(prefix: readonly string[]): SpanSummary[] {
    return [...this.#spans.values()]
      .filter(({ tags }) => prefix.every((tag, index) => tags[index] === tag))
      .map((node) => this.#summary(node));
  }

  #node(tags: readonly string[]): SpanNode {
    const known = this.#spans.get(spanId(tags));
    if (known !== undefined) return known;
    let node = this.#root;
    for (let depth = 1; depth <= tags.length; depth++) {
      const part = tags.slice(0, depth);
      const id = spanId(part);
      let next = this.#spans.get(id);
      if (next === undefined) {
        if (this.#spans.size >= MAX_SPANS && tags !== DEFAULT_SPAN)
          return node === this.#root ? this.#node(DEFAULT_SPAN) : node;
        next = new SpanNode(part, node);
        this.#spans.set(id, next);
      }
      node = next;
    }
    return node;
  }

  #note(
    node: SpanNode,
    { computation, ids, states, nbytes, started, stopped }: TaskRuns,
    index: number,
  ): void {
    const start = started[index]!;
    const stop = stopped[index]!;
    if (states[index] === TASK_MEMORY) node.nbytes += nbytes[index]!;
    if (Number.isNaN(start) || Number.isNaN(stop)) return;
    node.start = earlier(node.start, start);
    node.stop = later(node.stop, stop);
    addRuns(node.prefixes, prefixOf(computation, ids[index]!), 1, stop - start);
  }

  /** Counts tasks of the span, and of all enclosing spans, that become pending or end. */
  #pending(span: SpanNode, change: number, time: number): void {
    for (let node: SpanNode | undefined = span; node !== undefined; node = node.parent) {
      if (node.pending === 0 && change > 0) node.activeSince = time;
      node.pending += change;
      if (node.pending > 0 || Number.isNaN(node.activeSince)) continue;
      node.offered += Math.max(0, this.#threads.at(time) - this.#threads.at(node.activeSince));
      node.activeSince = Number.NaN;
    }
  }

  #summary(span: SpanNode): SpanSummary {
    const inside = withDescendants(span);
    const counts = new TaskCounts();
    for (const node of inside) counts.include(node.counts);
    const prefixes = mergePrefixes(inside);
    const offered = this.#offered(span);
    return {
      id: span.id,
      name: span.tags,
      children: span.children.map(({ id }) => id),
      tasks: counts.total,
      states: {
        pending: span.pending,
        memory: counts.finished,
        erred: counts.erred,
        cancelled: counts.cancelled,
        skipped: counts.skipped,
      },
      lostRuns: counts.lost,
      nbytes: inside.reduce((sum, { nbytes }) => sum + nbytes, 0),
      duration: [...prefixes.values()].reduce((sum, { seconds }) => sum + seconds, 0),
      prefixes,
      enqueued: inside.reduce((first, { enqueued }) => earlier(first, enqueued), Number.NaN),
      start: inside.reduce((first, { start }) => earlier(first, start), Number.NaN),
      stop: inside.reduce((last, { stop }) => later(last, stop), Number.NaN),
      done: span.pending === 0,
      activeCpuSeconds: offered,
      code: [...new Set(inside.flatMap(({ code }) => [...code]))],
      cumulativeWorkerMetrics: mergeMetrics(inside, offered),
    };
  }

  #offered({ offered, activeSince }: SpanNode): number {
    if (Number.isNaN(activeSince)) return offered;
    return offered + Math.max(0, this.#threads.at(this.#clock()) - this.#threads.at(activeSince));
  }
}

function withDescendants(span: SpanNode): SpanNode[] {
  const found = [span];
  for (const node of found) for (const child of node.children) found.push(child);
  return found;
}

type PrefixRuns = Map<string, { count: number; seconds: number }>;

function mergePrefixes(spans: readonly SpanNode[]): PrefixRuns {
  const merged: PrefixRuns = new Map();
  for (const { prefixes } of spans)
    for (const [prefix, { count, seconds }] of prefixes) addRuns(merged, prefix, count, seconds);
  return merged;
}

function addRuns(prefixes: PrefixRuns, prefix: string, count: number, seconds: number): void {
  const sums = prefixes.get(prefix);
  if (sums === undefined) {
    prefixes.set(prefix, { count, seconds });
    return;
  }
  sums.count += count;
  sums.seconds += seconds;
}

/** As in Dask, thread time that no metric accounts for counts as idle. */
function mergeMetrics(spans: readonly SpanNode[], offered: number): Map<MetricKey, number> {
  const ledger = new MetricLedger();
  for (const { metrics } of spans) for (const [key, value] of metrics) ledger.add(key, value);
  let known = 0;
  for (const [key, value] of ledger) if (key[0] === 'execute' && key.at(-1) === 'seconds') known += value;
  ledger.add(['execute', 'N/A', 'idle', 'seconds'], Math.max(0, offered - known));
  return new Map(ledger);
}

function earlier(a: number, b: number): number {
  return Number.isNaN(a) || b < a ? b : a;
}

function later(a: number, b: number): number {
  return Number.isNaN(a) || b > a ? b : a;
}
