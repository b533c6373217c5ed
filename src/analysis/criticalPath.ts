// What was the run waiting for? The chain of work and waiting that ends with the last result and begins with the first
// submission; nothing outside it held the run up.

import { checkArgument, checkOptions, NUMBER, type OptionKinds, TRACE } from '../base/arguments.js';
import { INSPECT } from '../base/printed.js';
import type { Trace } from '../trace/trace.js';
import { lanesOf } from './lanes.js';
import { handOver, longestChain } from './path/longestChain.js';
import { PATH_KINDS, type PathColumns, type PathKind } from './path/pathParts.js';
import { requestedWindow, type Window, walkPath } from './path/pathWalk.js';
import { Table } from './table.js';
import { valuesColumn } from './valuesColumn.js';

export type { PathColumns, PathKind } from './path/pathParts.js';

export interface CriticalPathOptions {
  /** Seconds since the epoch. Default: the call that submitted first; where submissions are not recorded, the first start. */
  readonly start?: number;
  /** Seconds since the epoch. Default: when the last result was acknowledged, or its task stopped. */
  readonly stop?: number;
}

const OPTIONS: OptionKinds<CriticalPathOptions> = { start: NUMBER, stop: NUMBER };

/** One stretch of the path. */
export interface PathPart {
  readonly kind: PathKind;
  /** Key of the task that ran, or waited. */
  readonly task?: string;
  readonly prefix?: string;
  /** Name of the worker. */
  readonly worker?: string;
  /** Of 'waiting for a worker': the prefix of what the worker ran meanwhile. */
  readonly behind?: string;
  /** Seconds since the epoch. */
  readonly start: number;
  readonly stop: number;
}

/** What the path owes to the tasks of a prefix. */
export interface PathPrefix {
  readonly prefix: string;
  readonly seconds: number;
  /**
   * What was done, largest first; `compute` also where another task waited for its worker meanwhile. `waiting for a worker`:
   * what passed between a task and the next on its thread.
   */
  readonly parts: readonly { readonly kind: PathKind; readonly seconds: number }[];
}

/**
 * The critical path of a trace. `parts` tile the time from `start` to `stop` without a gap, so that all sums below add up
 * to the makespan.
 */
export class CriticalPath {
  /** Seconds since the epoch. */
  readonly start: number;
  readonly stop: number;
  /** Seconds from start to stop. */
  readonly makespan: number;
  /**
   * What unlimited workers and no overhead would need, in seconds: the longest chain of tasks, and of what the client
   * submitted only when it had a result, with the time that it thought in between.
   */
  readonly floor: number;
  /** The parts as columns; `parts` makes an object of each. */
  readonly columns: PathColumns;
  readonly #trace: Trace;
  #parts: readonly PathPart[] | undefined;

  constructor(trace: Trace, window: Window, columns: PathColumns, floor: number) {
    this.#trace = trace;
    this.start = window.start;
    this.stop = window.stop;
    this.makespan = window.stop - window.start;
    this.columns = columns;
    // Rows that are out of order, of keys that ran again, may seem to follow each other when they did not.
    this.floor = Number.isNaN(this.makespan) ? floor : Math.min(floor, this.makespan);
  }

  /** From first to last. Made at the first use. */
  get parts(): readonly PathPart[] {
    this.#parts ??= Array.from({ length: this.columns.length }, (_, i) => this.#part(i));
    return this.#parts;
  }

  /** Seconds by kind, largest first. */
  get byKind(): readonly { readonly kind: PathKind; readonly seconds: number }[] {
    const sums = this.#sums((part) => this.columns.kind[part]!);
    return sums.map(([number, seconds]) => ({ kind: PATH_KINDS[number] ?? 'unknown', seconds }));
  }

  /**
   * Seconds by the prefix that caused them, largest first: waiting for a worker counts for what that ran meanwhile, packing for
   * what was packed. Client time and the start of workers have no prefix.
   */
  get byPrefix(): readonly PathPrefix[] {
    const found = new Map<number, { kind: PathKind; seconds: number }[]>();
    for (const { prefix, kind, seconds } of this.columns.charges) {
      const parts = found.get(prefix) ?? [];
      parts.push({ kind: PATH_KINDS[kind] ?? 'unknown', seconds });
      found.set(prefix, parts);
    }
    return Array.from(found, ([id, parts]) => ({
      prefix: this.#text(id),
      seconds: parts.reduce((sum, { seconds }) => sum + seconds, 0),
      parts: parts.sort((a, b) => b.seconds - a.seconds),
    })).sort((a, b) => b.seconds - a.seconds);
  }

