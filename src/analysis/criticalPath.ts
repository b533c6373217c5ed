// Computes the critical path: the chain of tasks, transfers and waits from the first submission to the last result,
// which determined the duration of the run.

import { checkArgument, checkOptions, NUMBER, type OptionKinds, TRACE } from '../base/arguments.js';
import { addTo, pushTo } from '../base/lookUps.js';
import { Printed } from '../base/printed.js';
import { type Trace, textOf } from '../trace/trace.js';
import { eachUse, lanesOf } from './lanes.js';
import { awaitedObject, lockedSeconds } from './leaseWaits.js';
import { handOver, longestChain } from './path/longestChain.js';
import { PATH_KINDS, type PathColumns, type PathKind } from './path/pathParts.js';
import { requestedWindow, walkPath } from './path/pathWalk.js';
import { copiedSeconds } from './programTransfers.js';
import type { Span } from './spans.js';
import { rowColumns, Table, valuesColumn } from './table.js';

export type { PathColumns, PathKind } from './path/pathParts.js';

export interface CriticalPathOptions {
  /**
   * Seconds since the epoch. Default: the first submission, or the first task's start if submissions are not recorded.
   */
  readonly start?: number;
  /** Seconds since the epoch. Default: the acknowledgement of the last result, or the end of its task. */
  readonly stop?: number;
}

const OPTIONS: OptionKinds<CriticalPathOptions> = { start: NUMBER, stop: NUMBER };

/** One part of the path. */
export interface PathPart {
  readonly kind: PathKind;
  /** Key of the task that ran or waited. */
  readonly task?: string;
  readonly prefix?: string;
  /** Name of the worker. */
  readonly worker?: string;
  /** Prefix of the tasks that the worker ran during 'waiting for a worker'. */
  readonly behind?: string;
  /** Seconds since the epoch. */
  readonly start: number;
  readonly stop: number;
}

/** The part of the path that the tasks of a prefix caused. */
export interface PathPrefix {
  readonly prefix: string;
  readonly seconds: number;
  /**
   * Seconds by kind, largest first. `compute` includes the time in which other tasks waited for this prefix on their
   * worker. `waiting for a worker` is the time between two tasks on a thread.
   */
  readonly parts: readonly { readonly kind: PathKind; readonly seconds: number }[];
}

/**
 * The critical path of a trace. `parts` cover the time from `start` to `stop` without gaps, so the seconds of `byKind`
 * add up to the makespan.
 */
export class CriticalPath extends Printed {
  /** Seconds since the epoch. */
  readonly start: number;
  readonly stop: number;
  /** Seconds from start to stop. */
  readonly makespan: number;
  /**
   * Seconds that the run would take with unlimited workers and without overhead: the longest chain of dependent tasks.
   * Tasks that the client submitted after a result follow that result, after the recorded pause of the client. For a
   * whole run, at least the seconds in which tasks waited for a lock or semaphore.
   */
  readonly floor: number;
  /** The same parts as columns. */
  readonly columns: PathColumns;
  readonly #trace: Trace;
  #parts: readonly PathPart[] | undefined;

  constructor(trace: Trace, window: Span, columns: PathColumns, floor: number) {
    super();
    this.#trace = trace;
    this.start = window.start;
    this.stop = window.stop;
    this.makespan = window.stop - window.start;
    this.columns = columns;
    // Rows of keys that ran again may be out of order, and form a chain that is too long.
    this.floor = Number.isNaN(this.makespan) ? floor : Math.min(floor, this.makespan);
  }

  /** Parts in order of time, made at first use. */
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
   * Seconds by the prefix that caused them, largest first. Waiting for a worker counts for the tasks that the worker
   * ran, packing for the packed results. Client time and the start of workers have no prefix.
   */
  get byPrefix(): readonly PathPrefix[] {
    const found = new Map<number, { kind: PathKind; seconds: number }[]>();
    for (const { prefix, kind, seconds } of this.columns.charges)
      pushTo(found, prefix, { kind: PATH_KINDS[kind] ?? 'unknown', seconds });
    return Array.from(found, ([id, parts]) => ({
      prefix: this.#text(id),
      seconds: parts.reduce((sum, { seconds }) => sum + seconds, 0),
      parts: parts.sort((a, b) => b.seconds - a.seconds),
    })).sort((a, b) => b.seconds - a.seconds);
  }

