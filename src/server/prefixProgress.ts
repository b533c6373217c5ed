// How far each prefix has come, exact over the whole run: an observer that only counts. A run costs some 20 ns.
import {
  type ClusterObserver,
  type Computation,
  TASK_CANCELLED,
  TASK_ERRED,
  TASK_LOST,
  TASK_MEMORY,
  type TaskRuns,
} from '../protocol/clusterObserver.js';
import type { ProgressRow } from '../protocol/viewRows.js';
import { OTHER_PREFIXES } from '../trace/totals.js';

type Counts = {
  -readonly [K in Exclude<keyof ProgressRow, 'processing' | 'shortest' | 'longest'>]: ProgressRow[K];
} & {
  /** Infinity, and -Infinity, while no run computed. */
  shortest: number;
  longest: number;
};

/** Prefixes that are told apart: a message must stay small. */
const MAX_ROWS = 500;
const MAX_PREFIXES = 10_000;

export class PrefixProgress implements ClusterObserver {
  readonly #prefixes = new Map<string, Counts>();
  readonly #known = new Map<Computation, KnownComputation>();

  computationAdded(computation: Computation): void {
    this.#of(computation);
  }

  /** Tasks of it that never ended never will. */
  computationForgotten(computation: Computation): void {
    const known = this.#known.get(computation);
    if (known === undefined) return;
    this.#known.delete(computation);
    for (const [index, open] of known.open.entries()) known.counts[index]!.cancelled += Math.max(0, open);
  }

  tasksEnded({ computation, count, ids, states, started, stopped, nbytes }: TaskRuns): void {
    const { counts, open, ended } = this.#of(computation);
    const { prefixOf } = computation;
    for (let i = 0; i < count; i++) {
      const id = ids[i]!;
      const prefix = prefixOf[id]!;
      const row = counts[prefix];
      if (row === undefined) continue;
      const seconds = stopped[i]! - started[i]!;
      if (seconds >= 0) {
        row.seconds += seconds;
        if (seconds < row.shortest) row.shortest = seconds;
        if (seconds > row.longest) row.longest = seconds;
      }
      const state = states[i]!;
      if (state === TASK_LOST) {
        row.lost++;
        continue;
      }
      if (state === TASK_MEMORY) row.nbytes += nbytes[i]!;
      // A task counts once, as its latest run ended: results that were lost are made again, failures are tried again.
      const before = ended[id]!;
      if (before === 0) open[prefix]!--;
      else countEnd(row, before - 1, -1);
      countEnd(row, state, 1);
      ended[id] = state + 1;
    }
  }

  /** Most seconds first, then most tasks. */
  rows(processing: ReadonlyMap<string, number>): ProgressRow[] {
    const all = Array.from(this.#prefixes.values()).sort(
      (a, b) => b.seconds - a.seconds || b.total - a.total,
    );
    const most = all.length <= MAX_ROWS ? MAX_ROWS : MAX_ROWS - 1;
    const rows: ProgressRow[] = [];
    const others = emptyCounts(OTHER_PREFIXES);
    let othersProcessing = 0;
    for (const counts of all) {
      const now = processing.get(counts.prefix) ?? 0;
      if (rows.length < most && counts.prefix !== OTHER_PREFIXES) {
        rows.push(rowOf(counts, now));
        continue;
      }
      include(others, counts);
      othersProcessing += now;
    }
    if (rows.length < all.length) rows.push(rowOf(others, othersProcessing));
    return rows;
  }

  #of(computation: Computation): KnownComputation {
    let known = this.#known.get(computation);
    if (known !== undefined) return known;
    const { prefixes, prefixOf, size, given } = computation;
    known = {
      counts: prefixes.map((prefix) => this.#counts(prefix)),
      open: new Int32Array(prefixes.length),
      ended: new Uint8Array(size),
    };
    for (const prefix of prefixOf) {
      known.open[prefix]!++;
      known.counts[prefix]!.total++;
    }
    for (const id of given ?? []) {
      known.open[prefixOf[id]!]!--;
      known.counts[prefixOf[id]!]!.total--;
    }
    this.#known.set(computation, known);
    return known;
  }

  #counts(prefix: string): Counts {
    let counts = this.#prefixes.get(prefix);
    if (counts !== undefined) return counts;
    if (this.#prefixes.size >= MAX_PREFIXES && prefix !== OTHER_PREFIXES) return this.#counts(OTHER_PREFIXES);
    counts = emptyCounts(prefix);
    this.#prefixes.set(prefix, counts);
    return counts;
  }
}

interface KnownComputation {
  /** By index into the computation's prefixes, as `open`: tasks that have not ended. */
  readonly counts: readonly Counts[];
  readonly open: Int32Array;
  /** By local id: 0, or 1 + how the latest run ended. */
  readonly ended: Uint8Array;
}

/** Field by field: there may be hundreds, several times a second, and spreads take several times as long. */
function rowOf(counts: Counts, processing: number): ProgressRow {
  const none = counts.shortest > counts.longest;
  return {
    prefix: counts.prefix,
    total: counts.total,
    processing,
    finished: counts.finished,
    erred: counts.erred,
    cancelled: counts.cancelled,
    lost: counts.lost,
    seconds: counts.seconds,
    shortest: none ? null : counts.shortest,
    longest: none ? null : counts.longest,
    nbytes: counts.nbytes,
  };
}

function include(all: Counts, row: Counts): void {
  all.total += row.total;
  all.finished += row.finished;
  all.erred += row.erred;
  all.cancelled += row.cancelled;
  all.lost += row.lost;
  all.seconds += row.seconds;
  all.nbytes += row.nbytes;
  all.shortest = Math.min(all.shortest, row.shortest);
  all.longest = Math.max(all.longest, row.longest);
}

function countEnd(row: Counts, state: number, by: number): void {
  if (state === TASK_MEMORY) row.finished += by;
  else if (state === TASK_ERRED) row.erred += by;
  else if (state === TASK_CANCELLED) row.cancelled += by;
}

function emptyCounts(prefix: string): Counts {
  return {
    prefix,
    total: 0,
    finished: 0,
    erred: 0,
    cancelled: 0,
    lost: 0,
    seconds: 0,
    shortest: Number.POSITIVE_INFINITY,
    longest: Number.NEGATIVE_INFINITY,
    nbytes: 0,
  };
}