  /** Seconds by worker, largest first. Client time has none. */
  get byWorker(): readonly { readonly worker: string; readonly seconds: number }[] {
    const names = this.#trace.workers.name;
    const sums = this.#sums((part) => this.columns.worker[part]!);
    return sums.map(([row, seconds]) => ({ worker: this.#text(names[row]!), seconds }));
  }

  /** Seconds of waiting for a worker, by the prefix of what it ran meanwhile, largest first. */
  get behind(): readonly { readonly prefix: string; readonly seconds: number }[] {
    const sums = this.#sums((part) => this.columns.behind[part]!);
    return sums.map(([id, seconds]) => ({ prefix: this.#text(id), seconds }));
  }

  /** One row per part. */
  toTable(): Table {
    const { tasks, workers, strings, keys } = this.#trace;
    const { row, worker, behind, kind, start, stop } = this.columns;
    return new Table([
      valuesColumn(
        'Kind',
        Array.from(kind, (number) => PATH_KINDS[number] ?? null),
      ),
      { title: 'Key', ids: row.map((task) => (task < 0 ? -1 : tasks.key[task]!)), strings: keys },
      { title: 'Prefix', ids: row.map((task) => (task < 0 ? -1 : tasks.prefix[task]!)), strings },
      { title: 'Worker', ids: worker.map((index) => (index < 0 ? -1 : workers.name[index]!)), strings },
      { title: 'Behind', ids: behind, strings },
      { title: 'Start (s)', numbers: start.map((time) => time - this.start) },
      { title: 'Duration (s)', numbers: stop.map((time, i) => time - start[i]!) },
    ]);
  }

  /**
   * What the path is made of, largest first: seconds by kind and prefix of the task; of waiting for a worker by the prefix
   * that the worker was busy with, because which task waits for it is chance; the start of workers by none.
   */
  summary(): Table {
    const { prefix } = this.#trace.tasks;
    const { row, kind, behind } = this.columns;
    const width = this.#trace.strings.length + 1;
    const waiting = PATH_KINDS.indexOf('waiting for a worker');
    const starting = PATH_KINDS.indexOf('worker start');
    const sums = this.#sums((part) => {
      const own = row[part]! < 0 || kind[part] === starting ? -1 : prefix[row[part]!]!;
      return kind[part]! * width + (kind[part] === waiting ? behind[part]! : own) + 1;
    });
    const kindOf = (group: number) => Math.floor(group / width);
    const nameOf = (group: number) => (group % width === 0 ? null : this.#text((group % width) - 1));
    const names = (isWaiting: boolean) =>
      sums.map(([group]) => ((kindOf(group) === waiting) === isWaiting ? nameOf(group) : null));
    return new Table([
      valuesColumn(
        'Kind',
        sums.map(([group]) => PATH_KINDS[kindOf(group)] ?? null),
      ),
      valuesColumn('Prefix', names(false)),
      valuesColumn('Behind', names(true)),
      { title: 'Duration (s)', numbers: Float64Array.from(sums, ([, seconds]) => seconds) },
      {
        title: 'Share of makespan (%)',
        numbers: Float64Array.from(sums, ([, seconds]) => (seconds / this.makespan) * 100),
      },
    ]);
  }

  toString(): string {
    return this.summary().toString();
  }

  [INSPECT](): string {
    return this.toString();
  }

  #part(i: number): PathPart {
    const { tasks, workers } = this.#trace;
    const { kind, row, worker, behind, start, stop } = this.columns;
    const task = row[i]!;
    return {
      kind: PATH_KINDS[kind[i]!] ?? 'unknown',
      ...(task < 0 ? {} : { task: tasks.keyOf(task) }),
      ...(task < 0 || tasks.prefix[task]! < 0 ? {} : { prefix: this.#text(tasks.prefix[task]!) }),
      ...(worker[i]! < 0 ? {} : { worker: this.#text(workers.name[worker[i]!]!) }),
      ...(behind[i]! < 0 ? {} : { behind: this.#text(behind[i]!) }),
      start: start[i]!,
      stop: stop[i]!,
    };
  }

  /** Seconds by group, largest first; parts of group -1 are left out. */
  #sums(groupOf: (part: number) => number): [number, number][] {
    const { length, start, stop } = this.columns;
    const sums = new Map<number, number>();
    for (let part = 0; part < length; part++) {
      const group = groupOf(part);
      if (group >= 0) sums.set(group, (sums.get(group) ?? 0) + (stop[part]! - start[part]!));
    }
    return [...sums].sort(([, a], [, b]) => b - a);
  }

  #text(id: number): string {
    return id < 0 ? '' : this.#trace.strings.get(id);
  }
}

/**
 * The critical path: what the run was waiting for at each moment, and how fast it could have been with more workers.
 * Walks back from the last result, from each task to what it waited for longest: an input, its worker, the client. Some
 * 0.5 s for a million tasks.
 *
 * @returns times in seconds; an empty trace gives no parts, and NaN for start, stop and makespan
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if stop is before start, or either is no time
 */
export function criticalPath(trace: Trace, options: CriticalPathOptions = {}): CriticalPath {
  checkArgument('criticalPath(): trace', trace, TRACE);
  checkOptions('criticalPath()', options, OPTIONS);
  const window = requestedWindow(trace, options);
  return new CriticalPath(trace, window, walkPath(trace, window), floorOf(trace, window));
}

/** The longest chain of what ran inside the window; of tasks that reach beyond it, the part inside. */
function floorOf(trace: Trace, window: Window): number {
  const { start, stop } = window;
  const { length, started, stopped } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  const seconds = new Float64Array(length);
  for (let row = 0; row < length; row++) {
    const inside = Math.min(stopped[row]!, stop) - Math.max(started[row]!, start);
    seconds[row] = laneOf[row]! >= 0 && inside >= 0 ? inside : Number.NaN;
  }
  return longestChain(trace, seconds, handOver(trace, window));
}