  /** Seconds by worker, largest first. Client time has no worker. */
  get byWorker(): readonly { readonly worker: string; readonly seconds: number }[] {
    const names = this.#trace.workers.name;
    const sums = this.#sums((part) => this.columns.worker[part]!);
    return sums.map(([row, seconds]) => ({ worker: this.#text(names[row]!), seconds }));
  }

  /** Seconds of waiting for a worker, by the prefix of the tasks that the worker ran, largest first. */
  get behind(): readonly { readonly prefix: string; readonly seconds: number }[] {
    const sums = this.#sums((part) => this.columns.behind[part]!);
    return sums.map(([id, seconds]) => ({ prefix: this.#text(id), seconds }));
  }

  /** Returns a table with one row per part. */
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
   * Returns a table of seconds by kind and prefix, largest first. Waiting for a worker has the prefix of the tasks that
   * the worker ran, because it is chance which task waited. `awaiting` is behind the lock, queue or other shared object for which
   * the tasks waited. The start of workers has no prefix.
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
    const awaiting = PATH_KINDS.indexOf('awaiting');
    const kindOf = (group: number) => Math.floor(group / width);
    const nameOf = (group: number) => (group % width === 0 ? null : this.#text((group % width) - 1));
    const behindOf = (group: number, seconds: number): string | null => {
      if (kindOf(group) === waiting) return nameOf(group);
      if (kindOf(group) !== awaiting) return null;
      return awaitedObject(this.#trace, nameOf(group) ?? '', seconds) ?? null;
    };
    const { texts, numbers } = rowColumns(sums);
    return new Table([
      texts('Kind', ([group]) => PATH_KINDS[kindOf(group)] ?? null),
      texts('Prefix', ([group]) => (kindOf(group) === waiting ? null : nameOf(group))),
      texts('Behind', ([group, seconds]) => behindOf(group, seconds)),
      numbers('Duration (s)', ([, seconds]) => seconds),
      numbers('Share of makespan (%)', ([, seconds]) => (seconds / this.makespan) * 100),
    ]);
  }

  /** Returns the fields of the path as plain values, for JSON. */
  toJSON(): Pick<CriticalPath, 'start' | 'stop' | 'makespan' | 'floor' | 'byKind' | 'byPrefix' | 'parts'> {
    const { start, stop, makespan, floor, byKind, byPrefix, parts } = this;
    return { start, stop, makespan, floor, byKind, byPrefix, parts };
  }

  override toString(): string {
    return this.summary().toString();
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

  /** Returns seconds by group, largest first, without parts of group -1. */
  #sums(groupOf: (part: number) => number): [number, number][] {
    const { length, start, stop } = this.columns;
    const sums = new Map<number, number>();
    for (let part = 0; part < length; part++) {
      const group = groupOf(part);
      if (group >= 0) addTo(sums, group, stop[part]! - start[part]!);
    }
    return [...sums].sort(([, a], [, b]) => b - a);
  }

  #text(id: number): string {
    return textOf(this.#trace.strings, id);
  }
}

/**
 * Returns the critical path: the cause of the run's duration at each moment, and a lower limit of its duration with
 * more workers. The path is found backwards from the last result: each task is followed by what it waited for last,
 * e.g. an input, its worker or the client. Takes some 0.5 s for a million tasks.
 *
 * @returns times in seconds; for an empty trace no parts, and NaN for start, stop and makespan
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if `stop` is before `start`, or either is not a number
 */
export function criticalPath(trace: Trace, options: CriticalPathOptions = {}): CriticalPath {
  checkArgument('criticalPath(): trace', trace, TRACE);
  checkOptions('criticalPath()', options, OPTIONS);
  const window = requestedWindow(trace, options);
  // The metrics of locks have no times.
  const isPart = options.start !== undefined || options.stop !== undefined;
  const floor = Math.max(
    floorOf(trace, window),
    copiedSeconds(trace, window),
    isPart ? 0 : lockedSeconds(trace),
  );
  return new CriticalPath(trace, window, walkPath(trace, window), floor);
}

/** Returns the longest chain of the parts of tasks inside the window. */
function floorOf(trace: Trace, window: Span): number {
  const { start, stop } = window;
  const { length } = trace.tasks;
  const { laneOf } = lanesOf(trace);
  const seconds = new Float64Array(length).fill(Number.NaN);
  for (let row = 0; row < length; row++) {
    if (laneOf[row]! < 0) continue;
    eachUse(trace, row, (from, to, share) => {
      const inside = Math.min(to, stop) - Math.max(from, start);
      if (inside >= 0) seconds[row] = (seconds[row]! || 0) + share * inside;
    });
  }
  return longestChain(trace, seconds, handOver(trace, window));
}
